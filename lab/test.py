# SPDX-License-Identifier: GPL-2.0
"""``make test``: pytest over every part.

All tests together run in as many processes as there are CPUs (JOBS= says otherwise),
each with whole files of them: most wait for a guest, which keeps one CPU busy. One more
process has those that fill the gaps.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys

from lab import paths
from lab.errors import LabError
from lab.host import capacity
from lab.kernel import build
from lab.log import console
from lab.verbs import Verbs

# What a process of tests takes at most: a guest of the largest machine, its emulator,
# and the linker.
_NEEDS = 6 << 30

# As lab/tests/conftest.py sorts them; and which of them run beside the others.
_ORDER = ("--no-loadscope-reorder", "-p", "lab.tests_beside")

# What takes long is named on the way and at the end: all have to be through within an hour.
_TIMES = ("-p", "lab.tests_running", "--durations", "20", "--durations-min", "10")


def add_parser(verbs: Verbs) -> None:
    """Register ``test``."""
    parser = verbs.add_parser(
        "test",
        help="run every test; the last line counts them",
        description=__doc__,
        usage="lab test [OPTION or FILE of pytest ...]",
        # Nothing is an option of this verb's own, whatever it begins with.
        prefix_chars="\0",
        add_help=False,
    )
    parser.add_argument("rest", nargs="*", metavar="...", help="options and files for pytest")
    parser.set_defaults(run=run, help=parser.print_help)


def prepare() -> None:
    """Build the kernels that tests boot, where one can see how far it is.

    One that does not build is a test that fails, not the end of all tests.
    """
    tested = "debug" if os.environ.get("PGHOT_DEBUG") else "pghot"
    # The stock kernel first: others begin with its objects.
    for flavour in ("stock", tested, "demo"):
        try:
            build.ensure(flavour)
        except LabError as error:
            console.print(f"The {flavour} kernel: {error}", markup=False)


def run(args: argparse.Namespace) -> int:
    """Run pytest; its closing line, which counts the tests, comes last."""
    if args.rest in (["-h"], ["--help"]):
        args.help()
        sys.exit(0)
    if not all(args.rest):
        # A shell variable that is not set; pytest would take it for all files.
        raise LabError("an empty word names no test: leave it out for all, or name files")
    words = args.rest
    if not words:
        prepare()
        words = [*_TIMES]
        if (count := capacity.side_by_side(_NEEDS)) > 1:
            words += ["--numprocesses", str(count + 1), "--dist", "loadfile", *_ORDER]
    return pytest(*words)


ENDS = (signal.SIGTERM, signal.SIGHUP)
"""What asks for the end and is not told to all processes of a terminal, as ctrl-C is."""


def pytest(*words: str, **environment: str) -> int:
    """Run pytest with options and files, and further variables; return its exit status.

    Who ends this process is told what pytest has to say of it.
    """
    with subprocess.Popen(
        [sys.executable, "-m", "pytest", *words],
        cwd=paths.ROOT,
        env={**os.environ, **environment},
    ) as process:
        before = {number: signal.getsignal(number) for number in ENDS}
        for number in ENDS:
            if before[number] != signal.SIG_IGN:
                signal.signal(number, lambda number, _: process.send_signal(number))
        try:
            return process.wait()
        finally:
            for number in ENDS:
                signal.signal(number, before[number])
