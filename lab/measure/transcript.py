# SPDX-License-Identifier: GPL-2.0
"""What a measured guest wrote: the text of its console and of its answer."""

from __future__ import annotations

import re

from lab.guest import kernel_log
from pghot import parse

_STAMPED = re.compile(r"^\[ *\d+\.\d{6}\](?:\[ *[CT]\d+\])? ?(.*)$")
# Lines at KERN_WARNING or worse that say how the run went, no more.
_EXPECTED = re.compile(r"reboot: |Run /init as init process")


def fatal(log: str) -> str | None:
    """The first message on the console after which the kernel cannot be trusted."""
    for line in log.splitlines():
        found = kernel_log.fatal(line)
        if found:
            return found
    return None


def warnings(log: str) -> list[str]:
    """Messages at KERN_WARNING or worse that are not known."""
    found = []
    known = kernel_log.known(kernel_log.KNOWN)
    for line in log.splitlines():
        match = _STAMPED.match(line)
        if match and not known.match(match[1]) and not _EXPECTED.match(match[1]):
            found.append(match[1])
    return found


def sections(answer: str) -> dict[str, str]:
    """The parts of what lab/measure/init.sh writes."""
    found: dict[str, str] = {}
    name = None
    for line in answer.splitlines(keepends=True):
        if line.startswith("@@"):
            name = line[2:].strip()
            found[name] = ""
        elif name is not None:
            found[name] += line
    return found


def blocks(text: str) -> dict[int, set[int]]:
    """Memory blocks of each node from lines "node block"."""
    found: dict[int, set[int]] = {}
    for node, block in re.findall(r"^(\d+) (\d+)$", text, re.MULTILINE):
        found.setdefault(int(node), set()).add(int(block))
    return found


def growth(answer: dict[str, str]) -> dict[str, int]:
    """How much each counter of /proc/vmstat grew during the measured part."""
    before, _ = parse.counters(answer.get("vmstat.begin", ""))
    after, _ = parse.counters(answer.get("vmstat.end", ""))
    return {name: after[name] - before.get(name, 0) for name in after}


def unread(answer: dict[str, str]) -> int:
    """How many lines of /proc/vmstat are no counter: growth() knows nothing of them."""
    return sum(parse.counters(answer.get(f"vmstat.{when}", ""))[1] for when in ("begin", "end"))
