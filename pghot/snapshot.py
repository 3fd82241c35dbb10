# SPDX-License-Identifier: GPL-2.0
"""Reads one Status, and makes rates of two."""

from typing import NamedTuple

from pghot import engines, machine, subsystem
from pghot.advice import on_this_machine
from pghot.settings import SYSCTL_RATE_LIMIT
from pghot.status import Flow, Rate, Rates, Status, Unread
from pghot.tree import Tree


class NothingToRead(Exception):
    """The root holds no /proc and no /sys, or they cannot be read; the message says what to do."""


def collect(tree: Tree) -> Status:
    """Read the tree; raises NothingToRead only."""
    if not tree.names("proc") and not tree.names("sys"):
        if tree.unread:
            path, why = next(iter(tree.unread.items()))
            raise NothingToRead(f"{tree.root.rstrip('/')}{path}: {why}")
        raise NothingToRead(
            f"nothing to read in {tree.root}: give --root a directory that holds proc/ and sys/"
        )
    tiers, nodes = machine.tiers_and_nodes(tree)
    counters = subsystem.counters(tree)
    pghot = subsystem.pghot(tree, counters)
    present = subsystem.is_present(pghot)
    lower = subsystem.lower_nodes(tree) if present else []
    status = Status(
        kernel=machine.release(tree),
        uptime_seconds=machine.uptime(tree),
        numa_balancing=machine.balancing(tree),
        demotion=tree.switch(machine.DEMOTION),
        hmat=machine.hmat(tree),
        watermark_scale_factor=tree.integer("proc/sys/vm/watermark_scale_factor"),
        dirty_background_ratio=tree.integer("proc/sys/vm/dirty_background_ratio"),
        promote_rate_limit_MBps=tree.integer(SYSCTL_RATE_LIMIT),
        memory_block_bytes=machine.memory_block(tree),
        tiers=tiers,
        nodes=nodes,
        pghot=pghot,
        sources=subsystem.sources(tree) if present else [],
        lower_nodes=lower,
        targets=subsystem.targets(tree) if present else [],
        migrate_offload=engines.migrate_offload(tree),
        pages=subsystem.pages(counters),
        records=subsystem.records(counters, lower, present),
        reasons=subsystem.reasons(counters),
        counters=counters,
        rates=None,
        unread=[Unread(path, why) for path, why in sorted(tree.unread.items())],
    )
    return status._replace(rates=since_boot(status), reasons=on_this_machine(status))


def again(tree: Tree, before: Status) -> Status:
    """Read the tree another time, after some has passed; raises NothingToRead, also for a copy,
    whose counters stand still: what is compared would seem to be at rest."""
    after = collect(tree)
    if after.uptime_seconds is not None and after.uptime_seconds == before.uptime_seconds:
        raise NothingToRead(
            f"{tree.root} is a copy, in which no time passes: leave out --interval and --watch"
        )
    return after


class _Flows(NamedTuple):
    """All that only grows, by name; the groups are those of Rates."""

    pages: Flow
    counters: Flow
    sources: Flow
    lower_nodes: Flow
    engines: Flow


def _flows(status: Status) -> _Flows:
    offload = status.migrate_offload
    return _Flows(
        pages=status.pages._asdict(),
        counters=dict(status.counters),
        sources={s.name: s.accesses for s in status.sources},
        lower_nodes={str(n.node): n.promoted_pages for n in status.lower_nodes},
        engines={e.name: e.copied_folios for e in offload.engines} if offload else {},
    )


def _growth(before: Flow | None, after: Flow, seconds: float) -> Rate:
    """Growth per second; `before` is None for all zero.

    A rate is None for what was not read twice or went backwards (a node went away).
    """
    rates: Rate = {}
    for name, value in after.items():
        old = 0 if before is None else before.get(name)
        if value is None or old is None or value < old:
            rates[name] = None
        else:
            rates[name] = round((value - old) / seconds, 3)
    return rates


def since_boot(status: Status) -> Rates | None:
    """Average rates since boot, or None when the uptime is not known."""
    seconds = status.uptime_seconds
    if not seconds:
        return None
    groups = (_growth(None, flow, seconds) for flow in _flows(status))
    return Rates("boot", round(seconds, 3), *groups)


def between(before: Status, after: Status, seconds: float) -> Rates | None:
    """Rates of `after` over the time since `before`."""
    if seconds <= 0:
        return None
    pairs = zip(_flows(before), _flows(after))
    groups = (_growth(old, new, seconds) for old, new in pairs)
    return Rates("interval", round(seconds, 3), *groups)


def grown(before: Status, after: Status, seconds: float) -> Status:
    """`after` with what was counted since `before` in its counters, records, reasons, engines and
    rates."""
    counters = {
        name: max(value - before.counters.get(name, 0), 0) for name, value in after.counters.items()
    }
    status = after._replace(
        counters=counters,
        records=subsystem.records(counters, after.lower_nodes, subsystem.is_present(after.pghot)),
        reasons=subsystem.reasons(counters),
        migrate_offload=engines.grown(before.migrate_offload, after.migrate_offload),
        rates=between(before, after, seconds),
    )
    return status._replace(reasons=on_this_machine(status))
