# SPDX-License-Identifier: GPL-2.0
"""The kernels that are compared, and one run with each."""

from __future__ import annotations

from pathlib import Path

from lab.compare.arrivals import Arrivals, Comparison, compare, parse
from lab.errors import LabError
from lab.guest import run as run_guest
from lab.kernel import build
from lab.log import console
from lab.selftests import build as build_selftests

MACHINE = "roomy"
SIDES = {
    "stock": ("stock", []),
    "pghot=off": ("pghot", ["pghot=off"]),
    "pghot=default": ("pghot", ["pghot=default"]),
    "pghot=precise": ("pghot", ["pghot=precise"]),
}
REFERENCE = "stock"

MEGABYTES = 64
SEED = 1
_SECONDS = 60
"""Guest seconds at most for one run; it ends when all accessed pages moved."""
_LIMIT = 900.0
"""Host seconds for boot and run."""


def measure(
    kernel: build.BuiltKernel,
    cmdline: list[str],
    programs: Path,
    *,
    megabytes: int = MEGABYTES,
    seed: int = SEED,
    accel: str | None = None,
) -> Arrivals:
    """Boot, run the program once, return when its pages arrived."""
    result = run_guest(
        MACHINE,
        kernel,
        "echo 2 >/proc/sys/kernel/numa_balancing || exit\n"
        f"{programs}/promote_times {megabytes} 1 0 3 {_SECONDS} {seed}",
        cmdline=cmdline,
        timeout=_LIMIT,
        accel=accel,
    )
    if result.status:
        raise LabError(f"promote_times failed in the guest: {result.stderr.strip()}")
    if result.warnings:
        raise LabError(
            f"the kernel reported during the comparison: {result.warnings[0].splitlines()[0]}"
        )
    arrivals = parse(result.stdout)
    if not arrivals.look:
        raise LabError("no page was promoted: see 'bin/pghot doctor' in 'make shell'")
    return arrivals


def compare_all(accel: str | None = None, seed: int = SEED) -> list[Comparison]:
    """Measure every side; the reference comes first."""
    programs = build_selftests()
    reference, table = None, []
    for side, (flavour, cmdline) in SIDES.items():
        console.print(f"measuring {side} ...")
        arrivals = measure(build.ensure(flavour), cmdline, programs, seed=seed, accel=accel)
        reference = reference or arrivals
        table.append(compare(side, arrivals, reference))
    return table
