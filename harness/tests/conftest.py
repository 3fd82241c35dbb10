# SPDX-License-Identifier: GPL-2.0
"""What the harness needs on the host, and how its programs are built."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lab import paths
from lab.errors import LabError
from lab.host import apt, capacity, programs
from lab.host.compiler import compile_c

HARNESS = paths.ROOT / "harness"
OUT = paths.OUT / "harness"

TOOLS = ("make", "gcc", "clang", "stdlib.h", "cmocka.h", "urcu/urcu-memb.h")
PACKAGES = {"cmocka.h": "libcmocka-dev", "urcu/urcu-memb.h": "liburcu-dev"}


def _clang(option: str) -> str:
    return subprocess.run(
        ["clang", option], check=True, capture_output=True, text=True
    ).stdout.strip()


def _require_sanitizers() -> None:
    """clang's runtime libraries are a package of their own."""
    runtime = Path(_clang("-print-runtime-dir"))
    wanted = ("asan", "tsan", "fuzzer")
    if all(list(runtime.glob(f"libclang_rt.{name}[-.]*a")) for name in wanted):
        return
    major = _clang("-dumpversion").partition(".")[0]
    package = f"libclang-rt-{major}-dev"
    if not apt.available() or os.geteuid() != 0:
        raise LabError(
            f"missing clang's sanitizer runtimes: run 'apt-get install {package}' as root"
        )
    apt.install(package)


@pytest.fixture(scope="session")
def build() -> Callable[..., Path]:
    """``build("asan", "unit")`` makes a target; returns where programs are."""
    programs.require(*TOOLS, packages=PACKAGES)
    _require_sanitizers()
    done: set[tuple[str, str]] = set()

    def make(kind: str, target: str) -> Path:
        if (kind, target) not in done:
            compile_c(HARNESS, OUT, f"-j{capacity.jobs()}", f"BUILD={kind}", f"O={OUT}", target)
            done.add((kind, target))
        return OUT / kind

    return make


@pytest.fixture
def run() -> Callable[..., str]:
    """Run a program that must succeed; returns its output."""

    # None takes a minute of a CPU, but may get a tenth of one and less.
    def call(*command: object, timeout: float = 1800) -> str:
        result = subprocess.run(
            [str(word) for word in command],
            check=False,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
        )
        assert result.returncode == 0, result.stdout[-8000:]
        return result.stdout

    return call
