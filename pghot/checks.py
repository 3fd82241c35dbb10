# SPDX-License-Identifier: GPL-2.0
"""The doctor's checks. Each takes a status document and gives a Finding, or None when the question
does not arise on this machine. To add one: write the function, and name it in CHECKS.
"""

from typing import Any

from pghot.columns import percent, size
from pghot.counters import DELAYED, DROPPED
from pghot.doctor import FAIL, OK, UNKNOWN, WARN, Finding
from pghot.machine import TIERING_BIT
from pghot.settings import PGHOT, SYSCTL_RATE_LIMIT
from pghot.subsystem import ABSENT, BOOT_OFF, DISABLED, ENABLED, FAILED, NOT_THERE

Status = dict[str, Any]

#: A reason dominates from this share of all ready records on, and from this many records on:
#: below, a few pages of an idle machine would raise an alarm.
DOMINANT_SHARE = 0.5
DOMINANT_COUNT = 1000

#: Reasons that an operator brought about on purpose.
DELIBERATE = {"pghot_skip_offline", "pghot_skip_disabled"}


def _present(status: Status) -> bool:
    return status["pghot"]["state"] not in NOT_THERE


def _only_hint_faults(status: Status) -> bool:
    return not any(s["enabled"] for s in status["sources"] if s["name"] != "hint_fault")


def kernel(status: Status) -> Finding | None:
    if status["pghot"]["state"] == ABSENT:
        return Finding(
            FAIL,
            "This kernel has no pghot.",
            "Promotion, if any, is left to stock NUMA balancing. Boot a kernel that is built with"
            " CONFIG_PGHOT=y; the command, run in its source tree, configures one.",
            "scripts/config --enable PGHOT && make olddefconfig",
        )
    if status["pghot"]["state"] == FAILED:
        return Finding(
            FAIL,
            "This kernel is built with pghot, yet pghot did not start.",
            "There is no /sys/kernel/mm/pghot, and no boot option asked for that. The command shows what the"
            " kernel said about it.",
            "dmesg | grep -i pghot",
        )
    if status["pghot"]["built_in"] is None:
        return Finding(
            UNKNOWN,
            "Whether this kernel has pghot cannot be seen while a boot option keeps it off.",
            "/boot/config-* of this kernel, which would tell, is missing or unreadable.",
        )
    return Finding(OK, "This kernel has pghot.")


def boot_option(status: Status) -> Finding | None:
    state = status["pghot"]["state"]
    if state in (ABSENT, FAILED):
        return None
    if state == BOOT_OFF:
        return Finding(
            FAIL,
            "pghot was switched off at boot.",
            "The boot option pghot= is off, or has a value that the kernel does not know. pghot cannot be"
            " switched on while the system runs: change the option with the command, then reboot.",
            r"sed -i 's/\bpghot=[^ \"]*/pghot=default/' /etc/default/grub && update-grub",
        )
    return Finding(
        OK, f"pghot was not switched off at boot; layout {status['pghot']['layout'] or 'unknown'}."
    )


def enabled(status: Status) -> Finding | None:
    if not _present(status):
        return None
    state = status["pghot"]["state"]
    command = f"echo 1 > /{PGHOT}/enabled"
    if state == DISABLED:
        return Finding(
            FAIL, "pghot is switched off.", "Nothing is recorded and kmigrated is parked.", command
        )
    if state != ENABLED:
        return Finding(UNKNOWN, "Whether pghot is on can be read by root only.", "Run pghot doctor as root.")
    return Finding(OK, "pghot is on.")


def memory_tiers(status: Status) -> Finding | None:
    tiers = status["tiers"]
    if not tiers:
        return Finding(
            UNKNOWN,
            "The kernel shows no memory tiers.",
            "/sys/devices/virtual/memory_tiering is missing or empty: a kernel without CONFIG_NUMA and"
            " CONFIG_MIGRATION has none.",
        )
    lower = [t for t in tiers if t["top"] is False]
    if lower:
        total = sum(t["total_bytes"] or 0 for t in lower)
        return Finding(OK, f"{len(tiers)} memory tiers; {size(total)} below the top tier.")
    if len(tiers) > 1 and any(t["top"] is None for t in tiers):
        return Finding(UNKNOWN, "Which memory tier is the top one cannot be read.")
    cpuless = [n["node"] for n in status["nodes"] if n["has_cpu"] is False and n["total_bytes"]]
    if cpuless:
        cause = "the HMAT gives it DRAM's latency" if status["hmat"] else "no HMAT says that it is slower"
        why = (
            f"Node {', '.join(map(str, cpuless))} has memory and no CPU, yet is in the tier of DRAM: {cause}."
            " Let a driver bring the memory online instead: keep it out of"
            " the boot memory (EFI soft reservation, or the firmware's CXL or persistent memory mode),"
            " then run the command."
        )
    else:
        why = (
            "There is nowhere to promote from. If the machine has CXL or persistent memory, bring it online"
            " as a node of its own."
        )
    return Finding(
        FAIL,
        "There is one memory tier only: nothing can be promoted.",
        why,
        "daxctl reconfigure-device --mode=system-ram all",
    )


def hmat(status: Status) -> Finding | None:
    if status["hmat"] is None:
        return Finding(
            UNKNOWN, "Whether the firmware gives an HMAT cannot be read.", "Run pghot doctor as root."
        )
    if status["hmat"]:
        return Finding(OK, "The firmware describes memory latencies (HMAT).")
    if len(status["tiers"]) > 1:
        return Finding(OK, "No HMAT, and none needed: a driver put the slower memory in its own tier.")
    return Finding(
        WARN,
        "The firmware gives no HMAT.",
        "Without this table the kernel takes all memory present at boot for equally fast and makes one"
        " tier of it. Switch HMAT on in the firmware setup (for QEMU:"
        " -machine hmat=on with -numa hmat-lb rows). The"
        " command tells what the kernel made of the firmware's tables.",
        "dmesg | grep -i -e hmat -e srat",
    )


def numa_balancing(status: Status) -> Finding | None:
    balancing = status["numa_balancing"]
    if balancing["available"] is False:
        return Finding(
            FAIL,
            "This kernel has no NUMA balancing.",
            "Hint faults come from it. Build the kernel with CONFIG_NUMA_BALANCING=y.",
            "scripts/config --enable NUMA_BALANCING && make olddefconfig",
        )
    if balancing["tiering"] is None:
        return Finding(UNKNOWN, "The NUMA balancing mode cannot be read.", "Run pghot doctor as root.")
    if balancing["tiering"]:
        return Finding(OK, f"NUMA balancing is in mode {balancing['mode']} ({balancing['meaning']}).")
    mode = balancing["mode"]
    return Finding(
        FAIL if _only_hint_faults(status) else WARN,
        "NUMA balancing is off." if mode == 0 else "NUMA balancing is on without memory tiering (mode 1).",
        "No hint fault reports an access to slower memory. The command lasts until the next boot; a file in"
        " /etc/sysctl.d/ keeps it.",
        f"sysctl -w kernel.numa_balancing={mode | TIERING_BIT}",
    )


def hint_faults(status: Status) -> Finding | None:
    if not _present(status):
        return None
    source = next((s for s in status["sources"] if s["name"] == "hint_fault"), None)
    if source is None:
        return Finding(
            UNKNOWN, "The kernel shows no hint fault source.", f"/{PGHOT}/sources/hint_fault is missing."
        )
    if source["enabled"] is None:
        return Finding(
            UNKNOWN,
            "Whether the hint fault source is on can be read by root only.",
            "Run pghot doctor as root.",
        )
    if source["enabled"]:
        return Finding(OK, "The hint fault source is on.")
    only = _only_hint_faults(status)
    return Finding(
        FAIL if only else WARN,
        "The hint fault source is off.",
        "No source reports accesses, so nothing can become hot."
        if only
        else "Only other sources report accesses.",
        f"echo 1 > /{PGHOT}/sources/hint_fault/enabled",
    )


_DEMOTION_ON = "echo true > /sys/kernel/mm/numa/demotion_enabled"


def demotion(status: Status) -> Finding | None:
    if len(status["tiers"]) == 1:
        return None
    if status["demotion"] is None:
        return Finding(
            UNKNOWN,
            "Whether demotion is on cannot be read.",
            "/sys/kernel/mm/numa/demotion_enabled is missing or unreadable.",
        )
    if status["demotion"]:
        return Finding(OK, "Demotion is on.")
    return Finding(
        WARN,
        "Demotion is off.",
        "Cold pages stay in DRAM or go to swap, and promotion stops once DRAM is full. The command lasts"
        " until the next boot.",
        _DEMOTION_ON,
    )


def room(status: Status) -> Finding | None:
    top = [n for n in status["nodes"] if n["top"] and n["total_bytes"] != 0]
    if not top or len(status["tiers"]) == 1:
        return None
    full = [n for n in top if n["room"] is False]
    if any(n["room"] is None for n in top):
        return Finding(UNKNOWN, "How much room DRAM has cannot be read.", "It comes from /proc/zoneinfo.")
    if not full:
        return Finding(OK, "Every top-tier node has room above its high watermark.")
    state = "; ".join(
        f"node {n['node']}: {n['free_pages']:,} pages free, high watermark {n['high_watermark_pages']:,}"
        for n in full
    )
    every = len(full) == len(top)
    what = "DRAM is full" if every else "Some top-tier nodes are full"
    if status["demotion"] is False:
        return Finding(
            FAIL if every else WARN,
            f"{what}, and demotion is off.",
            f"{state}. Promotion takes only what is free above the high watermark, and nothing makes room.",
            _DEMOTION_ON,
        )
    if status["demotion"] is None:
        return Finding(WARN, f"{what}; whether demotion is on cannot be read.", f"{state}.")
    factor = status["watermark_scale_factor"]
    wider = factor is not None and factor < 100
    return Finding(
        WARN,
        f"{what}, with demotion on.",
        f"{state}. Reclaim makes room as pages turn cold; while it cannot, the hot set is larger than DRAM."
        + (" Wider watermarks make it start earlier." if wider else ""),
        "sysctl -w vm.watermark_scale_factor=100" if wider else None,
    )


def rate_limit(status: Status) -> Finding | None:
    limit = next((s for s in status["pghot"]["settings"] if s["name"] == "promote_rate_limit_MBps"), None)
    if limit is None:
        return None
    if limit["value"] is None:
        return Finding(UNKNOWN, "The promotion rate limit cannot be read.", "Run pghot doctor as root.")
    if limit["value"] > 0:
        return Finding(OK, f"The promotion rate limit is {limit['value']} MB/s to each target node.")
    return Finding(
        FAIL,
        "The promotion rate limit is 0: no page may be promoted.",
        "65536 is the kernel's default and in practice no limit.",
        f"sysctl -w kernel.{SYSCTL_RATE_LIMIT.rpartition('/')[2]}=65536",
    )


def kmigrated(status: Status) -> Finding | None:
    if not _present(status):
        return None
    nodes = status["lower_nodes"]
    if not nodes:
        lower = [n["node"] for n in status["nodes"] if n["top"] is False and n["total_bytes"]]
        if not lower:
            return None
        return Finding(
            FAIL,
            "pghot watches no lower-tier node.",
            f"Node {', '.join(map(str, lower))} is in a lower tier, yet pghot has no map of it: it may have"
            " run out of memory when the node came online. The command shows what the kernel said.",
            "dmesg | grep -i pghot",
        )
    missing = [n["node"] for n in nodes if n["kmigrated"]["state"] == "missing"]
    if missing:
        return Finding(
            FAIL,
            f"No kmigrated thread runs for node {', '.join(map(str, missing))}.",
            "Ready pages of the node stay where they are. The thread did not start or has died; the command"
            " shows what the kernel said.",
            "dmesg | grep -i -e kmigrated -e pghot -e oops",
        )
    if any(n["kmigrated"]["state"] == "unknown" for n in nodes):
        return Finding(
            UNKNOWN,
            "Whether every kmigrated thread runs cannot be seen.",
            "Kernel threads are hidden in a container and by hidepid. Run pghot doctor as root on the host.",
        )
    parked = [n["node"] for n in nodes if n["kmigrated"]["state"] == "parked"]
    if parked and status["pghot"]["state"] == ENABLED:
        return Finding(
            FAIL,
            f"kmigrated is parked for node {', '.join(map(str, parked))} though pghot is on.",
            "Switching pghot off and on again starts the thread.",
            f"echo 0 > /{PGHOT}/enabled && echo 1 > /{PGHOT}/enabled",
        )
    return Finding(OK, f"Every lower-tier node ({len(nodes)}) has its kmigrated thread.")


def _top_reason(status: Status, kind: str) -> dict[str, Any] | None:
    group = [r for r in status["reasons"] if r["kind"] == kind and r["name"] not in DELIBERATE]
    return max(group, key=lambda r: r["count"], default=None)


def dropped_pages(status: Status) -> Finding | None:
    if not _present(status):
        return None
    reason = _top_reason(status, DROPPED)
    ready = status["records"]["ready"]
    if reason is None or ready is None:
        return Finding(
            UNKNOWN, "The kernel gives no counts of dropped records.", "They come from /proc/vmstat."
        )
    share = reason["count"] / ready if ready > 0 else 0
    if reason["count"] < DOMINANT_COUNT or share < DOMINANT_SHARE:
        return Finding(OK, "No single reason keeps most ready pages from being moved.")
    return _blame(
        reason, f"{percent(share)} of the ready records were dropped for one reason: {reason['name']}."
    )


def delayed_pages(status: Status) -> Finding | None:
    if not _present(status):
        return None
    reason = _top_reason(status, DELAYED)
    waiting = status["records"]["waiting"]
    if reason is None or waiting is None:
        return Finding(
            UNKNOWN,
            "The kernel gives no counts of delayed records.",
            "They come from /proc/vmstat and from the node directories of pghot.",
        )
    if waiting < DOMINANT_COUNT or reason["count"] == 0:
        return Finding(OK, "Ready pages do not pile up.")
    return _blame(reason, f"{waiting:,} ready records wait; the main reason is {reason['name']}.")


def _blame(reason: dict[str, Any], summary: str) -> Finding:
    return Finding(WARN, summary, f"{reason['meaning']} {reason['advice']}".strip(), reason["command"])


CHECKS = (
    kernel,
    boot_option,
    enabled,
    memory_tiers,
    hmat,
    numa_balancing,
    hint_faults,
    demotion,
    room,
    rate_limit,
    kmigrated,
    dropped_pages,
    delayed_pages,
)
