# SPDX-License-Identifier: GPL-2.0
"""A QEMU of this host: started, watched and ended in one way, whatever its guest is for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import termios
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from lab.errors import LabError
from lab.host import programs

_LOOK = 0.02
"""Seconds between two looks at whether it ended."""


def _guard() -> list[str]:
    """What a command begins with that is to die with the thread that starts it: should this
    process be killed, a hung QEMU is not to be left behind. LabError without the program."""
    return [str(programs.find("setpriv")), "--pdeathsig", "KILL"]


def run_in_terminal(command: list[str], cwd: Path) -> int:
    """Run QEMU with the terminal, which is left as it was; return its exit status.

    The terminal's owner is this session, so QEMU is in it too, and gets ctrl-C like all
    else that is typed. It dies with the thread that calls this.
    """
    terminal = sys.stdin.fileno()
    settings = termios.tcgetattr(terminal) if os.isatty(terminal) else None
    try:
        return subprocess.run([*_guard(), *command], cwd=cwd, check=False).returncode
    finally:
        if settings:
            termios.tcsetattr(terminal, termios.TCSADRAIN, settings)


class Process:
    """QEMU, in a session of its own: ctrl-C at the terminal goes to its owner alone.

    It dies with the thread that starts it. Any thread may watch and end it.
    """

    def __init__(
        self,
        command: list[str],
        said: int | IO[bytes],
        *,
        stdout: int | IO[bytes] | None = None,
        pass_fds: Iterable[int] = (),
        env: Mapping[str, str] | None = None,
    ) -> None:
        """Start ``command``. ``said`` takes its messages, that is standard error, and
        standard output as well unless ``stdout`` is given; it reads nothing. ``env`` is
        set beside the environment."""
        self._process = subprocess.Popen(
            [*_guard(), *command],
            stdin=subprocess.DEVNULL,
            stdout=said if stdout is None else stdout,
            stderr=said,
            pass_fds=tuple(pass_fds),
            env={**os.environ, **(env or {})},
            start_new_session=True,
        )
        # Whoever waits for a process frees its number. No thread may do that between
        # another's look at whether it runs and the signal to that number.
        self._lock = threading.Lock()
        self._killed = False

    @property
    def pid(self) -> int:
        """Its number, which is that of its session and group too."""
        return self._process.pid

    @property
    def status(self) -> int | None:
        """Its exit status, negative for a signal; None while it runs."""
        with self._lock:
            return self._process.poll()

    def wait(self, seconds: float | None = None) -> int | None:
        """Wait for its end, or so long; return ``status``."""
        deadline = None if seconds is None else time.monotonic() + seconds
        while (status := self.status) is None:
            if deadline is not None and time.monotonic() >= deadline:
                break
            time.sleep(_LOOK)
        return status

    def kill(self) -> None:
        """End it at once, and all of its group. It may ignore SIGTERM, so it is not asked."""
        with self._lock:
            # Not after it was waited for: its number may be another process by then.
            if self._process.poll() is None and not self._killed:
                os.killpg(self._process.pid, signal.SIGKILL)
                # Not before: after an interrupt in between nobody would ever end it.
                self._killed = True
        self.wait()


class Guests:
    """The QEMUs of one owner, in any of its threads, which it can end all at once.

    ctrl-C does not come to them, so their owner has to.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: set[Process] = set()
        self._stopped = False

    @contextmanager
    def started(
        self, command: list[str], said: int | IO[bytes], *, env: Mapping[str, str] | None = None
    ) -> Iterator[Process]:
        """A Process for the ``with`` block, which ends with it.

        Raises LabError after stop(): no guest starts any more.
        """
        with self._lock:
            if self._stopped:
                raise LabError("interrupted")
            process = Process(command, said, env=env)
            self._running.add(process)
        try:
            yield process
        finally:
            with self._lock:
                self._running.discard(process)
            process.kill()

    def stop(self) -> None:
        """End all guests at once, now and for good; who waits for one sees that it ended."""
        with self._lock:
            self._stopped = True
            running = list(self._running)
        for process in running:
            process.kill()
