# SPDX-License-Identifier: GPL-2.0
"""What runs, what ended and how long is left, while a matrix is measured."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.progress import Progress as Bars

from lab.bench import figures
from lab.bench.runner import Progress
from lab.host import capacity
from lab.log import note, status
from lab.measure import Result


def _told(name: str, result: Result) -> str:
    return f"{name}: {result.error or f'{figures.seconds(result.seconds)} s'}"


def _left(seconds: float | None) -> str:
    if not seconds:
        return ""
    return f"about {seconds / 60:.0f} min left" if seconds > 90 else f"about {seconds:.0f} s left"


class Lines(Progress):
    """Off a terminal: a line for each run that ended."""

    def begin(self, total: int) -> None:
        """Say how much there is to do."""
        note(f"{total} runs on {capacity.cpus()} cores")

    def ended(self, name: str, result: Result, left: int, seconds: float | None) -> None:
        """Say what came out, and what is left."""
        rest = f"{left} to go, {_left(seconds)}" if left and seconds else f"{left} to go"
        note(f"{_told(name, result)} ({rest})")


class Live(Progress):
    """On a terminal: a bar for all runs, and below it those under way.

    Failures stay on the screen. Runs begin and end in several threads.
    """

    def __init__(self, bars: Bars) -> None:
        self._bars = bars
        self._all = bars.add_task("all runs", total=None, left="")
        self._running: dict[str, TaskID] = {}
        self._lock = threading.Lock()

    def begin(self, total: int) -> None:
        """Set the length of the bar."""
        self._bars.update(self._all, total=total)

    def started(self, name: str) -> None:
        """Add a line for the run."""
        with self._lock:
            self._running[name] = self._bars.add_task(f"  {name}", total=None, left="")

    def ended(self, name: str, result: Result, left: int, seconds: float | None) -> None:
        """Take the run's line away, and move the bar on."""
        with self._lock:
            task = self._running.pop(name, None)
        if task is not None:
            self._bars.remove_task(task)
        done = self._bars.tasks[0].completed + 1
        self._bars.update(self._all, completed=done, total=done + left, left=_left(seconds))
        if result.error:
            note(_told(name, result))


@contextmanager
def display() -> Iterator[Progress]:
    """What suits where standard error goes to."""
    if not status.is_terminal:
        yield Lines()
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[left]}", markup=False),
    )
    with Bars(*columns, console=status, transient=True) as bars:
        yield Live(bars)
