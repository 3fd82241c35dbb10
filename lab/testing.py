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
        "test", help="run every test; the last line counts them", description=__doc__
    )
    parser.add_argument(
        "rest", nargs=argparse.REMAINDER, metavar="...", help="options and files for pytest"
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run pytest; its closing line, which counts the tests, comes last."""
    command = [sys.executable, "-m", "pytest", *args.rest]
    return subprocess.run(command, cwd=paths.ROOT, check=False).returncode
