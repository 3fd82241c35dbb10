# SPDX-License-Identifier: GPL-2.0
"""Runs the checks of `checks` on a status document and reports their findings."""

from typing import Any, NamedTuple

from pghot import SCHEMA, __version__

OK = "ok"
WARN = "warn"
FAIL = "fail"
UNKNOWN = "unknown"

#: Exit status of `pghot doctor`.
HEALTHY, PROBLEMS, UNREADABLE = 0, 1, 2


class Finding(NamedTuple):
    """What a check found. `command` mends it; None where no single command does, or all is well."""

    verdict: str
    summary: str
    explanation: str = ""
    command: str | None = None


def examine(status: dict[str, Any]) -> dict[str, Any]:
    """The doctor's document: every check that applies to this machine, in order."""
    from pghot.checks import CHECKS

    findings = []
    for check in CHECKS:
        finding = check(status)
        if finding is not None:
            findings.append({"id": check.__name__.replace("_", "-"), **finding._asdict()})
    return {
        "schema": SCHEMA,
        "tool": __version__,
        "kernel": status["kernel"],
        "healthy": exit_status(findings) == HEALTHY,
        "checks": findings,
        "unread": status["unread"],
    }


def exit_status(findings: list[dict[str, Any]]) -> int:
    """0 when every check is ok, 1 with any problem, 2 when some check could not be made."""
    verdicts = {finding["verdict"] for finding in findings}
    if verdicts & {WARN, FAIL}:
        return PROBLEMS
    return UNREADABLE if UNKNOWN in verdicts else HEALTHY


def report(document: dict[str, Any], width: int = 100) -> str:
    """The text report, problems explained, without a newline at its end."""
    from pghot.columns import wrap

    lines = []
    for finding in document["checks"]:
        lines.append(f"{finding['verdict']:<8} {finding['id']:<16} {finding['summary']}")
        if finding["verdict"] == OK:
            continue
        lines += wrap(finding["explanation"], width, " " * 9)
        if finding["command"]:
            lines.append(f"{'':9}run: {finding['command']}")
    lines += [f"could not be read: {u['path']}: {u['why']}" for u in document["unread"]]
    verdicts = [finding["verdict"] for finding in document["checks"]]
    counts = ", ".join(f"{verdicts.count(v)} {v}" for v in (OK, WARN, FAIL, UNKNOWN))
    return "\n".join([*lines, "", counts])
