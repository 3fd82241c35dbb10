# SPDX-License-Identifier: GPL-2.0
"""The doctor's checks of pghot itself: is it there, is it on, and may it move pages."""

from pghot.findings import FAIL, OK, UNKNOWN, WARN, Finding, unread
from pghot.settings import DEFAULT_RATE_LIMIT, PGHOT, RATE_LIMIT, SYSCTL_RATE_LIMIT
from pghot.status import Status
from pghot.subsystem import (
    ABSENT,
    BOOT_OFF,
    BY_BUILD,
    DISABLED,
    ENABLED,
    FAILED,
    LAYOUTS,
    NOT_THERE,
    NOTHING_SHOWN,
    STATE_MEANING,
    is_present,
    rests,
    setting,
)

#: Shows what the kernel said where it has no map of a node, or of a part of one.
_MAP_LOG = "dmesg | grep -i pghot"


#: SECTION_SIZE_BITS of s390 says so; others that pghot runs on have 128 MiB.
_SECTION_MAX_BYTES = 256 << 20
#: The option with any value that keeps pghot off; 22 and 27 are quotes.
_OFF = rf"\bpghot=(?!({'|'.join(LAYOUTS)})([\s\x22\x27]|$))"
#: Removes it from where Debian keeps it.
_GRUB = (
    f"command -v update-grub && grep -qP '{_OFF}' /etc/default/grub &&"
    rf" perl -pi -e 's/ *{_OFF}[^\s\x22\x27]*//g' /etc/default/grub && update-grub"
)


def kernel(status: Status) -> Finding | None:
    """Whether the kernel has pghot, and it started."""
    if status.pghot.state == ABSENT and status.pghot.built_in is None:
        return Finding(
            WARN,
            NOTHING_SHOWN,
            "/boot/config-* of this kernel, which would tell, is missing or unreadable, and no boot"
            " option keeps pghot off. `dmesg | grep pghot` shows what the kernel said of it, if it"
            " did."
            " Stock NUMA balancing promotes, if it is on with memory tiering (mode 2 or 3)."
            " docs/operator.md in pghot's source says how to get a kernel with pghot.",
        )
    if status.pghot.state == ABSENT:
        return Finding(
            WARN,
            STATE_MEANING[ABSENT],
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
    if status.pghot.off_by == BY_BUILD:
        return Finding(
            FAIL,
            "This kernel keeps pghot off unless the boot option pghot= says otherwise.",
            "It was built with CONFIG_PGHOT_BOOT_OFF. pghot cannot be switched on while the system"
            " runs: boot with pghot=default, or with pghot=precise where there are more than two"
            " nodes of DRAM.",
        )
    if state == BOOT_OFF:
        return Finding(
            FAIL,
            "pghot was switched off at boot.",
            "The boot option pghot= is off, or has a value that the kernel does not know. pghot"
            " cannot be switched on while the system runs: remove the option, then reboot. Without"
            " it the kernel chooses the layout. The command is for Debian and Ubuntu: it removes"
            " the option where /etc/default/grub has it with such a value, and does nothing where"
            " it comes from elsewhere. Other distributions have a tool of their own, such as"
            " grubby.",
            _GRUB,
        )
    return Finding(
        OK, f"pghot was not switched off at boot; layout {status.pghot.layout or 'unknown'}."
    )


def enabled(status: Status) -> Finding | None:
    """Whether pghot is on."""
    if status.pghot.state in NOT_THERE:
        return None
    state = status.pghot.state
    command = f"echo 1 > /{PGHOT}/enabled"
    if state == DISABLED:
        return Finding(
            FAIL,
            "pghot is switched off.",
            "Nothing is recorded and kmigrated is parked. The kernel does that by itself where it"
            " has no memory for records, and then refuses the command with ENOMEM: `dmesg | grep"
            " pghot` says so. Records take some 257 MiB of DRAM for each TiB below the top tier,"
            " four times as much with pghot=precise.",
            command,
        )
    if state != ENABLED:
        return unread(status, "Whether pghot is on", f"{PGHOT}/enabled")
    return Finding(OK, "pghot is on.")


def rate_limit(status: Status) -> Finding | None:
    """Whether the rate limit lets anything through."""
    of_pghot = setting(status.pghot, RATE_LIMIT)
    limit = status.promote_rate_limit_MBps if of_pghot is None else of_pghot
    if limit is None and not is_present(status.pghot):
        return None
    if limit is None:
        paths = (SYSCTL_RATE_LIMIT, f"{PGHOT}/{RATE_LIMIT}")
        return unread(status, "The promotion rate limit", *paths)
    if limit > 0:
        return Finding(OK, f"The promotion rate limit is {limit} MiB/s to each target node.")
    return Finding(
        FAIL,
        "The promotion rate limit is 0: no page is promoted to a node that has not plenty of free"
        " memory.",
        f"{DEFAULT_RATE_LIMIT} is the kernel's default and in practice no limit.",
        f"sysctl -w kernel.{SYSCTL_RATE_LIMIT.rpartition('/')[2]}={DEFAULT_RATE_LIMIT}",
    )


def _tracked_in_part(status: Status) -> list[int]:
    """Lower-tier nodes with memory that is in no section of the map. A section is no larger than
    what memory comes online by, which is several of them on large machines, nor than 256 MiB.
    MemTotal is less than what that has."""
    block = min(status.memory_block_bytes or 0, _SECTION_MAX_BYTES)
    total = {n.node: n.total_bytes for n in status.nodes}
    return [
        n.node
        for n in status.lower_nodes
        if block and n.sections and n.sections * block < (total.get(n.node) or 0)
    ]


def kmigrated(status: Status) -> Finding | None:
    """Whether every lower-tier node is watched, by a thread that runs."""
    if not is_present(status.pghot):
        return None
    nodes = status.lower_nodes
    watched = {n.node for n in nodes}
    lower = [n.node for n in status.nodes if n.top is False and n.total_bytes]
    if left := [node for node in lower if node not in watched]:
        return Finding(
            FAIL,
            f"pghot does not watch node {', '.join(map(str, left))}.",
            "It is in a lower tier and has memory. The kernel may have run out of memory when the"
            " node came online; the command shows what it said.",
            _MAP_LOG,
        )
    if not nodes:
        return None
    reports = status.pghot.state == ENABLED and not rests(status.sources)
    if bare := [n.node for n in nodes if reports and n.sections == 0]:
        return Finding(
            FAIL,
            f"pghot has no map of node {', '.join(map(str, bare))}, though sources report.",
            "No access to the node is recorded. There was no memory for the map; the command shows"
            " what the kernel said. Switching pghot off and on again tries once more.",
            _MAP_LOG,
        )
    if reports and (part := _tracked_in_part(status)):
        return Finding(
            WARN,
            f"pghot has a map of a part of node {', '.join(map(str, part))} only.",
            "No access to the rest of it is recorded. There was no memory for its map, when it came"
            " online or pghot was switched on; the command shows what the kernel said. Switching"
            " pghot off and on again tries once more.",
            _MAP_LOG,
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
    if nameless := [n.node for n in nodes if n.kmigrated.pid is None]:
        path = f"{PGHOT}/node{nameless[0]}/kmigrated"
        return unread(status, f"Which thread promotes from node {nameless[0]}", path)
    if any(n.kmigrated.state == "unknown" for n in nodes):
        return Finding(
            UNKNOWN,
            "Whether every kmigrated thread runs cannot be seen.",
            "Kernel threads are hidden in a container and by hidepid. Run pghot doctor as root on"
            " the host.",
        )
    parked = [n.node for n in nodes if n.kmigrated.state == "parked"]
    if parked and reports:
        return Finding(
            FAIL,
            f"kmigrated is parked for node {', '.join(map(str, parked))} though pghot is on.",
            "Switching pghot off and on again starts the thread.",
            f"echo 0 > /{PGHOT}/enabled && echo 1 > /{PGHOT}/enabled",
        )
    return Finding(
        OK, f"Each lower-tier node has its kmigrated thread: {len(nodes)} of {len(nodes)}."
    )
