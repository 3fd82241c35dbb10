# SPDX-License-Identifier: GPL-2.0
"""The report as one page of HTML that needs nothing else."""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from lab import machines
from lab.bench import charts
from lab.bench.description import Contender, Experiment
from lab.bench.figures import figure

HERE = Path(__file__).resolve().parent
_BOUNDS = ("fast", "slow")


def _top_tier(name: str) -> list[int]:
    return [
        number for number, node in enumerate(machines.load(name).nodes) if node.memory == "dram"
    ]


def _residency(row: dict) -> list[tuple[float, float | None]]:
    """Share of the pages accessed in each interval that are in DRAM, in percent."""
    top = _top_tier(row["machine"])
    return [
        (
            entry["ms"] / 1000,
            100 * sum(entry["pages"][node] for node in top) / sum(entry["pages"])
            if any(entry["pages"])
            else None,
        )
        for entry in row["timeline"]
    ]


def _cost(row: dict) -> list[tuple[float, float | None]]:
    return [(entry["ms"] / 1000, entry["miss_ns"]) for entry in row["timeline"]]


def _part(experiment: Experiment, rows: list[dict]) -> dict:
    told = [row for row in rows if not row["error"]]
    moving = [row for row in told if row["contender"] not in _BOUNDS]
    with_r = [row for row in moving if row["recovered"] is not None]
    return {
        "name": experiment.name,
        "about": experiment.about,
        "machine": experiment.machine,
        "machine_about": machines.load(experiment.machine).about,
        "command": " ".join(experiment.workload).replace("{place}", experiment.start),
        "rows": rows,
        "document": experiment.document,
        "figures": {
            entry.contender: entry.text
            for entry in (experiment.document.figures if experiment.document else ())
        },
        "bars": Markup(
            charts.bars(
                [row["contender"] for row in with_r],
                [row["recovered"] for row in with_r],
                f"{experiment.name}: recovered share",
            )
        )
        if with_r
        else "",
        "pages": Markup(
            charts.lines(
                {row["contender"]: _residency(row) for row in moving},
                f"{experiment.name}: pages in DRAM",
                "% in DRAM",
            )
        )
        if moving
        else "",
        "cost": Markup(
            charts.lines(
                {row["contender"]: _cost(row) for row in told},
                f"{experiment.name}: cost of a miss",
                "ns",
                _BOUNDS,
            )
        )
        if moving
        else "",
    }


def write(
    rows: list[dict], experiments: list[Experiment], contenders: list[Contender], path: Path
) -> Path:
    """Write the page at once; return where it is."""
    environment = Environment(
        loader=FileSystemLoader(HERE), autoescape=True, undefined=StrictUndefined, trim_blocks=True
    )
    parts = [
        _part(experiment, [row for row in rows if row["experiment"] == experiment.name])
        for experiment in experiments
    ]
    text = environment.get_template("page.html").render(
        parts=parts, contenders=[contender.name for contender in contenders], number=figure
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_suffix(".tmp")
    fresh.write_text(text, encoding="utf-8")
    fresh.rename(path)
    return path
