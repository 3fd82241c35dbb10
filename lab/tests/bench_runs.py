# SPDX-License-Identifier: GPL-2.0
"""Runs of the benchmarks, for tests that make one of them with something else about it."""

from lab.bench import description
from lab.bench.matrix import cell
from lab.measure import Run


def runs_of(experiment: str, contender: str, *, quick: bool = False) -> tuple[Run, ...]:
    """Those of an experiment with a contender, one for each seed."""
    (read,) = description.experiments(experiment)
    (one,) = (each for each in description.contenders() if each.name == contender)
    return cell(read, one, quick=quick).runs
