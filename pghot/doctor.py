# SPDX-License-Identifier: GPL-2.0
"""Runs the checks of `checks` on a Status and reports what they found."""

from typing import NamedTuple

from pghot.checks import CHECKS
from pghot.columns import wrap
from pghot.findings import FAIL, OK, UNKNOWN, WARN, counted_seconds
from pghot.status import Status, Unread

#: Exit status of `pghot doctor`.
HEALTHY, PROBLEMS, UNREADABLE = 0, 1, 2


class Check(NamedTuple):
    """A Finding with the name of its check."""

    id: str
    verdict: str
    summary: str
    explanation: str
    command: str | None


class Diagnosis(NamedTuple):
    """What `pghot doctor --json` prints: every check that applies to this machine, in order."""

    kernel: str | None
    #: Over which counters were taken; None is since boot.
    seconds: float | None
    healthy: bool
    checks: list[Check]
    unread: list[Unread]


def examine(status: Status) -> Diagnosis:
    """Run all checks."""
    checks = []
    for check in CHECKS:
        finding = check(status)
        if finding is not None:
            checks.append(Check(check.__name__.replace("_", "-"), *finding))
    healthy = exit_status(checks) == HEALTHY
    return Diagnosis(status.kernel, counted_seconds(status), healthy, checks, status.unread)


def exit_status(checks: list[Check]) -> int:
    """0 when every check is ok, 1 with any problem, 2 when some check could not be made."""
    verdicts = {check.verdict for check in checks}
    if verdicts & {WARN, FAIL}:
        return PROBLEMS
    return UNREADABLE if UNKNOWN in verdicts else HEALTHY


def report(diagnosis: Diagnosis, width: int = 100) -> str:
    """The text report, problems explained, without a newline at its end."""
    lines = []
    for check in diagnosis.checks:
        lines += wrap(check.summary, width, " " * 26, f"{check.verdict:<8} {check.id:<16} ")
        if check.verdict == OK:
            continue
        lines += wrap(check.explanation, width, " " * 9)
        if check.command:
            lines.append(f"{'':9}run: {check.command}")
    for u in diagnosis.unread:
        lines += wrap(f"could not be read: {u.path}: {u.why}", width, " " * 9, "")
    verdicts = [check.verdict for check in diagnosis.checks]
    counts = ", ".join(f"{verdicts.count(v)} {v}" for v in (OK, WARN, FAIL, UNKNOWN))
    return "\n".join([*lines, "", counts])
