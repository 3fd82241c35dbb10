# SPDX-License-Identifier: GPL-2.0
"""What the rows say: a table for the terminal, and results.json."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from lab.files import write_json

SCHEMA = 1
WIDTH = 120
"""Columns of the table where no terminal says how wide it is."""


def write(rows: list[dict], host: dict, path: Path) -> None:
    """Write results.json at once. ``host`` holds all that differs between runs."""
    write_json(path, {"schema": SCHEMA, "rows": rows, "host": host})


def figure(value: float | None, form: str) -> str:
    """A number, or a dash where there is none; what is rounded to zero has no sign."""
    if value is None:
        return "-"
    text = format(value, form)
    return text.lstrip("-") if set(text) <= set("-0.") else text


@dataclass(frozen=True)
class _Column:
    """One of the table's; ``width`` is that of a terminal in which it has its place."""

    title: str
    width: int
    text: Callable[[dict], str]


_COLUMNS = (
    _Column("seconds", 0, lambda row: figure(row["seconds"], ".3f")),
    _Column("R", 0, lambda row: figure(row["recovered"], ".2f")),
    _Column("promoted", 0, lambda row: figure(row["promoted"], ",")),
    _Column("demoted", 84, lambda row: figure(row["demoted"], ",")),
    _Column("again", 92, lambda row: figure(row["demoted_again"], ",")),
    _Column("kernel s", 103, lambda row: figure(row["kernel_seconds"], ".3f")),
    _Column("score", 124, lambda row: f"{figure(row['score'], '.4g')} {row['unit'] or ''}"),
)


def table(rows: list[dict], width: int) -> Group:
    """The rows as the terminal shows them in so many columns: what does not fit is
    left to results.json. Why a cell has no figures stands below the table."""
    shown = Table(header_style="bold", box=box.SIMPLE_HEAD)
    shown.add_column("experiment", no_wrap=True)
    shown.add_column("contender", no_wrap=True)
    columns = [column for column in _COLUMNS if width >= column.width]
    for column in columns:
        shown.add_column(column.title, justify="right", no_wrap=True)
    reasons: dict[str, int] = {}
    last = None
    for row in rows:
        name = row["experiment"] if row["experiment"] != last else ""
        if last is not None and name:
            shown.add_section()
        last = row["experiment"]
        if row["error"]:
            mark = reasons.setdefault(row["error"], len(reasons) + 1)
            style = "bold red" if row["failed"] else "dim"
            shown.add_row(name, row["contender"], Text(f"({mark})", style=style))
            continue
        shown.add_row(name, row["contender"], *(column.text(row) for column in columns))
    return Group(shown, *(Text(f"({mark}) {why}") for why, mark in reasons.items()))
