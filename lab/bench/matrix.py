# SPDX-License-Identifier: GPL-2.0
"""From experiments and contenders to runs, and from their results to rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

from lab.bench.description import Contender, Experiment
from lab.measure import Result, Run

PAGE = 4096
_MIB = 1 << 20
_BEST = "/best.pages"


@dataclass(frozen=True)
class Cell:
    """One experiment with one contender, and the run it takes.

    ``run`` is None where there is none to make, for the reason ``error``.
    """

    experiment: Experiment
    contender: Contender
    run: Run | None
    error: str | None = None


def _setup(experiment: Experiment, contender: Contender) -> str:
    parts = ["echo 1 >/sys/kernel/mm/numa/demotion_enabled",
             f"echo {contender.balancing} >/proc/sys/kernel/numa_balancing",
             experiment.setup, contender.setup]
    return "\n".join(part for part in parts if part)


def _words(words: tuple[str, ...], place: str) -> tuple[str, ...]:
    return tuple(word.replace("{place}", place) for word in words)


def cell(experiment: Experiment, contender: Contender, *, quick: bool = False) -> Cell:
    """What to run; of the best placement, the run that counts misses."""
    words = experiment.quick if quick else experiment.workload
    placement = contender.placement
    if placement != "start" and experiment.unbounded:
        return Cell(experiment, contender, None, experiment.unbounded)
    if placement == "best" and experiment.best_mib is None:
        return Cell(experiment, contender, None, "all data fits into DRAM: same as fast")
    place = {"start": experiment.start, "fast": experiment.fast,
             "slow": experiment.slow, "best": experiment.slow}[placement]
    assert place is not None
    run = Run(
        machine=(experiment.fast_machine if placement == "fast" else "")
        or experiment.machine, kernel=contender.kernel, workload=_words(words, place),
        cmdline=experiment.cmdline + contender.cmdline,
        setup=_setup(experiment, contender), packages=experiment.packages,
        count_pages=placement == "best")
    return Cell(experiment, contender, run)


def best_pages(pages: str, budget: int, nodes: list[int]) -> bytes:
    """The hottest ``budget`` pages, each on the node whose CPUs miss it most.

    ``pages`` are lines of page number and misses from each socket; ``nodes`` are
    the sockets' nodes. The best static placement of seed-free hindsight.
    """
    counted = []
    for line in pages.splitlines():
        number, *misses = line.split()
        counts = list(map(int, misses))
        counted.append((-sum(counts), number, nodes[counts.index(max(counts))]))
    chosen = sorted(counted)[:budget]
    return "".join(f"{number} {node}\n" for _, number, node in
                   sorted(chosen, key=lambda page: int(page[1], 16))).encode()


def with_best(made: Cell, counted: Result, nodes: list[int]) -> Cell:
    """The second run of the best placement, from the result of the first."""
    assert made.run is not None
    if counted.error:
        return replace(made, run=None, error=counted.error)
    budget = (made.experiment.best_mib or 0) * _MIB // PAGE
    listed = best_pages(counted.pages or "", budget, nodes)
    return replace(made, run=replace(
        made.run, count_pages=False, files={**made.run.files, _BEST: listed},
        workload=(*made.run.workload, "--best", _BEST)))


def recovered(seconds: float | None, fast: float | None, slow: float | None) -> float | None:
    """R = (T_slow - T) / (T_slow - T_fast); None where a bound is missing or both are
    the same."""
    if seconds is None or fast is None or slow is None or slow == fast:
        return None
    return (slow - seconds) / (slow - fast)


_DEMOTED = ("pgdemote_kswapd", "pgdemote_direct", "pgdemote_khugepaged",
            "pgdemote_proactive")


def _timeline(result: Result) -> list[dict]:
    """For each interval: its end in ms, the pages that were accessed on each node, and
    what a miss cost in ns."""
    line = []
    for entry in result.model.get("timeline", []):
        misses = sum(node["misses"] for node in entry["nodes"])
        spent = sum(node["ns"] for node in entry["nodes"])
        line.append({"ms": round(entry["ns"] / 1e6),
                     "pages": [node["pages"] for node in entry["nodes"]],
                     "miss_ns": round(spent / misses, 1) if misses else None})
    return line


def row(made: Cell, result: Result | None, fast: float | None,
        slow: float | None) -> dict:
    """One row of results.json: docs/lab.md documents the fields."""
    error = made.error if result is None else result.error
    base = {"experiment": made.experiment.name, "machine": made.experiment.machine,
            "contender": made.contender.name, "error": error,
            "failed": bool(made.run and result and result.error)}
    if result is None or result.error:
        return {**base, "seconds": None, "score": None, "unit": None, "recovered": None,
                "promoted": None, "demoted": None, "demoted_again": None,
                "seen_promoted": None,
                "kernel_seconds": None, "detail": None, "timeline": None}
    vmstat = result.vmstat
    return {
        **base, "seconds": result.seconds, "score": result.score,
        "unit": result.workload.get("unit"),
        "recovered": recovered(result.seconds, fast, slow),
        "promoted": vmstat.get("pgpromote_success", 0),
        "demoted": sum(vmstat.get(name, 0) for name in _DEMOTED),
        "demoted_again": result.model["pages"]["demoted_again"],
        "seen_promoted": result.model["pages"]["promoted"],
        "kernel_seconds": result.kernel_seconds,
        "detail": result.workload.get("detail"), "timeline": _timeline(result)}
