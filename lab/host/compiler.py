# SPDX-License-Identifier: GPL-2.0
"""Compiling C of this tree for the host, or for a guest that runs the host's programs."""

from __future__ import annotations

import subprocess
from pathlib import Path

from lab import paths
from lab.errors import LabError
from lab.files import locked
from lab.host import programs


def compile_c(source: Path, out: Path, *words: str) -> None:
    """Run ``make`` in ``source``, one at a time for each ``out``, which it writes to.

    ``words`` are targets and variables, and say where ``out`` is as that Makefile wants to
    know it. Raises LabError with the compiler's first error.
    """
    programs.require("cc", "make", "stdlib.h")
    out.mkdir(parents=True, exist_ok=True)
    with locked(out.with_suffix(".lock")):
        done = subprocess.run(
            ["make", "-s", "-C", str(source), *words],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["make said nothing"]
        said = [line for line in lines if "error" in line.lower()]
        raise LabError(f"{source.relative_to(paths.ROOT)} does not compile: {(said or lines)[0]}")
