# SPDX-License-Identifier: GPL-2.0
"""``make sensitivity``: how far results depend on what the memory model leaves out.

Runs the short form of experiments, by default two in which the first hint fault decides and two in
which DRAM is full, with each model of lab/machines/variations.toml and three seeds, and shows the
share recovered, how late that is, and whether pghot and the stock kernel change places.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from lab import paths
from lab.bench import (
    description,
    documents,
    figures,
    markdown,
    marks,
    options,
    order,
    published,
    report,
)
from lab.bench import origin as origins
from lab.bench.perform import run_matrix
from lab.errors import LabError
from lab.files import write_text
from lab.log import console, note
from lab.machines.variation import Variation, variations

EXPERIMENTS = "redis,graph500,tenants,hostile-alternate"
CONTENDERS = ",".join(marks.MAIN)
"""What is run where nothing else is asked for."""
_SEEDS = 3


def varied(
    experiments: list[description.Experiment], models: list[Variation], seeds: int = _SEEDS
) -> list[description.Experiment]:
    """The short form of each experiment with each of these models."""
    return [
        replace(
            experiment,
            variation=variation,
            scale=replace(
                experiment.scale, memory=round(experiment.scale.memory * variation.memory)
            ),
            workload=experiment.quick,
            seeds=seeds,
            # As in the matrix, bounds that chance hardly decides are run once.
            one_seed=tuple(name for name in experiment.one_seed if name in marks.BOUNDS),
        )
        for variation in models
        for experiment in experiments
    ]


def _table(rows: list[dict], names: list[str]) -> Table:
    """Of one experiment."""
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
    late = figures.delays(rows)
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
                figures.seconds(row["seconds"]),
                figures.share(row["recovered"]),
                figures.late(late[row["experiment"], name, contender]),
                figures.count(figures.promoted(row)),
            )
    return shown


def table(rows: list[dict], models: list[Variation]) -> Group:
    """A line for each experiment, contender and model; what has no figures says why
    below."""
    names = [variation.name for variation in models]
    tables = []
    for experiment in dict.fromkeys(row["experiment"] for row in rows):
        own = [row for row in rows if row["experiment"] == experiment]
        tables.append(_table(own, names))
    return Group(
        *tables,
        *(Text(one.told()) for one in order.orders(rows)),
        *(Text(f"{variation.name}: {variation.about}") for variation in models),
        *report.reasons(rows, "experiment", "variation", "contender"),
    )


def _document(rows: list[dict], models: list[Variation], origin: origins.Origin) -> None:
    """Publish these experiments; the page is written once all are."""
    entries = published.put(published.SENSITIVITY, rows, origin)
    names = EXPERIMENTS.split(",")
    if published.left(published.SENSITIVITY, entries, names):
        return
    text = documents.sensitivity(
        published.rows_of(entries, names),
        models,
        published.origin_of(entries, names, "make sensitivity"),
        description.experiments(EXPERIMENTS),
    )
    markdown.put(paths.ROOT / "docs" / "model.md", "sensitivity", text)


def _check_documents(args: argparse.Namespace) -> None:
    """LabError where what is asked for cannot be published: not after hours."""
    options.whole_for_documents(args, CONTENDERS)
    if not args.docs:
        return
    others = set(args.experiment.split(",")) - set(EXPERIMENTS.split(","))
    if others:
        raise LabError(
            f"the page is of {EXPERIMENTS}: leave {', '.join(sorted(others))} out of EXPERIMENT, "
            "or leave out DOCS"
        )
    published.read(published.SENSITIVITY)


def run(args: argparse.Namespace) -> int:
    """Run all models; 1 if a run failed."""
    _check_documents(args)
    experiments = description.experiments(args.experiment)
    for experiment in experiments:
        if experiment.unbounded:
            raise LabError(
                f"experiment {experiment.name} has no bounds, and without them "
                f"nothing is recovered: {experiment.unbounded}"
            )
        if not experiment.quick:
            raise LabError(f"experiment {experiment.name} has no quick form")
    models = variations()
    began = time.monotonic()
    origin = origins.of("sensitivity", args, experiment=EXPERIMENTS, contender=CONTENDERS)
    rows = run_matrix(
        varied(experiments, models, 1 if args.quick else _SEEDS),
        options.chosen(args.contender),
        quick=False,
        fresh=args.fresh,
    )
    failed = any(row["failed"] for row in rows)
    where = options.OUT / "sensitivity.json"
    report.write(rows, options.host_facts(began, args, origin), where)
    text = documents.sensitivity(rows, models, origin, experiments)
    write_text(options.OUT / "sensitivity.md", text)
    if args.docs and not failed:
        _document(rows, models, origin)
    elif args.docs:
        note("documents are left as they are: a run failed")
    options.screen().print(table(rows, models))
    note(str(where))
    console.print(report.digest_told(rows))
    return int(failed)
