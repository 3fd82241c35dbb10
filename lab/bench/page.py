# SPDX-License-Identifier: GPL-2.0
"""The results as one page of HTML that needs nothing else: an overview, and each experiment
on demand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from markupsafe import Markup

from lab import machines
from lab import page as pages
from lab.bench import charts, engines, figures, marks, overview, resolution, tenants
from lab.bench.compared import by_contender, pair
from lab.bench.description import Contender, Experiment
from lab.bench.marks import Mark
from lab.bench.origin import Origin
from lab.files import write_text

_TEMPLATE = Path(__file__).with_name("results.html")
_STOCK = "stock Linux"
_FEW = 2
"""With no more experiments than these, each is shown open."""


@dataclass(frozen=True)
class _Standing:
    """A contender over the experiments in which it is held against pghot, and ``ours``, what pghot
    has over the same ones: others are in easier or harder ones than that is."""

    name: str
    about: str
    count: int
    middle: str
    ours: str
    worst: str
    late: str
    ours_late: str


def _residency(row: dict) -> list[tuple[float, float | None]]:
    """Share of the pages accessed in each interval that are in DRAM, in percent."""
    top = machines.load(row["machine"]).top_tier
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


def _cells(row: dict, late: float | None, mark: Mark | None) -> dict:
    """A row as text. ``bar`` is what of R can be drawn: percent of the way to the bound."""
    r = row["recovered"]
    return {
        "contender": row["contender"],
        "rank": mark.rank if mark else "bound",
        "error": row["error"],
        "failed": row["failed"],
        "r": figures.share(r),
        "bar": None if r is None else round(100 * min(max(r, 0), 1)),
        "harm": figures.harm(r),
        "spread": figures.spread(row),
        "lost": figures.cpu_ms(row["hog_lost_ms"]),
        "in_fault": figures.in_fault(row),
        "left": figures.left(row["hog_idle_rate"]),
        "late": figures.late(late),
        "seconds": figures.seconds(row["seconds"]),
        "score": figures.score(row["score"], row["unit"]),
        "counts": [
            figures.count(number)
            for number in (figures.promoted(row), row["demoted"], row["demoted_again"])
        ],
        "kernel": figures.seconds(row["kernel_seconds"]),
    }


def _lead(rows: list[dict]) -> list[tuple[str, str]]:
    """What is said of an experiment while it is closed: pghot's figure, and that of the
    stock kernel at its best."""
    ours = marks.headline([row["contender"] for row in rows])
    found = []
    for label, row in zip((_STOCK, "pghot"), pair(by_contender(rows), ours)):
        if row is None:
            continue
        if row["error"]:
            text = "failed" if row["failed"] else figures.NONE
        elif row["recovered"] is None:
            text = figures.score(row["score"], row["unit"])
        else:
            text = figures.share(row["recovered"])
        found.append((label, text))
    return found[::-1]


def _part(
    experiment: Experiment,
    rows: list[dict],
    delays: dict[tuple[str, str, str], float | None],
    known: dict[str, Mark],
) -> dict:
    moving = [row for row in rows if not row["error"] and row["contender"] not in marks.BOUNDS]
    told = [row for row in rows if not row["error"]]
    return {
        "name": experiment.name,
        "about": experiment.about,
        "machine": experiment.machine,
        "machine_about": machines.load(experiment.machine).about,
        "command": " ".join(experiment.workload).replace("{place}", experiment.start),
        "unbounded": experiment.unbounded,
        "busy": bool(experiment.variant and experiment.variant.left),
        "lead": _lead(rows),
        "rows": [
            _cells(
                row,
                delays[(*figures.row_key(row), row["contender"])],
                known.get(row["contender"]),
            )
            for row in rows
        ],
        # Their experiment is the part's.
        "tenants": [line[1:] for line in tenants.lines(rows)],
        "document": experiment.document,
        "figures": {
            entry.contender: entry.text
            for entry in (experiment.document.figures if experiment.document else ())
        },
        "pages": Markup(
            charts.lines(
                {row["contender"]: _residency(row) for row in moving},
                known,
                f"{experiment.name}: pages in DRAM",
                "% in DRAM",
            )
        )
        if moving
        else "",
        "cost": Markup(
            charts.lines(
                {row["contender"]: _cost(row) for row in told},
                known,
                f"{experiment.name}: cost of a miss",
                "ns",
            )
        )
        if moving
        else "",
    }


def _held_against(rows: list[dict], experiments: list[Experiment], ours: str) -> list[dict]:
    """Rows with R of experiments that have pghot's, and in which tiering decides it: no variants,
    nor what has its data in DRAM from the start, nor what no page was promoted for."""
    begins_slow = {one.name for one in experiments if one.start == one.slow and not one.variant}
    unmoved = resolution.unmoved(rows)
    known = [
        row
        for row in rows
        if row["experiment"] in begins_slow and row["recovered"] is not None and row not in unmoved
    ]
    beside = {figures.row_key(row) for row in known if row["contender"] == ours}
    return [row for row in known if figures.row_key(row) in beside]


def _middle(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return median(known) if known else None


def _standings(
    rows: list[dict],
    experiments: list[Experiment],
    contenders: list[Contender],
    delays: dict[tuple[str, str, str], float | None],
    known: dict[str, Mark],
) -> list[_Standing]:
    ours = marks.headline(list(known)) or ""
    counted = _held_against(rows, experiments, ours)
    found = []
    moving = [contender for contender in contenders if contender.name in known]
    for contender in sorted(moving, key=lambda contender: known[contender.name].rank):
        own = [row for row in counted if row["contender"] == contender.name]
        if not own:
            continue
        same = {figures.row_key(row) for row in own}
        pghot = [
            row for row in counted if row["contender"] == ours and figures.row_key(row) in same
        ]
        late, ours_late = (
            [delays[(*figures.row_key(row), row["contender"])] for row in those]
            for those in (own, pghot)
        )
        found.append(
            _Standing(
                name=contender.name,
                about=contender.about,
                count=len(own),
                middle=figures.share(_middle(row["recovered"] for row in own)),
                ours=figures.share(_middle(row["recovered"] for row in pghot)),
                worst=figures.share(min(row["recovered"] for row in own)),
                late=figures.late(_middle(late)),
                ours_late=figures.late(_middle(ours_late)),
            )
        )
    return found


def write(
    rows: list[dict],
    experiments: list[Experiment],
    contenders: list[Contender],
    path: Path,
    origin: Origin | None = None,
) -> Path:
    """Write the page at once; return where it is. ``origin`` is what made the rows."""
    delays = figures.delays(rows)
    known = marks.of([contender.name for contender in contenders])
    parts = [
        _part(
            experiment,
            [row for row in rows if row["experiment"] == experiment.name],
            delays,
            known,
        )
        for experiment in experiments
    ]
    text = pages.render(
        _TEMPLATE,
        picture=Markup(overview.draw(rows, title="Where each contender stands", links=True) or ""),
        standings=_standings(rows, experiments, contenders, delays, known),
        bounded=[part for part in parts if not part["unbounded"]],
        unbounded=[part for part in parts if part["unbounded"]],
        engines=engines.tables(rows, experiments),
        predicted=engines.told(rows, experiments),
        ours=marks.headline(list(known)) or "",
        resolution=" ".join(resolution.all_told(rows)),
        tenant_titles=(*tenants.NAMES[1:], *tenants.FIGURES),
        open=len(parts) <= _FEW,
        origin=origin,
        light=charts.colours(dark=False),
        dark=charts.colours(dark=True),
    )
    write_text(path, text)
    return path
