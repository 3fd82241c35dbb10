# SPDX-License-Identifier: GPL-2.0
"""Runs the cells of the matrix side by side, one guest a core."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import replace
from pathlib import Path

from lab import machine
from lab.bench.description import Contender, Experiment
from lab.bench.matrix import Cell, cell, row, with_best
from lab.measure import Result, Run

Measure = Callable[[Run], Result]
_RESERVE = 1 << 30
"""Bytes of memory left to the host."""


def cores() -> int:
    """CPUs this process may use."""
    return len(os.sched_getaffinity(0))


def available_memory() -> int:
    """Bytes of memory that guests may take together."""
    text = Path("/proc/meminfo").read_text(encoding="ascii")
    found = re.search(r"^MemAvailable:\s+(\d+) kB", text, re.MULTILINE)
    return (int(found[1]) * 1024 if found else 0) - _RESERVE


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
        """A run ended; ``left`` are to come, in about so many seconds."""


class Matrix:
    """All cells, the runs they need, and the rows in the end.

    Runs with the same inputs are made once. A run that fails is a row with an error,
    and the others go on.
    """

    def __init__(self, experiments: list[Experiment], contenders: list[Contender],
                 measure: Measure, *, quick: bool = False, workers: int | None = None,
                 progress: Progress | None = None,
                 stop: Callable[[], None] = lambda: None) -> None:
        self._cells = [cell(experiment, contender, quick=quick)
                       for experiment in experiments for contender in contenders
                       if experiment.quick or not quick]
        self._measure = measure
        self._workers = workers or cores()
        self._progress = progress or Progress()
        self._memory = _Memory(max(available_memory(), 1))
        self._results: dict[str, Result] = {}
        self._stop = threading.Event()
        self._stop_guests = stop

    @staticmethod
    def _name(made: Cell) -> str:
        counting = " (counting)" if made.run is not None and made.run.count_pages else ""
        return f"{made.experiment.name} {made.contender.name}{counting}"

    def _one(self, made: Cell) -> Result:
        assert made.run is not None
        if self._stop.is_set():
            return Result(error="interrupted")
        taken = self._memory.take(machine.load(made.run.machine).memory)
        try:
            if self._stop.is_set():
                return Result(error="interrupted")
            self._progress.started(self._name(made))
            return self._measure(made.run)
        finally:
            self._memory.give(taken)

    def run(self) -> list[dict]:
        """Make all runs; return the rows in the order of experiments and contenders."""
        todo = {repr(made.run): made for made in self._cells if made.run is not None}
        more = sum(made.run.count_pages for made in todo.values() if made.run)
        self._progress.begin(len(todo) + more)
        began, done, total = time.monotonic(), 0, len(todo) + more
        with ThreadPoolExecutor(self._workers) as pool:
            pending: dict[Future[Result], Cell] = {
                pool.submit(self._one, made): made for made in todo.values()}
            try:
                while pending:
                    ended, _ = wait(pending, return_when=FIRST_COMPLETED)
                    for future in ended:
                        made = pending.pop(future)
                        done += 1
                        result = future.result()
                        self._results[repr(made.run)] = result
                        following = self._second(made, result)
                        if following is not None:
                            pending[pool.submit(self._one, following)] = following
                        elif made.run is not None and made.run.count_pages:
                            total -= 1
                        left = total - done
                        self._progress.ended(
                            self._name(made), result, left,
                            (time.monotonic() - began) / done * left)
            except BaseException:
                self._stop.set()
                for future in pending:
                    future.cancel()
                # The pool waits for what runs.
                self._stop_guests()
                raise
        return self._rows()

    def _second(self, made: Cell, result: Result) -> Cell | None:
        """What follows a run that counted pages."""
        if made.run is None or not made.run.count_pages or result.error:
            return None
        nodes = machine.load(made.run.machine).initiators
        second = with_best(made, result, nodes)
        self._cells = [replace(second) if old is made or repr(old.run) == repr(made.run)
                       else old for old in self._cells]
        return second

    def _rows(self) -> list[dict]:
        def result_of(made: Cell) -> Result | None:
            return None if made.run is None else self._results.get(repr(made.run))

        bounds: dict[tuple[str, str], float | None] = {}
        for made in self._cells:
            result = result_of(made)
            if made.contender.placement in ("fast", "slow") and result and not result.error:
                bounds[made.experiment.name, made.contender.placement] = result.seconds
        return [row(made, result_of(made),
                    bounds.get((made.experiment.name, "fast")),
                    bounds.get((made.experiment.name, "slow")))
                for made in self._cells]
