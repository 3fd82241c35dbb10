# SPDX-License-Identifier: GPL-2.0
"""What a modelled machine is made of."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20
BLOCK = 128 * MIB
"""Bytes in one memory block, what x86 takes offline at once up to 64 GiB."""


@dataclass(frozen=True)
class Node:
    """One NUMA node. ``size`` is in bytes; ``near`` is None where it has CPUs."""

    size: int
    cpus: int
    memory: str
    near: int | None
    hotplug: bool


@dataclass(frozen=True)
class Dma:
    """A copy engine: each job of a channel takes ``setup_ns`` and then its bytes at
    ``mibps``. ``on_request``: the machine has it only where it is asked for."""

    channels: int
    setup_ns: int
    mibps: int
    on_request: bool = False


SNOOP_NS = 28
"""Of a machine that says nothing else. Chosen: with the last-level cache's hit it is 40 ns
from one CPU of a socket to the other, the order of what was measured from core to core of
Ice Lake servers (docs/model.md)."""


def power_of_two(number: int) -> bool:
    """Whether it is one; 0 is not."""
    return number > 0 and not number & (number - 1)


@dataclass(frozen=True)
class Interrupts:
    """What it costs to ask for an interrupt on other CPUs, ``send_ns`` for each time it is
    asked, and to be interrupted, ``take_ns`` beside the handler's own work.

    Chosen, each some 800 cycles at 3 GHz: a write to the interrupt controller waits until
    all before it is done, an interrupt empties the pipeline twice and saves and restores
    the CPU's state.
    """

    send_ns: int = 250
    take_ns: int = 250


@dataclass(frozen=True)
class Tlb:
    """Each CPU's translations: a first level of ``first`` small pages, a second one of
    ``second`` pages of any size in sets of ``ways``. Finding one there costs ``hit_ns``,
    a walk through the page tables ``walk_ns`` and what the entries cost that it reads.

    Sizes are those of Skylake, of servers too: Intel 64 and IA-32 Architectures
    Optimization Reference Manual (248966-045), table 2-15. It has 9 cycles for the
    second level, 3 ns at 3 GHz. 10 ns, 30 cycles, for the walk's own work is chosen.
    """

    first: int = 64
    second: int = 1536
    ways: int = 12
    hit_ns: int = 3
    walk_ns: int = 10

    def has_whole_sets(self) -> bool:
        """Whether the second level is a power of two of sets, which all have their ways."""
        return not self.second % self.ways and power_of_two(self.second // self.ways)


@dataclass(frozen=True)
class Model:
    """What the memory model adds to a machine's description.

    ``llc`` is the size of each socket's last-level cache in bytes, ``llc_hit_ns``
    what a hit costs, ``snoop_ns`` what it costs more if another CPU of the socket has to
    be asked. Each CPU stands for ``share`` of those of the machine that is
    modelled, and the memory carries so much less. ``clock`` guest nanoseconds are one of
    the machine's: an instruction takes one of the guest's.
    """

    llc: int
    llc_hit_ns: int
    share: int
    dma: Dma | None = None
    tlb: Tlb = Tlb()
    snoop_ns: int = SNOOP_NS
    interrupts: Interrupts = Interrupts()
    clock: int = 1


@dataclass(frozen=True)
class Machine:
    """A machine that passed every check.

    ``distance[i][j]`` is SLIT's; ``latency_ns[i][j]`` and
    ``bandwidth_mibps[i][j]`` go from the i-th node with CPUs to node j.
    """

    name: str
    about: str
    nodes: tuple[Node, ...]
    distance: tuple[tuple[int, ...], ...]
    latency_ns: tuple[tuple[int, ...], ...]
    bandwidth_mibps: tuple[tuple[int, ...], ...]
    model: Model | None = None

    @property
    def cpus(self) -> int:
        """CPUs of all nodes."""
        return sum(node.cpus for node in self.nodes)

    @property
    def memory(self) -> int:
        """Bytes of all nodes."""
        return sum(node.size for node in self.nodes)

    @property
    def clock(self) -> int:
        """Guest nanoseconds in one of the machine's."""
        return self.model.clock if self.model else 1

    @property
    def initiators(self) -> list[int]:
        """Numbers of the nodes with CPUs."""
        return [number for number, node in enumerate(self.nodes) if node.cpus]

    @property
    def top_tier(self) -> list[int]:
        """Numbers of the nodes of DRAM."""
        return [number for number, node in enumerate(self.nodes) if node.memory == "dram"]

    def initiator_of(self, number: int) -> int:
        """The node with CPUs that node ``number`` is or is near."""
        near = self.nodes[number].near
        return number if near is None else near

    @property
    def cmdline(self) -> list[str]:
        """Kernel parameters the machine needs."""
        if any(node.hotplug for node in self.nodes):
            # The guest brings it online itself: lab/guest/online.sh says why.
            return ["memhp_default_state=offline"]
        return []
