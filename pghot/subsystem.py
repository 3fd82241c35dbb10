# SPDX-License-Identifier: GPL-2.0
"""What a kernel with pghot tells about it: state, settings, sources, nodes, counters."""

import re

from pghot import parse
from pghot.counters import COUNTERS, DELAYED, DROPPED, REFUSED, describe, kind_of
from pghot.settings import PGHOT, SETTINGS, SOURCE_SETTINGS, Knob
from pghot.status import (
    Kmigrated,
    LowerNode,
    Pages,
    PghotState,
    Reason,
    Records,
    Setting,
    Source,
    Target,
)
from pghot.tree import Tree, clean

ENABLED = "enabled"
DISABLED = "disabled"
BOOT_OFF = "boot-off"
FAILED = "failed"
ABSENT = "absent"
UNKNOWN = "unknown"

STATE_MEANING = {
    ENABLED: "pghot is on.",
    DISABLED: ("pghot is switched off at run time: nothing is recorded, the stock kernel decides."),
    BOOT_OFF: (
        "pghot is off since boot (by the pghot= option, or as the kernel was built): the kernel"
        " behaves as one without it."
    ),
    FAILED: "This kernel is built with pghot, yet pghot did not start.",
    ABSENT: "This kernel has no pghot.",
    UNKNOWN: "This kernel has pghot; whether it is on cannot be read.",
}
#: What is known of a kernel that does not say either whether it was built with pghot.
NOTHING_SHOWN = "This kernel shows nothing of pghot: it has none, or pghot did not start."
#: What is known where counters of pghot are there and its files are not.
HIDDEN = f"This kernel has pghot; /{PGHOT} is not visible here."

#: What keeps pghot off since boot: the boot option, or a kernel built to stay off without one.
BY_OPTION, BY_BUILD = "option", "build"

#: States in which the kernel shows nothing of pghot.
NOT_THERE = (BOOT_OFF, FAILED, ABSENT)

LAYOUTS = {"default": "default", "precise": "precise"}
LAYOUT_MEANING = {"default": "1 byte per page", "precise": "4 bytes per page"}

HINT_FAULT = "hint_fault"
#: Sources that can report in any mode of NUMA balancing.
ALONE = ("page_cache", "page_table", "hotness_unit", "hw_sample")
#: What a source's switch can be: "tiering" is on while NUMA balancing has memory tiering on.
_SWITCHES = {"0": "off", "1": "on", "tiering": "tiering"}
#: What a source or a copy engine can be called.
NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")


def _state(tree: Tree, counted: bool) -> tuple[str, bool | None, str | None]:
    """The state, whether the kernel has pghot compiled in (None when it does not say), and what
    keeps it off since boot. `counted`: it has counters of pghot, which it has where pghot runs."""
    if tree.exists(PGHOT):
        enabled = tree.switch(f"{PGHOT}/enabled")
        return (UNKNOWN if enabled is None else ENABLED if enabled else DISABLED), True, None
    if counted:
        return UNKNOWN, True, None
    release = (tree.text("proc/sys/kernel/osrelease") or "").strip()
    config = tree.text(f"boot/config-{release}") if release and "/" not in release else None
    lines = (config or "").splitlines()
    built_in = None if config is None else "CONFIG_PGHOT=y" in lines
    # The last one counts, and one that is no layout keeps it off.
    options = parse.boot_options(tree.text("proc/cmdline") or "", "pghot")[-1:]
    if built_in is not False and any(option not in LAYOUTS for option in options):
        return BOOT_OFF, built_in, BY_OPTION
    if built_in and not options and "CONFIG_PGHOT_BOOT_OFF=y" in lines:
        return BOOT_OFF, built_in, BY_BUILD
    return (FAILED if built_in else ABSENT), built_in, None


def _meaning(state: str, built_in: bool | None, there: bool) -> str:
    if state == ABSENT and built_in is None:
        return NOTHING_SHOWN
    return HIDDEN if state == UNKNOWN and not there else STATE_MEANING[state]


def pghot(tree: Tree, counters: dict[str, int]) -> PghotState:
    """State, layout and settings. There are none of these where its files are not visible."""
    state, built_in, off_by = _state(tree, any(name.startswith("pghot_") for name in counters))
    there = bool(tree.exists(PGHOT))
    return PghotState(
        state=state,
        meaning=_meaning(state, built_in, there),
        built_in=built_in,
        off_by=off_by,
        layout=tree.choice(f"{PGHOT}/layout", LAYOUTS) if there else None,
        settings=read_settings(tree, PGHOT, SETTINGS) if there else [],
    )


def is_present(pghot: PghotState) -> bool:
    """Whether the files of pghot are visible."""
    return bool(pghot.settings)


def setting(pghot: PghotState, name: str) -> int | None:
    """The value of a setting; None where it cannot be read."""
    return next((s.value for s in pghot.settings if s.name == name), None)


def read_settings(tree: Tree, base: str, knobs: tuple[Knob, ...]) -> list[Setting]:
    """Each of these knobs with its value, None where it cannot be read."""
    found = []
    for knob in knobs:
        value = None
        if knob.world_readable:
            value = tree.integer(knob.world_readable)
        if value is None:
            value = tree.integer(f"{base}/{knob.name}")
        found.append(Setting(knob.name, value, knob.unit, knob.meaning))
    return found


def sources(tree: Tree) -> list[Source]:
    """Every directory below sources/."""
    found = []
    for name in tree.names(f"{PGHOT}/sources"):
        if not NAME.match(name):
            continue
        base = f"{PGHOT}/sources/{name}"
        settings = [
            setting
            for setting in read_settings(tree, base, SOURCE_SETTINGS)
            if setting.value is not None or tree.exists(f"{base}/{setting.name}")
        ]
        switch = tree.choice(f"{base}/enabled", _SWITCHES)
        found.append(
            Source(
                name=name,
                enabled=None if switch is None else switch != "off",
                tiering=switch == "tiering" or name not in ALONE,
                running=tree.switch(f"{base}/running"),
                accesses=tree.integer(f"{base}/accesses"),
                settings=settings,
                event=_event(tree, base),
            )
        )
    return found


def _event(tree: Tree, base: str) -> str | None:
    """Which counter a source samples by; None where it does not, or does not run."""
    said = (tree.text(f"{base}/event") or "").strip()
    return said if NAME.match(said) and said != "none" else None


def units(source: Source) -> int | None:
    """How many hotness units there are, which is a figure of their source."""
    return next((file.value for file in source.settings if file.name == "units"), None)


def gives_way(source: Source) -> bool:
    """Whether it runs, and others have the counter that it needs."""
    return any(file.name == "away" and file.value == 1 for file in source.settings)


def others_report(sources: list[Source]) -> list[str]:
    """Those that can report now other than hint faults, which need NUMA balancing. That of hotness
    units runs without a unit too, and samples while they give way."""
    return [
        s.name
        for s in sources
        if s.running and s.name != HINT_FAULT and units(s) != 0 and not gives_way(s)
    ]


def waits(source: Source) -> bool:
    """Whether it is switched on, yet does not report."""
    return source.enabled is True and source.running is False


def awaits_tiering(source: Source, tiering: bool | None) -> bool:
    """Whether it waits for memory tiering of NUMA balancing, which is not known to be on."""
    return waits(source) and not tiering and source.tiering


def rests(sources: list[Source]) -> bool:
    """Whether none reports, so that the kernel keeps no records."""
    return bool(sources) and all(s.running is False for s in sources)


def _thread(tree: Tree, node: int, pid: int | None) -> str:
    """What became of kmigrated<node>: running, parked, missing or unknown.

    A missing /proc/PID proves nothing where kernel threads are hidden (a PID namespace, hidepid),
    so kthreadd, always PID 2, has to be visible first.
    """
    if pid is None:
        return "unknown"
    if pid <= 0:
        return "missing"
    if (tree.text("proc/2/comm") or "").strip() != "kthreadd":
        return "unknown"
    comm = tree.text(f"proc/{pid}/comm")
    stat = tree.text(f"proc/{pid}/stat")
    if comm is None or stat is None:
        return "unknown" if f"/proc/{pid}/stat" in tree.unread else "missing"
    if comm.strip() != f"kmigrated{node}"[:15]:
        return "missing"
    letter = parse.task_state(stat)
    if letter is None:
        return "unknown"
    return {"P": "parked", "X": "missing", "Z": "missing"}.get(letter, "running")


def lower_nodes(tree: Tree) -> list[LowerNode]:
    """The lower-tier nodes that pghot watches."""
    found = []
    for node in tree.numbered(PGHOT, "node"):
        base = f"{PGHOT}/node{node}"
        pid = tree.integer(f"{base}/kmigrated")
        found.append(
            LowerNode(
                node=node,
                ready=tree.integer(f"{base}/ready"),
                promoted_pages=tree.integer(f"{base}/promoted"),
                sections=tree.integer(f"{base}/sections"),
                map_bytes=tree.integer(f"{base}/map_bytes"),
                kmigrated=Kmigrated(pid, _thread(tree, node, pid)),
            )
        )
    return found


def targets(tree: Tree) -> list[Target]:
    """The top-tier nodes that pghot promotes to."""
    return [
        Target(
            node=node,
            threshold_ms=tree.integer(f"{PGHOT}/target{node}/threshold_ms"),
            promoted_pages=tree.integer(f"{PGHOT}/target{node}/promoted"),
            gain_percent=tree.integer(f"{PGHOT}/target{node}/gain_percent"),
            cache_gain_percent=tree.integer(f"{PGHOT}/target{node}/cache_gain_percent"),
            rate_kib_s=tree.integer(f"{PGHOT}/target{node}/rate_kib_s"),
        )
        for node in tree.numbered(PGHOT, "target")
    ]


def counters(tree: Tree) -> dict[str, int]:
    """Every pghot_ line of /proc/vmstat and every other one that `counters` describes."""
    path = "proc/vmstat"
    values, bad = parse.counters(tree.text(path) or "")
    if bad:
        tree.note(path, f"{bad} lines not understood")
    return {
        clean(name, 80): value
        for name, value in values.items()
        if name in COUNTERS or name.startswith("pghot_")
    }


def _share(part: int, whole: int) -> float | None:
    """A part of a whole, 0 to 1; None where there is no whole."""
    return round(part / whole, 4) if whole > 0 else None


def reasons(values: dict[str, int]) -> list[Reason]:
    """Every reason counter, largest first within its kind."""
    found = []
    for kind in (DROPPED, DELAYED, REFUSED):
        group = {name: count for name, count in values.items() if kind_of(name) == kind}
        whole = sum(group.values())
        for name, count in sorted(group.items(), key=lambda item: (-item[1], item[0])):
            about = describe(name)
            found.append(
                Reason(
                    name=name,
                    kind=kind,
                    count=count,
                    share=_share(count, whole),
                    known=name in COUNTERS,
                    meaning=about.meaning,
                    advice=about.advice,
                    command=about.command,
                )
            )
    return found


def _sum(values: list[int]) -> int | None:
    """None for what the kernel does not count at all."""
    return sum(values) if values else None


def records(values: dict[str, int], nodes: list[LowerNode], present: bool) -> Records:
    """What became of the ready records. None wait where there are no nodes; but where pghot is not
    present nobody knows."""
    waiting = [node.ready for node in nodes if node.ready is not None]
    return Records(
        recorded=values.get("pghot_recorded"),
        ready=values.get("pghot_ready"),
        moved=values.get("pghot_moved"),
        dropped=_sum([v for name, v in values.items() if kind_of(name) == DROPPED]),
        waiting=sum(waiting) if present and len(waiting) == len(nodes) else None,
    )


def pages(values: dict[str, int]) -> Pages:
    """Pages promoted and demoted since boot, None where the kernel does not count them."""
    return Pages(
        promoted=values.get("pgpromote_success"),
        promoted_by_pghot=values.get("pghot_promoted_pages"),
        demoted=_sum([v for name, v in values.items() if name.startswith("pgdemote_")]),
    )
