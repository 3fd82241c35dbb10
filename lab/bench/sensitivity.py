# SPDX-License-Identifier: GPL-2.0
"""``make sensitivity``: how far results hang on what the memory model leaves out.

Runs experiments with each model of lab/variations.toml and shows the share recovered.
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
from lab.bench.command import OUT, chosen, run_matrix
from lab.bench.runner import cores
from lab.errors import LabError
from lab.log import console, note

_EXPERIMENTS = "random-anon,graph500,redis"
_CONTENDERS = "stock-2,pghot-default-hint_fault"
_SEPARATOR = " @ "


def add_parser(verbs) -> None:
    """Register ``sensitivity``; options default to $EXPERIMENT, $CONTENDER and $QUICK."""
    parser = verbs.add_parser("sensitivity", description=__doc__,
                              help="measure how far results hang on the memory model")
    parser.add_argument("--experiment", metavar="NAMES",
                        default=os.environ.get("EXPERIMENT") or _EXPERIMENTS,
                        help=f"with commas in between (default: {_EXPERIMENTS})")
    parser.add_argument("--contender", metavar="NAMES",
                        default=os.environ.get("CONTENDER") or _CONTENDERS,
                        help=f"likewise, beside the bounds (default: {_CONTENDERS})")
    parser.add_argument("--quick", action="store_true",
                        default=os.environ.get("QUICK") == "1",
                        help="a quarter of the work in each run")
    parser.add_argument("--fresh", action="store_true",
                        default=os.environ.get("FRESH") == "1",
                        help="make all runs again, also those whose result is there")
    parser.set_defaults(run=run)


def varied(experiments: list[description.Experiment],
           names: list[str]) -> list[description.Experiment]:
    """Each experiment with each variation of these names, named "EXPERIMENT @ NAME"."""
    known = description.variations()
    return [replace(experiment, name=f"{experiment.name}{_SEPARATOR}{name}",
                    variation=known[name][1])
            for name in names for experiment in experiments]


def split(rows: list[dict]) -> list[dict]:
    """Rows with the variation in a field of its own."""
    return [{**row, "experiment": experiment, "variation": name} for row in rows
            for experiment, name in [row["experiment"].split(_SEPARATOR)]]


def table(rows: list[dict]) -> Group:
    """R of each contender and experiment, a line for each variation."""
    abouts = {name: about for name, (about, _) in description.variations().items()}
    shown = Table(header_style="bold", box=box.SIMPLE_HEAD)
    shown.add_column("model", no_wrap=True)
    columns, lines, reasons = [], {}, []
    for row in rows:
        if row["contender"] in ("fast", "slow"):
            if row["error"]:
                reasons.append(row["error"])
            continue
        column = (row["experiment"], row["contender"])
        if column not in columns:
            columns.append(column)
            shown.add_column("\n".join(column), justify="right")
        if row["error"]:
            reasons.append(row["error"])
        lines.setdefault(row["variation"], {})[column] = report.figure(row["recovered"], ".3f")
    for name, cells in lines.items():
        shown.add_row(name, *(cells.get(column, "-") for column in columns))
    return Group(shown, *(Text(f"{name}: {abouts[name]}") for name in lines),
                 *(Text(f"failed: {why}", style="bold red")
                   for why in dict.fromkeys(reasons)))


def run(args: argparse.Namespace) -> int:
    """Run all variations; 1 if a run failed."""
    experiments = description.experiments(args.experiment)
    for experiment in experiments:
        if experiment.unbounded:
            raise LabError(f"experiment {experiment.name} has no bounds, and without them "
                           f"nothing is recovered: {experiment.unbounded}")
        if args.quick and not experiment.quick:
            raise LabError(f"experiment {experiment.name} has no quick form")
    began = time.monotonic()
    names = list(description.variations())
    rows = split(run_matrix(varied(experiments, names), chosen(args.contender),
                            quick=args.quick, fresh=args.fresh))
    host = {"seconds": round(time.monotonic() - began, 1), "cores": cores(),
            "quick": args.quick}
    where = OUT / "sensitivity.json"
    report.write(rows, host, where)
    shown = console if console.is_terminal else Console(width=report.WIDTH)
    shown.print(table(rows))
    note(f"{where}")
    return int(any(row["failed"] for row in rows))
