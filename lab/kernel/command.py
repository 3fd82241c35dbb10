# SPDX-License-Identifier: GPL-2.0
"""The kernel's verbs: kernel, stock, hook, series, check."""

from __future__ import annotations

import argparse
import os

from lab.kernel import build, checks, edit, series
from lab.log import console


def add_parser(verbs) -> None:
    """Register the verbs."""
    kernel = verbs.add_parser("kernel", help="build Linux 7.3 with pghot")
    kernel.add_argument(
        "flavour",
        nargs="?",
        default="debug" if os.environ.get("PGHOT_DEBUG") else "pghot",
        choices=sorted(build.FLAVOURS),
    )
    kernel.set_defaults(run=_kernel)
    stock = verbs.add_parser("stock", help="build Linux 7.3 as it is")
    stock.set_defaults(run=_kernel, flavour="stock")
    for verb, module, text in (
        ("hook", edit, "write edits of the built tree back"),
        ("series", series, "write the patch series to build/series/"),
        ("check", checks, "run checkpatch and sparse, count hook lines"),
    ):
        verbs.add_parser(verb, help=text).set_defaults(run=module.run)


def _kernel(args: argparse.Namespace) -> None:
    built = build.ensure(args.flavour)
    console.print(str(built.bzimage))
