# SPDX-License-Identifier: GPL-2.0
"""Where QEMU's q35 machine puts the memory of each node."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lab.machines.machine import BLOCK, Machine

GIB = 1 << 30
_FOUR_GIB = 4 * GIB
# hw/i386/pc_q35.c: a machine with as much memory as fits below the PCI window at
# 0xb0000000 has all of it there, a larger one half of the space below 4 GiB.
_WINDOW = 0xB0000000
_LOW = 2 * GIB


@dataclass(frozen=True)
class Range:
    """Physical addresses from ``start`` to before ``end`` that belong to ``node``."""

    start: int
    end: int
    node: int


def _at_boot(machine: Machine) -> Iterator[Range]:
    total = sum(node.size for node in machine.nodes if not node.hotplug)
    low = total if total < _WINDOW else _LOW
    at = 0
    for number, node in enumerate(machine.nodes):
        if node.hotplug:
            continue
        end = at + node.size
        if at < low:
            yield Range(at, min(end, low), number)
        if end > low:
            shift = _FOUR_GIB - low
            yield Range(max(at, low) + shift, end + shift, number)
        at = end


def ranges(machine: Machine) -> list[Range]:
    """All nodes' memory, in the order of addresses.

    Hotplugged memory follows the rest at the next full GiB above 4 GiB.
    """
    found = list(_at_boot(machine))
    at = max([_FOUR_GIB, *(part.end for part in found)])
    at = -(-at // GIB) * GIB
    for number, node in enumerate(machine.nodes):
        if node.hotplug:
            found.append(Range(at, at + node.size, number))
            at += node.size
    return found


def blocks(parts: Iterable[Range]) -> dict[int, set[int]]:
    """Numbers of the memory blocks (128 MiB) of each node, as sysfs has them."""
    found: dict[int, set[int]] = {}
    for part in parts:
        found.setdefault(part.node, set()).update(range(part.start // BLOCK, part.end // BLOCK))
    return found
