# SPDX-License-Identifier: GPL-2.0
"""The text report of `pghot status`, made from the Status alone."""

from pghot.columns import count, percent, rate, size, switch, table, wrap
from pghot.counters import COUNTERS, FLOW, KIND_TITLES, kind_of
from pghot.engines import ALL_REASONS
from pghot.settings import EVICTS_PERCENT
from pghot.status import Engine, Source, Status
from pghot.subsystem import (
    DISABLED,
    ENABLED,
    LAYOUT_MEANING,
    awaits_tiering,
    is_present,
    waits,
)


def _summary(status: Status, width: int) -> list[str]:
    pghot = status.pghot
    balancing = status.numa_balancing
    layout = pghot.layout
    if balancing.mode is not None:
        mode = f"{balancing.mode} ({balancing.meaning or 'unknown mode'})"
    else:
        mode = "not in this kernel" if balancing.available is False else "?"
    facts = [
        ["kernel", status.kernel or "?"],
        ["pghot", f"{pghot.state}: {pghot.meaning}"],
        ["NUMA balancing", mode],
        ["demotion", switch(status.demotion)],
    ]
    if is_present(status.pghot):
        facts.insert(2, ["layout", f"{layout} ({LAYOUT_MEANING[layout]})" if layout else "?"])
    return [line for name, value in facts for line in wrap(value, width, " " * 16, f"{name:<14}  ")]


def _tiers(status: Status, width: int) -> list[str]:
    if not status.tiers:
        return ["Tiers", "  none: the kernel shows no memory tiers"]
    rows = [
        [
            str(t.tier),
            {True: "top", False: "lower", None: "?"}[t.top],
            ",".join(map(str, t.nodes)) or "?",
            size(t.total_bytes),
            size(t.free_bytes),
        ]
        for t in status.tiers
    ]
    return ["Tiers, fastest first", *table("tier> place nodes size> free>", rows)]


def _nodes(status: Status, width: int) -> list[str]:
    if not status.nodes:
        return ["Nodes", "  none: the kernel shows no NUMA nodes"]
    rows = [
        [
            str(n.node),
            "-" if n.tier is None else str(n.tier),
            "?" if n.cpus is None else n.cpus or "none",
            size(n.total_bytes),
            size(n.free_bytes),
            {True: "yes", False: "no", None: "?" if n.total_bytes != 0 else "-"}[n.room],
            count(n.promoted_to_pages),
            count(n.demoted_from_pages),
            " ".join(f"{other}:{d}" for other, d in n.distances.items()) or "?",
        ]
        for n in status.nodes
    ]
    header = "node> tier> cpus size> free> room promoted_to> demoted_from> distance_to"
    lines = ["Nodes (pages)", *table(header, rows)]
    read = all(n.promoted_to_pages is not None for n in status.nodes)
    if read and all(n.demoted_from_pages is None for n in status.nodes):
        lines.append("  demoted_from: this kernel does not count demoted pages by node")
    return lines


_WAITS, _STUCK, _IDLE = "waits", "stuck", "idle"


def _source_state(status: Status, source: Source) -> str:
    if not waits(source):
        return switch(source.enabled)
    if status.pghot.state == DISABLED:
        return _IDLE
    stuck = status.pghot.state == ENABLED and not _for_tiering(status, source)
    return _STUCK if stuck else _WAITS


def _for_tiering(status: Status, source: Source) -> bool:
    return awaits_tiering(source, status.numa_balancing.tiering)


def _sources(status: Status, width: int) -> list[str]:
    rates = status.rates.sources if status.rates else {}
    rows = [
        [
            s.name,
            _source_state(status, s),
            count(s.accesses),
            rate(rates.get(s.name)),
            " ".join(f"{k.name}={'?' if k.value is None else k.value}" for k in s.settings),
        ]
        for s in status.sources
    ]
    if not rows:
        return []
    header = "source state accesses> per_second> files_of_its_own"
    lines = ["Sources", *table(header, rows, width=width)]
    if status.pghot.state == ENABLED and any(_for_tiering(status, s) for s in status.sources):
        lines.append(f"  {_WAITS}: switched on, and reports once kernel.numa_balancing is 2 or 3")
    if any(row[1] == _IDLE for row in rows):
        lines.append(f"  {_IDLE}: switched on, while pghot itself is off")
    if any(row[1] == _STUCK for row in rows):
        lines.append(f"  {_STUCK}: switched on, and not running; pghot doctor says more")
    return lines


def _settings(status: Status, width: int) -> list[str]:
    offload = status.migrate_offload
    rows = [
        [s.name, "?" if s.value is None else str(s.value), s.unit, s.meaning]
        for s in [*status.pghot.settings, *(offload.settings if offload else [])]
    ]
    return ["Settings", *table("name value> unit meaning", rows)] if rows else []


def _pages(status: Status, width: int) -> list[str]:
    rates = status.rates.pages if status.rates else {}
    labels = {"promoted_by_pghot": "  of them by kmigrated"}
    rows = [
        [labels.get(name, name), count(value), rate(rates.get(name))]
        for name, value in status.pages._asdict().items()
        if is_present(status.pghot) or name != "promoted_by_pghot"
    ]
    over = status.rates and status.rates.over
    column = "per_second_since_boot>" if over != "interval" else "per_second_now>"
    return ["Pages", *table(f"pages since_boot> {column}", rows)]


def _lower(status: Status, width: int) -> list[str]:
    if not is_present(status.pghot):
        return []
    if not status.lower_nodes:
        return ["Lower-tier nodes", "  none: pghot watches no node"]
    rates = status.rates.lower_nodes if status.rates else {}
    rows = [
        [
            str(n.node),
            count(n.ready),
            count(n.promoted_pages),
            rate(rates.get(str(n.node))),
            size(n.map_bytes),
            "?" if n.kmigrated.pid is None else str(n.kmigrated.pid),
            n.kmigrated.state,
        ]
        for n in status.lower_nodes
    ]
    return [
        "Lower-tier nodes",
        *table("node> ready_now> promoted> per_second> maps> kmigrated_pid> kmigrated", rows),
    ]


#: The kernel goes by the root of how often pages are accessed.
_GAIN = (
    "gain: pages that came beside those that went; 100% alike, 200% accessed some 4 times as often;"
    " cache gain: the same for files that are not mapped"
)
_EVICTS = "evicts"


def _gain(percent: int | None) -> str:
    if percent == EVICTS_PERCENT:
        return _EVICTS
    return f"{count(percent)}%" if percent else "-"


def _targets(status: Status, width: int) -> list[str]:
    if not status.targets:
        return []
    rows = [
        [
            str(t.node),
            count(t.promoted_pages),
            count(t.threshold_ms),
            _gain(t.gain_percent),
            _gain(t.cache_gain_percent),
            "?" if t.rate_kib_s is None else f"{size(t.rate_kib_s * 1024)}/s",
        ]
        for t in status.targets
    ]
    header = "node> promoted> hot_threshold_ms> gain> cache_gain> takes_at_most>"
    lines = ["Target nodes", *table(header, rows)]
    if any(t.gain_percent or t.cache_gain_percent for t in status.targets):
        lines += wrap(_GAIN, width, "    ", "  ")
    if any(_EVICTS in row for row in rows):
        lines.append(f"  {_EVICTS}: reclaim evicts pages for them, which are soon read again")
    return lines


def _serves(engine: Engine) -> str:
    """The reasons of migration that an engine serves, in a word where it serves all."""
    if engine.reasons is None:
        return "?"
    return "all" if set(engine.reasons) >= ALL_REASONS else ", ".join(engine.reasons) or "none"


def _engines(status: Status, width: int) -> list[str]:
    offload = status.migrate_offload
    if offload is None:
        return []
    if not offload.engines:
        return ["Copy engines", "  none: the CPU copies all that migrates"]
    rates = status.rates.engines if status.rates else {}
    rows = [
        [
            e.name,
            e.use or "?",
            count(e.copied_folios),
            rate(rates.get(e.name)),
            count(e.failed_folios),
            count(e.busy_jobs),
            _serves(e),
        ]
        for e in offload.engines
    ]
    header = "engine use copied> per_second> failed> busy_jobs> reasons"
    return ["Copy engines (folios)", *table(header, rows, width=width)]


def _balance(status: Status) -> str:
    """What became of the ready records."""
    records = status.records
    ready = records.ready
    parts = []
    became = {"moved": records.moved, "dropped": records.dropped, "waiting": records.waiting}
    for name, value in became.items():
        part = f"{count(value)} {name}"
        if value is not None and ready:
            part += f" ({percent(value / ready)})"
        parts.append(part)
    return f"of {count(ready)} records that became ready: {', '.join(parts)}"


def _reasons(status: Status, width: int) -> list[str]:
    if not is_present(status.pghot):
        return []
    lines = ["Why ready pages were not moved", *wrap(_balance(status), width, "    ", "  ")]
    rates = status.rates.counters if status.rates else {}
    for kind, title in KIND_TITLES.items():
        group = [r for r in status.reasons if r.kind == kind]
        seen = [r for r in group if r.count]
        lines.append(f"  {title}")
        if not group:
            lines.append("    the kernel counts no such reason")
        for r in seen:
            speed = rate(rates.get(r.name))
            lines.append(f"    {r.name}: {count(r.count)} ({percent(r.share)}), {speed} per second")
            lines += wrap(r.meaning, width, " " * 6)
            lines += wrap(r.advice, width, " " * 6)
            if r.command:
                lines.append(f"      run: {r.command}")
        never = ", ".join(r.name for r in group if not r.count)
        lines += wrap(f"never: {never}", width, "    ") if never else []
    return lines


def _newer(status: Status, width: int) -> list[str]:
    counters = status.counters
    newer = [n for n in counters if kind_of(n) == FLOW and n not in COUNTERS]
    rows = [[name, count(counters[name])] for name in sorted(newer)]
    return ["Counters newer than this command", *table("counter count>", rows)] if rows else []


def _unread(status: Status, width: int) -> list[str]:
    if not status.unread:
        return []
    told = [line for u in status.unread for line in wrap(f"{u.path}: {u.why}", width, "    ", "  ")]
    return ["Could not be read (shown as ?)", *told]


SECTIONS = (
    _summary,
    _tiers,
    _nodes,
    _pages,
    _sources,
    _lower,
    _targets,
    _engines,
    _settings,
    _reasons,
    _newer,
    _unread,
)


def report(status: Status, width: int = 100) -> str:
    """The whole report, without a newline at its end."""
    parts = ["\n".join(lines) for section in SECTIONS if (lines := section(status, width))]
    return "\n\n".join(parts)
