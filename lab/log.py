# SPDX-License-Identifier: GPL-2.0
"""What the user sees: results on stdout, progress on stderr.

On a terminal progress is a bar; elsewhere (a pipe, a CI log) it is a plain line at the
start, one now and then that says how much is done and how long is left, and one at the end.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

console = Console(highlight=False, soft_wrap=True)
"""Results: tables, reports, answers."""

status = Console(stderr=True, highlight=False, soft_wrap=True)
"""Progress and notices."""

LINE_EVERY = 15.0
"""Seconds between two lines about a step, off a terminal."""

# What is left is not guessed from less than so many seconds, or so little of the way.
_GUESS_AFTER = 3.0
_GUESS_FROM = 0.02


def note(text: str) -> None:
    """Print one line about what is being done."""
    status.print(text, markup=False)


def clock(seconds: float) -> str:
    """Seconds as m:ss."""
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def _took(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else clock(seconds)


def left(completed: float, total: float, seconds: float) -> float | None:
    """How many seconds the rest takes if it goes on as in the ``seconds`` so far; None
    where it is too early to say."""
    if completed <= 0 or seconds < _GUESS_AFTER or completed < _GUESS_FROM * total:
        return None
    return max(0.0, total - completed) * seconds / completed


def told(completed: float, total: float, seconds: float, unit: str | None = None) -> str:
    """How far a step is after ``seconds``, and how long is left.

    ``unit`` is what is counted; without one it is a share of the whole.
    """
    share = f"{100 * completed / total:.0f}%"
    text = f"{completed:,.0f} of {total:,.0f} {unit}" if unit else share
    rest = left(completed, total, seconds)
    return text if rest is None else f"{text}, about {clock(rest)} left"


class _Step:
    """What a bar and lines have in common: how far the step is, and since when."""

    def __init__(self, text: str, total: float | None, unit: str | None) -> None:
        self._text = text
        self._total = total
        self._unit = unit
        self._completed = 0.0
        self._began = time.monotonic()

    def _show(self, text: str) -> None:
        """``text`` says how far the step is."""
        raise NotImplementedError

    def update(self, completed: float, total: float | None = None) -> None:
        """Set how far the step is; ``total`` replaces an earlier estimate."""
        self._completed = completed
        if total is not None:
            self._total = total
        text = ""
        if self._total:
            seconds = time.monotonic() - self._began
            text = told(min(completed, self._total), self._total, seconds, self._unit)
        self._show(text)

    def advance(self, amount: float = 1) -> None:
        """Move on by ``amount``."""
        self.update(self._completed + amount)


class _Bar(_Step):
    """A step on a terminal."""

    def __init__(self, bars: Progress, text: str, total: float | None, unit: str | None) -> None:
        super().__init__(text, total, unit)
        self._bars = bars
        self._task = bars.add_task(text, total=total, told="")

    def _show(self, text: str) -> None:
        self._bars.update(self._task, completed=self._completed, total=self._total, told=text)


class _Lines(_Step):
    """A step off a terminal."""

    def __init__(self, text: str, total: float | None, unit: str | None) -> None:
        super().__init__(text, total, unit)
        self._said = self._began
        note(f"{text}: {total:,.0f} {unit} ..." if total and unit else f"{text} ...")

    def _show(self, text: str) -> None:
        now = time.monotonic()
        if text and now - self._said >= LINE_EVERY:
            self._said = now
            note(f"{self._text}: {text}")


@contextmanager
def progress(
    text: str, total: float | None = None, unit: str | None = None
) -> Iterator[_Bar | _Lines]:
    """Show a step while the ``with`` block runs.

    The value has ``update(completed, total=None)`` and ``advance(amount=1)``.
    ``total=None`` means: length unknown. ``unit`` names what is counted ("steps");
    without it the step is shown in percent.
    """
    started = time.monotonic()
    if not status.is_terminal:
        lines = _Lines(text, total, unit)
        yield lines
        note(f"{text}: done in {_took(time.monotonic() - started)}")
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(bar_width=24),
        TextColumn("{task.fields[told]}", markup=False),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=status) as bars:
        yield _Bar(bars, text, total, unit)
