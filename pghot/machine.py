# SPDX-License-Identifier: GPL-2.0
"""What any kernel tells about memory tiers: tiers, nodes, room, NUMA balancing, demotion."""

import re
from collections.abc import Iterable

from pghot import parse
from pghot.status import Balancing, Node, Tier
from pghot.tree import Tree, clean

NODES = "sys/devices/system/node"
TIERS = "sys/devices/virtual/memory_tiering"
MEMORY_BLOCK = "sys/devices/system/memory/block_size_bytes"
DEMOTION = "sys/kernel/mm/numa/demotion_enabled"
HMAT = "sys/firmware/acpi/tables/HMAT"
#: One of these is there wherever /sys/firmware can be seen, which containers hide.
_FIRMWARE = ("sys/firmware/acpi", "sys/firmware/devicetree")
NUMA_BALANCING = "proc/sys/kernel/numa_balancing"
RELEASE = "proc/sys/kernel/osrelease"

#: The bit of kernel.numa_balancing that looks for hot pages of slower tiers.
TIERING_BIT = 2

BALANCING_MEANING = {
    0: "off",
    1: "between sockets only, no memory tiering",
    2: "memory tiering",
    3: "between sockets and memory tiering",
}


def _nodes_in(tree: Tree, path: str) -> list[int] | None:
    text = tree.text(path)
    if text is None:
        return None
    nodes = parse.number_list(text)
    if nodes is None:
        tree.note(path, "not a list of nodes")
    return nodes


def _distances(tree: Tree, node: int, online: list[int]) -> dict[str, int]:
    path = f"{NODES}/node{node}/distance"
    words = (tree.text(path) or "").split()
    if not words:
        return {}
    numeric = all(w.isascii() and w.isdigit() and len(w) < 6 for w in words)
    if len(words) != len(online) or not numeric:
        tree.note(path, "not one distance for each online node")
        return {}
    return {str(other): int(word) for other, word in zip(online, words, strict=True)}


def _zones_by_node(tree: Tree) -> dict[int, list[parse.Zone]]:
    text = tree.text("proc/zoneinfo")
    by_node: dict[int, list[parse.Zone]] = {}
    for zone in parse.zones(text or ""):
        by_node.setdefault(zone.node, []).append(zone)
    if text is not None and not by_node:
        tree.note("proc/zoneinfo", "no zone understood")
    return by_node


def _node(
    tree: Tree, node: int, online: list[int], with_cpu: list[int] | None, zones: list[parse.Zone]
) -> Node:
    """One node, not yet in a tier."""
    base = f"{NODES}/node{node}"
    meminfo_text = tree.text(f"{base}/meminfo")
    meminfo = parse.node_meminfo(meminfo_text or "")
    if meminfo_text is not None and "MemTotal" not in meminfo:
        tree.note(f"{base}/meminfo", "MemTotal not found")
    vmstat, _ = parse.counters(tree.text(f"{base}/vmstat") or "")
    demoted = [v for k, v in vmstat.items() if k.startswith("pgdemote_")]
    managed = [z for z in zones if z.managed > 0]
    cpus = tree.text(f"{base}/cpulist")
    return Node(
        node=node,
        tier=None,
        top=None,
        has_cpu=None if with_cpu is None else node in with_cpu,
        cpus=None if cpus is None else "".join(c for c in cpus.strip() if c in "0123456789-,"),
        total_bytes=meminfo.get("MemTotal"),
        free_bytes=meminfo.get("MemFree"),
        free_pages=sum(z.free for z in managed) if managed else None,
        high_watermark_pages=sum(z.high for z in managed) if managed else None,
        room=any(z.room() for z in managed) if managed else None,
        distances=_distances(tree, node, online),
        promoted_to_pages=vmstat.get("pgpromote_success"),
        demoted_from_pages=sum(demoted) if demoted else None,
    )


def total_of(values: Iterable[int | None]) -> int | None:
    """Their sum; None when one is not known or there are none."""
    total = None
    for value in values:
        if value is None:
            return None
        total = (total or 0) + value
    return total


def tiers_and_nodes(tree: Tree) -> tuple[list[Tier], list[Node]]:
    """The memory tiers, fastest first, and the nodes, each with its tier.

    As in the kernel, the slowest tier that has a CPU and every faster one are the top tier.
    """
    online = tree.numbered(NODES, "node")
    with_cpu = _nodes_in(tree, f"{NODES}/has_cpu")
    zones = _zones_by_node(tree)
    nodes = {n: _node(tree, n, online, with_cpu, zones.get(n, [])) for n in online}
    tiers = []
    for tier in tree.numbered(TIERS, "memory_tier"):
        members = _nodes_in(tree, f"{TIERS}/memory_tier{tier}/nodelist")
        if members == []:
            continue  # the kernel keeps a tier whose last node went away
        here = [nodes[n] for n in members or [] if n in nodes]
        total = total_of(n.total_bytes for n in here)
        free = total_of(n.free_bytes for n in here)
        tiers.append(Tier(tier, None, members or [], total, free))
    slowest = max(
        (t.tier for t in tiers if any(n in nodes and nodes[n].has_cpu for n in t.nodes)),
        default=None,
    )
    if slowest is not None:
        tiers = [t._replace(top=t.tier <= slowest) for t in tiers]
    for one in tiers:
        for member in one.nodes:
            if member in nodes:
                nodes[member] = nodes[member]._replace(tier=one.tier, top=one.top)
    return tiers, list(nodes.values())


def balancing(tree: Tree) -> Balancing:
    """Mode of kernel.numa_balancing."""
    mode = tree.integer(NUMA_BALANCING)
    meaning = None if mode is None else BALANCING_MEANING.get(mode)
    if mode is not None and meaning is None:
        tree.note(NUMA_BALANCING, f"unknown mode {mode}")
    tiering = None if mode is None or meaning is None else bool(mode & TIERING_BIT)
    available = tree.exists(NUMA_BALANCING)
    # Where /proc/sys is hidden, as in some containers, that it is missing says nothing.
    if available is False and not tree.exists(RELEASE):
        available = None
    return Balancing(available, mode, meaning, tiering)


def release(tree: Tree) -> str | None:
    """The release of the kernel, as `uname -r` prints it."""
    text = tree.text(RELEASE)
    return clean(text, 80) if text else None


def uptime(tree: Tree) -> float | None:
    """Seconds since boot."""
    words = (tree.text("proc/uptime") or "").split()
    whole, _, fraction = words[0].partition(".") if words else ("", "", "")
    if not (whole.isascii() and whole.isdigit() and len(whole) < 12):
        return None
    return float(f"{whole}.{fraction[:2] if fraction.isascii() and fraction.isdigit() else 0}")


def memory_block(tree: Tree) -> int | None:
    """The size of what memory comes online by, in bytes."""
    digits = (tree.text(MEMORY_BLOCK) or "").strip()
    return int(digits, 16) if re.fullmatch("[0-9a-f]{1,12}", digits) else None


def hmat(tree: Tree) -> bool | None:
    """Whether the firmware describes memory latencies; None where nothing of it can be seen."""
    seen = any(tree.exists(path) for path in _FIRMWARE)
    return tree.exists(HMAT) if seen else None
