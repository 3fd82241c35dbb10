# SPDX-License-Identifier: GPL-2.0
"""``make manpage``: the man page of pghot, made from its argument parser."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from lab import paths
from lab.log import console
from lab.verbs import Verbs

PAGE = paths.OUT / "pghot.8"


def add_parser(verbs: Verbs) -> None:
    """Register ``manpage``."""
    verbs.add_parser(
        "manpage",
        help="write pghot's man page to build/pghot.8",
        description="Write the man page of pghot to build/pghot.8, from its argument parser.",
    ).set_defaults(run=run)


def write(to: Path) -> None:
    """Write the page, in the language of man(7)."""
    to.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [
            Path(sys.executable).with_name("argparse-manpage"),
            *("--module", "pghot.cli", "--function", "build_parser", "--format", "pretty"),
            *("--project-name", "pghot", "--manual-section", "8"),
            *("--manual-title", "System administration"),
            *("--description", "show what memory tiering does, and what stops it"),
            *("--output", to),
        ],
        check=True,
        env={**os.environ, "PYTHONPATH": str(paths.ROOT)},
    )


def run(_args: argparse.Namespace) -> None:
    """Write the page and say how to read it."""
    write(PAGE)
    console.print(f"man {PAGE}", markup=False)
