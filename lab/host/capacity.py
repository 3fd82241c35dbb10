# SPDX-License-Identifier: GPL-2.0
"""How much of this host may be used at once: CPUs, memory, and what runs side by side."""

from __future__ import annotations

import os

from lab.errors import LabError
from lab.host import memory

RESERVE = 1 << 30
"""Bytes left to the host: for QEMU itself, and the file cache under the guests' files."""


def cpus() -> int:
    """CPUs this process may use."""
    return len(os.sched_getaffinity(0))


def jobs() -> int:
    """How many programs may keep a CPU busy side by side: JOBS=, or one for each CPU."""
    wanted = os.environ.get("JOBS")
    if not wanted:
        return cpus()
    if not wanted.isdigit() or int(wanted) < 1:
        raise LabError(f"JOBS={wanted}: give a number of parallel compilers")
    return int(wanted)


def free() -> int | None:
    """Bytes that guests may take together; None where the host does not say."""
    have = memory.available()
    return None if have is None else max(0, have - RESERVE)


def side_by_side(needs: int) -> int:
    """How many programs that take ``needs`` bytes each have room, one at least; one where
    the host does not say how much it has."""
    return min(jobs(), max(1, (free() or 0) // needs))
