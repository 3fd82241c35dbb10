# SPDX-License-Identifier: GPL-2.0
"""The demonstration's second half: the same Redis in guest time, where memory has a cost.

The machine before is modelled in its topology and runs as fast as this host lets it.
Here each access costs what its tier costs, so that what promotion gains is a figure of
the machine and not of this host (docs/model.md).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from lab.bench import description, marks
from lab.bench.description import Contender, Experiment
from lab.bench.runner import Matrix, Progress
from lab.demo.narrator import Narrator, people
from lab.errors import LabError
from lab.host import capacity
from lab.measure import Guests, Result, Run, measure, plugin, workloads

EXPERIMENT = "redis"
STOCK = marks.REFERENCE


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
    """The bounds, the stock kernel's way and pghot, all with the same kernel: no other one
    needs to be built, and with pghot=off it decides as the stock kernel does."""
    wanted = ("fast", "slow", STOCK, f"pghot-{layout}")
    return [
        replace(
            contender,
            kernel="demo",
            cmdline=("pghot=off",) if contender.name == STOCK else contender.cmdline,
        )
        for contender in description.contenders()
        if contender.name in wanted
    ]


def perform(
    layout: str, image: Path, narrator: Narrator, experiment: Experiment | None = None
) -> dict:
    """Measure. Returns ``experiment``, ``machine`` and ``rows`` as results.json has them.

    Raises LabError where a run fails.
    """
    # One seed: who watches does not wait for a mean.
    chosen = experiment or replace(description.experiments(EXPERIMENT)[0], seeds=1)
    plugin.build()
    workloads.build()

    guests = Guests()

    def one(run: Run) -> Result:
        return measure(replace(run, kernel=str(image)), reuse=True, guests=guests)

    narrator.detail(f"{chosen.machine}, {capacity.cpus()} guests at a time")
    field = contenders(layout)
    rows = Matrix([chosen], field, one, progress=_Told(narrator), guests=guests).run()
    failed = [f"{row['contender']}: {row['error']}" for row in rows if row["failed"]]
    if failed:
        raise LabError(f"Redis could not be measured: {failed[0]}")
    if any(row["recovered"] is None for row in rows):
        raise LabError("Redis is not slower from slow memory: there is nothing to recover")
    return {"experiment": chosen.name, "machine": chosen.machine, "rows": rows}


def by_side(result: dict) -> dict[str, dict]:
    """The rows by "fast", "slow", "stock" and "pghot"."""
    return {row["contender"].split("-")[0]: row for row in result["rows"]}


def told(result: dict) -> str:
    """The rows in one sentence."""
    by = by_side(result)
    ours, stock = by["pghot"], by["stock"]
    return (
        f"pghot brings Redis from {people(by['slow']['score'])} to {people(ours['score'])} keys/s. "
        f"DRAM alone would give {people(by['fast']['score'])}: "
        f"{100 * ours['recovered']:.0f}% of what slow memory costs is recovered, "
        f"{100 * stock['recovered']:.0f}% by NUMA balancing alone, with pghot off."
    )
