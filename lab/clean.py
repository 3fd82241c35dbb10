# SPDX-License-Identifier: GPL-2.0
"""``make clean``: remove build/ and the kernel builds in the cache."""

from __future__ import annotations

import argparse
import shutil

from lab import paths
from lab.errors import LabError
from lab.kernel import build, edit
from lab.log import note
from lab.verbs import Verbs


def add_parser(verbs: Verbs) -> None:
    """Register ``clean``."""
    verbs.add_parser(
        "clean",
        description="Remove build/ and the built kernels. Downloads, compiled objects that "
        "ccache keeps and the Python environment stay.",
        help="remove build/ and the built kernels",
    ).set_defaults(run=run)


def run(_args: argparse.Namespace) -> None:
    """Remove what can be built again; downloads, ccache and venv stay. LabError, and nothing is
    removed, where edits of the built tree would be lost."""
    edited = edit.unsaved()
    if edited:
        raise LabError(
            f"edited in {build.tree_of(build.EDITED)} and not written back: {', '.join(edited)}: "
            "run 'make hook', or restore them"
        )
    for directory in (paths.OUT, paths.BUILDS):
        if directory.exists():
            note(f"removing {directory}")
            shutil.rmtree(directory)
