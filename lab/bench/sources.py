# SPDX-License-Identifier: GPL-2.0
"""``make sources``: what each source of pghot is worth alone, and what all are together.

Runs every experiment with bounds once, with each source alone, with those that are on as shipped
and with all, and shows how much longer or shorter a run takes than with pghot off, where nothing
moves.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rich.console import Group
from rich.text import Text

from lab import paths
from lab.bench import description, figures, markdown, options, published, report
from lab.bench import origin as origins
from lab.bench.compared import by_experiment
from lab.bench.description import Contender, Experiment
from lab.bench.origin import Origin
from lab.bench.perform import run_matrix
from lab.errors import LabError
from lab.files import write_text
from lab.log import console, note

OFF = "off"
SHIPPED = "pghot-default"
ALL = f"{SHIPPED}-all"
ALONE = tuple(
    f"{SHIPPED}-{source}"
    for source in ("hint_fault", "page_table", "hw_sample", "hotness_unit", "page_cache")
)
CONTENDERS = ",".join((OFF, SHIPPED, *ALONE, ALL))
ALLOWED = 0.01
"""So much longer than with pghot off, or than the best source alone, is called slower."""
_FILES = f"{SHIPPED}-page_cache"
"""Sees uses of files that are not mapped, and nothing else."""


def experiments(names: str | None = None) -> list[Experiment]:
    """Those of a comma list, or all that have bounds, as they are without a variant."""
    if names:
        return description.experiments(names)
    return [
        one for one in description.experiments() if one.variant is None and one.unbounded is None
    ]


def with_something_to_see(
    found: Sequence[Experiment], contenders: Sequence[Contender]
) -> list[tuple[list[Experiment], list[Contender]]]:
    """Experiments, one seed of each, and who takes part in them."""
    ways = (
        ([one for one in found if one.decides == "none"], list(contenders)),
        (
            [one for one in found if one.decides != "none"],
            [one for one in contenders if one.name != _FILES],
        ),
    )
    return [([replace(one, seeds=1) for one in own], who) for own, who in ways if own]


@dataclass(frozen=True)
class Beside:
    """One experiment. ``longer`` is by what share of ``off_s`` each contender takes longer,
    below 0 for one that is faster; ``best`` is the best source alone, and ``all_longer`` by what
    share all together take longer than that. None: not known."""

    experiment: str
    off_s: float | None
    longer: Mapping[str, float]
    best: str | None
    all_longer: float | None


def beside(rows: list[dict]) -> list[Beside]:
    """What these rows come to, by experiment."""
    found = []
    for experiment, own in by_experiment(rows).items():
        took = {name: row["seconds"] for name, row in own.items() if row["seconds"]}
        off = took.get(OFF)
        alone = [name for name in ALONE if name in took]
        best = min(alone, key=lambda name: took[name], default=None)
        found.append(
            Beside(
                experiment,
                off,
                {name: took[name] / off - 1 for name in took if name != OFF} if off else {},
                best,
                took[ALL] / took[best] - 1 if best and ALL in took else None,
            )
        )
    return found


def _short(name: str) -> str:
    return name.removeprefix(f"{SHIPPED}-")


def _percent(share: float | None) -> str:
    return figures.NONE if share is None else f"{100 * share:+.1f}%"


def _columns(rows: list[dict]) -> list[str]:
    taking = {row["contender"] for row in rows}
    return [name for name in (SHIPPED, *ALONE, ALL) if name in taking]


def _head(columns: list[str]) -> list[str]:
    return ["experiment", "off, s", *map(_short, columns), "best alone", "all beside it"]


def _cells(one: Beside, columns: list[str]) -> list[str]:
    return [
        one.experiment,
        figures.seconds(one.off_s),
        *(_percent(one.longer.get(name)) for name in columns),
        _short(one.best) if one.best else figures.NONE,
        _percent(one.all_longer),
    ]


def slower(found: Sequence[Beside], columns: list[str]) -> list[str]:
    """Sentences: where a contender is slower than with pghot off, and where all together are
    slower than the best source alone."""
    said = []
    for name in columns:
        there = [
            f"{one.experiment} ({_percent(one.longer[name])})"
            for one in found
            if one.longer.get(name, 0) > ALLOWED
        ]
        said.append(
            f"{_short(name)}: slower than {OFF} by more than {ALLOWED:.0%} in "
            f"{', '.join(there) if there else 'no experiment'}."
        )
    there = [
        f"{one.experiment} ({_percent(one.all_longer)})"
        for one in found
        if (one.all_longer or 0) > ALLOWED
    ]
    said.append(
        f"All together: slower than the best source alone by more than {ALLOWED:.0%} in "
        f"{', '.join(there) if there else 'no experiment'}."
    )
    return said


def table(rows: list[dict]) -> Group:
    """A line for each experiment, and below what is slower, and what has no figures."""
    columns, found = _columns(rows), beside(rows)
    shown = figures.grid()
    for number, title in enumerate(_head(columns)):
        shown.add_column(title, justify="right" if number else "left", no_wrap=True)
    for one in found:
        shown.add_row(*_cells(one, columns))
    return Group(
        shown,
        *map(Text, slower(found, columns)),
        *report.reasons(rows, "experiment", "contender"),
    )


def document(rows: list[dict], origin: Origin) -> str:
    """The same as Markdown."""
    columns, found = _columns(rows), beside(rows)
    parts = [
        markdown.made(origin, rows),
        markdown.wrapped(
            "Seconds with pghot off, and by how much longer a run takes with the sources that are "
            f"on as shipped (*{SHIPPED}*), with each alone, and with all. *All beside it*: by how "
            "much longer with all than with the best one alone. One seed each."
        ),
        markdown.table(_head(columns), [_cells(one, columns) for one in found]),
        "\n".join(markdown.item(f"- {said}") for said in slower(found, columns)),
    ]
    return "\n\n".join(parts) + "\n"


def _publish(rows: list[dict], origin: Origin) -> None:
    """Publish these experiments; the page is written once all are."""
    entries = published.put(published.SOURCES, rows, origin)
    names = [one.name for one in experiments()]
    if published.left(published.SOURCES, entries, names):
        return
    text = document(
        published.rows_of(entries, names), published.origin_of(entries, names, "make sources")
    )
    markdown.put(paths.ROOT / "docs" / "bench.md", "sources", text)


def _check_documents(args: argparse.Namespace) -> None:
    """LabError where what is asked for cannot be published: not after hours."""
    options.whole_for_documents(args, CONTENDERS)
    if not args.docs:
        return
    names = {one.name for one in experiments()}
    others = {one.name for one in experiments(args.experiment)} - names
    if others:
        raise LabError(
            f"the page is of experiments with bounds, and not of variants: leave "
            f"{', '.join(sorted(others))} out of EXPERIMENT, or leave out DOCS"
        )
    published.read(published.SOURCES)


def run(args: argparse.Namespace) -> int:
    """Run all; 1 if a run failed."""
    _check_documents(args)
    chosen = [
        one
        for one in options.chosen(args.contender)
        if one.name in {OFF, *args.contender.split(",")}
    ]
    began = time.monotonic()
    origin = origins.of("sources", args, contender=CONTENDERS)
    found = experiments(args.experiment)
    rows = [
        row
        for own, who in with_something_to_see(found, chosen)
        for row in run_matrix(own, who, quick=args.quick, fresh=args.fresh)
    ]
    order = [one.name for one in found]
    rows.sort(key=lambda row: order.index(row["experiment"]))
    failed = any(row["failed"] for row in rows)
    where = options.OUT / "sources.json"
    report.write(rows, options.host_facts(began, args, origin), where)
    write_text(options.OUT / "sources.md", document(rows, origin))
    if args.docs and not failed:
        _publish(rows, origin)
    elif args.docs:
        note("documents are left as they are: a run failed")
    options.screen().print(table(rows))
    note(str(where))
    console.print(report.digest_told(rows))
    return int(failed)
