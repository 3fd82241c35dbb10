# SPDX-License-Identifier: GPL-2.0
"""``make test``: pytest over every part."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys

from lab import paths

PARTS = ("lab/tests", "pghot/tests", "harness/tests")


def add_parser(verbs) -> None:
    """Register ``test``."""
    parser = verbs.add_parser("test", help=__doc__)
    parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="...",
                        help="options and files for pytest")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Run pytest; its closing line, which counts the tests, comes last."""
    parts = [part for part in PARTS if (paths.ROOT / part).is_dir()]
    chosen = [word for word in args.rest if not word.startswith("-")]
    command = [sys.executable, "-m", "pytest", *args.rest,
               *([] if chosen else parts)]
    return subprocess.run(command, cwd=paths.ROOT, check=False,
                          env=dict(os.environ)).returncode
