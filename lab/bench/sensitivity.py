# SPDX-License-Identifier: GPL-2.0
"""``make sensitivity``: how far results hang on what the memory model leaves out.

Runs experiments with each model of lab/machines/variations.toml, and shows the share recovered
and how late that is.
"""

from __future__ import annotations

import argparse
import os
import time
from dataclasses import replace

from rich import box
from rich.console import Console, Group
from rich.table import Table
from rich.text import Text

from lab.bench import description, report
from lab.bench.command import OUT, add_run_options, chosen, host_facts, run_matrix
from lab.errors import LabError
from lab.log import console, note
from lab.machines.variation import Variation, variations
from lab.verbs import Verbs

_EXPERIMENTS = "random-anon,graph500,redis"
_CONTENDERS = "stock-2,pghot-default-hint_fault"


def add_parser(verbs: Verbs) -> None:
    """Register ``sensitivity``; options default to $EXPERIMENT, $CONTENDER and $QUICK."""
    parser = verbs.add_parser(
        "sensitivity",
        description=__doc__,
        help="measure how far results depend on the memory model",
    )
    parser.add_argument(
        "--experiment",
        metavar="NAMES",
        default=os.environ.get("EXPERIMENT") or _EXPERIMENTS,
        help=f"with commas in between (default: {_EXPERIMENTS})",
    )
    parser.add_argument(
        "--contender",
        metavar="NAMES",
        default=os.environ.get("CONTENDER") or _CONTENDERS,
        help=f"likewise, beside the bounds (default: {_CONTENDERS})",
    )
    add_run_options(parser)
    parser.set_defaults(run=run)


def varied(
    experiments: list[description.Experiment], variations: list[Variation]
) -> list[description.Experiment]:
    """Each experiment with each of these models."""
    return [
        replace(experiment, variation=variation)
        for variation in variations
        for experiment in experiments
    ]


def delay(row: dict, slow: dict) -> float | None:
    """Seconds that the contender would have been as slow as ``slow`` for, had it been as
    fast as the bound from then on: (1 - R) T_slow. It does not hang on how long the
    run is, as R does. None without bounds."""
    if row["recovered"] is None:
        return None
    return (1 - row["recovered"]) * slow["seconds"]


def _table(rows: list[dict], slow: dict[str, dict], names: list[str]) -> Table:
    """Of one experiment. Pages that came without the kernel's count (DAMON's) are those
    that the model saw come."""
    shown = Table(
        header_style="bold",
        box=box.SIMPLE_HEAD,
        title=rows[0]["experiment"],
        title_justify="left",
        pad_edge=False,
        collapse_padding=True,
    )
    shown.add_column("contender", no_wrap=True)
    shown.add_column("model", no_wrap=True)
    for title in ("seconds", "R", "delay", "promoted"):
        shown.add_column(title, justify="right", no_wrap=True)
    for contender in dict.fromkeys(row["contender"] for row in rows):
        shown.add_section()
        own = {row["variation"]: row for row in rows if row["contender"] == contender}
        for name in names:
            row = own[name]
            shown.add_row(
                contender if name == names[0] else "",
                name,
                report.figure(row["seconds"], ".3f"),
                report.figure(row["recovered"], ".2f"),
                report.figure(delay(row, slow[name]), ".2f"),
                report.figure(row["promoted"] or row["seen_promoted"], ","),
            )
    return shown


def table(rows: list[dict], variations: list[Variation]) -> Group:
    """A line for each experiment, contender and model; what has no figures says why
    below."""
    names = [variation.name for variation in variations]
    tables = []
    for experiment in dict.fromkeys(row["experiment"] for row in rows):
        own = [row for row in rows if row["experiment"] == experiment]
        slow = {row["variation"]: row for row in own if row["contender"] == "slow"}
        tables.append(_table(own, slow, names))
    return Group(
        *tables,
        *(Text(f"{variation.name}: {variation.about}") for variation in variations),
        *(
            Text(
                f"{row['experiment']}, {row['variation']}, {row['contender']}: {row['error']}",
                style="bold red" if row["failed"] else "dim",
            )
            for row in rows
            if row["error"]
        ),
    )


def run(args: argparse.Namespace) -> int:
    """Run all models; 1 if a run failed."""
    experiments = description.experiments(args.experiment)
    for experiment in experiments:
        if experiment.unbounded:
            raise LabError(
                f"experiment {experiment.name} has no bounds, and without them "
                f"nothing is recovered: {experiment.unbounded}"
            )
        if args.quick and not experiment.quick:
            raise LabError(f"experiment {experiment.name} has no quick form")
    models = variations()
    began = time.monotonic()
    rows = run_matrix(
        varied(experiments, models), chosen(args.contender), quick=args.quick, fresh=args.fresh
    )
    host = host_facts(began, args.quick)
    where = OUT / "sensitivity.json"
    report.write(rows, host, where)
    shown = console if console.is_terminal else Console(width=report.WIDTH)
    shown.print(table(rows, models))
    note(str(where))
    return int(any(row["failed"] for row in rows))
