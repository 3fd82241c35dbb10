# SPDX-License-Identifier: GPL-2.0
"""Parsers of what the kernel tells about the memory of one process, for the demonstration."""

import re
from collections import Counter

#: Mappings of the kernel's own that look like anonymous memory.
_KERNELS = ("[vvar]", "[vdso]", "[vsyscall]", "[vvar_vclock]")

_ON_NODE = re.compile(r" N([0-9]+)=([0-9]+)")


def anonymous_areas(maps: str) -> list[tuple[int, int]]:
    """(start, end) of the anonymous memory areas in /proc/PID/maps: heap, stacks, mappings."""
    areas = []
    for line in maps.splitlines():
        span, _, _, _, inode, *name = line.split(None, 5)
        if inode == "0" and not (name and name[0] in _KERNELS):
            start, end = (int(part, 16) for part in span.split("-"))
            areas.append((start, end))
    return areas


def pages_by_node(numa_maps: str, starts: set[int]) -> dict[int, int]:
    """Node -> pages there, in /proc/PID/numa_maps, of the areas with these start addresses."""
    counts: Counter[int] = Counter()
    for line in numa_maps.splitlines():
        if int(line.split()[0], 16) in starts:
            for node, pages in _ON_NODE.findall(line):
                counts[int(node)] += int(pages)
    return dict(counts)
