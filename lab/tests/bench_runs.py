# SPDX-License-Identifier: GPL-2.0
"""Runs of the benchmarks, for tests that make one of them with something else about it."""

from dataclasses import replace

import pytest

from lab.bench import description
from lab.bench.matrix import cell
from lab.kernel.build import BuiltKernel
from lab.measure import Result, Run, measure


def runs_of(experiment: str, contender: str, *, quick: bool = False) -> tuple[Run, ...]:
    """Those of an experiment with a contender, one for each seed."""
    (read,) = description.experiments(experiment)
    (one,) = (each for each in description.contenders() if each.name == contender)
    return cell(read, one, quick=quick).runs


def by_kernel(kernel: BuiltKernel, run: Run, changes: str, setup: str = "") -> Result:
    """What came of a run by the kernel under test, with ``setup`` behind its own. Not by a debug
    kernel, of which ``changes`` is what it makes different."""
    if kernel.flavour == "debug":
        pytest.skip(f"{changes} a debug kernel changes")
    setup = f"{run.setup}\n{setup}" if setup else run.setup
    done = measure(replace(run, kernel=str(kernel.bzimage), setup=setup))
    assert done.error is None
    return done
