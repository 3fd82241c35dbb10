# SPDX-License-Identifier: GPL-2.0
"""What the demonstration says while it runs: numbered stages, live progress."""

from __future__ import annotations

import time

from lab.log import clock, note

_BAR = 16
_LINE_EVERY = 1.0
"""Seconds between progress lines while little changes."""


def people(number: float) -> str:
    """A number as people write it: three digits that count, thousands apart."""
    digits = len(str(int(abs(number))))
    return f"{round(number, min(0, 3 - digits)):,.0f}"


def _row(seconds: object, pages: list, promoted: object, rest: str) -> str:
    cells = "".join(f"{cell:>8}" for cell in pages)
    return f"{seconds:>7}{cells}{promoted:>10}   {rest}"


class Narrator:
    """Announces stages, each with the time so far and how long it should take."""

    def __init__(self, stages: int) -> None:
        self._stages = stages
        self._number = 0
        self._began = time.monotonic()
        self._shown = (-_LINE_EVERY, -1)

    @property
    def seconds(self) -> float:
        """Time since the demonstration began."""
        return time.monotonic() - self._began

    def stage(self, text: str, expected: str) -> None:
        """Announce the next stage."""
        self._number += 1
        self._shown = (-_LINE_EVERY, -1)
        note(f"[{self._number}/{self._stages}] {clock(self.seconds)} {text} ({expected})")

    def detail(self, text: str) -> None:
        """One line about the present stage."""
        note(f"      {text}")

    def sample(self, sample: dict, hot_pages: int, nodes: list[int]) -> None:
        """Show where the hot pages are, unless nothing changed just now."""
        seconds, fast = sample["seconds"], sample["hot_fast"]
        last_seconds, last_fast = self._shown
        if seconds - last_seconds < _LINE_EVERY and fast - last_fast < 0.02 * hot_pages:
            return
        if self._shown[1] < 0:
            self.detail(
                _row("seconds", [f"node {node}" for node in nodes], "promoted", "hot pages in DRAM")
            )
        self._shown = (seconds, fast)
        share = min(1.0, fast / hot_pages)
        bar = "#" * round(share * _BAR)
        self.detail(
            _row(
                f"{seconds:.1f}",
                [sample["hot_nodes"].get(str(node), 0) for node in nodes],
                sample["promoted"],
                f"[{bar:.<{_BAR}}] {100 * share:3.0f}%",
            )
        )
