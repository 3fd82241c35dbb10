# SPDX-License-Identifier: GPL-2.0
"""The workloads of lab/workloads/, built for the guest."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from lab import paths
from lab.errors import LabError
from lab.host import programs
from lab.measure import plugin
from lab.measure.compile import compiled

SOURCE = paths.ROOT / "lab" / "workloads"


def names() -> list[str]:
    """All programs: one file of lab/workloads/ each."""
    return sorted(path.stem for path in SOURCE.glob("*.c"))


@cache
def build() -> Path:
    """Compile what is not current; return the directory of the programs."""
    programs.require("sqlite3.h")
    return compiled(SOURCE, plugin.SOURCE, plugin.DRIVERS)


def check(name: str) -> None:
    """Raise LabError, which lists the known ones, unless there is such a program."""
    if name not in names():
        raise LabError(f"unknown workload {name!r}: choose one of {', '.join(names())}")


def path(name: str) -> Path:
    """A program by its name, as check() takes it."""
    check(name)
    return build() / name
