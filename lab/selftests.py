# SPDX-License-Identifier: GPL-2.0
"""The kernel selftests of pghot, built on the host without a kernel tree."""

from __future__ import annotations

import re
from pathlib import Path

from lab import paths
from lab.host.compiler import compile_c

SOURCE = paths.ROOT / "linux/tools/testing/selftests/pghot"
SOURCES = ("page_cache.sh", "page_table.sh", "reclaim.sh", "hotness_unit.sh")
"""Scripts about other sources than hint faults."""


def build() -> Path:
    """Compile the helpers; return the directory with everything to run."""
    out = paths.OUT / "selftests"
    compile_c(SOURCE, out, f"OUTPUT={out}", "LDFLAGS=-static", "CFLAGS=-O2 -Wall -Wextra -Werror")
    return out


def names(script: str) -> list[str]:
    """Tests in a script, in order."""
    text = (SOURCE / script).read_text(encoding="utf-8")
    return re.findall(r"^test_([a-z0-9_]+)\(\)", text, re.MULTILINE)
