# SPDX-License-Identifier: GPL-2.0
"""The guest's kernel log: records, what is fatal in it, what is new."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

KNOWN = Path(__file__).with_name("known_messages.txt")
HOST = Path(__file__).with_name("host_messages.txt")
"""Known ones of guests that run at the host's speed."""

WARNING = 4
"""KERN_WARNING; lower is worse."""

_GAP = 0.05
"""Seconds: warning lines closer to each other than that are one report."""

# What the kernel prints when it cannot be trusted any more. On the serial line,
# where they come with a time stamp: a test's own output may hold such words.
_STAMP = r"^(?:<\d+>)?\[ *(?P<time>\d+\.\d{6})\](?:\[ *[CT]\d+\])? "
_FATAL = re.compile(
    _STAMP
    + r"("
    + "|".join(
        (
            r"Kernel panic - not syncing",
            r"(?:watchdog: )?BUG: ",  # faults, KASAN, atomic sleep, lockups, bad pages
            r"kernel BUG at ",
            r"Oops: ",
            r"general protection fault",
            r"(?:rcu: )?INFO: rcu\S* .*(?:stall|kthread starved)",
            r"INFO: task \S+ blocked for more than",
        )
    )
    + r")"
)

# Reports that the kernel survives, some of them below KERN_WARNING.
_REPORT = re.compile(
    "|".join(
        (
            r"^-+\[ cut here \]-+",
            r"^WARNING: ",
            r"^UBSAN: ",
            r"^kmemleak: \d+ new suspected memory leaks?",
            r"^INFO: possible recursive locking",
            r"^KCSAN: ",
        )
    )
)


@dataclass(frozen=True)
class Record:
    """One record of /dev/kmsg. ``time`` is in seconds since boot."""

    facility: int
    level: int
    sequence: int
    time: float
    text: str

    def __str__(self) -> str:
        return f"[{self.time:12.6f}] {self.text}"


def parse(line: str) -> Record | None:
    """Read one line of /dev/kmsg; None for continuation lines (dictionaries)."""
    match = re.match(r"(\d+),(\d+),(\d+),[^;]*;(.*)", line, re.DOTALL)
    if match is None:
        return None
    priority = int(match[1])
    text = re.sub(r"\\x([0-9a-f]{2})", lambda code: chr(int(code[1], 16)), match[4])
    return Record(priority >> 3, priority & 7, int(match[2]), int(match[3]) / 1e6, text)


def lost(last: int, record: Record) -> Record | None:
    """What stands for the records between number ``last`` and this one, None where it is the next.

    The kernel numbers all from 0 on and keeps none from a reader, not an empty line either:
    a number that is missing was overwritten before it was read.
    """
    count = record.sequence - last - 1
    if count <= 0:
        return None
    text = f"{count} records of the kernel's log were lost"
    return Record(0, WARNING, record.sequence - 1, record.time, text)


def fatal(line: str) -> str | None:
    """The message in a line of the serial console that ends a run, or None."""
    return re.sub(_STAMP, "", line).strip() if _FATAL.match(line) else None


def unread(console: str, records: list[Record]) -> list[Record]:
    """Lines of the serial console that are in no record: the reader of /dev/kmsg ended earlier.

    The console does not say their level. Theirs is below KERN_WARNING, so that only what
    tells by its text that it is a report counts as one.
    """
    read = {(record.time, line) for record in records for line in record.text.splitlines()}
    found = []
    for line in console.splitlines():
        stamp = re.match(_STAMP, line)
        if stamp is None:
            continue
        time, text = float(stamp["time"]), line[stamp.end() :]
        if (time, text) not in read:
            found.append(Record(0, WARNING + 1, 0, time, text))
    return found


@cache
def known(*lists: Path) -> re.Pattern:
    """One pattern of all messages in lists of known ones."""
    lines = [line for path in lists for line in path.read_text(encoding="utf-8").splitlines()]
    patterns = [line for line in lines if line.strip() and not line.startswith("#")]
    return re.compile("|".join(f"(?:{line})" for line in patterns) or r"(?!)")


def warnings(records: list[Record], allowed: re.Pattern | None = None) -> list[str]:
    """Reports of the kernel at KERN_WARNING or worse that are not known, at the host's speed.

    Lines that user space wrote do not count. Lines that belong together (a
    stack trace) come as one string of several lines.
    """
    allowed = known(KNOWN, HOST) if allowed is None else allowed
    reports: list[list[Record]] = []
    for record in records:
        if record.facility or allowed.match(record.text):
            continue
        if record.level > WARNING and not _REPORT.match(record.text):
            continue
        if reports and record.time - reports[-1][-1].time < _GAP:
            reports[-1].append(record)
        else:
            reports.append([record])
    return ["\n".join(record.text for record in report) for report in reports]
