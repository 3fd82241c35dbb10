# SPDX-License-Identifier: GPL-2.0
"""What a check of the doctor says."""

from typing import NamedTuple

from pghot.status import Status
from pghot.tree import DENIED

OK = "ok"
WARN = "warn"
FAIL = "fail"
UNKNOWN = "unknown"


class Finding(NamedTuple):
    """What a check found. `command` mends it, or shows what there is to mend; None where no single
    one does, or all is well."""

    verdict: str
    summary: str
    explanation: str = ""
    command: str | None = None


def counted_seconds(status: Status) -> float | None:
    """Over which time the counters of a status are; None is since boot."""
    rates = status.rates
    return rates.seconds if rates and rates.over == "interval" else None


def when(status: Status) -> str:
    """The time that the counters of a status are over, in words."""
    seconds = counted_seconds(status)
    return "since boot" if seconds is None else f"in the last {seconds:.3g} s"


def unread(status: Status, what: str, *paths: str) -> Finding:
    """What a check says that depends on a file, under any of these names, that told nothing. To
    run the command as root helps only where root was not the one who ran it."""
    known = {u.path.removeprefix("/"): u.why for u in status.unread}
    path = next((path for path in paths if path in known), paths[0])
    why = known.get(path, "it is missing")
    return Finding(
        UNKNOWN,
        f"{what} cannot be read.",
        "Run pghot doctor as root." if why == DENIED else f"/{path}: {why}.",
    )
