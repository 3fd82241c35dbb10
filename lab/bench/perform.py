# SPDX-License-Identifier: GPL-2.0
"""Runs of a matrix in guests, with the kernels built first and progress shown."""

from __future__ import annotations

from dataclasses import replace

from lab.bench.description import Contender, Experiment
from lab.bench.display import display
from lab.bench.runner import Matrix
from lab.kernel import build
from lab.measure import Guests, Result, Run, measure, plugin, workloads


def run_matrix(
    experiments: list[Experiment],
    contenders: list[Contender],
    *,
    quick: bool,
    fresh: bool,
    everywhere: bool = True,
) -> list[dict]:
    """The rows of all experiments and contenders, with progress shown; without
    ``everywhere`` as Matrix has it."""
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
            experiments,
            contenders,
            one,
            quick=quick,
            everywhere=everywhere,
            progress=progress,
            guests=guests,
        ).run()
