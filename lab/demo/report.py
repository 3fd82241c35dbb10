# SPDX-License-Identifier: GPL-2.0
"""The demonstration's result: a table for people, JSON for programs."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.table import Table

from lab.files import write_json
from lab.machines import Machine


def write(result: dict, path: Path) -> None:
    """Write ``path`` at once: it is complete, or not there."""
    write_json(path, result)


def _pages(count: int, total: int) -> str:
    return f"{count:,} ({100 * count / total:.0f}%)" if total else f"{count:,}"


def _residency(result: dict, machine: Machine) -> Table:
    table = Table(title="Where Redis's pages lay (4 KiB pages)", title_justify="left")
    table.add_column("Node")
    for column in ("All before", "All after", "Hot before", "Hot after"):
        table.add_column(column, justify="right", no_wrap=True)
    everything, hot = result["residency"], result["hot_residency"]
    totals = [
        sum(kind[when].values()) for kind in (everything, hot) for when in ("before", "after")
    ]
    for number, node in enumerate(machine.nodes):
        name = f"{number} {node.memory.upper()}"
        if number == result["redis_node"]:
            name += ", Redis"
        cells = [
            kind[when][str(number)] for kind in (everything, hot) for when in ("before", "after")
        ]
        table.add_row(name, *(_pages(*pair) for pair in zip(cells, totals)))
    return table


def _speed(result: dict, when: str) -> str:
    speeds = result["speeds"][when]
    return f"{result['throughput'][when]:,} requests/s\n({min(speeds):,} to {max(speeds):,})"


def _figures(result: dict) -> Table:
    table = Table(title="What pghot did", title_justify="left", show_header=False)
    table.add_column()
    table.add_column(justify="right")
    rows = (
        ("Hot pages, measured in the slow node", f"{result['hot_pages']:,}"),
        ("Pages promoted by pghot", f"{result['promoted_pages']:,}"),
        ("Time until 90% of the hot ones were in DRAM", f"{result['seconds_to_90_percent']:.1f} s"),
        ("Redis before: median and range of seconds", _speed(result, "before")),
        ("Redis after", _speed(result, "after")),
    )
    for row in rows:
        table.add_row(*row)
    return table


def show(result: dict, machine: Machine, console: Console) -> None:
    """Print the tables, and what they do not say."""
    console.print()
    console.print(_residency(result, machine))
    console.print(_figures(result))
    console.print(
        "Hot is what the load touched in "
        f"{result['settings']['seconds']:g} s while tiering was off, as idle page "
        "tracking saw it.\nThis machine's nodes are modelled in their topology and not in "
        "their speed: both\nthroughputs are those of this host's memory, and of what "
        "else it has to do just now.\n",
        markup=False,
    )
