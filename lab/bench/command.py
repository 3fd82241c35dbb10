# SPDX-License-Identifier: GPL-2.0
"""``make bench``: run the matrix, show and write what came out."""

from __future__ import annotations

import argparse
import time
from functools import partial

from lab import paths
from lab.bench import (
    description,
    documents,
    engines,
    markdown,
    marks,
    options,
    overview,
    published,
    report,
    sensitivity,
    sources,
    tenants,
)
from lab.bench import origin as origins
from lab.bench.origin import Origin
from lab.bench.perform import run_matrix
from lab.bench.runner import everywhere
from lab.errors import LabError
from lab.files import write_text
from lab.log import console, note
from lab.verbs import Verbs

_WHOLE = "make bench DOCS=1"
"""What makes all that is published. Without DOCS some variants have one seed."""
_PICTURE = paths.ROOT / "docs" / "pictures" / "bench.svg"


def add_parser(verbs: Verbs) -> None:
    """Register the verbs; lab.bench.options says where options come from."""
    parser = verbs.add_parser(
        "bench", description=__doc__, help="run all experiments in guest time"
    )
    options.add(
        parser,
        {"experiment": None, "contender": None},
        "README.md, docs/bench.md and docs/pictures/",
    )
    options.switch(
        parser,
        "main",
        "only what stands for all: some experiments of each kind, the bounds, the stock kernel "
        "and pghot",
    )
    options.switch(
        parser,
        "long",
        "only experiments that have a long form, and that form: 10 or 20 times as long with the "
        "same constants, for policies that adapt slowly",
    )
    parser.add_argument("--list", action="store_true", help="list experiments and contenders")
    parser.set_defaults(run=run)
    varied = verbs.add_parser(
        "sensitivity",
        description=sensitivity.__doc__,
        help="measure how far results depend on the memory model",
    )
    chosen = {"experiment": sensitivity.EXPERIMENTS, "contender": sensitivity.CONTENDERS}
    options.add(varied, chosen, "docs/model.md")
    varied.set_defaults(run=sensitivity.run)
    alone = verbs.add_parser(
        "sources",
        description=sources.__doc__,
        help="measure each source alone, and all of them together",
    )
    options.add(alone, {"experiment": None}, "docs/bench.md")
    alone.set_defaults(run=sources.run)


def _list() -> int:
    for title, entries in (
        ("Experiments", description.experiments()),
        ("Contenders", description.contenders()),
    ):
        console.print(f"{title}:")
        for entry in entries:
            console.print(f"  {entry.name:28} {entry.about}", markup=False)
    return 0


def _draw(rows: list[dict], origin: Origin) -> str | None:
    """The picture for documents, also in build/, or none where there is nothing to show."""
    drawn = overview.standalone(rows, f"{origin.command}, {origin.commit}")
    if drawn is not None:
        write_text(options.OUT / "overview.svg", drawn)
    return drawn


def _readme(
    rows: list[dict],
    experiments: list[description.Experiment],
    origin: Origin,
    picture: str | None,
) -> None:
    """Renew what the README shows of these results."""
    readme = paths.ROOT / "README.md"
    markdown.put(readme, "bench", documents.short(rows, experiments, origin, overview.MAIN))
    markdown.put(readme, "bench (gain)", documents.gain(rows, experiments))
    if picture is not None:
        write_text(_PICTURE, picture)


def _all(
    rows: list[dict],
    experiments: list[description.Experiment],
    origin: Origin,
    picture: str | None,
) -> None:
    """Renew what all pages show of these results."""
    _readme(rows, experiments, origin, picture)
    whole = paths.ROOT / "docs" / "bench.md"
    markdown.put(whole, "bench (summary)", documents.summary(rows, experiments, origin))
    markdown.put(whole, "bench", documents.results(rows, origin, experiments))


def _document(
    args: argparse.Namespace,
    rows: list[dict],
    experiments: list[description.Experiment],
    origin: Origin,
    picture: str | None,
) -> None:
    """Renew documents. With --main that is the README. Experiments that were named are published,
    and pages are written once all are."""
    if args.main:
        _readme(rows, description.experiments(), origin, picture)
        return
    entries = published.put(published.BENCH, rows, origin)
    if not args.experiment:
        _all(rows, experiments, origin, picture)
        return
    every = description.experiments()
    names = [one.name for one in every]
    if published.left(published.BENCH, entries, names):
        return
    whole = published.rows_of(entries, names)
    origin = published.origin_of(entries, names, _WHOLE)
    _all(whole, every, origin, _draw(whole, origin))


def _experiments(args: argparse.Namespace) -> list[description.Experiment]:
    if args.main and (args.experiment or args.contender):
        raise LabError("MAIN=1 says which experiments and contenders: leave out the others")
    if args.long and (args.main or args.quick or args.experiment):
        raise LabError(
            "LONG=1 says which experiments: leave out MAIN, QUICK and EXPERIMENT, or name one of "
            "them with -long behind"
        )
    if args.long:
        return description.long_ones()
    names = ",".join(overview.MAIN) if args.main else args.experiment
    wanted = description.experiments(names, published=args.docs)
    if args.docs:
        of_matrix = {one.name for one in description.experiments()}
        others = [one.name for one in wanted if one.name not in of_matrix]
        if others:
            raise LabError(
                f"documents have what `make bench` runs by itself: leave {', '.join(others)} out "
                "of EXPERIMENT, or leave out DOCS"
            )
    made = [experiment for experiment in wanted if experiment.quick or not args.quick]
    if not made:
        named = ", ".join(experiment.name for experiment in wanted)
        raise LabError(f"without a short form there is nothing to run of {named}: leave out QUICK")
    return made


def run(args: argparse.Namespace) -> int:
    """Run what was asked for; 1 if a run failed that should not have."""
    if args.list:
        return _list()
    options.whole_for_documents(args)
    experiments = _experiments(args)
    contenders = options.chosen(",".join(marks.MAIN) if args.main else args.contender)
    if args.docs:
        # What is wrong with it is not to be found out after hours.
        published.read(published.BENCH)
    began, origin = time.monotonic(), origins.of("bench", args)
    if args.docs and not (args.main or args.experiment):
        origin = Origin(_WHOLE, origin.commit)
    rows = run_matrix(
        experiments,
        contenders,
        quick=args.quick,
        fresh=args.fresh,
        taking=everywhere if args.contender else partial(description.take_part, quick=args.quick),
    )
    tenants.bound(rows)
    failed = any(row["failed"] for row in rows)
    report.write(rows, options.host_facts(began, args, origin), options.OUT / "results.json")
    write_text(options.OUT / "results.md", documents.results(rows, origin, experiments))
    shown = options.screen()
    shown.print(report.table(rows, shown.width))
    several = tenants.table(rows)
    if several is not None:
        shown.print(several)
    for grid in engines.grids(rows, experiments):
        shown.print(grid)
    if predicted := engines.told(rows, experiments):
        console.print(predicted, highlight=False)
    # Loads matplotlib, for which no other verb is to wait.
    from lab.bench import page

    where = page.write(rows, experiments, contenders, options.OUT / "index.html", origin)
    picture = _draw(rows, origin)
    if args.docs and not failed:
        _document(args, rows, experiments, origin, picture)
    elif args.docs:
        note("documents are left as they are: a run failed")
    note(f"{options.OUT / 'results.json'} and {where}")
    console.print(report.digest_told(rows))
    return int(failed)
