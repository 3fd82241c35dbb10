# SPDX-License-Identifier: GPL-2.0
"""What the user sees: results on stdout, progress on stderr.

On a terminal progress is a bar; elsewhere (a pipe, a CI log) it is a plain
line at the start, at every quarter of the way, and at the end.
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
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
)

console = Console(highlight=False, soft_wrap=True)
"""Results: tables, reports, answers."""

status = Console(stderr=True, highlight=False, soft_wrap=True)
"""Progress and notices."""


def note(text: str) -> None:
    """Print one line about what is being done."""
    status.print(text, markup=False)


class _Bar:
    """A step on a terminal."""

    def __init__(self, bars: Progress, text: str, total: float | None) -> None:
        self._bars = bars
        self._task = bars.add_task(text, total=total)

    def update(self, completed: float, total: float | None = None) -> None:
        """Set how far the step is; ``total`` replaces an earlier estimate."""
        if total is None:
            self._bars.update(self._task, completed=completed)
        else:
            self._bars.update(self._task, completed=completed, total=total)

    def advance(self, amount: float = 1) -> None:
        """Move on by ``amount``."""
        self._bars.advance(self._task, amount)

    def describe(self, text: str) -> None:
        """Change the text beside the bar."""
        self._bars.update(self._task, description=text)


class _Lines:
    """A step off a terminal."""

    def __init__(self, text: str, total: float | None) -> None:
        self._text = text
        self._total = total
        self._completed = 0.0
        self._quarters = 0
        note(f"{text} ...")

    def update(self, completed: float, total: float | None = None) -> None:
        """See _Bar.update()."""
        self._completed = completed
        if total is not None:
            self._total = total
        if not self._total:
            return
        quarters = int(4 * completed / self._total)
        if self._quarters < quarters < 4:
            self._quarters = quarters
            note(f"{self._text} ... {25 * quarters}%")

    def advance(self, amount: float = 1) -> None:
        """See _Bar.advance()."""
        self.update(self._completed + amount)

    def describe(self, text: str) -> None:
        """See _Bar.describe()."""
        if text != self._text:
            self._text = text
            note(f"{text} ...")


@contextmanager
def progress(text: str, total: float | None = None) -> Iterator[_Bar | _Lines]:
    """Show a step while the ``with`` block runs.

    The value has ``update(completed, total=None)``, ``advance(amount=1)``
    and ``describe(text)``. ``total=None`` means: length unknown.
    """
    started = time.monotonic()
    if not status.is_terminal:
        lines = _Lines(text, total)
        yield lines
        note(f"{text}: done in {time.monotonic() - started:.0f} s")
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=status) as bars:
        bar = _Bar(bars, text, total)
        yield bar
