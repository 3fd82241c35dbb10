# SPDX-License-Identifier: GPL-2.0
"""``make soak``: trouble memory for long, with all sources that its CPUs have, in the debug kernel.

What happens to memory meanwhile is in ``soak.sh`` of the kernel's selftests. Once a minute it
says what it got done.
"""

from __future__ import annotations

import argparse
import os

from lab import test
from lab.errors import LabError
from lab.kernel import build
from lab.verbs import Verbs

_TEST = "lab/tests/test_linux_soak_vm.py"


def add_parser(verbs: Verbs) -> None:
    """Register ``soak``."""
    parser = verbs.add_parser(
        "soak",
        help="trouble memory with all sources that its CPUs have, in the debug kernel",
        description=__doc__,
    )
    parser.add_argument(
        "--minutes",
        metavar="N",
        default=os.environ.get("MINUTES") or "20",
        help="for so long, boot not included (default: %(default)s)",
    )
    parser.set_defaults(run=run)


def minutes(text: str) -> float:
    """How long that is. Raises LabError unless it is above 0 and at most a week."""
    try:
        number = float(text)
    except ValueError:
        number = 0
    if not 0 < number <= 7 * 24 * 60:
        raise LabError(f"MINUTES={text} is no time: name a number above 0, such as 20")
    return number


def run(args: argparse.Namespace) -> int:
    """Run the test of it in the debug kernel; its closing line comes last."""
    asked = minutes(args.minutes)
    build.ensure("debug")
    return test.pytest("-s", _TEST, PGHOT_DEBUG="1", PGHOT_SOAK_MINUTES=str(asked))
