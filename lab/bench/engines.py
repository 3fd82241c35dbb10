# SPDX-License-Identifier: GPL-2.0
"""What copy engines give, in the form of the document that they are held against: a line for
the CPU and for each number of channels, a column for each size of folios.

The modelled CPU was fitted to one line of the document, and what a channel costs is reckoned from
another one (lab/machines/machines.toml). All else is what the model predicts, and how far that is
off is said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from rich.table import Table as Grid

from lab.bench import figures
from lab.bench.compared import by_experiment
from lab.bench.description import Experiment

_CPU, _NONE, _ONE = "stock-0", "off", "dma-1"
_FROM = {_CPU: " (fitted)", _ONE: " (its cost from both ends)"}
"""Contenders whose figures in the document the model goes by, and how."""
_ENGINE = re.compile(r"dma-(\d+)")
_KERNEL = re.compile(r"kernel ([\d.]+)% of the CPU")
_SECONDS = re.compile(r"\(([\d.]+) s for")
_ROUNDS = re.compile(r"([\d.]+) G rounds")


@dataclass(frozen=True)
class Both:
    """A figure here, and the document's."""

    here: float | None
    there: float | None

    def over(self, other: Both) -> Both:
        """How many times the other one it is."""
        return Both(
            self.here / other.here if self.here and other.here else None,
            self.there / other.there if self.there and other.there else None,
        )

    def off(self) -> float | None:
        """By which part of the document's figure the one here is above it."""
        return self.here / self.there - 1 if self.here and self.there else None

    def text(self, form: str) -> str:
        """Both in that format."""
        return f"{figures.figure(self.here, form)} / {figures.figure(self.there, form)}"


_NOTHING = Both(None, None)


@dataclass(frozen=True)
class Table:
    """A table and what is said above it."""

    about: str
    head: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]


def is_engine(contender: str) -> bool:
    """Whether it is one of those with channels, which have tables of their own."""
    return bool(_ENGINE.fullmatch(contender))


def _label(contender: str) -> str:
    channels = _ENGINE.fullmatch(contender)
    if not channels:
        return {_CPU: "stock Linux", _NONE: "our kernel, no engine"}[contender]
    return "1 channel" if channels[1] == "1" else f"{channels[1]} channels"


def _order(contenders: Iterable[str]) -> list[str]:
    def channels(name: str) -> int:
        found = _ENGINE.fullmatch(name)
        return int(found[1]) if found else (name == _NONE) - 1

    known = {name for name in contenders if name in (_CPU, _NONE) or is_engine(name)}
    return sorted(known, key=channels)


def _first(text: str) -> float:
    """The number that a figure of a document begins with."""
    return float(text.split()[0])


def _found(pattern: re.Pattern[str], text: str) -> float | None:
    match = pattern.search(text)
    return float(match[1]) if match else None


def _followed(
    rows: list[dict], experiments: Sequence[Experiment], field: str
) -> list[tuple[Experiment, dict[str, dict], dict[str, str]]]:
    """Experiments whose document has figures of engines, whose rows have this field in their
    detail: with these rows, and the document's figures, by contender."""
    known, found = by_experiment(rows), []
    for one in experiments:
        figures_there = one.document.figures if one.document else ()
        said = {figure.contender: figure.text for figure in figures_there}
        own = {
            name: row
            for name, row in known.get(one.name, {}).items()
            if not row["error"] and field in (row["detail"] or {})
        }
        if any(is_engine(name) for name in said.keys() & own.keys()):
            found.append((one, own, said))
    return found


Scores = dict[int, dict[str, Both]]
"""GB/s by KiB of the folios and by contender."""


def _scores(rows: list[dict], experiments: Sequence[Experiment]) -> Scores:
    found: Scores = {}
    for _, own, said in _followed(rows, experiments, "folio_kib"):
        size = next(iter(own.values()))["detail"]["folio_kib"]
        found[size] = {
            name: Both(row["score"], _first(said[name]) if name in said else None)
            for name, row in own.items()
        }
    return dict(sorted(found.items()))


def _size(kib: int) -> str:
    return f"{kib // 1024}M" if kib >= 1024 else f"{kib}K"


def _copies(scores: Scores) -> list[Table]:
    names = _order(name for own in scores.values() for name in own)
    head = ("here / document", *map(_size, scores))
    fast, times = [], []
    for name in names:
        cells = [own.get(name, _NOTHING) for own in scores.values()]
        label = _label(name) + _FROM.get(name, "")
        fast.append((label, *(cell.text(".2f") for cell in cells)))
        beside = [own.get(_CPU, _NOTHING) for own in scores.values()]
        if name != _CPU:
            over = (cell.over(cpu) for cell, cpu in zip(cells, beside))
            times.append((label, *(both.text(".2f") for both in over)))
    return [
        Table("GB/s of move_pages(2) by size of folios:", head, tuple(fast)),
        Table("The same in times of what stock Linux does in it by the CPU:", head, tuple(times)),
    ]


def _share(row: dict) -> float | None:
    """Percent of a CPU that all CPUs spent in the kernel."""
    seconds, kernel = row["seconds"], row["kernel_seconds"]
    return 100 * kernel / seconds if seconds and kernel is not None else None


def _each(share: Both, speed: Both) -> Both:
    """Milliseconds in the kernel for each huge page, by percent of a CPU and pages per second."""
    over = share.over(speed)
    return Both(over.here and 10 * over.here, over.there and 10 * over.there)


def _rounds(row: dict, there: str) -> Both:
    """Rounds per second of the loop beside it, with the first seed; of the document in 10^9."""
    spins, seconds = row["detail"].get("spins"), row["seconds_by_seed"][0]
    rounds, took = _found(_ROUNDS, there), _found(_SECONDS, there)
    return Both(spins and spins / seconds, rounds / took if rounds and took else None)


def _compaction(rows: list[dict], experiments: Sequence[Experiment]) -> list[Table]:
    columns: list[tuple[str, str, dict[str, Both]]] = []
    for one, own, said in _followed(rows, experiments, "migrated"):
        kind = one.name.rpartition("-")[2]
        there = {name: said.get(name, "") for name in own}
        speed = {
            name: Both(row["score"], _first(there[name]) if there[name] else None)
            for name, row in own.items()
        }
        shares = {
            name: Both(_share(row), _found(_KERNEL, there[name])) for name, row in own.items()
        }
        columns += [
            (f"{kind}: huge pages/s", ",.0f", speed),
            (f"{kind}: kernel, % of one CPU", ".1f", shares),
            (
                f"{kind}: kernel, ms for each",
                ".2f",
                {name: _each(shares[name], speed[name]) for name in own},
            ),
        ]
        # Machines and loops differ: what tells is how many times as fast it goes.
        rounds = {name: _rounds(row, there[name]) for name, row in own.items()}
        cpu = rounds.get(_CPU, _NOTHING)
        if cpu.here:
            faster = {name: both.over(cpu) for name, both in rounds.items()}
            columns.append((f"{kind}: rounds/s of the loop, of stock's", ".2f", faster))
    names = _order(name for _, _, cells in columns for name in cells)
    lines = tuple(
        (_label(name), *(cells.get(name, _NOTHING).text(form) for _, form, cells in columns))
        for name in names
    )
    head = ("here / document", *(title for title, _, _ in columns))
    return [Table("Compaction, alone on a CPU and beside a loop on it:", head, lines)]


def tables(rows: list[dict], experiments: Sequence[Experiment]) -> list[Table]:
    """Those of the experiments that are there; none without an engine."""
    scores = _scores(rows, experiments)
    several = _followed(rows, experiments, "migrated")
    return (_copies(scores) if scores else []) + (_compaction(rows, experiments) if several else [])


def _told_off(found: list[float]) -> str:
    known = [abs(apart) for apart in found]
    return f"{median(known):.0%} in the median, from {min(found):+.0%} to {max(found):+.0%}"


def _off(scores: Scores, names: Sequence[str], times: bool) -> list[float]:
    """By which part these contenders' figures are above the document's: GB/s, or in times of the
    CPU's."""
    found = []
    for own in scores.values():
        cpu = own.get(_CPU, _NOTHING)
        for both in (own[name] for name in names if name in own):
            apart = (both.over(cpu) if times else both).off()
            if apart is not None:
                found.append(apart)
    return found


def told(rows: list[dict], experiments: Sequence[Experiment]) -> str:
    """By how much the model is off, where it was fitted and where it predicts; empty where there
    is nothing to hold it against."""
    scores = _scores(rows, experiments)
    names = _order(name for own in scores.values() for name in own)
    others = [name for name in names if name not in _FROM]
    parts = (
        ("Fitted to, the CPU's line is off by", (_CPU,)),
        ("one channel's, whose two ends its cost is from, by", (_ONE,)),
        ("all others are predictions: they are off by", others),
    )
    said = [
        f"{what} {_told_off(found)}" for what, some in parts if (found := _off(scores, some, False))
    ]
    if ratios := _off(scores, others, True):
        said.append(f"in times of the CPU by {_told_off(ratios)}")
    return "; ".join(said) + "." if said else ""


def grids(rows: list[dict], experiments: Sequence[Experiment]) -> list[Grid]:
    """The tables for the terminal."""
    shown = []
    for table in tables(rows, experiments):
        grid = figures.grid()
        grid.title, grid.title_justify = table.about, "left"
        for number, title in enumerate(table.head):
            grid.add_column(title, justify="right" if number else "left")
        for line in table.lines:
            grid.add_row(*line)
        shown.append(grid)
    return shown
