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
CONTENDERS = (OFF, SHIPPED, *ALONE, ALL)
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


def contenders() -> list[Contender]:
    """CONTENDERS, in the order of tables."""
    return [one for one in description.contenders() if one.name in CONTENDERS]


def has_something_to_see(experiment: Experiment, contender: Contender) -> bool:
    """Whether a source can find anything there; others would be runs of nothing."""
    return contender.name != _FILES or experiment.decides == "none"


def by_chance() -> dict[str, float]:
    """By what share the slowest run of pghot as shipped takes longer than the fastest, with other
    random numbers, in the published table of each experiment that has several."""
    entries = published.read(published.BENCH)
    found = {}
    for row in published.rows_of(entries, entries):
        took = [seconds for seconds in row["seconds_by_seed"] or () if seconds]
        if row["contender"] == SHIPPED and len(took) > 1:
            found[row["experiment"]] = max(took) / min(took) - 1
    return found


@dataclass(frozen=True)
class Beside:
    """One experiment. ``longer`` is by what share of ``off_s`` each contender takes longer,
    below 0 for one that is faster; ``best`` is the best source alone, and ``all_longer`` by what
    share all together take longer than that; ``chance`` as by_chance() has it. None: not known."""

    experiment: str
    off_s: float | None
    longer: Mapping[str, float]
    best: str | None
    all_longer: float | None
    chance: float | None = None


def beside(rows: list[dict], chance: Mapping[str, float] | None = None) -> list[Beside]:
    """What these rows come to, by experiment."""
    found = []
    for experiment, own in by_experiment(rows).items():
        took = {name: row["seconds"] for name, row in own.items() if row["seconds"]}
        off = took.get(OFF)
        alone = [name for name in ALONE if name in own]
        # Of one that failed nobody knows whether it is the best.
        known = alone and all(name in took for name in alone)
        best = min(alone, key=lambda name: took[name]) if known else None
        found.append(
            Beside(
                experiment,
                off,
                {name: took[name] / off - 1 for name in took if name != OFF} if off else {},
                best,
                took[ALL] / took[best] - 1 if best and ALL in took else None,
                (chance or {}).get(experiment),
            )
        )
    return found


def _short(name: str) -> str:
    return name.removeprefix(f"{SHIPPED}-")


def _percent(share: float | None) -> str:
    """-0.04% is +0.0%."""
    return figures.NONE if share is None else f"{round(100 * share, 1) + 0.0:+.1f}%"


def _slower(title: str, shares: Sequence[tuple[Beside, float | None]]) -> str:
    """Which of these are above ALLOWED, as printed, and for which that may be chance."""
    above = [
        (one, share)
        for one, share in shares
        if share is not None and round(share, 3) > round(ALLOWED, 3)
    ]
    sure = [f"{one.experiment} ({_percent(s)})" for one, s in above if s > (one.chance or 0)]
    chance = [f"{one.experiment} ({_percent(s)})" for one, s in above if s <= (one.chance or 0)]
    unknown = [one.experiment for one, share in shares if share is None]
    return (
        f"{title} by more than {ALLOWED:.0%} in {', '.join(sure) or 'no experiment'}"
        + (f"; by less than seeds differ in {', '.join(chance)}" if chance else "")
        + (f"; not known in {', '.join(unknown)}" if unknown else "")
        + "."
    )


def slower(found: Sequence[Beside], columns: Sequence[str]) -> list[str]:
    """Sentences: where a contender is slower than with pghot off, and where all together are
    slower than the best source alone."""
    said = []
    for name in columns:
        where = [one for one in found if name != _FILES or name in one.longer]
        shares = [(one, one.longer.get(name)) for one in where]
        said.append(_slower(f"{_short(name)}: slower than {OFF}", shares))
    together = [(one, one.all_longer) for one in found]
    return [*said, _slower("all: slower than the best source alone", together)]


def table(rows: list[dict]) -> Group:
    """A line for each experiment and contender, and below what is slower, and what has no
    figures."""
    shown = figures.grid()
    for title in ("experiment", "contender"):
        shown.add_column(title, no_wrap=True)
    for title in ("seconds", f"beside {OFF}", "beside best alone"):
        shown.add_column(title, justify="right", no_wrap=True)
    found = beside(rows, by_chance())
    for one, own in zip(found, by_experiment(rows).values()):
        shown.add_section()
        for number, (name, row) in enumerate(own.items()):
            shown.add_row(
                "" if number else one.experiment,
                _short(name),
                figures.seconds(row["seconds"]),
                figures.NONE if name == OFF else _percent(one.longer.get(name)),
                _percent(one.all_longer) if name == ALL else "best" if name == one.best else "",
            )
    return Group(
        shown,
        *map(Text, slower(found, _columns(rows))),
        *report.reasons(rows, "experiment", "contender"),
    )


def _columns(rows: list[dict]) -> list[str]:
    taking = {row["contender"] for row in rows}
    return [name for name in (SHIPPED, *ALONE, ALL) if name in taking]


def document(rows: list[dict], origin: Origin, left: Sequence[str] = ()) -> str:
    """The same as Markdown, which names the experiments that are ``left`` to be made."""
    columns, found = _columns(rows), beside(rows, by_chance())
    head = ["beside off", "seeds", "off, s", *map(_short, columns), "best alone", "all beside it"]
    lines = [
        [
            one.experiment,
            _percent(one.chance).lstrip("+"),
            figures.seconds(one.off_s),
            *(_percent(one.longer.get(name)) for name in columns),
            _short(one.best) if one.best else figures.NONE,
            _percent(one.all_longer),
        ]
        for one in found
    ]
    parts = [
        markdown.made(origin, rows),
        markdown.wrapped(
            "Seconds with pghot off, and by how much longer a run takes with the sources that are "
            f"on as shipped (*{SHIPPED}*), with each alone, and with all. *All beside it*: by how "
            "much longer with all than with the best one alone. Each is one run, and the least of "
            f"several is flattered by chance. *Seeds*: by how much runs of {SHIPPED} differ with "
            "other random numbers, where [the results](#results) have several."
        ),
        markdown.table(head, lines),
        "\n".join(markdown.item(f"- {said}") for said in slower(found, columns)),
    ]
    if left:
        parts.insert(1, markdown.wrapped(f"Not made yet: {', '.join(left)}."))
    return "\n\n".join(parts) + "\n"


def _publish(rows: list[dict], origin: Origin) -> None:
    """Publish these experiments beside those that are. An experiment stands for itself, so that
    the page need not have all."""
    entries = published.put(published.SOURCES, rows, origin)
    every = [one.name for one in experiments()]
    left = published.missing(entries, every)
    names = [name for name in every if name in entries]
    text = document(
        published.rows_of(entries, names),
        published.origin_of(entries, names, "make sources"),
        left,
    )
    markdown.put(paths.ROOT / "docs" / "bench.md", "sources", text)


def _check(args: argparse.Namespace, found: Sequence[Experiment]) -> None:
    """LabError where what is asked for cannot be run, or published: not after hours."""
    without = [one.name for one in found if not one.quick]
    if args.quick and args.experiment and without:
        raise LabError(f"{', '.join(without)}: no quick form, leave it out or leave out QUICK")
    options.whole_for_documents(args)
    if not args.docs:
        return
    others = {one.name for one in found} - {one.name for one in experiments()}
    if others:
        raise LabError(
            f"the page is of experiments with bounds, and not of variants: leave "
            f"{', '.join(sorted(others))} out of EXPERIMENT, or leave out DOCS"
        )
    published.read(published.SOURCES)


def run(args: argparse.Namespace) -> int:
    """Run all; 1 if a run failed."""
    found = experiments(args.experiment)
    _check(args, found)
    began = time.monotonic()
    origin = origins.of("sources", args)
    rows = run_matrix(
        [replace(one, seeds=1) for one in found],
        contenders(),
        quick=args.quick,
        fresh=args.fresh,
        taking=has_something_to_see,
    )
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
