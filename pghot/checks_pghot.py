# SPDX-License-Identifier: GPL-2.0
"""The doctor's checks of pghot itself: is it there, is it on, and may it move pages."""

from pghot.findings import FAIL, OK, UNKNOWN, WARN, Finding, unread
from pghot.settings import DEFAULT_RATE_LIMIT, PGHOT, RATE_LIMIT, SYSCTL_RATE_LIMIT
from pghot.status import Status
from pghot.subsystem import ABSENT, BOOT_OFF, DISABLED, ENABLED, FAILED, is_present, rests


def kernel(status: Status) -> Finding | None:
    """Whether the kernel has pghot, and it started."""
    if status.pghot.state == ABSENT:
        return Finding(
            WARN,
            "This kernel has no pghot.",
            "Stock NUMA balancing promotes, if it is on with memory tiering (mode 2 or 3)."
            " docs/operator.md in pghot's source says how to get a kernel with pghot.",
        )
    if status.pghot.state == FAILED:
        return Finding(
            FAIL,
            "This kernel is built with pghot, yet pghot did not start.",
            "There is no /sys/kernel/mm/pghot, and no boot option asked for that. The command"
            " shows what the kernel said about it.",
            "dmesg | grep -i pghot",
        )
    if status.pghot.built_in is None:
        return Finding(
            UNKNOWN,
            "Whether this kernel has pghot cannot be seen while a boot option keeps it off.",
            "/boot/config-* of this kernel, which would tell, is missing or unreadable.",
        )
    return Finding(OK, "This kernel has pghot.")


def boot_option(status: Status) -> Finding | None:
    """Whether pghot was switched off at boot."""
    state = status.pghot.state
    if state in (ABSENT, FAILED):
        return None
    if state == BOOT_OFF:
        return Finding(
            FAIL,
            "pghot was switched off at boot.",
            "The boot option pghot= is off, or has a value that the kernel does not know. pghot"
            " cannot be switched on while the system runs: change the option with the command,"
            " then reboot.",
            r"sed -i 's/\bpghot=[^ \"]*/pghot=default/' /etc/default/grub && update-grub",
        )
    return Finding(
        OK, f"pghot was not switched off at boot; layout {status.pghot.layout or 'unknown'}."
    )


def enabled(status: Status) -> Finding | None:
    """Whether pghot is on."""
    if not is_present(status.pghot):
        return None
    state = status.pghot.state
    command = f"echo 1 > /{PGHOT}/enabled"
    if state == DISABLED:
        return Finding(
            FAIL, "pghot is switched off.", "Nothing is recorded and kmigrated is parked.", command
        )
    if state != ENABLED:
        return unread(status, "Whether pghot is on", f"{PGHOT}/enabled")
    return Finding(OK, "pghot is on.")


def rate_limit(status: Status) -> Finding | None:
    """Whether the rate limit lets anything through."""
    limit = next((s for s in status.pghot.settings if s.name == RATE_LIMIT), None)
    if limit is None:
        return None
    if limit.value is None:
        paths = (SYSCTL_RATE_LIMIT, f"{PGHOT}/{RATE_LIMIT}")
        return unread(status, "The promotion rate limit", *paths)
    if limit.value > 0:
        return Finding(OK, f"The promotion rate limit is {limit.value} MiB/s to each target node.")
    return Finding(
        FAIL,
        "The promotion rate limit is 0: no page may be promoted.",
        f"{DEFAULT_RATE_LIMIT} is the kernel's default and in practice no limit.",
        f"sysctl -w kernel.{SYSCTL_RATE_LIMIT.rpartition('/')[2]}={DEFAULT_RATE_LIMIT}",
    )


def kmigrated(status: Status) -> Finding | None:
    """Whether every lower-tier node is watched, by a thread that runs."""
    if not is_present(status.pghot):
        return None
    nodes = status.lower_nodes
    if not nodes:
        lower = [n.node for n in status.nodes if n.top is False and n.total_bytes]
        if not lower:
            return None
        return Finding(
            FAIL,
            "pghot watches no lower-tier node.",
            f"Node {', '.join(map(str, lower))} is in a lower tier, yet pghot has no map of it: it"
            " may have run out of memory when the node came online. The command shows what the"
            " kernel said.",
            "dmesg | grep -i pghot",
        )
    missing = [n.node for n in nodes if n.kmigrated.state == "missing"]
    if missing:
        return Finding(
            FAIL,
            f"No kmigrated thread runs for node {', '.join(map(str, missing))}.",
            "Ready pages of the node stay where they are. The thread did not start or has died;"
            " the command shows what the kernel said.",
            "dmesg | grep -i -e kmigrated -e pghot -e oops",
        )
    if any(n.kmigrated.state == "unknown" for n in nodes):
        return Finding(
            UNKNOWN,
            "Whether every kmigrated thread runs cannot be seen.",
            "Kernel threads are hidden in a container and by hidepid. Run pghot doctor as root on"
            " the host.",
        )
    parked = [n.node for n in nodes if n.kmigrated.state == "parked"]
    if parked and status.pghot.state == ENABLED and not rests(status.sources):
        return Finding(
            FAIL,
            f"kmigrated is parked for node {', '.join(map(str, parked))} though pghot is on.",
            "Switching pghot off and on again starts the thread.",
            f"echo 0 > /{PGHOT}/enabled && echo 1 > /{PGHOT}/enabled",
        )
    return Finding(
        OK, f"Each lower-tier node has its kmigrated thread: {len(nodes)} of {len(nodes)}."
    )
