# SPDX-License-Identifier: GPL-2.0
"""Whether this host has room for a machine."""

from __future__ import annotations

from lab.errors import LabError
from lab.host import capacity
from lab.machines.description import names
from lab.machines.machine import MIB, Machine


def check_host(machine: Machine) -> None:
    """Raise LabError where the host has not the memory to run this machine."""
    free = capacity.free()
    if free is not None and machine.memory > free:
        raise LabError(
            f"machine {machine.name} needs {machine.memory // MIB} MiB of memory, this host has "
            f"{free // MIB} MiB to give to guests: choose another of "
            f"{', '.join(names())} or free some"
        )
