# SPDX-License-Identifier: GPL-2.0
"""What the guest's kernel tells and takes, in /proc and /sys."""

from __future__ import annotations

from pathlib import Path

NODES = Path("/sys/devices/system/node")
PGHOT = Path("/sys/kernel/mm/pghot")
DEMOTION = "/sys/kernel/mm/numa/demotion_enabled"
MODE = "/proc/sys/kernel/numa_balancing"

_COUNTERS = (
    "pghot_",
    "pgpromote_",
    "pgdemote_",
    "numa_hint_faults",
    "numa_pte_updates",
    "pgmigrate_",
)


def parse_list(text: str) -> list[int]:
    """Numbers of a kernel list such as "0-1,4"."""
    numbers = []
    for part in text.strip().split(","):
        if part:
            first, _, last = part.partition("-")
            numbers += range(int(first), int(last or first) + 1)
    return numbers


def read(path: str | Path) -> str:
    """Contents of a small file, without the newline."""
    return Path(path).read_text().strip()


def write(path: str | Path, value: object) -> None:
    """Set a knob."""
    Path(path).write_text(f"{value}\n")


def counters() -> dict[str, int]:
    """Counters of tiering in /proc/vmstat."""
    found = {}
    for line in Path("/proc/vmstat").read_text().splitlines():
        name, value = line.split()
        if name.startswith(_COUNTERS):
            found[name] = int(value)
    return found


def cpus_by_node() -> dict[int, list[int]]:
    """Node -> its CPUs, for nodes with CPUs."""
    found = {}
    for node in parse_list(read(NODES / "has_cpu")):
        found[node] = parse_list(read(NODES / f"node{node}" / "cpulist"))
    return found


def tiers() -> list[list[int]]:
    """Nodes of each memory tier, the fastest tier first."""
    top = Path("/sys/devices/virtual/memory_tiering")
    found = sorted(
        (int(entry.name.removeprefix("memory_tier")), parse_list(read(entry / "nodelist")))
        for entry in top.glob("memory_tier[0-9]*")
    )
    return [nodes for _, nodes in found if nodes]
