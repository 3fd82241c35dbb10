# SPDX-License-Identifier: GPL-2.0
"""``make compare-stock``: when pages arrive, next to the stock kernel.

The same random accesses to memory of the lower tier, with free DRAM, under NUMA
balancing mode 2: the stock kernel, ours with pghot=off, and ours with each layout.
Accesses and hint faults come in the same order in each run, so that pages can be
compared one by one.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict

from lab import paths
from lab.compare.arrivals import Comparison
from lab.compare.sides import SEED, compare_all
from lab.files import write_json
from lab.host import qemu
from lab.log import console
from lab.verbs import Verbs


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
