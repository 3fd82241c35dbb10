# SPDX-License-Identifier: GPL-2.0
"""What the rows say: a table for the terminal, and results.json."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Group
from rich.text import Text

from lab.bench import figures, resolution
from lab.files import write_json

SCHEMA = 2
WIDTH = 120
"""Columns of the table where no terminal says how wide it is."""
_GAP = 2
"""Columns between two of the table's."""


def without_timeline(row: dict) -> dict:
    """What is published of a row: all but the course of its run, which is most of its bytes."""
    return {name: value for name, value in row.items() if name != "timeline"}


def digest(rows: list[dict]) -> str:
    """Of all that rows hold but their timelines, in the order they have. It is the same for rows
    read from results.json, and for published ones."""
    told = [without_timeline(row) for row in rows]
    text = json.dumps(told, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def digest_told(rows: list[dict]) -> str:
    """A sentence on it."""
    return f"Digest of all rows: {digest(rows)}; two runs of the same programs have the same."


def write(rows: list[dict], host: dict, path: Path) -> None:
    """Write results.json at once. ``host`` holds all that differs between runs."""
    write_json(path, {"schema": SCHEMA, "digest": digest(rows), "rows": rows, "host": host})


@dataclass(frozen=True)
class _Column:
    """One of the table's. ``text`` is of a row and its delay."""

    title: str
    text: Callable[[dict, float | None], str]

    def width(self, lines: list[tuple[dict, float | None]]) -> int:
        """Columns of the terminal that it takes."""
        return _GAP + max(len(self.title), *(len(self.text(*line)) for line in lines), 0)


_NAMES = (
    _Column("experiment", lambda row, _: row["experiment"]),
    _Column("contender", lambda row, _: row["contender"]),
)
# The first ones are those that a narrow terminal shows.
_COLUMNS = (
    _Column("seconds", lambda row, _: figures.seconds(row["seconds"])),
    _Column("R", lambda row, _: figures.share(row["recovered"])),
    _Column("of seeds", lambda row, _: figures.spread(row)),
    _Column("delay", lambda _, late: figures.late(late)),
    _Column("promoted", lambda row, _: figures.count(figures.promoted(row))),
    _Column("demoted", lambda row, _: figures.count(row["demoted"])),
    _Column("again", lambda row, _: figures.count(row["demoted_again"])),
    _Column("kernel s", lambda row, _: figures.seconds(row["kernel_seconds"])),
    _Column("lost ms", lambda row, _: figures.cpu_ms(row["hog_lost_ms"])),
    _Column("in fault", lambda row, _: figures.in_fault(row)),
    _Column("left", lambda row, _: figures.left(row["hog_idle_rate"])),
    _Column("score", lambda row, _: figures.score(row["score"], row["unit"])),
)


def _fitting(lines: list[tuple[dict, float | None]], width: int) -> list[_Column]:
    """The columns that fit beside the names, up to the first that does not. One of which
    no row has anything is left out."""
    left = width + _GAP - sum(column.width(lines) for column in _NAMES)
    shown = []
    for column in _COLUMNS:
        if all(column.text(*line) in ("", figures.NONE) for line in lines):
            continue
        left -= column.width(lines)
        if left < 0:
            break
        shown.append(column)
    return shown


def reasons(rows: list[dict], *told: str) -> list[Text]:
    """Why rows have no figures, a line each; ``told`` are the fields that say which row it is."""
    return [
        Text(
            f"{', '.join(str(row[name]) for name in told)}: {row['error']}",
            style="bold red" if row["failed"] else "dim",
        )
        for row in rows
        if row["error"]
    ]


def table(rows: list[dict], width: int) -> Group:
    """The rows as the terminal shows them in so many columns: what does not fit is
    left to results.json. Why a cell has no figures stands below the table."""
    shown = figures.grid()
    shown.add_column("experiment", no_wrap=True)
    shown.add_column("contender", no_wrap=True)
    delays = figures.delays(rows)
    lines = [(row, delays[(*figures.row_key(row), row["contender"])]) for row in rows]
    columns = _fitting(lines, width)
    for column in columns:
        shown.add_column(column.title, justify="right", no_wrap=True)
    numbers: dict[str, int] = {}
    last = None
    for row, late in lines:
        name = row["experiment"] if row["experiment"] != last else ""
        if last is not None and name:
            shown.add_section()
        last = row["experiment"]
        if row["error"]:
            mark = numbers.setdefault(row["error"], len(numbers) + 1)
            style = "bold red" if row["failed"] else "dim"
            shown.add_row(name, row["contender"], Text(f"({mark})", style=style))
            continue
        shown.add_row(name, row["contender"], *(column.text(row, late) for column in columns))
    said = [Text(told) for told in resolution.all_told(rows)]
    return Group(shown, Text(), *(Text(f"({mark}) {why}") for why, mark in numbers.items()), *said)
