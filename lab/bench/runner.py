# SPDX-License-Identifier: GPL-2.0
"""Runs the cells of the matrix side by side, one guest a core."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from statistics import fmean

from lab import machines
from lab.bench.description import Contender, Experiment
from lab.bench.matrix import Cell, cell, row, with_best
from lab.host import capacity
from lab.measure import Guests, Result, Run

Measure = Callable[[Run], Result]

_CACHED_S = 1.0
"""What ends sooner was not run: no guest boots in that time."""


class _Memory:
    """Hands out the host's memory to guests; who does not fit waits for others' end."""

    def __init__(self, total: int) -> None:
        self._free = self._total = total
        self._changed = threading.Condition()

    def take(self, amount: int) -> int:
        """Wait for ``amount`` bytes, or for all there are if it is more."""
        amount = min(amount, self._total)
        with self._changed:
            self._changed.wait_for(lambda: self._free >= amount)
            self._free -= amount
        return amount

    def give(self, amount: int) -> None:
        """Return what take() gave."""
        with self._changed:
            self._free += amount
            self._changed.notify_all()


class Progress:
    """What a runner tells of its way; this one says nothing."""

    def begin(self, total: int) -> None:
        """So many runs are to be made."""

    def started(self, name: str) -> None:
        """A run begins."""

    def ended(self, name: str, result: Result, left: int, seconds: float | None) -> None:
        """A run ended; ``left`` are to come, in about so many seconds. None: nobody knows yet."""


Taking = Callable[[Experiment, Contender], bool]


def everywhere(_experiment: Experiment, _contender: Contender) -> bool:
    """Every contender takes part in every experiment."""
    return True


@dataclass(frozen=True)
class _Job:
    """A run of a cell. ``first`` is the counting run before one of best placement."""

    cell: Cell
    run: Run
    first: Run | None = None

    @property
    def name(self) -> str:
        """What the progress display calls it."""
        words = self.run.workload
        seed = words[words.index("--seed") + 1]
        return (
            f"{' @ '.join(filter(None, self.cell.experiment.key))} "
            f"{self.cell.contender.name}"
            + (f" seed {seed}" if len(self.cell.runs) > 1 else "")
            + (" (counting)" if self.run.count_pages else "")
        )


class Matrix:
    """All cells, the runs they need, and the rows in the end.

    Runs with the same inputs are made once. A run that fails is a row with an error,
    and the others go on.
    """

    def __init__(
        self,
        experiments: list[Experiment],
        contenders: list[Contender],
        measure: Measure,
        *,
        quick: bool = False,
        taking: Taking = everywhere,
        workers: int | None = None,
        progress: Progress | None = None,
        guests: Guests | None = None,
    ) -> None:
        """``guests`` are those of ``measure``: they end when run() is interrupted.
        ``taking`` says which contenders take part where."""
        self._cells = [
            cell(experiment, contender, quick=quick)
            for experiment in experiments
            for contender in contenders
            if experiment.quick or not quick
            if taking(experiment, contender)
        ]
        self._measure = measure
        self._workers = workers or capacity.cpus()
        self._progress = progress or Progress()
        self._memory = _Memory(max(capacity.free() or 0, 1))
        self._results: dict[str, Result] = {}
        self._took: list[float] = []
        self._stop = threading.Event()
        self._guests = guests or Guests()

    def _one(self, job: _Job) -> Result:
        if self._stop.is_set():
            return Result(error="interrupted")
        taken = self._memory.take(machines.load(job.run.machine).memory)
        try:
            if self._stop.is_set():
                return Result(error="interrupted")
            self._progress.started(job.name)
            began = time.monotonic()
            result = self._measure(job.run)
            self._took.append(time.monotonic() - began)
            return result
        except Exception as error:  # pylint: disable=broad-exception-caught
            # A full disk, say: this row's trouble and not that of the others.
            return Result(error=f"{type(error).__name__}: {error}")
        finally:
            self._memory.give(taken)

    def _seconds(self, left: int) -> float | None:
        """How long so many runs take, by those that were made. The cache has its own first, and
        goes for no measure of the others."""
        made = [took for took in self._took if took >= _CACHED_S]
        return fmean(made) * left / self._workers if made else None

    def run(self) -> list[dict]:
        """Make all runs; return the rows in the order of experiments and contenders."""
        jobs = {run.key: _Job(made, run) for made in self._cells for run in made.runs}
        total = len(jobs) + sum(job.run.count_pages for job in jobs.values())
        self._progress.begin(total)
        done = 0
        with ThreadPoolExecutor(self._workers) as pool:
            pending: dict[Future[Result], _Job] = {
                pool.submit(self._one, job): job for job in jobs.values()
            }
            try:
                while pending:
                    ended, _ = wait(pending, return_when=FIRST_COMPLETED)
                    for future in ended:
                        job = pending.pop(future)
                        done += 1
                        result = future.result()
                        following = self._following(job, result)
                        if following is not None:
                            pending[pool.submit(self._one, following)] = following
                        else:
                            total -= job.run.count_pages
                            self._results[(job.first or job.run).key] = result
                        left = total - done
                        self._progress.ended(job.name, result, left, self._seconds(left))
            except BaseException:
                self._stop.set()
                for future in pending:
                    future.cancel()
                # The pool waits for what runs.
                self._guests.stop()
                raise
        return self._rows()

    @staticmethod
    def _following(job: _Job, result: Result) -> _Job | None:
        """What comes after a run that counted pages."""
        if not job.run.count_pages or result.error:
            return None
        nodes = machines.load(job.run.machine).initiators
        return _Job(job.cell, with_best(job.cell.experiment, job.run, result, nodes), first=job.run)

    def _rows(self) -> list[dict]:
        results = {made.key: [self._results[run.key] for run in made.runs] for made in self._cells}
        bounds = {
            (*made.experiment.key, made.contender.placement): results[made.key]
            for made in self._cells
            if made.contender.placement in ("fast", "slow")
        }
        return [
            row(
                made,
                results[made.key],
                bounds.get((*made.experiment.key, "fast"), []),
                bounds.get((*made.experiment.key, "slow"), []),
            )
            for made in self._cells
        ]
