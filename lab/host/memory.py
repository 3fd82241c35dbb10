# SPDX-License-Identifier: GPL-2.0
"""How much memory the host can give to guests."""

from __future__ import annotations

import re
from pathlib import Path

MEMINFO = Path("/proc/meminfo")


def available() -> int | None:
    """Bytes the host can give away without swapping, or None where it does not say."""
    try:
        text = MEMINFO.read_text(encoding="ascii")
    except OSError:
        return None
    found = re.search(r"^MemAvailable:\s+(\d+) kB", text, re.MULTILINE)
    return int(found[1]) * 1024 if found else None
