# SPDX-License-Identifier: GPL-2.0
"""A guest that stays up for several commands."""

from __future__ import annotations

import re
import shlex
import shutil
import signal
import tempfile
import time
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from lab.guest import kernel_log, virtme
from lab.guest.errors import GuestError
from lab.guest.vm import VM
from lab.host import qemu
from lab.machines import Machine, check_host, load

BOOT_LIMIT = 300.0
"""Seconds for a boot. It takes 5 under emulation, 60 with the debug kernel."""

_BOOTS = 3
"""Attempts to boot where the emulator, not the guest, fails."""
# Emulated CPUs access devices while the guest's PCI set-up changes the memory map,
# and reach another one's registers, or none: a race in QEMU, which then fails one or
# another of its assertions, https://gitlab.com/qemu-project/qemu/-/issues/1921.
# Where the register was that of a CPU's timer, nothing fails: the CPU idles, and two
# minutes later RCU finds that its timer has not come since.
_EMULATOR_FAULT = re.compile(
    r"^qemu-system-\S+: .*\bAssertion `.*' failed\.$"
    r"|^\[ *\d+\.\d+\] rcu:\s+Possible timer handling issue on cpu=\d+\b",
    re.MULTILINE,
)

_SETTLE = 2.0
"""Seconds of silence after a fatal message: the report is complete."""
_SETTLE_LIMIT = 15.0
"""Seconds at most for that report."""
_GRACE = 5.0
"""Seconds after a command's limit to say what it waits for."""
_OFF_LIMIT = 30.0
"""Seconds to power off."""
_LEAK_LIMIT = 120.0
"""Seconds for a kmemleak scan."""

# kmemleak does not count objects younger than 5 s (jiffies_min_age).
_LEAK_SCAN = """
[ -e /sys/kernel/debug/kmemleak ] || exit 0
sleep 6
echo scan >/sys/kernel/debug/kmemleak && cat /sys/kernel/debug/kmemleak
"""

Lines = Callable[[str], None]


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

    The thread that creates a Guest must live as long as it does. After a
    GuestError the guest is gone: ``alive`` is False.
    """

    def __init__(
        self,
        machine: Machine | str,
        kernel,
        cmdline: Iterable[str] = (),
        *,
        rw: bool = False,
        accel: str | None = None,
        share: Path | None = None,
        boot_timeout: float = BOOT_LIMIT,
    ) -> None:
        machine = load(machine) if isinstance(machine, str) else machine
        image = Path(getattr(kernel, "bzimage", kernel))
        if not image.is_file():
            raise GuestError(f"no kernel at {image}: build it with 'make kernel'")
        check_host(machine)
        qemu.ensure()
        self._nonce = uuid.uuid4().hex
        self._number = 0
        self._records: list[kernel_log.Record] = []
        self._fresh = 0
        self.warnings: list[str] = []
        started = time.monotonic()
        for left in reversed(range(_BOOTS)):
            self._scratch = Path(tempfile.mkdtemp(prefix="pghot-guest-"))
            self.out = Path(share) if share else self._scratch / "out"
            self._dead: str | None = None
            self._vm: VM | None = None
            self._scanned = 0
            try:
                (self.out / ".lab").mkdir(parents=True, exist_ok=True)
                self._boot(machine, image, list(cmdline), rw, accel, boot_timeout)
                break
            except BaseException as error:
                self.kill()
                if not (
                    left and isinstance(error, GuestError) and _EMULATOR_FAULT.search(error.log)
                ):
                    raise
        self.boot_seconds = time.monotonic() - started

    def __enter__(self) -> Guest:
        return self

    def __exit__(self, kind, value, trace) -> None:
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
        return self._vm is not None and self._dead is None

    @property
    def pid(self) -> int:
        """QEMU's process on the host."""
        return self._vm.pid

    @property
    def log(self) -> str:
        """The serial console so far: the kernel log from the first line on."""
        if self._vm is None:
            return ""
        with self._vm.changed:
            text = bytes(self._vm.text["serial"])
        return text.decode(errors="replace").replace("\r\n", "\n")

    def _boot(
        self,
        machine: Machine,
        image: Path,
        cmdline: list[str],
        rw: bool,
        accel: str | None,
        limit: float,
    ) -> None:
        own = ["loglevel=7", "log_buf_len=4M", "printk.devkmsg=on", "oops=panic"]

        def resolve(ports: list[str]) -> list[str]:
            return virtme.resolve(
                virtme.virtme_run(
                    machine,
                    image,
                    qemu.accelerator(accel),
                    cmdline=own + cmdline,
                    rw=rw,
                    options=[
                        "--show-boot-console",
                        "--rwdir",
                        f"{virtme.SHARE}={self.out.resolve()}",
                        "--script-sh",
                        virtme.agent(self._nonce),
                    ],
                    qemu_options=ports,
                ),
                self._scratch,
            )

        deadline = time.monotonic() + limit
        self._vm = VM(resolve)
        self._wait(
            lambda: b"ready\n" in self._vm.text["control"],
            deadline,
            f"machine {machine.name} did not boot within {limit:.3g} s",
        )
        with self._vm.changed:
            self._vm.text["control"].clear()

    # Called with _vm.changed held by VM.wait().
    def _trouble(self) -> str | None:
        serial = self._vm.text["serial"]
        end = serial.rfind(b"\n") + 1
        for line in serial[self._scanned : end].decode(errors="replace").splitlines():
            found = kernel_log.fatal(line)
            if found:
                return found
        self._scanned = end
        return None

    def _wait(
        self, done: Callable[[], bool], deadline: float, late: str, on_line: Lines | None = None
    ) -> None:
        """Wait until ``done()``; raise GuestError on trouble, QEMU's end, ``late``."""
        vm, trouble, seen = self._vm, None, 0

        def stop() -> bool:
            nonlocal trouble
            trouble = trouble or self._trouble()
            fresh = on_line and vm.text["stdout"].find(b"\n", seen) >= 0
            return bool(trouble or fresh or done() or vm.status is not None)

        while True:
            with vm.changed:
                in_time = vm.wait(stop, deadline)
                finished = done()
                lines = []
                if on_line:
                    end = vm.text["stdout"].rfind(b"\n") + 1
                    lines = (
                        bytes(vm.text["stdout"][seen:end]).decode(errors="replace").split("\n")[:-1]
                    )
                    seen = max(seen, end)
            for line in lines:
                line, mark, _ = line.partition(f"\x01{self._nonce}")
                if line or not mark:
                    on_line(line)
            if trouble:
                self._settle()
                self._fail(f"the guest's kernel reported: {trouble}")
            if finished:
                return
            if vm.status is not None:
                self._fail(self._obituary())
            if not in_time:
                self._fail(late)

    def _settle(self) -> None:
        """Let the kernel finish its report."""
        limit = time.monotonic() + _SETTLE_LIMIT
        with self._vm.changed:
            size = -1
            while (
                size != len(self._vm.text["serial"])
                and self._vm.status is None
                and time.monotonic() < limit
            ):
                size = len(self._vm.text["serial"])
                self._vm.wait(lambda: self._vm.status is not None, time.monotonic() + _SETTLE)

    def _obituary(self) -> str:
        # What QEMU wrote last may still be on its way through the pipe.
        self._vm.kill()
        with self._vm.changed:
            trouble = self._trouble()
        if trouble:
            return f"the guest's kernel reported: {trouble}"
        status = self._vm.status
        if status < 0:
            return f"QEMU was killed by {signal.Signals(-status).name}"
        if status:
            said = self.log.splitlines() or [""]
            return f"QEMU ended with status {status}: {said[-1]}"
        return "the guest powered off before the command ended"

    def _fail(self, reason: str) -> None:
        self._dead = reason
        self._vm.kill()
        log = self.log
        self.kill()
        raise GuestError(reason, log)

    def _ended(self) -> bool:
        """Whether all that command ``_number`` caused has arrived."""
        mark = f"{self._nonce} {self._number}".encode()
        text = self._vm.text
        return (
            b"\n" in text["control"]
            and b"\x01" + mark + b"\n" in text["stdout"]
            and b"\x01" + mark + b"\n" in text["stderr"]
            and b";lab: " + mark + b"\n" in text["kmsg"]
        )

    def _take(self, name: str) -> str:
        """What a stream brought until the mark of command ``_number``."""
        mark = f"\x01{self._nonce} {self._number}\n".encode()
        with self._vm.changed:
            whole = self._vm.text[name]
            at = whole.index(mark)
            text = bytes(whole[:at]).decode(errors="replace")
            del whole[: at + len(mark)]
        return text

    def _new_records(self) -> list[kernel_log.Record]:
        """Records that arrived since the last call."""
        with self._vm.changed:
            whole = self._vm.text["kmsg"]
            end = whole.rfind(b"\n") + 1
            lines = bytes(whole[:end]).decode(errors="replace").split("\n")
            del whole[:end]
        last = self._records[-1].sequence if self._records else -1
        for record in filter(None, map(kernel_log.parse, lines)):
            # The agent starts over where the ring buffer overran it.
            if record.sequence > last:
                self._records.append(record)
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
        Raises GuestError on panic, oops, hang, or after ``timeout`` seconds.
        """
        if not self.alive:
            raise GuestError(f"the guest is gone: {self._dead or 'closed'}")
        if not isinstance(script, str):
            script = shlex.join(map(str, script))
        self._number += 1
        path = self.out / ".lab" / f"{self._number}.sh"
        path.write_text(
            f"cd {shlex.quote(str(virtme.HERE.parent.parent))} || exit\n{script}\n",
            encoding="utf-8",
        )
        started = time.monotonic()
        self._vm.send(f"run {self._number}")
        shown = " ".join(script.split())
        shown = shown if len(shown) <= 100 else shown[:97] + "..."
        late = f"a command did not end within {timeout:.3g} s: {shown}"
        try:
            self._wait_or_abort(started + timeout, late, on_line)
        finally:
            path.unlink(missing_ok=True)
        with self._vm.changed:
            answer = bytes(self._vm.text["control"]).decode()
            self._vm.text["control"].clear()
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
        with self._vm.changed:
            clean = self._vm.text["control"].strip() == b""
        assert clean, "the agent spoke out of turn"
        asked = False

        def done() -> bool:
            nonlocal asked
            if self._ended():
                return True
            if not asked and time.monotonic() >= deadline:
                asked = True
                self._vm.send(f"abort {self._number}")
            return False

        self._wait(done, deadline + _GRACE, late, on_line)
        if asked:
            self._fail(late)

    def leaks(self) -> str:
        """What kmemleak found since boot; empty on kernels without it."""
        return self.sh(_LEAK_SCAN, _LEAK_LIMIT).stdout

    def close(self) -> list[str]:
        """Power off. Return the kernel's reports since the last command, leaks included.

        Raises GuestError where the guest does not power off.
        """
        if not self.alive:
            self.kill()
            return []
        leaks = self.sh(_LEAK_SCAN, _LEAK_LIMIT)
        reports = leaks.warnings + ([leaks.stdout] if leaks.stdout.strip() else [])
        vm, deadline = self._vm, time.monotonic() + _OFF_LIMIT
        vm.send("quit")
        with vm.changed:
            vm.wait(lambda: vm.status is not None or self._trouble() is not None, deadline)
            trouble = self._trouble()
        if trouble:
            self._settle()
            self._fail(f"the guest's kernel reported: {trouble}")
        if vm.status is None:
            self._fail(f"the guest did not power off within {_OFF_LIMIT:g} s")
        self._dead = "closed"
        self.kill()
        return reports + kernel_log.warnings(self._new_records())

    def kill(self) -> None:
        """End the guest at once and remove its temporary files. Never fails."""
        self._dead = self._dead or "closed"
        if self._vm is not None:
            self._vm.kill()
        shutil.rmtree(self._scratch, ignore_errors=True)
