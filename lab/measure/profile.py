# SPDX-License-Identifier: GPL-2.0
"""Where the time of a measured run went, by function of the kernel."""

from __future__ import annotations

import bisect
from collections import Counter
from pathlib import Path

from lab.kernel import build

_KERNEL = 1 << 63
_TOP = 40


def symbols(system_map: str) -> list[tuple[int, str]]:
    """Functions by address, from the text of System.map."""
    found = []
    for line in system_map.splitlines():
        address, kind, name = line.split()
        if kind in "tTwW":
            found.append((int(address, 16), name))
    return sorted(found)


def by_function(profile: str, functions: list[tuple[int, str]]) -> Counter[str]:
    """Nanoseconds of all CPUs in each function; user space is one."""
    starts = [address for address, _ in functions]
    times: Counter[str] = Counter()
    for line in profile.splitlines():
        address, ns = line.split()
        pc = int(address, 16)
        at = bisect.bisect_right(starts, pc) - 1
        name = functions[at][1] if pc >= _KERNEL and at >= 0 else "user space"
        times[name] += int(ns)
    return times


def show(profile: str, kernel: str) -> str:
    """The functions that took longest, one a line."""
    system_map = (
        build.ensure(kernel).out if kernel in build.FLAVOURS else Path(kernel).parent
    ) / "System.map"
    functions = symbols(system_map.read_text(encoding="ascii")) if system_map.is_file() else []
    times = by_function(profile, functions)
    return "\n".join(f"{ns / 1e6:12.3f} ms  {name}" for name, ns in times.most_common(_TOP))
