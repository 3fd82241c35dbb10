# SPDX-License-Identifier: GPL-2.0
"""``make measure``: one workload on the modelled machine, timed in guest time."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from lab import machines
from lab.errors import LabError
from lab.kernel import build
from lab.log import console
from lab.measure import Result, Run, measure, profile, workloads
from lab.verbs import Verbs

_COUNTERS = (
    "pgpromote_success",
    "pgdemote_kswapd",
    "pgdemote_direct",
    "numa_pte_updates",
    "numa_hint_faults",
    "pgmigrate_success",
)


def add_parser(verbs: Verbs) -> None:
    """Register ``measure``."""
    parser = verbs.add_parser(
        "measure",
        description=__doc__,
        help="run one workload in guest time",
        epilog=f"Machines: {', '.join(machines.names())}. Workloads: "
        f"{', '.join(workloads.names())}; each has --help.",
    )
    parser.add_argument("--machine", default="dram-cxl", help="default: %(default)s")
    parser.add_argument(
        "--kernel",
        default="pghot",
        help=f"{', '.join(build.FLAVOURS)} or a bzImage (default: %(default)s)",
    )
    parser.add_argument("--cmdline", default="", metavar="WORDS", help="further kernel parameters")
    parser.add_argument(
        "--balancing",
        type=int,
        choices=range(4),
        default=2,
        help="kernel.numa_balancing (default: %(default)s)",
    )
    parser.add_argument(
        "--setup", default="", metavar="SHELL", help="what to run before the workload, or @FILE"
    )
    parser.add_argument(
        "--program",
        action="append",
        default=[],
        metavar="NAME",
        help="a workload's program that --setup uses; may be given several times",
    )
    parser.add_argument(
        "--profile", action="store_true", help="say where the time goes, by function"
    )
    parser.add_argument(
        "--samples", action="store_true", help="CPUs sample instructions, as AMD's do (ibs_op)"
    )
    parser.add_argument(
        "--engine",
        action="store_true",
        help="with a copy engine, where the machine has one on request alone",
    )
    parser.add_argument(
        "--limit",
        type=float,
        default=900,
        metavar="SECONDS",
        help="of the host (default: %(default)g)",
    )
    parser.add_argument("--json", action="store_true", help="all there is, for machines")
    parser.add_argument(
        "workload", nargs="+", metavar="WORKLOAD", help="the workload and, after --, its options"
    )
    parser.set_defaults(run=run)


def _setup(args: argparse.Namespace) -> str:
    text = args.setup
    if text.startswith("@"):
        try:
            text = Path(text[1:]).read_text(encoding="utf-8")
        except OSError as error:
            raise LabError(f"cannot read {text[1:]}: {error.strerror}") from error
    return (
        f"echo {args.balancing} >/proc/sys/kernel/numa_balancing\n"
        "echo 1 >/sys/kernel/mm/numa/demotion_enabled\n" + text
    )


def show(result: Result) -> str:
    """The result as text."""
    lines = [
        f"{result.seconds:.6f} s of the machine's time, {result.host_seconds:g} s of the host's",
        f"{result.workload['score']:.6g} {result.workload['unit']}",
        f"{result.kernel_seconds:.6f} s of all CPUs in the kernel",
    ]
    lines += [f"{name} {result.vmstat[name]}" for name in _COUNTERS if result.vmstat.get(name)]
    for node in result.model["nodes"]:
        misses = node["loads"] + node["stores"]
        mean = (node["ns"] / misses) if misses else 0
        lines.append(
            f"node {node['node']}: {misses} misses, {node['stream']} of them in "
            f"sequence, {mean:.0f} ns each, {node['writeback']} lines written back"
        )
    return "\n".join(lines)


def run(args: argparse.Namespace) -> int:
    """Run it once and print what it took."""
    words = args.workload
    for name in (words[0], *args.program):
        workloads.check(name)
    result = measure(
        Run(
            args.machine,
            args.kernel,
            tuple(words),
            cmdline=tuple(args.cmdline.split()),
            setup=_setup(args),
            programs=tuple(args.program),
            samples=args.samples,
            engine=args.engine,
            profile=args.profile,
            limit_s=args.limit,
        )
    )
    if result.error:
        raise LabError(result.error)
    if args.json:
        print(json.dumps(asdict(result)))
        return 0
    console.print(show(result), highlight=False, markup=False)
    if args.profile:
        console.print(
            profile.show(result.profile or "", args.kernel), highlight=False, markup=False
        )
    return 0
