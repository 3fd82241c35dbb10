# SPDX-License-Identifier: GPL-2.0
"""The kernel's verbs: kernel, stock, hook, series."""

from __future__ import annotations

import argparse
import os

from lab import paths
from lab.host import programs
from lab.kernel import build, edit, series, source
from lab.log import console
from lab.verbs import Verbs


def add_parser(verbs: Verbs) -> None:
    """Register the verbs."""
    kernel = verbs.add_parser("kernel", help="build Linux 7.3 with pghot")
    kernel.add_argument(
        "flavour",
        nargs="?",
        default="debug" if os.environ.get("PGHOT_DEBUG") else "pghot",
        choices=sorted(build.FLAVOURS),
    )
    kernel.set_defaults(run=_kernel)
    stock = verbs.add_parser("stock", help="build the same configuration without pghot")
    stock.set_defaults(run=_kernel, flavour="stock")
    verbs.add_parser(
        "hook",
        description=edit.__doc__,
        help="write edits of the built tree back to linux/ and patches/",
    ).set_defaults(run=_hook)
    verbs.add_parser(
        "series",
        description=series.__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        help="write the patch series to build/series/",
    ).set_defaults(run=_series)


def _kernel(args: argparse.Namespace) -> None:
    built = build.ensure(args.flavour)
    console.print(str(built.bzimage))


def _hook(_args: argparse.Namespace) -> None:
    """HOOK= comes from the environment."""
    result = edit.write_back(os.environ.get("HOOK", ""))
    for name, destination in result.edits:
        console.print(f"{name} -> {destination}", markup=False)
    if not result.edits:
        console.print("nothing to write back")


def _series(_args: argparse.Namespace) -> None:
    """The series of the work tree in build/series/."""
    programs.require("patch", "git")
    pristine = source.ensure()
    steps = series.steps(pristine)
    for path in series.emit(pristine, steps, paths.OUT / "series", series.author()):
        console.print(str(path.relative_to(paths.ROOT)), markup=False)
