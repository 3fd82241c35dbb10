# SPDX-License-Identifier: GPL-2.0
"""``make clean``: remove build/ and the kernel builds in the cache."""

from __future__ import annotations

import argparse
import shutil

from lab import paths
from lab.log import note


def add_parser(verbs) -> None:
    """Register ``clean``."""
    verbs.add_parser("clean", help=__doc__).set_defaults(run=run)


def run(_args: argparse.Namespace) -> None:
    """Remove what can be built again; downloads, ccache and venv stay."""
    for directory in (paths.OUT, paths.BUILDS):
        if directory.exists():
            note(f"removing {directory}")
            shutil.rmtree(directory)
