# SPDX-License-Identifier: GPL-2.0
"""Runs of a matrix in guests, with the kernels built first and progress shown."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from lab.bench.description import Contender, Experiment
from lab.bench.display import display
from lab.bench.runner import Matrix, Taking, everywhere
from lab.kernel import build
from lab.measure import Guests, Result, Run, measure, plugin, workloads


def _kept(flavours: Iterable[str], where: Path) -> dict[str, str]:
    """Images of these kernels, built and copied: a kernel that is built anew while the matrix
    runs, hours with all of it, is not to get into half of its rows."""
    kept = {}
    for flavour in flavours:
        image = where / flavour
        shutil.copyfile(build.ensure(flavour).bzimage, image)
        kept[flavour] = str(image)
    return kept


def run_matrix(
    experiments: list[Experiment],
    contenders: list[Contender],
    *,
    quick: bool,
    fresh: bool,
    taking: Taking = everywhere,
) -> list[dict]:
    """The rows of all experiments and contenders, with progress shown; ``taking``
    is as Matrix has it."""
    flavours = {one.kernel for one in contenders if one.kernel in build.FLAVOURS}
    guests = Guests()
    with tempfile.TemporaryDirectory(prefix="pghot-bench-") as kept:
        images = _kept(sorted(flavours), Path(kept))
        plugin.build()
        workloads.build()

        def one(wanted: Run) -> Result:
            kernel = images.get(wanted.kernel, wanted.kernel)
            return measure(replace(wanted, kernel=kernel), reuse=not fresh, guests=guests)

        with display() as progress:
            return Matrix(
                experiments,
                contenders,
                one,
                quick=quick,
                taking=taking,
                progress=progress,
                guests=guests,
            ).run()
