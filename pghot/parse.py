# SPDX-License-Identifier: GPL-2.0
"""Pure parsers of the kernel's text formats. None of them raises on bad text."""

import re
from typing import NamedTuple

from pghot.tree import number

#: No kernel has more nodes (MAX_NUMNODES is 1024), and few machines more CPUs. It keeps a garbled
#: "0-99999999999" from filling memory.
MAX_NUMBER = 4095

_RANGE = re.compile(r"([0-9]{1,5})(?:-([0-9]{1,5}))?\Z")
_ZONE = re.compile(r"^Node +([0-9]{1,5}), zone +(\S+)$", re.MULTILINE)


def number_list(text: str) -> list[int] | None:
    """Nodes or CPUs of a list such as "0-1,3"; [] for an empty list, None for anything else."""
    numbers: set[int] = set()
    for part in text.strip().split(",") if text.strip() else []:
        match = _RANGE.match(part.strip())
        if not match:
            return None
        first = int(match[1])
        last = int(match[2] or first)
        if last < first or last > MAX_NUMBER:
            return None
        numbers.update(range(first, last + 1))
    return sorted(numbers)


def counters(text: str) -> tuple[dict[str, int], int]:
    """Lines "name value" as of /proc/vmstat, and the number of lines that are not of that form."""
    values: dict[str, int] = {}
    bad = 0
    for line in text.splitlines():
        words = line.split()
        value = number(words[1]) if len(words) == 2 else None
        if value is None or not words[0].isascii() or not words[0].isprintable():
            bad += bool(words)
        else:
            values[words[0]] = value
    return values, bad


def node_meminfo(text: str) -> dict[str, int]:
    """Bytes by name, from lines "Node 0 MemTotal: 123 kB"."""
    values = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 5 and words[4] == "kB":
            kilobytes = number(words[3])
            if kilobytes is not None and kilobytes >= 0:
                values[words[2].rstrip(":")] = kilobytes * 1024
    return values


class Zone(NamedTuple):
    """One zone of /proc/zoneinfo, in pages."""

    node: int
    name: str
    free: int
    high: int
    managed: int
    #: Pages kept for allocations that cannot use a higher zone; movable pages may not take them.
    reserve: int

    def room(self) -> bool:
        """Whether migration would put a page here: it stays above the high watermark."""
        return self.managed > 0 and self.free > self.high + self.reserve


def zones(text: str) -> list[Zone]:
    """The zones of /proc/zoneinfo that give all that `Zone` needs."""
    places = list(_ZONE.finditer(text))
    ends = [*(place.start() for place in places), len(text)][1:]
    found = []
    for place, end in zip(places, ends, strict=True):
        # What follows is by CPU: most of the file on a large machine, and none of it of use here.
        body = text[place.end() : end].partition("\n  pagesets")[0]
        seen = _zone_fields(body)
        if {"free", "high", "managed"} <= seen.keys():
            node, name = int(place[1]), place[2]
            found.append(
                Zone(
                    node, name, seen["free"], seen["high"], seen["managed"], seen.get("reserve", 0)
                )
            )
    return found


def _zone_fields(body: str) -> dict[str, int]:
    seen: dict[str, int] = {}
    for line in body.splitlines():
        words = line.split()
        if words[:2] == ["pages", "free"]:
            words = words[1:]
        if words and words[0] == "protection:":
            reserves = [number(w.strip("(),")) for w in words[1:]]
            seen["reserve"] = max((r for r in reserves if r is not None), default=0)
        elif len(words) == 2 and words[0] in ("free", "high", "managed"):
            value = number(words[1])
            if value is not None and value >= 0:
                seen[words[0]] = value
    return seen


def boot_options(cmdline: str, name: str) -> list[str]:
    """Every value of `name`= on a kernel command line, in order; what follows "--" is init's."""
    kernels = cmdline.split()
    if "--" in kernels:
        kernels = kernels[: kernels.index("--")]
    return [word[len(name) + 1 :].strip('"') for word in kernels if word.startswith(name + "=")]


def task_state(stat: str) -> str | None:
    """The state letter of /proc/PID/stat; the name before it may hold spaces and parentheses."""
    rest = stat.rpartition(")")[2].split()
    return rest[0] if rest and len(rest[0]) == 1 and rest[0].isalpha() else None
