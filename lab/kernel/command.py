# SPDX-License-Identifier: GPL-2.0
"""The kernel's verbs: kernel, stock, hook, series."""

from __future__ import annotations

import argparse
import os

from lab.kernel import build, edit, series
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
    for verb, module, text in (
        ("hook", edit, "write edits of the built tree back to linux/ and patches/"),
        ("series", series, "write the patch series to build/series/"),
    ):
        verbs.add_parser(verb, description=module.__doc__, help=text).set_defaults(run=module.run)


def _kernel(args: argparse.Namespace) -> None:
    built = build.ensure(args.flavour)
    console.print(str(built.bzimage))
