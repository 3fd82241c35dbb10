# SPDX-License-Identifier: GPL-2.0
"""A guest that stays up for several commands."""

from __future__ import annotations

import re
import shlex
import time
import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Protocol

from lab.guest import kernel_log, virtme
from lab.guest.booted import Booted, Lines
from lab.guest.errors import EmulatorError, GuestError
from lab.host import qemu
from lab.log import note
from lab.machines import Machine, check_host, load

BOOT_LIMIT = 300.0
"""Seconds for a boot. It takes 5 under emulation, 60 with the debug kernel."""

_BOOTS = 3
"""Attempts to boot where the emulator, not the guest, fails."""
# Emulated CPUs access devices while the guest's PCI set-up changes the memory map,
# and reach another one's registers, or none: a race in QEMU, which then fails one or
# another of its assertions, https://gitlab.com/qemu-project/qemu/-/issues/1921. It says so
# wherever the guest's own line is just then.
# Where the register was that of a CPU's timer, nothing fails: the CPU idles, and two
# minutes later RCU finds that its timer has not come since. Where it was that of an
# interrupt, Booted finds it out.
_BOOT_FAULT = re.compile(
    r"qemu-system-\S+: .*\bAssertion `.*' failed\.$"
    r"|^\[ *\d+\.\d+\] rcu:\s+Possible timer handling issue on cpu=\d+\b",
    re.MULTILINE,
)
# A kernel that changes its text puts a breakpoint there first. QEMU drops what it translated
# of a page before it stores to it, so that another CPU can translate the breakpoint in
# between and keeps it: it traps where memory has no breakpoint any more. That can be whenever
# a static key changes. By the time of the report the next change of the same key may have put
# one there again.
_TRAP = re.compile(
    r"Oops: int3: (?:(?!Code: )[\s\S])*?\bRIP: \S+:(?P<at>\S+)"
    r"(?:(?!Code: )[\s\S])*Code: (?P<before>(?:[\da-f]{2} )+)<(?P<after>[\da-f]{2})>"
)

_GRACE = 5.0
"""Seconds after a command's limit to say what it waits for."""
_LEAK_LIMIT = 120.0
"""Seconds for a kmemleak scan."""

# kmemleak does not count objects younger than 5 s (jiffies_min_age).
_LEAK_SCAN = """
[ -e /sys/kernel/debug/kmemleak ] || exit 0
sleep 6
echo scan >/sys/kernel/debug/kmemleak && cat /sys/kernel/debug/kmemleak
"""


def _text_fault(log: str) -> bool:
    """Whether a CPU trapped at a breakpoint that the kernel has taken away, or put there since.

    One of the next change stands alone in the middle of a function. Compilers have theirs
    after a return, and between functions, before the first byte of the next one.
    """
    for trap in _TRAP.finditer(log):
        *earlier, last = trap["before"].split()
        if last != "cc":
            return True
        padding = earlier[-1:] in (["cc"], ["c3"]) or trap["after"] == "cc"
        if not padding and "+0x0/" not in trap["at"]:
            return True
    return False


class Built(Protocol):
    """What a guest needs of lab.kernel.build's kernels."""

    @property
    def bzimage(self) -> Path:
        """The kernel's file."""


Kernel = Path | str | Built
"""The path of a bzImage, or what lab.kernel.build.ensure() returns."""


@dataclass(frozen=True)
class GuestResult:
    """How a command in a guest ended.

    ``status`` is its exit status (128 plus the signal that killed it);
    ``log`` the kernel log it caused, ``warnings`` the kernel's new reports in
    it; ``seconds`` host time; ``out`` the host's side of $PGHOT_OUT.
    """

    status: int
    stdout: str
    stderr: str
    log: str
    warnings: list[str]
    seconds: float
    out: Path


class Guest:
    """A booted machine. Use it as a context manager, and sh() for commands.

    ``machine`` is a Machine or its name, ``kernel`` a bzImage's path or what
    lab.kernel.build.ensure() returns, ``cmdline`` a list of kernel parameters.
    ``rw`` lets the guest write to the host's files (else only to $PGHOT_OUT).
    ``accel`` is one of qemu.MODES. ``share`` is the host directory that is
    $PGHOT_OUT in the guest; by default a temporary one, gone with the guest.

    ``boot_seconds`` is what the boot took that succeeded.

    The thread that creates a Guest must live as long as it does. After a
    GuestError the guest is gone: ``alive`` is False.
    """

    def __init__(
        self,
        machine: Machine | str,
        kernel: Kernel,
        cmdline: Iterable[str] = (),
        *,
        rw: bool = False,
        accel: str | None = None,
        share: Path | None = None,
        boot_timeout: float = BOOT_LIMIT,
    ) -> None:
        machine = load(machine) if isinstance(machine, str) else machine
        image = Path(kernel) if isinstance(kernel, (str, Path)) else kernel.bzimage
        if not image.is_file():
            raise GuestError(f"no kernel at {image}: build it with 'make kernel'")
        check_host(machine)
        qemu.ensure()
        self._nonce = uuid.uuid4().hex
        self._number = 0
        self._records: list[kernel_log.Record] = []
        self._fresh = 0
        left, words = _BOOTS, list(cmdline)
        while True:
            left -= 1
            began = time.monotonic()
            try:
                self._booted = Booted(
                    machine,
                    image,
                    words,
                    nonce=self._nonce,
                    rw=rw,
                    accel=accel,
                    share=share,
                    limit=boot_timeout,
                )
                break
            except GuestError as error:
                emulator = (
                    isinstance(error, EmulatorError)
                    or _BOOT_FAULT.search(error.log)
                    or _text_fault(error.log)
                )
                if not left or not emulator:
                    raise
                note(f"the emulator failed, not the guest; another boot: {error.reason}")
        self.boot_seconds = time.monotonic() - began

    def __enter__(self) -> Guest:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.kill()
            return
        left = self.close()
        if left:
            raise GuestError(
                f"the kernel reported between or after commands: {left[0].splitlines()[0]}",
                "\n".join(left),
            )

    @property
    def alive(self) -> bool:
        """Whether commands can still run."""
        return self._booted.dead is None

    @property
    def pid(self) -> int:
        """QEMU's process on the host."""
        return self._booted.vm.pid

    @property
    def out(self) -> Path:
        """The host directory that is $PGHOT_OUT in the guest."""
        return self._booted.out

    @property
    def log(self) -> str:
        """The serial console so far: the kernel log from the first line on."""
        return self._booted.log

    def _ended(self) -> bool:
        """Whether all that command ``_number`` caused has arrived."""
        mark = f"{self._nonce} {self._number}".encode()
        text = self._booted.vm.text
        return (
            b"\n" in text["control"]
            and b"\x01" + mark + b"\n" in text["stdout"]
            and b"\x01" + mark + b"\n" in text["stderr"]
            and b";lab: " + mark + b"\n" in text["kmsg"]
        )

    def _take(self, name: str) -> str:
        """What a stream brought until the mark of command ``_number``."""
        mark = f"\x01{self._nonce} {self._number}\n".encode()
        with self._booted.vm.changed:
            whole = self._booted.vm.text[name]
            at = whole.index(mark)
            text = bytes(whole[:at]).decode(errors="replace")
            del whole[: at + len(mark)]
        return text

    def _new_records(self) -> list[kernel_log.Record]:
        """Records that arrived since the last call."""
        with self._booted.vm.changed:
            whole = self._booted.vm.text["kmsg"]
            end = whole.rfind(b"\n") + 1
            lines = bytes(whole[:end]).decode(errors="replace").split("\n")
            del whole[:end]
        last = self._records[-1].sequence if self._records else -1
        for record in filter(None, map(kernel_log.parse, lines)):
            # The agent starts over where the ring buffer overran it.
            if record.sequence > last:
                self._records += filter(None, (kernel_log.lost(last, record), record))
                last = record.sequence
        fresh, self._fresh = self._records[self._fresh :], len(self._records)
        return [record for record in fresh if not record.text.startswith(f"lab: {self._nonce}")]

    def sh(
        self, script: str | list[str], timeout: float = 60, *, on_line: Lines | None = None
    ) -> GuestResult:
        """Run a command as root, in the host's work tree's place, and wait for it.

        ``script`` is bash source, or a list of words for one program. ``on_line``
        gets each line of stdout as it comes. Kernel warnings since the last
        command are in the result; the first command's include the boot's.
        Raises GuestError on panic, oops, hang, or after ``timeout`` seconds; EmulatorError
        where the guest died of what the emulator did: another one may run the command well.
        """
        if not self.alive:
            raise GuestError(f"the guest is gone: {self._booted.dead or 'closed'}")
        if not isinstance(script, str):
            script = shlex.join(map(str, script))
        self._number += 1
        path = self.out / ".lab" / f"{self._number}.sh"
        path.write_text(
            f"cd {shlex.quote(str(virtme.HERE.parent.parent))} || exit\n{script}\n",
            encoding="utf-8",
        )
        # Before it is sent: its answer may be quick.
        with self._booted.vm.changed:
            clean = self._booted.vm.text["control"].strip() == b""
        assert clean, "the agent spoke out of turn"
        started = time.monotonic()
        self._booted.vm.send(f"run {self._number}")
        shown = " ".join(script.split())
        shown = shown if len(shown) <= 100 else shown[:97] + "..."
        late = f"a command did not end within {timeout:.3g} s: {shown}"
        try:
            self._wait_or_abort(started + timeout, late, on_line)
        except GuestError as error:
            if _text_fault(error.log):
                raise EmulatorError(error.reason, error.log) from None
            raise
        finally:
            path.unlink(missing_ok=True)
        with self._booted.vm.changed:
            answer = bytes(self._booted.vm.text["control"]).decode()
            self._booted.vm.text["control"].clear()
        _, number, status = answer.split()
        assert int(number) == self._number, answer
        records = self._new_records()
        return GuestResult(
            int(status),
            self._take("stdout"),
            self._take("stderr"),
            "\n".join(map(str, records)),
            kernel_log.warnings(records),
            time.monotonic() - started,
            self.out,
        )

    def _wait_or_abort(self, deadline: float, late: str, on_line: Lines | None) -> None:
        asked = False

        def done() -> bool:
            nonlocal asked
            if self._ended():
                return True
            if not asked and time.monotonic() >= deadline:
                asked = True
                self._booted.vm.send(f"abort {self._number}")
            return False

        self._booted.wait(done, deadline + _GRACE, late, on_line)
        if asked:
            self._booted.fail(late)

    def close(self) -> list[str]:
        """Power off. Return the kernel's reports since the last command, leaks included.

        Raises GuestError where the guest does not power off.
        """
        if not self.alive:
            self.kill()
            return []
        leaks = self.sh(_LEAK_SCAN, _LEAK_LIMIT)
        reports = leaks.warnings + ([leaks.stdout] if leaks.stdout.strip() else [])
        console = self._booted.power_off()
        reports += kernel_log.warnings(self._new_records())
        return reports + kernel_log.warnings(kernel_log.unread(console, self._records))

    def kill(self) -> None:
        """End the guest at once and remove its temporary files. Never fails."""
        self._booted.kill()
