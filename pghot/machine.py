# SPDX-License-Identifier: GPL-2.0
"""What any kernel tells about memory tiers: tiers, nodes, room, NUMA balancing, demotion."""

from typing import Any

from pghot import parse
from pghot.tree import Tree, clean

NODES = "sys/devices/system/node"
TIERS = "sys/devices/virtual/memory_tiering"

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
    nodes = parse.node_list(text)
    if nodes is None:
        tree.note(path, "not a list of nodes")
    return nodes


def _distances(tree: Tree, node: int, online: list[int]) -> dict[str, int]:
    path = f"{NODES}/node{node}/distance"
    words = (tree.text(path) or "").split()
    if not words:
        return {}
    if len(words) != len(online) or not all(w.isascii() and w.isdigit() and len(w) < 6 for w in words):
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


def nodes(tree: Tree) -> list[dict[str, Any]]:
    """One dict for each node; `tier` and `top` are filled in by `tiers`."""
    online = tree.numbered(NODES, "node")
    with_cpu = _nodes_in(tree, f"{NODES}/has_cpu")
    zones = _zones_by_node(tree)
    found: list[dict[str, Any]] = []
    for node in online:
        base = f"{NODES}/node{node}"
        meminfo_text = tree.text(f"{base}/meminfo")
        meminfo = parse.node_meminfo(meminfo_text or "")
        if meminfo_text is not None and "MemTotal" not in meminfo:
            tree.note(f"{base}/meminfo", "MemTotal not found")
        vmstat, _ = parse.counters(tree.text(f"{base}/vmstat") or "")
        demoted = [v for k, v in vmstat.items() if k.startswith("pgdemote_")]
        managed = [z for z in zones.get(node, []) if z.managed > 0]
        cpus = tree.text(f"{base}/cpulist")
        found.append(
            {
                "node": node,
                "tier": None,
                "top": None,
                "has_cpu": None if with_cpu is None else node in with_cpu,
                "cpus": None if cpus is None else "".join(c for c in cpus.strip() if c in "0123456789-,"),
                "total_bytes": meminfo.get("MemTotal"),
                "free_bytes": meminfo.get("MemFree"),
                "free_pages": sum(z.free for z in managed) if managed else None,
                "high_watermark_pages": sum(z.high for z in managed) if managed else None,
                "room": any(z.room() for z in managed) if managed else None,
                "distances": _distances(tree, node, online),
                "promoted_to_pages": vmstat.get("pgpromote_success"),
                "demoted_from_pages": sum(demoted) if demoted else None,
            }
        )
    return found


def _total(values: list[int | None]) -> int | None:
    known = [v for v in values if v is not None]
    return sum(known) if known and len(known) == len(values) else None


def tiers(tree: Tree, node_list: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The memory tiers, fastest first; also writes `tier` and `top` into the nodes.

    As in the kernel, the slowest tier that has a CPU and every faster one are the top tier.
    """
    by_number = {node["node"]: node for node in node_list}
    found: list[dict[str, Any]] = []
    for tier in tree.numbered(TIERS, "memory_tier"):
        members = _nodes_in(tree, f"{TIERS}/memory_tier{tier}/nodelist")
        if members == []:
            continue  # the kernel keeps a tier whose last node went away
        here = [by_number[n] for n in members or [] if n in by_number]
        found.append(
            {
                "tier": tier,
                "top": None,
                "nodes": members or [],
                "total_bytes": _total([n["total_bytes"] for n in here]),
                "free_bytes": _total([n["free_bytes"] for n in here]),
            }
        )
    with_cpu = [t["tier"] for t in found if any(by_number.get(n, {}).get("has_cpu") for n in t["nodes"])]
    for one in found:
        one["top"] = one["tier"] <= max(with_cpu) if with_cpu else None
        for member in one["nodes"]:
            if member in by_number:
                by_number[member]["tier"] = one["tier"]
                by_number[member]["top"] = one["top"]
    return found


def balancing(tree: Tree) -> dict[str, Any]:
    """Mode of kernel.numa_balancing; `mode` None and `available` False when the kernel has none."""
    path = "proc/sys/kernel/numa_balancing"
    mode = tree.integer(path)
    if mode is not None and mode not in BALANCING_MEANING:
        tree.note(path, f"unknown mode {mode}")
    return {
        "available": tree.exists(path),
        "mode": mode,
        "meaning": BALANCING_MEANING.get(mode) if mode is not None else None,
        "tiering": None if mode not in BALANCING_MEANING else bool(mode & TIERING_BIT),
    }


def machine(tree: Tree) -> dict[str, Any]:
    """All the fields of a status that do not depend on pghot."""
    node_list = nodes(tree)
    release = tree.text("proc/sys/kernel/osrelease")
    return {
        "kernel": clean(release, 80) if release else None,
        "uptime_seconds": _uptime(tree),
        "numa_balancing": balancing(tree),
        "demotion": tree.switch("sys/kernel/mm/numa/demotion_enabled"),
        "hmat": tree.exists("sys/firmware/acpi/tables/HMAT"),
        "watermark_scale_factor": tree.integer("proc/sys/vm/watermark_scale_factor"),
        "tiers": tiers(tree, node_list),
        "nodes": node_list,
    }


def _uptime(tree: Tree) -> float | None:
    words = (tree.text("proc/uptime") or "").split()
    whole, _, fraction = words[0].partition(".") if words else ("", "", "")
    if not (whole.isascii() and whole.isdigit() and len(whole) < 12):
        return None
    return float(f"{whole}.{fraction[:2] if fraction.isascii() and fraction.isdigit() else 0}")
