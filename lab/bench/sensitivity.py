# SPDX-License-Identifier: GPL-2.0
"""``make sensitivity``: how far results hang on what the memory model leaves out.

Runs experiments with each model of lab/variations.toml, and shows the share recovered
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
from lab.bench.command import OUT, chosen, run_matrix
from lab.bench.runner import cores
from lab.errors import LabError
from lab.log import console, note
from lab.variation import Variation

_EXPERIMENTS = "random-anon,graph500,redis"
_CONTENDERS = "stock-2,pghot-default-hint_fault"


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
                        help="less work in each run, one seed")
    parser.add_argument("--fresh", action="store_true",
                        default=os.environ.get("FRESH") == "1",
                        help="make all runs again, also those whose result is there")
    parser.set_defaults(run=run)


def varied(experiments: list[description.Experiment],
           variations: list[Variation]) -> list[description.Experiment]:
    """Each experiment with each of these models."""
    return [replace(experiment, variation=variation)
            for variation in variations for experiment in experiments]


def delay(row: dict, slow: dict) -> float | None:
    """Seconds that the contender would have been as slow as ``slow`` for, had it been as
    fast as the bound from then on: (1 - R) T_slow. It does not hang on how long the
    run is, as R does. None without bounds."""
    if row["recovered"] is None:
        return None
    return (1 - row["recovered"]) * slow["seconds"]


def _cell(row: dict, slow: dict) -> str:
    late = delay(row, slow)
    if late is None:
        return "-"
    return f"{report.figure(row['recovered'], '.3f')} {late:6.2f}" + \
        ("" if row["promoted"] else " none came")


def table(rows: list[dict], variations: list[Variation]) -> Group:
    """R and delay of each contender and experiment, a line for each model."""
    found = {(row["experiment"], row["variation"], row["contender"]): row for row in rows}
    experiments = list(dict.fromkeys(row["experiment"] for row in rows))
    contenders = [name for name in dict.fromkeys(row["contender"] for row in rows)
                  if name not in ("fast", "slow")]
    shown = Table(header_style="bold", box=box.SIMPLE_HEAD)
    shown.add_column("model", no_wrap=True)
    for experiment in experiments:
        shown.add_column(f"{experiment}\nT_slow", justify="right")
        for contender in contenders:
            shown.add_column(f"\n{contender}\nR, delay in s", justify="right")
    for variation in variations:
        cells = []
        for experiment in experiments:
            slow = found[experiment, variation.name, "slow"]
            cells.append(report.figure(slow["seconds"], ".2f"))
            cells += [_cell(found[experiment, variation.name, contender], slow)
                      for contender in contenders]
        shown.add_row(variation.name, *cells)
    return Group(shown, *(Text(f"{variation.name}: {variation.about}")
                          for variation in variations),
                 *(Text(f"{row['experiment']}, {row['variation']}, {row['contender']}: "
                        f"{row['error']}", style="bold red" if row["failed"] else "dim")
                   for row in rows if row["error"]))


def run(args: argparse.Namespace) -> int:
    """Run all models; 1 if a run failed."""
    experiments = description.experiments(args.experiment)
    for experiment in experiments:
        if experiment.unbounded:
            raise LabError(f"experiment {experiment.name} has no bounds, and without them "
                           f"nothing is recovered: {experiment.unbounded}")
        if args.quick and not experiment.quick:
            raise LabError(f"experiment {experiment.name} has no quick form")
    variations = description.variations()
    began = time.monotonic()
    rows = run_matrix(varied(experiments, variations), chosen(args.contender),
                      quick=args.quick, fresh=args.fresh)
    host = {"seconds": round(time.monotonic() - began, 1), "cores": cores(),
            "quick": args.quick}
    where = OUT / "sensitivity.json"
    report.write(rows, host, where)
    shown = console if console.is_terminal else Console(width=report.WIDTH)
    shown.print(table(rows, variations))
    note(str(where))
    return int(any(row["failed"] for row in rows))
