# SPDX-License-Identifier: GPL-2.0
"""A plugin of pytest's that says every five minutes which tests run, and since when.

All of them take most of an hour. Whoever ends them, as continuous integration does with what
hangs, is to see what they waited for.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import NoReturn

import pytest

from lab.test import ENDS

_PERIOD = 300.0
"""Seconds between two lines."""

_TERMINAL = os.dup(sys.__stdout__.fileno()) if sys.__stdout__ else os.open(os.devnull, os.O_WRONLY)
"""What tests print is caught later than this is imported."""


def pytest_configure(config: pytest.Config) -> None:
    """Watch from the process that prints, not from those that it gives tests to."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Running())


class _Running:
    """Which tests run, and how many have ended. Its thread ends with the session."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._since: dict[str, float] = {}
        self._ended = 0
        self._over = threading.Event()

    def pytest_sessionstart(self) -> None:
        """Begin to say so, also when asked to end."""
        for number in ENDS:
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._end)
        threading.Thread(target=self._report, daemon=True).start()

    def pytest_sessionfinish(self) -> None:
        """Say no more."""
        self._over.set()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test begins, in any process."""
        self._since[nodeid] = time.monotonic()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """It has ended."""
        self._since.pop(nodeid, None)
        self._ended += 1

    def _report(self) -> None:
        while not self._over.wait(_PERIOD):
            self._say()

    def _say(self) -> None:
        now = time.monotonic()
        running = [f"{test} for {now - since:.0f} s" for test, since in list(self._since.items())]
        line = (
            f"\n{(now - self._began) / 60:.0f} min: {self._ended} tests have ended;"
            f" running: {'; '.join(running) or 'none'}\n"
        )
        os.write(_TERMINAL, line.encode())

    def _end(self, number: int, _frame: FrameType | None) -> NoReturn:
        # Whoever ends a group of processes tells this one twice.
        for each in ENDS:
            signal.signal(each, signal.SIG_IGN)
        self._say()
        pytest.exit("asked to end", returncode=128 + number)
