# SPDX-License-Identifier: GPL-2.0
"""What a kernel with pghot tells about it: state, settings, sources, nodes, counters."""

import re
from typing import Any

from pghot import parse
from pghot.counters import COUNTERS, DELAYED, DROPPED, REFUSED, describe, kind_of
from pghot.settings import PGHOT, SETTINGS, SOURCE_SETTINGS, Setting
from pghot.tree import Tree, clean

ENABLED = "enabled"
DISABLED = "disabled"
BOOT_OFF = "boot-off"
FAILED = "failed"
ABSENT = "absent"
UNKNOWN = "unknown"

STATE_MEANING = {
    ENABLED: "pghot is on.",
    DISABLED: "pghot is switched off at run time: nothing is recorded, the stock kernel decides.",
    BOOT_OFF: "pghot was switched off at boot (the pghot= option): the kernel behaves as one without it.",
    FAILED: "This kernel is built with pghot, yet pghot did not start.",
    ABSENT: "This kernel has no pghot.",
    UNKNOWN: "This kernel has pghot; only root can read whether it is on.",
}

#: States in which the kernel shows nothing of pghot.
NOT_THERE = (BOOT_OFF, FAILED, ABSENT)

LAYOUTS = {"default": "default", "precise": "precise"}
LAYOUT_MEANING = {"default": "1 byte a page", "precise": "4 bytes a page"}

_SOURCE_NAME = re.compile(r"[A-Za-z0-9_.-]{1,64}\Z")


def state(tree: Tree) -> tuple[str, bool | None]:
    """The state, and whether the kernel has pghot compiled in (None when it does not say)."""
    if tree.exists(PGHOT):
        enabled = tree.switch(f"{PGHOT}/enabled")
        return (UNKNOWN if enabled is None else ENABLED if enabled else DISABLED), True
    release = (tree.text("proc/sys/kernel/osrelease") or "").strip()
    config = tree.text(f"boot/config-{release}") if release and "/" not in release else None
    built_in = None if config is None else "CONFIG_PGHOT=y" in config.splitlines()
    # The kernel stays off after one option that is not a layout, whatever else is given.
    options = parse.boot_options(tree.text("proc/cmdline") or "", "pghot")
    if built_in is not False and any(option not in LAYOUTS for option in options):
        return BOOT_OFF, built_in
    return (FAILED if built_in else ABSENT), built_in


def _settings(tree: Tree, base: str, table: tuple[Setting, ...]) -> list[dict[str, Any]]:
    found = []
    for setting in table:
        value = None
        if setting.world_readable:
            value = tree.integer(setting.world_readable)
        if value is None:
            value = tree.integer(f"{base}/{setting.name}")
        found.append({"name": setting.name, "value": value, "unit": setting.unit, "meaning": setting.meaning})
    return found


def sources(tree: Tree) -> list[dict[str, Any]]:
    """One dict for each directory below sources/."""
    found = []
    for name in tree.names(f"{PGHOT}/sources"):
        if not _SOURCE_NAME.match(name):
            continue
        base = f"{PGHOT}/sources/{name}"
        found.append(
            {
                "name": name,
                "enabled": tree.switch(f"{base}/enabled"),
                "accesses": tree.integer(f"{base}/accesses"),
                "settings": [
                    s
                    for s in _settings(tree, base, SOURCE_SETTINGS)
                    if s["value"] is not None or tree.exists(f"{base}/{s['name']}")
                ],
            }
        )
    return found


def _thread(tree: Tree, node: int, pid: int | None) -> dict[str, Any]:
    """What became of kmigrated<node>: running, parked, missing or unknown.

    A missing /proc/PID proves nothing where kernel threads are hidden (a PID namespace, hidepid),
    so kthreadd, always PID 2, has to be visible first.
    """
    found: dict[str, Any] = {"pid": pid, "state": "unknown"}
    if pid is None:
        return found
    if pid <= 0:
        found["state"] = "missing"
        return found
    if (tree.text("proc/2/comm") or "").strip() != "kthreadd":
        return found
    comm = tree.text(f"proc/{pid}/comm")
    stat = tree.text(f"proc/{pid}/stat")
    if comm is None or stat is None:
        found["state"] = "unknown" if f"/proc/{pid}/stat" in tree.unread else "missing"
    elif comm.strip() != f"kmigrated{node}"[:15]:
        found["state"] = "missing"
    else:
        letter = parse.task_state(stat)
        if letter is not None:
            found["state"] = {"P": "parked", "X": "missing", "Z": "missing"}.get(letter, "running")
    return found


def lower_nodes(tree: Tree) -> list[dict[str, Any]]:
    """One dict for each lower-tier node that pghot watches."""
    found = []
    for node in tree.numbered(PGHOT, "node"):
        base = f"{PGHOT}/node{node}"
        found.append(
            {
                "node": node,
                "ready": tree.integer(f"{base}/ready"),
                "promoted_pages": tree.integer(f"{base}/promoted"),
                "sections": tree.integer(f"{base}/sections"),
                "map_bytes": tree.integer(f"{base}/map_bytes"),
                "kmigrated": _thread(tree, node, tree.integer(f"{base}/kmigrated")),
            }
        )
    return found


def targets(tree: Tree) -> list[dict[str, Any]]:
    """One dict for each top-tier node that pghot promotes to."""
    return [
        {
            "node": node,
            "threshold_ms": tree.integer(f"{PGHOT}/target{node}/threshold_ms"),
            "promoted_pages": tree.integer(f"{PGHOT}/target{node}/promoted"),
        }
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


def share(part: int, whole: int) -> float | None:
    """A part of a whole, 0 to 1; None where there is no whole."""
    return round(part / whole, 4) if whole > 0 else None


def reasons(values: dict[str, int]) -> list[dict[str, Any]]:
    """Every reason counter, largest first within its kind; `share` is of its kind."""
    found = []
    for kind in (DROPPED, DELAYED, REFUSED):
        group = {name: count for name, count in values.items() if kind_of(name) == kind}
        whole = sum(group.values())
        for name, count in sorted(group.items(), key=lambda item: (-item[1], item[0])):
            about = describe(name)
            found.append(
                {
                    "name": name,
                    "kind": kind,
                    "count": count,
                    "share": share(count, whole),
                    "known": name in COUNTERS,
                    "meaning": about.meaning,
                    "advice": about.advice,
                    "command": about.command or None,
                }
            )
    return found


def records(values: dict[str, int], nodes: list[dict[str, Any]]) -> dict[str, Any]:
    """What became of the ready records: pghot_ready = moved + dropped + waiting, but for timing."""
    dropped = [v for name, v in values.items() if kind_of(name) == DROPPED]
    waiting = [node["ready"] for node in nodes]
    return {
        "recorded": values.get("pghot_recorded"),
        "ready": values.get("pghot_ready"),
        "moved": values.get("pghot_moved"),
        "dropped": sum(dropped) if dropped else None,
        "waiting": sum(waiting) if waiting and None not in waiting else None,
    }


def pages(values: dict[str, int]) -> dict[str, Any]:
    """Pages promoted and demoted since boot, None where the kernel does not count them."""
    demoted = {name: v for name, v in values.items() if name.startswith("pgdemote_")}
    return {
        "promoted": values.get("pgpromote_success"),
        "promoted_by_pghot": values.get("pghot_promoted_pages"),
        "demoted": sum(demoted.values()) if demoted else None,
    }


def subsystem(tree: Tree) -> dict[str, Any]:
    """All the fields of a status that pghot and the counters give."""
    now, built_in = state(tree)
    present = now not in NOT_THERE
    layout = tree.choice(f"{PGHOT}/layout", LAYOUTS) if present else None
    values = counters(tree)
    lower = lower_nodes(tree) if present else []
    return {
        "pghot": {
            "state": now,
            "meaning": STATE_MEANING[now],
            "built_in": built_in,
            "layout": layout,
            "settings": _settings(tree, PGHOT, SETTINGS) if present else [],
        },
        "sources": sources(tree) if present else [],
        "lower_nodes": lower,
        "targets": targets(tree) if present else [],
        "pages": pages(values),
        "records": records(values, lower),
        "reasons": reasons(values),
        "counters": values,
    }
