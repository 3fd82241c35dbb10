# SPDX-License-Identifier: GPL-2.0
"""The doctor's checks of what flows: accesses are reported, and ready records are moved."""

from pghot.checks_memory import none_below
from pghot.columns import listed, percent
from pghot.counters import DELAYED, DROPPED, REFUSED
from pghot.findings import FAIL, OK, UNKNOWN, WARN, Finding, counted_seconds, unread, when
from pghot.machine import NUMA_BALANCING, TIERING_BIT
from pghot.settings import BACKOFF, EVICTS_PERCENT, PGHOT, RATE_LIMIT
from pghot.status import Reason, Source, Status
from pghot.subsystem import (
    ALONE,
    ENABLED,
    HINT_FAULT,
    awaits_tiering,
    gives_way,
    is_present,
    others_report,
    setting,
    units,
)

#: A reason dominates from this share of all ready records on, and from this many records on:
#: below, a few pages of an idle machine would raise an alarm.
DOMINANT_SHARE = 0.5
DOMINANT_COUNT = 1000

#: In so many periods of its timer kmigrated looks at what waits at least once.
_PERIODS = 2

#: Why records wait that promotion would cost time for nothing.
NO_GAIN = "pghot_delay_no_gain"

_UNCLEAR, _STUCK = "Not known", "Not running"
#: Which mode to set where it was 1, as docs/operator.md has it.
_SOCKETS = (
    " 3 goes on balancing between sockets; if you know that you do not need that, set 2 instead."
)
#: Shows why a source did not start.
SOURCE_LOG = "dmesg | grep 'pghot: source'"

#: Reasons that an operator brought about on purpose.
DELIBERATE = {"pghot_skip_offline", "pghot_skip_disabled"}
#: Not dropped for good: the next access to the page makes it ready again, and says who uses it.
ASKED = {"pghot_skip_asked"}
#: The only reason to refuse an access that an operator can do something about.
POLICY = "pghot_refused_policy"


def _wanted_mode(status: Status) -> str:
    return f"kernel.numa_balancing={(status.numa_balancing.mode or 0) | TIERING_BIT}"


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
            "Hint faults come from it. It takes a kernel built with CONFIG_NUMA_BALANCING=y, which"
            " in Linux 7.3 depends on CONFIG_NUMA_MIGRATION=y.",
        )
    if balancing.mode is None or balancing.tiering is None:
        return unread(status, "The NUMA balancing mode", NUMA_BALANCING)
    if balancing.tiering:
        return Finding(OK, f"NUMA balancing is in mode {balancing.mode} ({balancing.meaning}).")
    state = "off" if balancing.mode == 0 else "on without memory tiering (mode 1)"
    if others := _do_without(status):
        return Finding(OK, f"NUMA balancing is {state}; {others}")
    if none_below(status):
        # There is nothing to look for, which is another finding.
        return None
    return Finding(
        FAIL,
        f"NUMA balancing is {state}.",
        "No hint fault reports an access to slower memory."
        f"{_SOCKETS if balancing.mode else ''} The command lasts until the next boot; a file in"
        " /etc/sysctl.d/ keeps it.",
        f"sysctl -w {_wanted_mode(status)}",
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
    if awaits_tiering(source, status.numa_balancing.tiering):
        return Finding(OK, f"The hint fault source is on: it waits for {_wanted_mode(status)}.")
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


def _standing(status: Status, source: Source) -> str:
    """What a source does, as a title for those that do the same."""
    if source.running and gives_way(source):
        return "Gives way to others, or a CPU has no counter"
    if source.running:
        return "No unit" if units(source) == 0 else "Reports"
    if source.enabled is None or (source.enabled and source.running is None):
        return _UNCLEAR
    if not source.enabled:
        return "Off"
    if awaits_tiering(source, status.numa_balancing.tiering):
        return f"Waits for {_wanted_mode(status)}"
    return _STUCK


def sources(status: Status) -> Finding | None:
    """Whether each source that is on runs."""
    if status.pghot.state != ENABLED or all(s.enabled is False for s in status.sources):
        return None
    by_standing: dict[str, list[str]] = {}
    for source in status.sources:
        by_standing.setdefault(_standing(status, source), []).append(source.name)
    if stuck := by_standing.get(_STUCK):
        return Finding(
            WARN if "Reports" in by_standing else FAIL,
            f"Switched on, and not running: {', '.join(stuck)}.",
            "A source that cannot start is switched off, and the kernel says why in its log: -12 is"
            " for want of memory, -95 for a processor that sets no accessed bits by itself, which"
            " page_table needs, or has no counter that samples addresses (or hides it from a"
            " virtual machine), which hw_sample needs. One with tiering in enabled stays on where"
            " it is -12, or -4, as who switched it was killed. It is tried again when a switch of"
            " pghot or kernel.numa_balancing is written next: write tiering to its enabled.",
            SOURCE_LOG,
        )
    if unclear := by_standing.get(_UNCLEAR):
        base = f"{PGHOT}/sources/{unclear[0]}"
        return unread(status, f"Whether {unclear[0]} runs", f"{base}/running", f"{base}/enabled")
    absent = [name for name in (HINT_FAULT, *ALONE) if all(s.name != name for s in status.sources)]
    groups = {**by_standing, **({"Absent": absent} if absent else {})}
    return Finding(OK, " ".join(f"{what}: {', '.join(who)}." for what, who in groups.items()))


def of_earlier(status: Status) -> set[str]:
    """Reasons that do not arise as things are now, where counts are since boot. What gains nothing
    waits only while its target takes less than the rate limit."""
    if setting(status.pghot, BACKOFF) == 0:
        return {NO_GAIN}
    limit = setting(status.pghot, RATE_LIMIT)
    rates = [target.rate_kib_s for target in status.targets]
    if counted_seconds(status) is not None or limit is None or not rates:
        return set()
    at_limit = all(rate is not None and rate >= limit << 10 for rate in rates)
    return {NO_GAIN} if at_limit else set()


def evicts(status: Status) -> bool:
    """Whether a target has pages evicted for what comes, which are soon read again."""
    return any(target.gain_percent == EVICTS_PERCENT for target in status.targets)


def _top_reason(status: Status, kind: str) -> Reason | None:
    no_fault = DELIBERATE | ASKED | of_earlier(status)
    group = [r for r in status.reasons if r.kind == kind and r.name not in no_fault]
    return max(group, key=lambda r: r.count, default=None)


def dropped_pages(status: Status) -> Finding | None:
    """Whether one reason drops most of the ready records that are to be moved."""
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
    if ready == 0 and reason.count < DOMINANT_COUNT:
        return Finding(OK, f"No record became ready {when(status)}.")
    ready -= sum(r.count for r in status.reasons if r.name in DELIBERATE | ASKED)
    # What is dropped may have become ready before.
    share = reason.count / max(ready, reason.count, 1)
    if reason.count < DOMINANT_COUNT or share < DOMINANT_SHARE:
        return Finding(
            OK, f"No single reason kept most ready pages from being moved {when(status)}."
        )
    return _blame(
        status,
        reason,
        f"{percent(share)} of the records that were ready {when(status)} were dropped for"
        f" one reason: {reason.name}.",
    )


def delayed_pages(status: Status) -> Finding | None:
    """Whether ready records pile up."""
    if not is_present(status.pghot) or (not status.lower_nodes and none_below(status)):
        return None
    reason = _top_reason(status, DELAYED)
    waiting = status.records.waiting
    if reason is None or waiting is None:
        return Finding(
            UNKNOWN,
            "The kernel gives no counts of delayed records.",
            "They come from /proc/vmstat and from the node directories of pghot.",
        )
    if waiting < DOMINANT_COUNT:
        return Finding(OK, "Ready pages do not pile up.")
    if reason.count == 0:
        return _unexplained(status, waiting)
    if reason.name == NO_GAIN and evicts(status):
        return _blame(
            status, reason, f"{waiting:,} ready records wait: others are evicted for what comes."
        )
    if reason.name == NO_GAIN:
        return Finding(OK, f"{waiting:,} ready records wait: promotion gains nothing ({BACKOFF}).")
    return _blame(
        status,
        reason,
        f"{waiting:,} ready records wait; the main reason {when(status)} is {reason.name}.",
    )


def _unexplained(status: Status, waiting: int) -> Finding:
    """Records wait, and none is counted as delayed. That is so for a moment after many became
    ready at once, and where their thread does not come to them."""
    said = f"{waiting:,} ready records wait, and none was delayed {when(status)}"
    if status.records.moved or status.records.dropped:
        more = "" if counted_seconds(status) else " `pghot doctor --interval 5` tells of now."
        return Finding(OK, f"{said}: kmigrated is at work on them.{more}")
    seconds, period_ms = counted_seconds(status), setting(status.pghot, "period_ms")
    if seconds and period_ms and seconds < (enough := _PERIODS * period_ms / 1000):
        return Finding(
            UNKNOWN,
            f"{said}, moved or dropped.",
            f"That is too short a time to tell: what waits may be looked at once in period_ms"
            f" ({period_ms}) only.",
            f"pghot doctor --interval {enough:g}",
        )
    pids = [n.kmigrated.pid for n in status.lower_nodes if n.ready and n.kmigrated.pid]
    return Finding(
        WARN,
        f"{said}, moved or dropped: kmigrated does not come to them.",
        "Its thread waits for something in the kernel, or gets no CPU. The command shows what it"
        " waits for; the kernel's log may say more (dmesg | grep -i -e hung -e kmigrated).",
        " && ".join(f"cat /proc/{pid}/stack" for pid in pids) or None,
    )


def refused_pages(status: Status) -> Finding | None:
    """Whether most accesses may not make their page ready, because of a policy."""
    recorded = status.records.recorded
    reason = next((r for r in status.reasons if (r.kind, r.name) == (REFUSED, POLICY)), None)
    if reason is None or recorded is None:
        return None
    if reason.count < DOMINANT_COUNT or reason.count <= recorded:
        return Finding(OK, f"No policy refused most accesses {when(status)}.")
    return _blame(
        status,
        reason,
        f"{reason.count:,} accesses were refused {when(status)}, and {recorded:,} recorded; the"
        f" reason is {reason.name}.",
    )


def _blame(status: Status, reason: Reason, summary: str) -> Finding:
    boot = counted_seconds(status) is None
    more = "On the machine itself `pghot doctor --interval 5` tells of now." if boot else ""
    words = " ".join(filter(None, (reason.meaning, reason.advice, more)))
    return Finding(WARN, summary, words, reason.command)
