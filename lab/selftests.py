# SPDX-License-Identifier: GPL-2.0
"""The kernel selftests of pghot, built on the host without a kernel tree."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from lab import paths
from lab.errors import LabError
from lab.files import locked
from lab.host import programs

SOURCE = paths.ROOT / "linux/tools/testing/selftests/pghot"


def build() -> Path:
    """Compile the helpers; return the directory with everything to run."""
    programs.require("cc", "make", "stdlib.h")
    out = paths.OUT / "selftests"
    with locked(out.with_suffix(".lock")):
        done = subprocess.run(
            [
                "make",
                "-s",
                "-C",
                SOURCE,
                f"OUTPUT={out}",
                "LDFLAGS=-static",
                "CFLAGS=-O2 -Wall -Wextra -Werror",
            ],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        said = done.stderr.strip().splitlines() or ["make said nothing"]
        raise LabError(f"the selftests in {SOURCE} do not compile: {said[0]}")
    return out


def names(script: str) -> list[str]:
    """Tests in a script, in order."""
    text = (SOURCE / script).read_text(encoding="utf-8")
    return re.findall(r"^test_([a-z0-9_]+)\(\)", text, re.MULTILINE)
