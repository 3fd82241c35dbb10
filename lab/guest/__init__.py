# SPDX-License-Identifier: GPL-2.0
"""Commands in a guest: boot a kernel on a machine, run, get everything back.

    with Guest("three-node", build.ensure("pghot"), ["pghot=precise"]) as guest:
        result = guest.sh("cat /sys/kernel/mm/pghot/layout")

The guest sees the host's files, read-only, at their places, and runs as root.
What it writes to $PGHOT_OUT is in ``result.out`` on the host.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from lab.guest.booted import Lines
from lab.guest.errors import GuestError
from lab.guest.session import BOOT_LIMIT, Guest, GuestResult, Kernel
from lab.machines import Machine

__all__ = ["Guest", "GuestError", "GuestResult", "run"]


def run(
    machine: Machine | str,
    kernel: Kernel,
    command: str | list[str],
    *,
    cmdline: Iterable[str] = (),
    timeout: float = 300,
    rw: bool = False,
    accel: str | None = None,
    out: Path | None = None,
    on_line: Lines | None = None,
) -> GuestResult:
    """Boot, run one command, power off.

    ``timeout`` (seconds) bounds boot and command together, and each boot that the
    emulator failed alone; ``out`` is the host directory that the guest sees as
    $PGHOT_OUT and that is kept. The other arguments are Guest's and sh()'s. In the
    result, ``log`` and ``warnings`` are of the whole run. Raises GuestError as sh() does.
    """
    started = time.monotonic()
    guest = Guest(
        machine,
        kernel,
        cmdline,
        rw=rw,
        accel=accel,
        share=out,
        boot_timeout=min(timeout, BOOT_LIMIT),
    )
    with guest:
        left = max(1.0, timeout - guest.boot_seconds)
        result = guest.sh(command, left, on_line=on_line)
        late = guest.close()
        return replace(
            result,
            log=guest.log,
            warnings=result.warnings + late,
            seconds=time.monotonic() - started,
        )
