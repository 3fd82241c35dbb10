# SPDX-License-Identifier: GPL-2.0
"""``make shell``: a shell on a modelled machine, with the host's files in it."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from lab import machines, paths
from lab.errors import LabError
from lab.guest import run as run_in_guest
from lab.guest import virtme
from lab.host import process, qemu
from lab.kernel import build
from lab.log import console, status
from lab.verbs import Verbs

FLAVOURS = ("pghot", "stock", "debug", "demo")


def add_parser(verbs: Verbs) -> None:
    """Register ``shell``; its options default to $MACHINE, $FLAVOUR, $CMDLINE, $RUN."""
    parser = verbs.add_parser(
        "shell", description=__doc__, help="open a shell on the modelled machine"
    )
    parser.add_argument(
        "--machine",
        metavar="NAME",
        default=os.environ.get("MACHINE") or "three-node",
        help="a machine of lab/machines/machines.toml (default: %(default)s)",
    )
    parser.add_argument(
        "--flavour",
        metavar="NAME",
        default=os.environ.get("FLAVOUR") or "pghot",
        help=f"the kernel: {', '.join(FLAVOURS)} (default: %(default)s)",
    )
    parser.add_argument(
        "--cmdline",
        metavar="WORDS",
        default=os.environ.get("CMDLINE") or "",
        help="further kernel parameters",
    )
    parser.add_argument(
        "--run",
        dest="script",
        metavar="SCRIPT",
        default=os.environ.get("RUN") or None,
        help="run this instead of a shell, and exit with its status",
    )
    parser.add_argument(
        "--timeout",
        metavar="SECONDS",
        type=float,
        default=3600,
        help="limit of --run, boot included (default: %(default)g)",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Open the shell; return when it is left and the machine is off."""
    chosen = machines.load(args.machine)
    if args.flavour not in FLAVOURS:
        raise LabError(
            f"unknown kernel flavour {args.flavour!r}: choose one of {', '.join(FLAVOURS)}"
        )
    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    if args.script is None and not interactive:
        raise LabError(
            "a shell needs a terminal: run 'make shell' from one, or give it a command by RUN="
        )
    machines.check_host(chosen)
    qemu.ensure()
    kernel = build.ensure(args.flavour)
    if args.script is not None:
        return _script(chosen, kernel, args)
    accelerator = qemu.accelerator()
    console.print(
        f"{chosen.name}: {chosen.about}, {accelerator.name}. "
        "Leave with 'exit'; ctrl-a x ends the machine at once.",
        markup=False,
    )
    words = virtme.virtme_run(
        chosen,
        kernel.bzimage,
        accelerator,
        cmdline=[*args.cmdline.split(), *_window()],
        rw=False,
        options=["--shell", str(virtme.HERE / "shell.sh"), "--pwd"],
        qemu_options=[],
    )
    with tempfile.TemporaryDirectory(prefix="pghot-shell-") as scratch:
        return process.run_in_terminal(virtme.resolve(words, Path(scratch)), paths.ROOT)


def _window() -> list[str]:
    """The kernel parameter that tells virtme-ng's init how large the terminal is."""
    size = os.get_terminal_size(sys.stdout.fileno())
    return [f"virtme_stty_con=rows {size.lines} cols {size.columns} iutf8"]


def _script(chosen: machines.Machine, kernel: build.BuiltKernel, args: argparse.Namespace) -> int:
    """Run one command; kernel warnings, like stderr, go to stderr."""
    result = run_in_guest(
        chosen,
        kernel,
        args.script,
        cmdline=args.cmdline.split(),
        timeout=args.timeout,
        on_line=console.out,
    )
    for text in (result.stderr, *result.warnings):
        if text:
            status.print(text.rstrip("\n"), markup=False)
    return result.status
