# SPDX-License-Identifier: GPL-2.0
"""``make shell``: a shell on a modelled machine, with the host's files in it."""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys

from lab import machine, paths, qemu
from lab.errors import LabError
from lab.guest import command
from lab.kernel import build

FLAVOURS = ("pghot", "stock", "debug")


def add_parser(verbs) -> None:
    """Register ``shell``; its options default to $MACHINE, $FLAVOUR, $CMDLINE."""
    parser = verbs.add_parser("shell", help="open a shell on the modelled machine")
    parser.add_argument("--machine", metavar="NAME",
                        default=os.environ.get("MACHINE") or "three-node",
                        help="a machine of lab/machines.toml (default: %(default)s)")
    parser.add_argument("--flavour", metavar="NAME",
                        default=os.environ.get("FLAVOUR") or "pghot",
                        help=f"the kernel: {', '.join(FLAVOURS)} (default: %(default)s)")
    parser.add_argument("--cmdline", metavar="WORDS",
                        default=os.environ.get("CMDLINE") or "",
                        help="further kernel parameters")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Open the shell; return when it is left and the machine is off."""
    chosen = machine.load(args.machine)
    if args.flavour not in FLAVOURS:
        raise LabError(f"unknown kernel flavour {args.flavour!r}: choose one of "
                       f"{', '.join(FLAVOURS)}")
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise LabError("a shell needs a terminal: run 'make shell' from one")
    chosen.check_host()
    qemu.ensure()
    kernel = build.ensure(args.flavour)
    accelerator = qemu.accelerator()
    print(f"{chosen.name}: {chosen.about}, {accelerator.name}. "
          "Leave with 'exit'; ctrl-a x ends the machine at once.")
    words = command.virtme_run(
        chosen, kernel.bzimage, accelerator, cmdline=shlex.split(args.cmdline), rw=False,
        options=["--shell", str(command.HERE / "shell.sh"), "--pwd"], qemu_options=[])
    # virtme-ng hands QEMU the terminal, which it must own: no session of its own.
    return subprocess.run(words, cwd=paths.ROOT, check=False).returncode
