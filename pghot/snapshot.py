# SPDX-License-Identifier: GPL-2.0
"""One status document: everything that is readable now, as plain JSON types.

Its fields are described in docs/tool.md. The text report, the JSON and the doctor's checks are
all made from this document and read nothing else.
"""

from typing import Any

from pghot import SCHEMA, __version__
from pghot.machine import machine
from pghot.subsystem import subsystem
from pghot.tree import Tree


class NothingToRead(Exception):
    """The root holds no /proc and no /sys; the message says what to do."""


def collect(tree: Tree) -> dict[str, Any]:
    """Read the tree; raises NothingToRead only."""
    if not tree.names("proc") and not tree.names("sys"):
        raise NothingToRead(
            f"nothing to read in {tree.root}: give --root a directory that holds proc/ and sys/"
        )
    status: dict[str, Any] = {"schema": SCHEMA, "tool": __version__}
    status.update(machine(tree))
    status.update(subsystem(tree))
    status["rates"] = since_boot(status)
    status["unread"] = [{"path": path, "why": why} for path, why in sorted(tree.unread.items())]
    return status


def _flows(status: dict[str, Any]) -> dict[str, dict[str, int | None]]:
    """All that only grows, by group and name."""
    return {
        "pages": status["pages"],
        "counters": status["counters"],
        "sources": {s["name"]: s["accesses"] for s in status["sources"]},
        "lower_nodes": {str(n["node"]): n["promoted_pages"] for n in status["lower_nodes"]},
    }


def _rates(over: str, seconds: float, before: dict, after: dict) -> dict[str, Any]:
    """Growth per second; None for what was not read twice or went backwards (a node went away)."""
    rates: dict[str, Any] = {"over": over, "seconds": round(seconds, 3)}
    for group, values in after.items():
        rates[group] = {}
        for name, value in values.items():
            old = 0 if over == "boot" else before[group].get(name)
            known = value is not None and old is not None and value >= old
            rates[group][name] = round((value - old) / seconds, 3) if known else None
    return rates


def since_boot(status: dict[str, Any]) -> dict[str, Any] | None:
    """Average rates since boot, or None when the uptime is not known."""
    seconds = status["uptime_seconds"]
    return _rates("boot", seconds, {}, _flows(status)) if seconds else None


def between(before: dict[str, Any], after: dict[str, Any], seconds: float) -> dict[str, Any] | None:
    """Rates of `after` over the time since `before`."""
    return _rates("interval", seconds, _flows(before), _flows(after)) if seconds > 0 else None
