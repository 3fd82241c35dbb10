# SPDX-License-Identifier: GPL-2.0
"""What the rows say: a table for the terminal, and results.json."""

from __future__ import annotations

import json
from pathlib import Path

from rich.markup import escape
from rich.table import Table

SCHEMA = 1
WIDTH = 150
"""Columns of the table where no terminal says how wide it is."""


def write(rows: list[dict], host: dict, path: Path) -> None:
    """Write results.json at once. ``host`` holds all that differs between runs."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".tmp")
    fresh.write_text(json.dumps({"schema": SCHEMA, "rows": rows, "host": host}, indent=1)
                     + "\n", encoding="utf-8")
    fresh.rename(path)


def figure(value: float | None, form: str) -> str:
    """A number, or a dash where there is none."""
    return "-" if value is None else format(value, form)


def table(rows: list[dict]) -> Table:
    """The rows as the terminal shows them."""
    shown = Table(title=None, header_style="bold")
    for name in ("experiment", "contender"):
        shown.add_column(name)
    for name in ("seconds", "R", "score", "promoted", "demoted", "again", "kernel s"):
        shown.add_column(name, justify="right")
    last = None
    for row in rows:
        name = row["experiment"] if row["experiment"] != last else ""
        if last is not None and name:
            shown.add_section()
        last = row["experiment"]
        if row["error"]:
            shown.add_row(name, row["contender"], escape(row["error"]))
            continue
        score = f"{row['score']:.4g} {row['unit']}" if row["score"] is not None else "-"
        shown.add_row(name, row["contender"], figure(row["seconds"], ".3f"),
                      figure(row["recovered"], ".2f"), score,
                      figure(row["promoted"], ","), figure(row["demoted"], ","),
                      figure(row["demoted_again"], ","),
                      figure(row["kernel_seconds"], ".3f"))
    return shown
