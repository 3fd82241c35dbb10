# SPDX-License-Identifier: GPL-2.0
"""What a check of the doctor says."""

from typing import NamedTuple

OK = "ok"
WARN = "warn"
FAIL = "fail"
UNKNOWN = "unknown"


class Finding(NamedTuple):
    """What a check found. `command` mends it; None where no single one does, or all is well."""

    verdict: str
    summary: str
    explanation: str = ""
    command: str | None = None
