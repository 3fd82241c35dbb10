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
    """Nanoseconds of all CPUs in each function; user space is one, and so is what of the kernel
    is in none of them."""
    starts = [address for address, _ in functions]
    times: Counter[str] = Counter()
    for line in profile.splitlines():
        address, ns = line.split()
        pc = int(address, 16)
        at = bisect.bisect_right(starts, pc) - 1
        kernel = functions[at][1] if at >= 0 else "kernel"
        name = kernel if pc >= _KERNEL else "user space"
        times[name] += int(ns)
    return times


def _system_map(kernel: str) -> Path | None:
    """Where the kernel's is: beside it, or at the root of the tree that it was built in."""
    if kernel in build.FLAVOURS:
        places = [build.ensure(kernel).out]
    else:
        image = Path(kernel).absolute()
        places = [image.parent]
        if image.match("arch/*/boot/*"):
            places.append(image.parents[3])
    found = [place / "System.map" for place in places if (place / "System.map").is_file()]
    return found[0] if found else None


def show(profile: str, kernel: str) -> str:
    """The functions that took longest, one a line."""
    system_map = _system_map(kernel)
    functions = symbols(system_map.read_text(encoding="ascii")) if system_map else []
    times = by_function(profile, functions)
    lines = [f"{ns / 1e6:12.3f} ms  {name}" for name, ns in times.most_common(_TOP)]
    if not system_map:
        lines.append(
            f"There is no System.map with {kernel}: functions of the kernel have no names."
        )
    return "\n".join(lines)
