# SPDX-License-Identifier: GPL-2.0
"""The doctor's checks of memory: tiers, and room in the fastest one."""

from pghot.columns import size
from pghot.findings import FAIL, OK, UNKNOWN, WARN, Finding, unread
from pghot.machine import DEMOTION, total_of
from pghot.status import Node, Status

DEMOTION_ON = f"echo true > /{DEMOTION}"
#: vm.watermark_scale_factor, in 1/10000 of a node.
_WIDE_WATERMARKS = 100
#: How a device becomes memory. No command for somebody to run unread: it may be the wrong device.
_DEVICES = (
    "To make a device memory destroys all that is stored on it. Look first: the command lists the"
    " devices. Then, for one that nobody uses, and by its own name: daxctl reconfigure-device"
    " --mode=system-ram dax0.0."
)


def none_below(status: Status) -> bool:
    """Whether all tiers are known to be top ones: there is nothing to promote from."""
    return bool(status.tiers) and (len(status.tiers) == 1 or all(t.top for t in status.tiers))


def _nodes_without_cpu(status: Status) -> list[int]:
    """Nodes with memory and no CPU in the slowest tier, where that has CPUs too. A faster tier may
    have such: memory that is faster than DRAM."""
    slowest = status.tiers[-1].tier
    return [
        n.node
        for n in status.nodes
        if n.has_cpu is False and n.total_bytes and n.tier in (slowest, None)
    ]


def memory_tiers(status: Status) -> Finding | None:
    """Whether there is a tier to promote from."""
    tiers = status.tiers
    if not tiers:
        return Finding(
            UNKNOWN,
            "The kernel shows no memory tiers.",
            "/sys/devices/virtual/memory_tiering is missing or empty: a kernel without"
            " CONFIG_NUMA and CONFIG_MIGRATION has none, nor has one before Linux 6.1.",
        )
    lower = [t for t in tiers if t.top is False]
    if lower:
        total = total_of(t.total_bytes for t in lower)
        return Finding(OK, f"{len(tiers)} memory tiers; {size(total)} below the top tier.")
    if not none_below(status):
        return Finding(UNKNOWN, "Which memory tier is the top one cannot be read.")
    cpuless = _nodes_without_cpu(status)
    if cpuless:
        cause = {
            True: "the HMAT gives it DRAM's latency",
            False: "no HMAT says that it is slower",
            None: "an HMAT, if there is one, does not say that it is slower",
        }[status.hmat]
        why = (
            f"Node {', '.join(map(str, cpuless))} has memory and no CPU, yet is in the tier of"
            f" DRAM: {cause}. Let a driver bring the memory online instead: keep it out of the"
            " boot memory (EFI soft reservation, or the firmware's CXL or persistent memory"
            " mode)."
        )
    else:
        why = (
            "There is nowhere to promote from. If the machine has CXL or persistent memory, bring"
            " it online as a node of its own."
        )
    return Finding(
        FAIL,
        "There is one memory tier only: nothing can be promoted."
        if len(tiers) == 1
        else f"All {len(tiers)} memory tiers are as fast as DRAM or faster: none can promote.",
        f"{why} {_DEVICES}",
        "daxctl list",
    )


def hmat(status: Status) -> Finding | None:
    """Whether the firmware says which memory is slower."""
    if status.hmat:
        return Finding(OK, "The firmware describes memory latencies (HMAT).")
    if status.hmat is None and len(status.tiers) > 1:
        return Finding(OK, "Whether there is an HMAT cannot be seen, and none is needed.")
    if status.hmat is None:
        return Finding(
            UNKNOWN,
            "Whether the firmware gives an HMAT cannot be seen.",
            "Containers hide /sys/firmware, and a part of it is for root alone. Run pghot doctor as"
            " root on the host.",
        )
    if len(status.tiers) > 1:
        return Finding(
            OK, "No HMAT, and none needed: a driver put the slower memory in its own tier."
        )
    return Finding(
        WARN,
        "The firmware gives no HMAT.",
        "Without this table the kernel takes all memory present at boot for equally fast and"
        " makes one tier of it. Switch HMAT on in the firmware setup (for QEMU: -machine hmat=on"
        " with -numa hmat-lb rows). The command tells what the kernel made of the firmware's"
        " tables.",
        "dmesg | grep -i -e hmat -e srat",
    )


def demotion(status: Status) -> Finding | None:
    """Whether cold pages make room."""
    if none_below(status):
        return None
    if status.demotion is None:
        return unread(status, "Whether demotion is on", DEMOTION)
    if status.demotion:
        return Finding(OK, "Demotion is on.")
    return Finding(
        WARN,
        "Demotion is off.",
        "Cold pages stay in DRAM or go to swap, and promotion stops once DRAM is full. The"
        " command lasts until the next boot.",
        DEMOTION_ON,
    )


def _lower_is_full_too(status: Status) -> bool:
    lower = [n.room for n in status.nodes if n.top is False and n.total_bytes]
    full = any(n.room is False for n in top_nodes(status))
    return full and bool(lower) and all(room is False for room in lower)


def make_room(status: Status) -> tuple[str, str | None]:
    """How the top tier gets room, in words and as a command, which is None where all is set."""
    if not status.demotion:
        return (
            "Promotion takes only what is free above the high watermark, and nothing makes room"
            " while demotion is off.",
            DEMOTION_ON,
        )
    if _lower_is_full_too(status):
        return (
            "The lower tier is full as well, and takes no cold pages: reclaim makes room only as it"
            " drops pages or swaps them out. With the files that are kept in memory, what is in use"
            " is larger than all of it.",
            None,
        )
    words = (
        "Reclaim makes room as pages turn cold; while it cannot, the hot set is larger than DRAM."
    )
    factor = status.watermark_scale_factor
    if factor is None or factor >= _WIDE_WATERMARKS:
        return words, None
    return (
        f"{words} Wider watermarks (now {factor}) make it start earlier, until the next boot.",
        f"sysctl -w vm.watermark_scale_factor={_WIDE_WATERMARKS}",
    )


def top_nodes(status: Status) -> list[Node]:
    """Those of the top tier that have memory, or may have some."""
    return [n for n in status.nodes if n.top and n.total_bytes != 0]


def room(status: Status) -> Finding | None:
    """Whether the top tier has room."""
    top = top_nodes(status)
    if not top or none_below(status):
        return None
    full = [n for n in top if n.room is False]
    if any(n.room is None for n in top):
        return Finding(
            UNKNOWN, "How much room DRAM has cannot be read.", "It comes from /proc/zoneinfo."
        )
    if not full:
        return Finding(OK, "Every top-tier node has room above its high watermark.")
    state = "; ".join(
        f"node {n.node}: {n.free_pages:,} pages free, high watermark {n.high_watermark_pages:,}"
        for n in full
    )
    every = len(full) == len(top)
    what = "DRAM is full" if every else "Some top-tier nodes are full"
    words, command = make_room(status)
    if status.demotion is False:
        return Finding(
            FAIL if every else WARN,
            f"{what}, and demotion is off.",
            f"{state}. {words}",
            command,
        )
    if status.demotion is None:
        return Finding(WARN, f"{what}; whether demotion is on cannot be read.", f"{state}.")
    return Finding(WARN, f"{what}, with demotion on.", f"{state}. {words}", command)
