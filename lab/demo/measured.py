# SPDX-License-Identifier: GPL-2.0
"""The demonstration's second half: the same Redis in guest time, where memory has a cost.

The machine before is modelled in its topology and runs as fast as this host lets it.
Here each access costs what its tier costs, so that what promotion gains is a figure of
the machine and not of this host (docs/model.md).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lab.bench import description, page
from lab.bench.description import Contender, Experiment
from lab.bench.runner import Matrix, Progress, cores
from lab.demo.narrator import Narrator
from lab.errors import LabError
from lab.measure import Guests, Result, Run, measure, plugin, workloads

EXPERIMENT = "redis"


class _Told(Progress):
    """A line for each run that ended."""

    def __init__(self, narrator: Narrator) -> None:
        self._narrator = narrator

    def ended(self, name: str, result: Result, left: int, seconds: float | None) -> None:
        what = result.error or (
            f"{result.seconds:.2f} s of guest time, {result.score:,.0f} {result.workload['unit']}"
        )
        self._narrator.detail(f"{name}: {what}")


def contenders(layout: str) -> list[Contender]:
    """The bounds and pghot, all with pghot's kernel: no other one needs to be built."""
    wanted = ("fast", "slow", f"pghot-{layout}-hint_fault")
    return [
        replace(contender, kernel="demo")
        for contender in description.contenders()
        if contender.name in wanted
    ]


def perform(
    layout: str, image: Path, narrator: Narrator, where: Path, experiment: Experiment | None = None
) -> dict:
    """Measure, and write the page to ``where``.

    Returns ``experiment``, ``machine``, ``page`` and ``rows`` as results.json has
    them. Raises LabError where a run fails.
    """
    chosen = experiment or description.experiments(EXPERIMENT)[0]
    plugin.build()
    workloads.build()

    guests = Guests()

    def one(run: Run) -> Result:
        return measure(replace(run, kernel=str(image)), reuse=True, guests=guests)

    narrator.detail(f"{chosen.machine}, {cores()} guests at a time")
    field = contenders(layout)
    rows = Matrix([chosen], field, one, progress=_Told(narrator), guests=guests).run()
    failed = [f"{row['contender']}: {row['error']}" for row in rows if row["failed"]]
    if failed:
        raise LabError(f"Redis could not be measured: {failed[0]}")
    page.write(rows, [chosen], field, where)
    return {"experiment": chosen.name, "machine": chosen.machine, "page": where.name, "rows": rows}


def told(result: dict) -> str:
    """The rows in one sentence."""
    by = {row["contender"].split("-")[0]: row for row in result["rows"]}
    ours = by["pghot"]
    return (
        f"In guest time on {result['machine']}, Redis serves {by['slow']['score']:,.0f} "
        f"keys/s from the slow node, {ours['score']:,.0f} with pghot from the first "
        f"access on, and {by['fast']['score']:,.0f} from DRAM: "
        f"{100 * ours['recovered']:.0f}% of what the slow node costs are recovered."
    )
