# SPDX-License-Identifier: GPL-2.0
"""Whether this host has room for a machine."""

from __future__ import annotations

from lab.errors import LabError
from lab.host import memory
from lab.machines.description import names
from lab.machines.machine import MIB, Machine

_RESERVE = 512 * MIB
"""Bytes left to the host beside a guest: for QEMU itself and the file cache under 9p."""


def check_host(machine: Machine) -> None:
    """Raise LabError where the host has not the memory to run this machine."""
    have, need = memory.available(), machine.memory + _RESERVE
    if have is not None and need > have:
        raise LabError(
            f"machine {machine.name} needs {need // MIB} MiB "
            f"of memory, this host has {have // MIB} MiB free: choose another of "
            f"{', '.join(names())} or free some"
        )
