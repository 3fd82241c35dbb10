# SPDX-License-Identifier: GPL-2.0
"""The doctor's checks of what flows: accesses are reported, and ready records are moved."""

from pghot.columns import listed, percent
from pghot.counters import DELAYED, DROPPED
from pghot.findings import FAIL, OK, UNKNOWN, WARN, Finding, unread
from pghot.kconfig import configure
from pghot.machine import NUMA_BALANCING, TIERING_BIT
from pghot.settings import PGHOT
from pghot.status import Reason, Status
from pghot.subsystem import HINT_FAULT, is_present, others_report, units, waits

#: A reason dominates from this share of all ready records on, and from this many records on:
#: below, a few pages of an idle machine would raise an alarm.
DOMINANT_SHARE = 0.5
DOMINANT_COUNT = 1000

#: Reasons that an operator brought about on purpose.
DELIBERATE = {"pghot_skip_offline", "pghot_skip_disabled"}


def _do_without(status: Status) -> str | None:
    """Who reports without NUMA balancing, as the end of a sentence."""
    others = others_report(status.sources)
    verb = "reports" if len(others) == 1 else "report"
    return f"{listed(others)} {verb} without it." if others else None


def numa_balancing(status: Status) -> Finding | None:
    """Whether NUMA balancing looks for hot pages of slower tiers, or another source does."""
    balancing = status.numa_balancing
    if balancing.available is False:
        return Finding(
            FAIL,
            "This kernel has no NUMA balancing.",
            "Hint faults come from it. Build the kernel with CONFIG_NUMA_BALANCING=y.",
            configure("NUMA_BALANCING"),
        )
    if balancing.mode is None or balancing.tiering is None:
        return unread(status, "The NUMA balancing mode", NUMA_BALANCING)
    if balancing.tiering:
        return Finding(OK, f"NUMA balancing is in mode {balancing.mode} ({balancing.meaning}).")
    state = "off" if balancing.mode == 0 else "on without memory tiering (mode 1)"
    if others := _do_without(status):
        return Finding(OK, f"NUMA balancing is {state}; {others}")
    return Finding(
        FAIL,
        f"NUMA balancing is {state}.",
        "No hint fault reports an access to slower memory. The command lasts until the next boot;"
        " a file in /etc/sysctl.d/ keeps it.",
        f"sysctl -w kernel.numa_balancing={balancing.mode | TIERING_BIT}",
    )


def hint_faults(status: Status) -> Finding | None:
    """Whether hint faults are taken as accesses."""
    if not is_present(status.pghot):
        return None
    source = next((s for s in status.sources if s.name == HINT_FAULT), None)
    if source is None:
        return Finding(
            UNKNOWN,
            "The kernel shows no hint fault source.",
            f"/{PGHOT}/sources/hint_fault is missing.",
        )
    if source.enabled is None:
        path = f"{PGHOT}/sources/hint_fault/enabled"
        return unread(status, "Whether the hint fault source is on", path)
    mode = status.numa_balancing.mode
    if waits(source) and mode is not None and status.numa_balancing.tiering is False:
        wanted = f"kernel.numa_balancing={mode | TIERING_BIT}"
        return Finding(OK, f"The hint fault source is on: it waits for {wanted}.")
    if source.enabled:
        return Finding(OK, "The hint fault source is on.")
    others = _do_without(status)
    if others and status.numa_balancing.tiering is False:
        return Finding(OK, f"The hint fault source is off; {others}")
    return Finding(
        WARN if others else FAIL,
        "The hint fault source is off.",
        "NUMA balancing promotes by its faults on its own, as a kernel without pghot does; only"
        " other sources report."
        if others
        else "No source reports accesses, so nothing can become hot.",
        f"echo 1 > /{PGHOT}/sources/hint_fault/enabled",
    )


def hotness_units(status: Status) -> Finding | None:
    """Whether there is a unit where their source is on."""
    source = next((s for s in status.sources if s.name == "hotness_unit"), None)
    if source is None or not source.enabled:
        return None
    number = units(source)
    if number is None:
        path = f"{PGHOT}/sources/hotness_unit/units"
        return unread(status, "The number of hotness units", path)
    if number:
        return Finding(OK, f"The hotness unit source is on, with {number} units.")
    return Finding(
        WARN,
        "The hotness unit source is on, and no device has a unit.",
        "A CXL memory device with a hotness monitoring unit is needed, and a driver that knows it.",
        f"echo 0 > /{PGHOT}/sources/hotness_unit/enabled",
    )


def _top_reason(status: Status, kind: str) -> Reason | None:
    group = [r for r in status.reasons if r.kind == kind and r.name not in DELIBERATE]
    return max(group, key=lambda r: r.count, default=None)


def dropped_pages(status: Status) -> Finding | None:
    """Whether one reason drops most of the ready records."""
    if not is_present(status.pghot):
        return None
    reason = _top_reason(status, DROPPED)
    ready = status.records.ready
    if reason is None or ready is None:
        return Finding(
            UNKNOWN,
            "The kernel gives no counts of dropped records.",
            "They come from /proc/vmstat.",
        )
    share = reason.count / ready if ready > 0 else 0
    if reason.count < DOMINANT_COUNT or share < DOMINANT_SHARE:
        return Finding(OK, "No single reason keeps most ready pages from being moved.")
    return _blame(
        reason, f"{percent(share)} of the ready records were dropped for one reason: {reason.name}."
    )


def delayed_pages(status: Status) -> Finding | None:
    """Whether ready records pile up."""
    if not is_present(status.pghot):
        return None
    reason = _top_reason(status, DELAYED)
    waiting = status.records.waiting
    if reason is None or waiting is None:
        return Finding(
            UNKNOWN,
            "The kernel gives no counts of delayed records.",
            "They come from /proc/vmstat and from the node directories of pghot.",
        )
    if waiting < DOMINANT_COUNT or reason.count == 0:
        return Finding(OK, "Ready pages do not pile up.")
    return _blame(reason, f"{waiting:,} ready records wait; the main reason is {reason.name}.")


def _blame(reason: Reason, summary: str) -> Finding:
    return Finding(WARN, summary, f"{reason.meaning} {reason.advice}".strip(), reason.command)
