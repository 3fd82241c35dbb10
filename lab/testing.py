# SPDX-License-Identifier: GPL-2.0
"""``make test``: pytest over every part."""

from __future__ import annotations

import argparse
import subprocess
import sys

from lab import paths
from lab.verbs import Verbs


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


def run(args: argparse.Namespace) -> int:
    """Run pytest; its closing line, which counts the tests, comes last."""
    if args.rest in (["-h"], ["--help"]):
        args.help()
        sys.exit(0)
    command = [sys.executable, "-m", "pytest", *args.rest]
    return subprocess.run(command, cwd=paths.ROOT, check=False).returncode
