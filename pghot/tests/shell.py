# SPDX-License-Identifier: GPL-2.0
"""Runs the commands that the documentation shows, on a machine that exists on no desk.

/proc, /sys and /etc of a command line are the machine's. `pghot`, also as `bin/pghot`, is this
tree's, `sysctl` writes the machine's file, `daxctl` lists one device, makes it slow memory, and
prints what its manual says. All else is the host's own: grep, cat, echo.
"""

import functools
import os
import re
import subprocess
import sys
from pathlib import Path
from unittest import mock

from pghot import capture, cli
from pghot.tests import fakes

REPO = Path(__file__).resolve().parents[2]

_DAXCTL = """\
[
  {
    "chardev":"dax0.0",
    "size":274877906944,
    "target_node":2,
    "mode":"%s"
  }
]"""
_RECONFIGURE = ["reconfigure-device", "--mode=system-ram", "dax0.0"]


def _pghot(root: Path, args: list[str]) -> int:
    if args[:1] == ["capture"]:
        here = functools.partial(capture.capture, root=str(root))
        with mock.patch.object(capture, "capture", here):
            return cli.main(args)
    if args[:1] in (["status"], ["doctor"]) and "--root" not in args:
        args = [*args, "--root", str(root)]
    return cli.main(args)


def _sysctl(root: Path, args: list[str]) -> int:
    for setting in args[args[0] == "-w" :]:
        name, _, value = setting.partition("=")
        file = root / "proc/sys" / name.replace(".", "/")
        if value and name == "kernel.numa_balancing":
            fakes.balance(fakes.Machine(root), int(value))
        elif value:
            file.write_text(value + "\n")
        print(name, "=", file.read_text().strip())
    return 0


def _daxctl(root: Path, args: list[str]) -> int:
    if args == ["list"]:
        print(_DAXCTL % ("system-ram" if (root / fakes.NODES / "node2").exists() else "devdax"))
        return 0
    if args != _RECONFIGURE:
        print(f"daxctl: not known here: {args}", file=sys.stderr)
        return 1
    fakes.plug(fakes.Machine(root))
    print(_DAXCTL % "system-ram", "reconfigured 1 device", sep="\n")
    return 0


COMMANDS = {"pghot": _pghot, "sysctl": _sysctl, "daxctl": _daxctl}


def run(line: str, root: Path, directory: Path) -> str:
    """What one command line prints on the machine at `root`, errors included."""
    home = directory / "home"
    programs = home / "bin"
    programs.mkdir(parents=True, exist_ok=True)
    for name in COMMANDS:
        program = programs / name
        program.write_text(
            f'#!/bin/sh\nexec {sys.executable} -m pghot.tests.shell {name} {root} "$@"\n'
        )
        program.chmod(0o755)
    done = subprocess.run(
        ["bash", "-c", re.sub(r"(?<![\w.])/(proc|sys|etc)/", rf"{root}/\1/", line)],
        cwd=home,
        env={"PATH": f"{programs}:{os.defpath}", "PYTHONPATH": str(REPO), "LC_ALL": "C"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.stdout.replace(str(root), "")


if __name__ == "__main__":
    sys.exit(COMMANDS[sys.argv[1]](Path(sys.argv[2]), sys.argv[3:]))
