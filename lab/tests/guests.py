# SPDX-License-Identifier: GPL-2.0
"""Kernel selftests from pytest: run in a guest, one by one."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

import pytest

from lab import selftests
from lab.guest import Guest, GuestError, GuestResult
from lab.guest.booted import Lines
from lab.guest.errors import EmulatorError
from lab.host import programs
from lab.log import note

_Words = ParamSpec("_Words")
_Result = TypeVar("_Result")

_LIMIT = 600.0
"""Seconds for one test; only one that hangs takes as long."""

_GUESTS = 3
"""Attempts at one test where the emulator, not the guest, fails: a test that changes the kernel's
text ten thousand times meets its fault in more than one guest."""

_SLOW = "export PGHOT_TEST_SLOWER=4\n"
"""So much longer a debug kernel takes, on a host with nothing else to do."""

_ELSEWHERE = (
    "lib.sh",
    "tiers.sh",
    "blocks.sh",
    "lru.sh",
    "off.sh",
    "soak.sh",
    "stuck.sh",
    "offload.sh",
    *selftests.SOURCES,
)
"""Scripts that have no tests, or whose tests have a guest of their own."""

# Where a test finds a file system whose pages are page cache, not shmem.
_DISK = """
disk=/run/lab/disk
mkdir -p $disk
mkfs.ext4 -q -F -O ^has_journal /dev/ram0 && mount /dev/ram0 $disk
"""


def again(test: Callable[_Words, _Result]) -> Callable[_Words, _Result]:
    """What runs in a guest, anew in another one where the emulator failed and not the guest: a
    test with guests of its own, or a command."""

    @functools.wraps(test)
    def tried(*words: _Words.args, **more: _Words.kwargs) -> _Result:
        for _ in range(_GUESTS - 1):
            try:
                return test(*words, **more)
            except EmulatorError as error:
                note(
                    f"the emulator failed, not the guest; another one runs the test: {error.reason}"
                )
        return test(*words, **more)

    return tried


class Machine:
    """A guest for many tests; starts again after one that killed it.

    A debug kernel gets the machine ``<machine>-debug``: it takes an eighth of all
    memory for itself, most of it from node 0.
    """

    def __init__(self, machine: str, kernel, cmdline: list[str]) -> None:
        self.prepare = "export PGHOT_TEST_DIR=/run/lab/disk\n"
        if kernel.flavour == "debug":
            machine += "-debug"
            self.prepare += _SLOW
        self._how = (machine, kernel, cmdline)
        self._guest: Guest | None = None

    def sh(self, script: str, limit: float = _LIMIT, on_line: Lines | None = None) -> GuestResult:
        """Run a command; boots the guest when there is none.

        Again, in another guest, where the emulator failed and not the guest.
        """
        try:
            return self._run(script, limit, on_line)
        except GuestError as error:
            pytest.fail(f"{error}\n{error.log[-8000:]}", pytrace=False)

    @again
    def _run(self, script: str, limit: float, on_line: Lines | None) -> GuestResult:
        return self._booted().sh(script, limit, on_line=on_line)

    def _booted(self) -> Guest:
        if self._guest is None or not self._guest.alive:
            programs.require("mkfs.ext4", "setpriv", packages={"mkfs.ext4": "e2fsprogs"})
            self._guest = Guest(*self._how)
            done = self._guest.sh(_DISK)
            assert done.status == 0, done.stderr
        return self._guest

    def close(self) -> None:
        """Power off; what the kernel said since the last test is a failure."""
        if self._guest is not None and self._guest.alive:
            reports = self._guest.close()
            assert not reports, "\n".join(reports)


def fixture(machine: str, *cmdline: str):
    """A fixture for all tests of a file: a machine with the kernel under test."""

    @pytest.fixture(scope="module", name="machine")
    def booted(kernel):
        guest = Machine(machine, kernel, list(cmdline))
        yield guest
        guest.close()

    return booted


def run(
    machine: Machine,
    directory: Path,
    script: str,
    name: str,
    *,
    limit: float = _LIMIT,
    on_line: Lines | None = None,
    stock: str = "",
) -> None:
    """Run one test, at most ``limit`` seconds; fail unless it passes and the kernel is silent.

    What the kernel says in lines that all match ``stock`` it says without pghot as well.
    """
    done = machine.sh(f"{machine.prepare}{directory}/{script} {name}", limit, on_line)
    said = done.stdout + done.stderr
    verdict = re.search(r"^(ok|not ok) 1 (\S+)(.*)$", done.stdout, re.MULTILINE)
    if verdict is None or verdict[2] != name:
        pytest.fail(f"no result, status {done.status}:\n{said}", pytrace=False)
    # The guest is ours: whatever a test needs is there, or something is wrong.
    if verdict[1] != "ok" or "SKIP" in verdict[3] or done.status:
        pytest.fail(said, pytrace=False)
    warnings = [
        text
        for text in done.warnings
        if not stock or not all(re.match(stock, line) for line in text.splitlines())
    ]
    if warnings:
        pytest.fail("the kernel reported:\n" + "\n".join(warnings), pytrace=False)


def of_layouts() -> list[tuple[str, str]]:
    """Scripts and names of the tests that each layout's guest runs, in order."""
    scripts = sorted(path.name for path in selftests.SOURCE.glob("*.sh"))
    return [
        (script, name)
        for script in scripts
        if script not in _ELSEWHERE
        for name in selftests.names(script)
    ]
