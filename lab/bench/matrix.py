# SPDX-License-Identifier: GPL-2.0
"""From experiments and contenders to runs, and from their results to rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lab import machines
from lab.bench.description import Contender, Experiment, Variant
from lab.errors import LabError
from lab.measure import Result, Run, workloads

PAGE = 4096
_MIB = 1 << 20
_BEST = "/best.pages"
_BUSY = "/run/lab/busy"
"""What lab/workloads/hog.c waits for."""


_CLOCK = """\
# What contenders convert themselves goes by it.
clock={}
slice=/sys/kernel/debug/sched/base_slice_ns
echo $(($(cat $slice) * clock)) >$slice"""
"""Shell for guests whose clock is not the machine's: programs that share a CPU take turns of the
same length by the machine's."""


@dataclass(frozen=True)
class Cell:
    """One experiment with one contender, and the runs it takes, one for each seed.

    There are none to make where ``error`` says why.
    """

    experiment: Experiment
    contender: Contender
    runs: tuple[Run, ...]
    error: str | None = None

    @property
    def key(self) -> tuple[tuple[str, str], str]:
        """What tells it from others of a matrix."""
        return self.experiment.key, self.contender.name


def _hogs(variant: Variant) -> str:
    """Options of lab/workloads/hog.c; empty where nothing else is busy."""
    chosen = (("--cpus", variant.hogs), ("--idle-cpus", variant.left))
    return " ".join(f"{option} {','.join(map(str, cpus))}" for option, cpus in chosen if cpus)


def _setup(experiment: Experiment, contender: Contender) -> str:
    # Not before the measured part: all contenders begin with the same placement.
    # What bounds it stays where it is.
    moves = contender.placement == "start"
    variant = experiment.variant or Variant("", experiment.name)
    hogs = _hogs(variant)
    clock = experiment.variation.of(machines.load(experiment.machine)).clock
    scaled = ""
    if moves and experiment.is_scaled:
        scale = experiment.scale.in_guest_time(clock)
        scaled = scale.script(cold=variant.cold, limited=variant.limited)
    later = (
        f"/sys/kernel/mm/numa/demotion_enabled {int(moves)}",
        f"/proc/sys/kernel/numa_balancing {contender.balancing}",
        *((f"{_BUSY} 1",) if hogs else ()),
    )
    parts = [
        "echo 0 >/sys/kernel/mm/numa/demotion_enabled",
        "echo 0 >/proc/sys/kernel/numa_balancing",
        *(f"echo {line} >>/run/lab/settings" for line in later),
        scaled,
        _CLOCK.format(clock) if clock > 1 else "",
        # It says how full DRAM is at the start, and of what, with bounds too.
        variant.reclaim,
        f"echo 0 >{_BUSY}; hog {hogs} >/run/hog &" if hogs else "",
        experiment.setup,
        contender.setup,
    ]
    return "\n".join(part for part in parts if part)


def _words(words: tuple[str, ...], place: str) -> tuple[str, ...]:
    return tuple(word.replace("{place}", place) for word in words)


def _programs(*described: Experiment | Contender) -> tuple[str, ...]:
    """Those that any of them names; LabError where one names what is not there."""
    known = workloads.names()
    for one in described:
        for name in one.programs:
            if name not in known:
                raise LabError(
                    f"{one.name}.toml: programs: {name!r} is not in lab/workloads: "
                    f"choose from {', '.join(known)}"
                )
    return tuple(name for one in described for name in one.programs)


def cell(experiment: Experiment, contender: Contender, *, quick: bool = False) -> Cell:
    """What to run; of the best placement, the runs that count misses."""
    words = experiment.quick if quick else experiment.workload
    placement = contender.placement
    if placement != "start" and experiment.unbounded:
        return Cell(experiment, contender, (), experiment.unbounded)
    if placement == "best" and not experiment.best_mib:
        # Where fast has a machine of its own, DRAM cannot hold all on that of the others.
        fits = not experiment.fast_machine
        why = "all fits into DRAM, so it is fast" if fits else "DRAM cannot hold all of it"
        return Cell(experiment, contender, (), f"no best_mib in its file: {why}")
    place = {
        "start": experiment.start,
        "fast": experiment.fast,
        "slow": experiment.slow,
        "best": experiment.slow,
    }[placement]
    assert place is not None
    run = Run(
        machine=(experiment.fast_machine if placement == "fast" else "") or experiment.machine,
        kernel=contender.kernel,
        workload=_words(words, place),
        cmdline=experiment.cmdline + contender.cmdline,
        setup=_setup(experiment, contender),
        programs=_programs(experiment, contender)
        + (("hog",) if experiment.variant and _hogs(experiment.variant) else ()),
        packages=experiment.packages,
        count_pages=placement == "best",
        variation=experiment.variation.of_machine(),
        samples=contender.samples,
        engine=contender.engine,
        limit_s=Run.limit_s * experiment.long_times if experiment.is_long else Run.limit_s,
    )
    # The best placement is counted in a run of its own, which makes two of each.
    wide = contender.part == "wide" and contender.name not in experiment.named
    once = quick or wide or placement == "best" or contender.name in experiment.one_seed
    seeds = 1 if once else experiment.seeds
    return Cell(
        experiment,
        contender,
        tuple(
            replace(run, workload=(*run.workload, "--seed", str(seed)))
            for seed in range(1, seeds + 1)
        ),
    )


def best_pages(pages: str, room: dict[int, int]) -> bytes:
    """The hottest pages, each on the node whose CPUs miss it most, or on another one
    where that is full already.

    ``pages`` are lines of page number and misses from each socket; ``room`` says how
    many each socket's node can hold. The best static placement of seed-free
    hindsight.
    """
    counted = []
    for line in pages.splitlines():
        number, *misses = line.split()
        counts = list(map(int, misses))
        counted.append((-sum(counts), number, counts))
    left = dict(room)
    chosen = []
    for _, number, counts in sorted(counted)[: sum(room.values())]:
        by_misses = sorted(zip(counts, room), key=lambda pair: -pair[0])
        node = next(node for _, node in by_misses if left[node])
        left[node] -= 1
        chosen.append((number, node))
    return "".join(
        f"{number} {node}\n" for number, node in sorted(chosen, key=lambda page: int(page[0], 16))
    ).encode()


def with_best(experiment: Experiment, run: Run, counted: Result, nodes: list[int]) -> Run:
    """The second run of the best placement, from the first and its result."""
    room = {node: mib * _MIB // PAGE for node, mib in zip(nodes, experiment.best_mib)}
    listed = best_pages(counted.pages or "", room)
    return replace(
        run,
        count_pages=False,
        files={**run.files, _BEST: listed},
        workload=(*run.workload, "--best", _BEST),
    )


def recovered(seconds: float | None, fast: float | None, slow: float | None) -> float | None:
    """R = (T_slow - T) / (T_slow - T_fast); None where a bound is missing, or where
    slow memory costs nothing."""
    if seconds is None or fast is None or slow is None or slow <= fast:
        return None
    return (slow - seconds) / (slow - fast)


_DEMOTED = ("pgdemote_kswapd", "pgdemote_direct", "pgdemote_khugepaged", "pgdemote_proactive")


def _miss_ns(nodes: list[dict], mode: str) -> float | None:
    """What a miss of programs or of the kernel cost, on all nodes; None: there was none."""
    misses = sum(node[mode]["misses"] for node in nodes)
    return round(sum(node[mode]["ns"] for node in nodes) / misses, 1) if misses else None


def _timeline(result: Result) -> list[dict]:
    """For each interval: its end in ms, the pages that were accessed on each node, and
    what a miss cost programs and the kernel, in ns."""
    line = []
    for entry in result.model.get("timeline", []):
        line.append(
            {
                "ms": round(entry["ns"] / 1e6),
                "pages": [node["pages"] for node in entry["nodes"]],
                "miss_ns": _miss_ns(entry["nodes"], "user"),
                "kernel_miss_ns": _miss_ns(entry["nodes"], "kernel"),
            }
        )
    return line


def _mean(values: list[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def _count(results: list[Result], *names: str) -> int:
    return round(
        sum(result.vmstat.get(name, 0) for result in results for name in names) / len(results)
    )


def _in_fault(results: list[Result]) -> int | None:
    """Pages that hint faults promoted themselves, and not pghot's thread; None without pghot."""
    if not all("pghot_promoted_pages" in result.vmstat for result in results):
        return None
    return max(_count(results, "pgpromote_success") - _count(results, "pghot_promoted_pages"), 0)


def _seen(results: list[Result], name: str) -> int:
    return round(sum(result.model["pages"][name] for result in results) / len(results))


def seconds_of(results: list[Result]) -> float | None:
    """Mean of the measured parts; None where one failed or there is none."""
    if not results or any(result.error for result in results):
        return None
    return _mean([result.seconds for result in results])


_FIGURES = (
    "seconds",
    "seconds_by_seed",
    "score",
    "unit",
    "recovered",
    "recovered_by_seed",
    "promoted",
    "in_fault",
    "demoted",
    "demoted_again",
    "seen_promoted",
    "kernel_seconds",
    "idle",
    "hog_rate",
    "hog_share",
    "hog_idle_rate",
    "hog_lost_ms",
    "detail",
    "timeline",
)


def _idle(results: list[Result]) -> list[float] | None:
    """Of each CPU the share of the measured part in which it was idle, by the model."""
    if not all(result.seconds and result.model.get("cpus") for result in results):
        return None
    shares = [
        [cpu["idle_ns"] / 1e9 / (result.seconds or 1) for cpu in result.model["cpus"]]
        for result in results
    ]
    return [sum(cpu) / len(cpu) for cpu in zip(*shares, strict=True)]


def _rate(results: list[Result]) -> float | None:
    return _mean([result.hog_rate for result in results])


def _taken_ms(result: Result, cpus: Sequence[int]) -> float:
    """Milliseconds that the kernel had of these CPUs in the measured part, by the model. What keeps
    them busy knows only its own part, which begins and ends some ms earlier or later, and was seen
    to end 55 ms later by its clock."""
    counted = [cpu["kernel"] for cpu in result.model["cpus"] if cpu["cpu"] in cpus]
    each = result.model.get("instruction_ns", 1)
    return sum(kernel["instructions"] * each + kernel["ns"] for kernel in counted) / 1e6


def _lost_ms(result: Result, still: Result, variant: Variant | None) -> float | None:
    """Milliseconds of CPU time that were taken from those on the other CPUs, beyond what the kernel
    takes in as much time beside ``still``, where nothing moves."""
    counted = all(one.seconds and "cpus" in one.model for one in (result, still))
    if not (counted and result.seconds and still.seconds and variant and variant.hogs):
        return None
    always = _taken_ms(still, variant.hogs) / still.seconds
    return _taken_ms(result, variant.hogs) - always * result.seconds


def _by_seed(results: list[Result], fast: list[Result], slow: list[Result]) -> list[float | None]:
    """R of each seed, against the bounds beside it."""
    return [
        recovered(result.seconds, best.seconds, worst.seconds)
        for result, best, worst in zip(results, fast, slow)
    ]


def _begins_slow(made: Cell) -> bool:
    """Whether its data begin where the slow bound has them and only a policy moves them: what
    is gained without one comes from elsewhere."""
    return made.contender.placement == "start" and made.experiment.start == made.experiment.slow


def _beside(results: list[Result], bound: list[Result]) -> list[Result]:
    """A bound for each result: with the same random numbers, of which a contender may have
    fewer, or the one that stands for all."""
    return bound * len(results) if len(bound) == 1 else bound[: len(results)]


def row(made: Cell, results: list[Result], fast: list[Result], slow: list[Result]) -> dict:
    """One row of results.json, means of all seeds: docs/bench.md documents the fields.
    ``fast`` and ``slow`` are the results of the bounds, none where there are none."""
    variation = made.experiment.variation.name
    failed = next((result.error for result in results if result.error), None)
    base = {
        "experiment": made.experiment.name,
        **({"variation": variation} if variation else {}),
        **({"variant_of": made.experiment.variant.of} if made.experiment.variant else {}),
        "machine": made.experiment.machine,
        "contender": made.contender.name,
        **({"like": made.contender.like} if made.contender.like else {}),
        "error": made.error or failed,
        "failed": failed is not None,
        "begins_slow": _begins_slow(made),
    }
    if failed or not results:
        return {**base, **dict.fromkeys(_FIGURES)}
    fast, slow = _beside(results, fast), _beside(results, slow)
    seconds, hog, undisturbed = seconds_of(results), _rate(results), _rate(slow)
    return {
        **base,
        "seconds": seconds,
        "seconds_by_seed": [result.seconds for result in results],
        "score": _mean([result.score for result in results]),
        "unit": results[0].workload.get("unit"),
        "recovered": recovered(seconds, seconds_of(fast), seconds_of(slow)),
        "recovered_by_seed": _by_seed(results, fast, slow),
        "promoted": _count(results, "pgpromote_success"),
        "in_fault": _in_fault(results),
        "demoted": _count(results, *_DEMOTED),
        "demoted_again": _seen(results, "demoted_again"),
        "seen_promoted": _seen(results, "promoted"),
        "kernel_seconds": _mean([result.kernel_seconds for result in results]),
        "idle": _idle(results),
        "hog_rate": hog,
        "hog_share": hog / undisturbed if hog and undisturbed else None,
        "hog_idle_rate": _mean([result.hog_idle_rate for result in results]),
        "hog_lost_ms": _mean(
            [_lost_ms(*pair, made.experiment.variant) for pair in zip(results, slow)]
        ),
        "detail": results[0].workload.get("detail"),
        "timeline": _timeline(results[0]),
    }
