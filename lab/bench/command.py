# SPDX-License-Identifier: GPL-2.0
"""``make bench``: run the matrix, show and write what came out."""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace

from rich.console import Console

from lab import paths
from lab.bench import description, page, report
from lab.bench.display import display
from lab.bench.runner import Matrix, cores
from lab.kernel import build
from lab.log import console, note
from lab.measure import Guests, Result, Run, measure, plugin, workloads
from lab.verbs import Verbs

OUT = paths.OUT / "bench"


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """How runs are made; options default to $QUICK and $FRESH."""
    parser.add_argument(
        "--quick",
        action="store_true",
        default=os.environ.get("QUICK") == "1",
        help="less work in each run, one seed",
    )
    parser.add_argument(
        "--fresh",
        action="store_true",
        default=os.environ.get("FRESH") == "1",
        help="make all runs again, also those whose result is there",
    )


def add_parser(verbs: Verbs) -> None:
    """Register ``bench``; options default to $EXPERIMENT, $CONTENDER and $QUICK."""
    parser = verbs.add_parser(
        "bench", description=__doc__, help="run all experiments in guest time"
    )
    parser.add_argument(
        "--experiment",
        metavar="NAMES",
        default=os.environ.get("EXPERIMENT") or None,
        help="only these, with commas in between",
    )
    parser.add_argument(
        "--contender",
        metavar="NAMES",
        default=os.environ.get("CONTENDER") or None,
        help="only these and the bounds",
    )
    add_run_options(parser)
    parser.add_argument("--list", action="store_true", help="list experiments and contenders")
    parser.set_defaults(run=run)


def chosen(names: str | None) -> list[description.Contender]:
    """Those of a comma list and the bounds, or all."""
    known = description.contenders()
    wanted = [name for name in (names or "").split(",") if name]
    for name in wanted:
        if name not in [contender.name for contender in known]:
            raise description.LabError(
                f"unknown contender {name!r}: choose from "
                f"{', '.join(contender.name for contender in known)}"
            )
    return [
        contender
        for contender in known
        if not wanted or contender.name in wanted or contender.placement in ("fast", "slow")
    ]


def _list() -> int:
    for title, entries in (
        ("Experiments", description.experiments()),
        ("Contenders", description.contenders()),
    ):
        console.print(f"{title}:")
        for entry in entries:
            console.print(f"  {entry.name:28} {entry.about}", markup=False)
    return 0


def run_matrix(
    experiments: list[description.Experiment],
    contenders: list[description.Contender],
    *,
    quick: bool,
    fresh: bool,
) -> list[dict]:
    """The rows of all experiments and contenders, with progress shown."""
    # Once, and not by each run: images do not change meanwhile.
    images = {
        contender.kernel: str(build.ensure(contender.kernel).bzimage)
        for contender in contenders
        if contender.kernel in build.FLAVOURS
    }
    plugin.build()
    workloads.build()

    guests = Guests()

    def one(wanted: Run) -> Result:
        kernel = images.get(wanted.kernel, wanted.kernel)
        return measure(replace(wanted, kernel=kernel), reuse=not fresh, guests=guests)

    with display() as progress:
        return Matrix(
            experiments, contenders, one, quick=quick, progress=progress, guests=guests
        ).run()


def host_facts(began: float, quick: bool) -> dict:
    """``host`` of results.json, of runs that began at this time.monotonic()."""
    return {"seconds": round(time.monotonic() - began, 1), "cores": cores(), "quick": quick}


def run(args: argparse.Namespace) -> int:
    """Run what was asked for; 1 if a run failed that should not have."""
    if args.list:
        return _list()
    experiments = [
        experiment
        for experiment in description.experiments(args.experiment)
        if experiment.quick or not args.quick
    ]
    contenders = chosen(args.contender)
    began = time.monotonic()
    rows = run_matrix(experiments, contenders, quick=args.quick, fresh=args.fresh)
    host = host_facts(began, args.quick)
    report.write(rows, host, OUT / "results.json")
    shown = console if console.is_terminal else Console(width=report.WIDTH)
    shown.print(report.table(rows, shown.width))
    where = page.write(rows, experiments, contenders, OUT / "index.html")
    note(f"{OUT / 'results.json'} and {where}")
    return int(any(row["failed"] for row in rows))
