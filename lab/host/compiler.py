# SPDX-License-Identifier: GPL-2.0
"""Compiling C of this tree for the host, or for a guest that runs the host's programs."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from lab import paths
from lab.errors import LabError
from lab.files import locked
from lab.host import programs

_OTHERS = {
    "CC",
    "CFLAGS",
    "COMPILER_PATH",
    "CPATH",
    "CPPFLAGS",
    "C_INCLUDE_PATH",
    "GCC_COMPARE_DEBUG",
    "GCC_EXEC_PREFIX",
    "GNUMAKEFLAGS",
    "LDFLAGS",
    "LDLIBS",
    "LIBRARY_PATH",
    "LOADLIBES",
    "MAKEFILES",
    "MAKEFLAGS",
    "MFLAGS",
    "TARGET_ARCH",
    "TARGET_MACH",
}
"""Variables that make and compilers heed. Who exports them means other programs, and what is
compiled here is kept and decides what is measured."""


def _environment() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name not in _OTHERS}


def identity() -> str:
    """Which compiler compile_c() has make run. LabError where it does not say."""
    programs.require("cc")
    done = subprocess.run(
        ["cc", "--version"],
        # Not in the words of whoever asks.
        env={**_environment(), "LC_ALL": "C"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise LabError(f"cc --version failed: {done.stderr.strip()}")
    return done.stdout


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
            env=_environment(),
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        lines = done.stderr.strip().splitlines() or ["make said nothing"]
        said = [line for line in lines if "error" in line.lower()]
        raise LabError(f"{source.relative_to(paths.ROOT)} does not compile: {(said or lines)[0]}")
