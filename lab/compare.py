# SPDX-License-Identifier: GPL-2.0
"""``make compare-stock``: when pages arrive, next to the stock kernel.

The same random accesses to memory of the lower tier, with free DRAM, under NUMA
balancing mode 2: the stock kernel, ours with pghot=off, and ours with each layout.
Accesses and hint faults come in the same order in each run, so that pages can be
compared one by one.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import asdict, dataclass
from pathlib import Path

from lab import paths
from lab.errors import LabError
from lab.files import write_json
from lab.guest import run as run_guest
from lab.host import qemu
from lab.kernel import build
from lab.log import console
from lab.selftests import build as build_selftests
from lab.verbs import Verbs

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


@dataclass(frozen=True)
class Arrivals:
    """One run. ``look`` maps a page to the number of the look that first saw it
    in the top tier; ``at`` gives each look's time since the first access in ms."""

    look: dict[int, int]
    at: list[float]

    def ms_until(self, part: float) -> float:
        """Milliseconds until ``part`` (0 to 1) of the promoted pages were there."""
        looks = sorted(self.look.values())
        return self.at[looks[max(0, round(part * len(looks)) - 1)]]


@dataclass(frozen=True)
class Comparison:
    """One side next to the reference.

    ``promoted``, ``missing`` and ``extra`` count pages; of the reference's
    pages, the share ``no_later`` was there at the same look or before, and
    ``one_later`` and ``two_later`` so many looks later at most.
    """

    side: str
    promoted: int
    missing: int
    extra: int
    no_later: float
    one_later: float
    two_later: float
    ms_half: float
    ms_90_percent: float
    ms_all: float


def parse(text: str) -> Arrivals:
    """Read what promote_times prints."""
    at = [int(us) / 1000 for us in re.findall(r"^look \d+ at (\d+)$", text, re.MULTILINE)]
    look = {
        int(page): int(number)
        for page, number in re.findall(r"^page (\d+) look (\d+)$", text, re.MULTILINE)
    }
    return Arrivals(look, at)


def compare(side: str, ours: Arrivals, reference: Arrivals) -> Comparison:
    """Put one run next to the reference."""
    both = reference.look.keys() & ours.look.keys()

    def share(looks: int) -> float:
        within = sum(ours.look[page] <= reference.look[page] + looks for page in both)
        return within / len(reference.look)

    return Comparison(
        side,
        len(ours.look),
        len(reference.look) - len(both),
        len(ours.look) - len(both),
        share(0),
        share(1),
        share(2),
        ours.ms_until(0.5),
        ours.ms_until(0.9),
        ours.ms_until(1),
    )


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


def show(table: list[Comparison]) -> str:
    """The figures as text."""
    lines = [
        f"{'kernel':<15}{'promoted':>9}{'missing':>9}{'no later':>10}"
        f"{'half':>9}{'90%':>9}{'all':>9}"
    ]
    for row in table:
        lines.append(
            f"{row.side:<15}{row.promoted:>9}{row.missing:>9}"
            f"{row.no_later:>9.1%} {row.ms_half:>6.0f} ms"
            f"{row.ms_90_percent:>6.0f} ms{row.ms_all:>6.0f} ms"
        )
    lines += [
        "",
        "missing: pages that stock promotes and this kernel does not",
        "no later: of the pages that stock promotes, those that arrive as early",
        "half, 90%, all: time until so many of the promoted pages have arrived",
    ]
    return "\n".join(lines)


def add_parser(verbs: Verbs) -> None:
    """Register ``compare-stock``."""
    parser = verbs.add_parser(
        "compare-stock",
        description=__doc__,
        help="compare when pages are promoted with the stock kernel",
    )
    parser.add_argument(
        "--seed", type=int, default=SEED, help="choose other random accesses (default: %(default)s)"
    )
    parser.add_argument(
        "--accel",
        choices=qemu.MODES,
        help="icount gives the same figures each time, but has all CPUs "
        "take turns; the others let them run side by side, and need a "
        "host that is not busy (default: auto)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Measure, print the table, write it to build/compare-stock.json."""
    table = compare_all(args.accel, args.seed)
    console.print(show(table), highlight=False)
    result = {
        "accelerator": qemu.accelerator(args.accel).name,
        "seed": args.seed,
        "kernels": [asdict(row) for row in table],
    }
    write_json(paths.OUT / "compare-stock.json", result)
    return 0 if all(row.missing == 0 for row in table) else 1
