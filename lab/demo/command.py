# SPDX-License-Identifier: GPL-2.0
"""The verb ``demo``."""

from __future__ import annotations

import argparse

from lab import paths
from lab.log import console
from lab.machines import load
from lab.verbs import Verbs
from pghot.subsystem import LAYOUTS

RESULT = paths.OUT / "demo" / "result.json"
PAGE = paths.OUT / "demo" / "index.html"


def add_parser(verbs: Verbs) -> None:
    """Register ``demo``."""
    parser = verbs.add_parser("demo", help="show hot pages of Redis being promoted")
    parser.add_argument(
        "--layout",
        default="default",
        choices=tuple(LAYOUTS),
        metavar="NAME",
        help="default (1 byte per page) or precise (4 bytes)",
    )
    parser.set_defaults(run=run)


def _forget() -> None:
    """Remove the results of an earlier run, which are not to pass for this one's."""
    RESULT.unlink(missing_ok=True)
    PAGE.unlink(missing_ok=True)


def run(args: argparse.Namespace) -> None:
    """Demonstrate; raises LabError unless pghot promoted the hot pages."""
    # Every verb registers this one, and would load numpy, too.
    from lab.demo import measured, report
    from lab.demo.narrator import clock
    from lab.demo.run import Settings, perform

    result = perform(Settings(layout=args.layout), PAGE, _forget)
    report.write(result, RESULT)
    report.show(result, load(result["machine"]), console)
    console.print(
        f"{measured.told(result['measured'])}\n"
        f"Open {PAGE.relative_to(paths.ROOT)} in a browser to see it over time. "
        f"All figures as JSON: {RESULT.relative_to(paths.ROOT)}. "
        f"All took {clock(result['seconds'])}.",
        markup=False,
    )
