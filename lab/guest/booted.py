# SPDX-License-Identifier: GPL-2.0
"""A guest under way: its QEMU, watched for what goes wrong in it."""

from __future__ import annotations

import re
import shutil
import signal
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

from lab.guest import kernel_log, virtme
from lab.guest.errors import EmulatorError, GuestError
from lab.guest.vm import VM
from lab.host import qemu
from lab.machines import Machine

_SETTLE = 2.0
"""Seconds of silence after a fatal message: the report is complete."""
_SETTLE_LIMIT = 15.0
"""Seconds at most for that report."""
_SILENCE = 250.0
"""Seconds for which a kernel that boots may say nothing. Of tasks that wait for each other it
tells sooner (hung_task_timeout_secs is 120, and looked at as often), and then it is not silent."""
_INIT = re.compile(r"^\[ *\d+\.\d+\](?:\[ *[CT]\d+\])? Run \S+ as init process", re.MULTILINE)
_SAY_LIMIT = 30.0
"""Seconds for one line from each CPU to the console. It takes 0.1 under emulation."""
_OFF_LIMIT = 30.0
"""Seconds to power off."""

# What lab.guest needs of every kernel: its log on the console from the first line on,
# and room for all of it.
_CMDLINE = ["loglevel=7", "log_buf_len=4M", "printk.devkmsg=on", "oops=panic"]

Lines = Callable[[str], None]
"""Takes each line of a command's output as it comes."""


def _cpus(listed: str) -> list[int]:
    """The numbers in a list as sysfs has them: 0-2,4."""
    spans = [span.split("-") for span in listed.split(",")]
    return [cpu for span in spans for cpu in range(int(span[0]), int(span[-1]) + 1)]


class Booted:
    """A machine that booted, until it is gone. Always with its QEMU.

    ``vm`` has its streams, ``out`` is the host's side of $PGHOT_OUT, ``nonce`` is in the
    marks that the agent writes, and ``dead`` says why it is gone, None while it is not.
    """

    def __init__(
        self,
        machine: Machine,
        image: Path,
        cmdline: list[str],
        *,
        nonce: str,
        rw: bool,
        accel: str | None,
        share: Path | None,
        limit: float,
    ) -> None:
        """Boot within ``limit`` seconds. Raises GuestError, with nothing left behind."""
        self.nonce = nonce
        self.dead: str | None = None
        self._scanned = 0
        self._scratch = Path(tempfile.mkdtemp(prefix="pghot-guest-"))
        self.out = Path(share) if share else self._scratch / "out"

        def resolve(ports: list[str]) -> list[str]:
            return virtme.resolve(
                virtme.virtme_run(
                    machine,
                    image,
                    qemu.accelerator(accel),
                    cmdline=_CMDLINE + cmdline,
                    rw=rw,
                    options=[
                        "--show-boot-console",
                        "--rwdir",
                        f"{virtme.SHARE}={self.out.resolve()}",
                        "--script-sh",
                        virtme.agent(nonce),
                    ],
                    qemu_options=ports,
                ),
                self._scratch,
            )

        deadline = time.monotonic() + limit
        try:
            (self.out / ".lab").mkdir(parents=True, exist_ok=True)
            self.vm = VM(resolve)
        except BaseException:
            shutil.rmtree(self._scratch, ignore_errors=True)
            raise
        try:
            self._boot(deadline, f"machine {machine.name} did not boot within {limit:.3g} s")
            with self.vm.changed:
                ready = bytes(self.vm.text["control"]).decode()
                self.vm.text["control"].clear()
            for cpu in _cpus(ready.split()[1]):
                self._hear(cpu)
        except BaseException:
            self.kill()
            raise

    def _boot(self, deadline: float, late: str) -> None:
        """Wait for the agent. Raises EmulatorError where the kernel falls silent before init.

        Then neither a stall nor a task that hangs was found: no CPU runs, and no timer comes.
        """
        text, size, since = self.vm.text, 0, time.monotonic()

        def silent() -> bool:
            nonlocal size, since
            if len(text["serial"]) != size:
                size, since = len(text["serial"]), time.monotonic()
            return time.monotonic() > since + _SILENCE and not _INIT.search(self.log)

        self.wait(lambda: b"\n" in text["control"] or silent(), deadline, late)
        if b"\n" not in text["control"]:
            raise EmulatorError(f"the kernel said nothing for {_SILENCE:g} s of its boot", self.log)

    def _hear(self, cpu: int) -> None:
        """Have a CPU say a line on the console. Raises EmulatorError where it does not.

        A CPU that lost one of its interrupts to itself sends itself no other, and then
        neither the console nor a reader of /dev/kmsg learns what it says.
        """
        mark = f"lab: {self.nonce} cpu {cpu}".encode()
        late = f"the kernel log stands still: CPU {cpu} cannot be heard on the console"
        self.vm.send(f"say {cpu}")
        try:
            self.wait(lambda: mark in self.vm.text["serial"], time.monotonic() + _SAY_LIMIT, late)
        except GuestError as error:
            if error.reason != late:
                raise
            raise EmulatorError(error.reason, error.log) from None

    @property
    def log(self) -> str:
        """The serial console so far: the kernel log from the first line on."""
        return self._console(0)

    def _console(self, begin: int) -> str:
        """The serial console from one of its bytes on."""
        with self.vm.changed:
            text = bytes(self.vm.text["serial"][begin:])
        lines = text.decode(errors="replace").replace("\r\n", "\n").splitlines(keepends=True)
        return "".join(line for line in lines if f"lab: {self.nonce} " not in line)

    # Called with vm.changed held by VM.wait().
    def _trouble(self) -> str | None:
        serial = self.vm.text["serial"]
        end = serial.rfind(b"\n") + 1
        for line in serial[self._scanned : end].decode(errors="replace").splitlines():
            found = kernel_log.fatal(line)
            if found:
                return found
        self._scanned = end
        return None

    def wait(
        self, done: Callable[[], bool], deadline: float, late: str, on_line: Lines | None = None
    ) -> None:
        """Wait until ``done()``; raise GuestError on trouble, QEMU's end, ``late``."""
        vm, seen = self.vm, 0
        trouble: str | None = None

        def stop() -> bool:
            nonlocal trouble
            trouble = trouble or self._trouble()
            fresh = on_line and vm.text["stdout"].find(b"\n", seen) >= 0
            return bool(trouble or fresh or done() or vm.status is not None)

        while True:
            with vm.changed:
                in_time = vm.wait(stop, deadline)
                finished = done()
                end = vm.text["stdout"].rfind(b"\n") + 1
                fresh = bytes(vm.text["stdout"][seen:end]) if on_line else b""
                seen = max(seen, end)
            if on_line:
                for line in fresh.decode(errors="replace").split("\n")[:-1]:
                    text, mark, _ = line.partition(f"\x01{self.nonce}")
                    if text or not mark:
                        on_line(text)
            if trouble:
                self._settle()
                self.fail(f"the guest's kernel reported: {trouble}")
            if finished:
                return
            if vm.status is not None:
                self.fail(self._obituary(vm.status))
            if not in_time:
                self.fail(late)

    def _settle(self) -> None:
        """Let the kernel finish its report."""
        limit = time.monotonic() + _SETTLE_LIMIT
        with self.vm.changed:
            size = -1
            while (
                size != len(self.vm.text["serial"])
                and self.vm.status is None
                and time.monotonic() < limit
            ):
                size = len(self.vm.text["serial"])
                self.vm.wait(lambda: self.vm.status is not None, time.monotonic() + _SETTLE)

    def _last_trouble(self) -> str | None:
        """Trouble in all that a QEMU that ended wrote."""
        # What it wrote last may still be on its way through the pipe.
        self.vm.kill()
        with self.vm.changed:
            return self._trouble()

    def _obituary(self, status: int) -> str:
        trouble = self._last_trouble()
        if trouble:
            return f"the guest's kernel reported: {trouble}"
        if status < 0:
            return f"QEMU was killed by {signal.Signals(-status).name}"
        if status:
            said = self.log.splitlines() or [""]
            return f"QEMU ended with status {status}: {said[-1]}"
        return "the guest powered off before the command ended"

    def fail(self, reason: str) -> NoReturn:
        """End it, and raise GuestError with its log."""
        self.dead = reason
        self.kill()
        raise GuestError(reason, self.log)

    def power_off(self) -> str:
        """Power off; return what the console said on the way.

        Raises GuestError where the guest does not, or panics on its way.
        """
        vm, deadline = self.vm, time.monotonic() + _OFF_LIMIT
        with vm.changed:
            begin = vm.text["serial"].rfind(b"\n") + 1
        vm.send("quit")
        with vm.changed:
            vm.wait(lambda: vm.status is not None or self._trouble() is not None, deadline)
            trouble = self._trouble()
        if trouble:
            self._settle()
        elif vm.status is None:
            self.fail(f"the guest did not power off within {_OFF_LIMIT:g} s")
        else:
            trouble = self._last_trouble()
        if trouble:
            self.fail(f"the guest's kernel reported: {trouble}")
        self.kill()
        return self._console(begin)

    def kill(self) -> None:
        """End it at once and remove its temporary files. Never fails."""
        self.dead = self.dead or "closed"
        self.vm.kill()
        shutil.rmtree(self._scratch, ignore_errors=True)
