# SPDX-License-Identifier: GPL-2.0
"""What to do about a reason on this machine, where that depends on what is set already.

`counters` says what helps in general, and knows no machine.
"""

from collections.abc import Callable
from typing import NamedTuple

from pghot.checks_flow import NO_GAIN, evicts, hint_faults, numa_balancing, of_earlier
from pghot.checks_memory import DEMOTION_ON, make_room, top_nodes
from pghot.checks_pghot import enabled
from pghot.columns import listed
from pghot.counters import DIRTY_BACKGROUND_RATIO, NOTHING_GAINED, READ_IN_TURN, describe
from pghot.findings import FAIL, OK, WARN
from pghot.settings import (
    DEFAULT_RATE_LIMIT,
    EVICTS_PERCENT,
    FREQ_THRESHOLD_MAX,
    RATE_LIMIT,
    WINDOW_MS_MAX,
)
from pghot.status import Reason, Status
from pghot.subsystem import setting


class Advice(NamedTuple):
    """In words, and the command that does it."""

    text: str
    command: str | None = None


def _picks_fewest(status: Status) -> bool:
    """Whether freq_threshold is as high as it goes."""
    highest = FREQ_THRESHOLD_MAX.get(status.pghot.layout or "")
    return highest is not None and (setting(status.pghot, "freq_threshold") or 0) >= highest


_MORE_WITH_PRECISE = " With pghot=precise it goes higher."


def _further(status: Status) -> str:
    return _MORE_WITH_PRECISE if status.pghot.layout == "default" else ""


def _stale(status: Status) -> Advice | None:
    longest = (setting(status.pghot, "window_ms") or 0) >= WINDOW_MS_MAX
    fewest = _picks_fewest(status)
    if not (longest or fewest):
        return None
    ways = [] if longest else ["raise window_ms"]
    if not fewest:
        ways.append("raise freq_threshold so that fewer short-lived pages queue up")
    highest = [n for n, is_it in (("window_ms", longest), ("freq_threshold", fewest)) if is_it]
    verb = "is at its" if len(highest) == 1 else "are at their"
    return Advice(
        "Mend what delays promotion first (see the delayed reasons). If nothing does, the working"
        f" set changes faster than pages move{''.join(f': {way}' for way in ways)};"
        f" {' and '.join(highest)} {verb} highest.{_further(status) if fewest else ''}"
    )


def _gone(status: Status) -> Advice:
    in_fault = status.counters.get("pghot_in_fault", 0)
    maybe = ""
    if in_fault >= status.counters.get("pghot_skip_gone", 0) > 0:
        maybe = (
            " These may be pages that a hint fault promoted before their turn came (pghot_in_fault"
            f" is {in_fault:,})."
        )
    if not _picks_fewest(status):
        return Advice(describe("pghot_skip_gone").advice + maybe)
    return Advice(
        "Normal for short-lived memory. freq_threshold, which picks pages that live longer, is at"
        f" its highest.{_further(status)}{maybe}"
    )


def _dirty(status: Status) -> Advice | None:
    ratio = status.dirty_background_ratio
    if ratio is None or ratio > DIRTY_BACKGROUND_RATIO:
        return None
    early = (
        f"begins early already (vm.dirty_background_ratio is {ratio})"
        if ratio
        else "begins when vm.dirty_background_bytes says"
    )
    return Advice(
        "It is considered again once it is written back and used again. Writing back"
        f" {early}; when this dominates, lower vm.dirty_expire_centisecs."
    )


def _disabled(status: Status) -> Advice | None:
    found = [f for check in (enabled, numa_balancing, hint_faults) if (f := check(status))]
    off = next((f for f in found if f.verdict in (FAIL, WARN)), None)
    if off:
        return Advice(describe("pghot_skip_disabled").advice, off.command)
    if all(f.verdict == OK for f in found):
        return Advice("Nothing to do: it is on again, and a source reports.")
    return None


def _rate_limit(status: Status) -> Advice | None:
    limit = setting(status.pghot, RATE_LIMIT)
    if limit is None or limit < DEFAULT_RATE_LIMIT:
        return None
    return Advice(
        f"Raising the limit gains nothing: {limit} MiB/s is in practice none. What limits is the"
        " bandwidth of memory, and that lower-tier nodes share a target in equal parts. A lower"
        " limit may have been in force earlier."
    )


def _target_full(status: Status) -> Advice | None:
    if status.demotion is None:
        return None
    words, command = make_room(status)
    top = top_nodes(status)
    full = [str(n.node) for n in top if n.room is False]
    if full and any(n.room for n in top):
        verb = "is" if len(full) == 1 else "are"
        words += (
            f" Node {listed(full)} {verb} full now, and others have room: a page goes only to a"
            " node that is nearer to who uses it than the page is."
        )
    if top and all(n.room for n in top):
        words += (
            " Every top-tier node has room now: if records still wait, they are of large folios,"
            " and what is free is in smaller pieces (/proc/buddyinfo)."
        )
    return Advice(words, command)


def _evicted(status: Status) -> Advice:
    words = "Reclaim evicts pages for what is promoted, and they are soon read again."
    if status.demotion:
        return Advice(
            f"{words} Demotion is on, so the lower tier is full as well: what is in use is larger"
            " than all memory."
        )
    where = "Demotion is off" if status.demotion is False else "Where demotion is off, switch it on"
    return Advice(
        f"{words} {where}: with it cold pages stay in memory, in the lower tier. The command lasts"
        " until the next boot.",
        DEMOTION_ON,
    )


def _no_gain(status: Status) -> Advice:
    if evicts(status):
        return _evicted(status)
    if status.counters.get(NO_GAIN) and NO_GAIN in of_earlier(status):
        return Advice(
            "Nothing to do: each target takes as much as the rate limit lets through, so these are"
            " of an earlier time."
        )
    return Advice(NOTHING_GAINED)


def _cache_no_gain(status: Status) -> Advice:
    if any(target.cache_gain_percent == EVICTS_PERCENT for target in status.targets):
        return _evicted(status)
    return Advice(READ_IN_TURN)


_ON_THIS_MACHINE: dict[str, Callable[[Status], Advice | None]] = {
    "pghot_skip_stale": _stale,
    "pghot_skip_gone": _gone,
    "pghot_skip_dirty": _dirty,
    "pghot_skip_disabled": _disabled,
    "pghot_delay_rate_limit": _rate_limit,
    NO_GAIN: _no_gain,
    "pghot_delay_target_full": _target_full,
    "pghot_refused_no_gain": _cache_no_gain,
}


def on_this_machine(status: Status) -> list[Reason]:
    """The reasons of a status, with advice that leaves out what is so already."""
    advised = []
    for reason in status.reasons:
        look = _ON_THIS_MACHINE.get(reason.name)
        advice = look(status) if look else None
        advised.append(
            reason._replace(advice=advice.text, command=advice.command) if advice else reason
        )
    return advised
