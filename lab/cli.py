# SPDX-License-Identifier: GPL-2.0
"""The command line behind every ``make`` target."""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import sys

from lab.errors import LabError

# Each module has add_parser(subparsers), which sets ``run`` on its parsers:
# run(args) -> exit status or None.
COMMANDS = (
    "lab.kernel.command",
    "lab.demo.command",
    "lab.shell",
    "lab.testing",
    "lab.compare",
    "lab.measure.command",
    "lab.bench.command",
    "lab.bench.sensitivity",
    "lab.clean",
)


def parser() -> argparse.ArgumentParser:
    """Return the parser of ``python -m lab`` with every verb."""
    top = argparse.ArgumentParser(prog="lab", description=__doc__)
    verbs = top.add_subparsers(dest="verb", metavar="verb", required=True)
    for module in COMMANDS:
        importlib.import_module(module).add_parser(verbs)
    return top


def main(argv: list[str] | None = None) -> int:
    """Run one verb; return its exit status."""
    try:
        args = parser().parse_args(argv)
        return args.run(args) or 0
    except LabError as error:
        print(f"pghot: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        where = error.filename or os.environ.get("TMPDIR", "/tmp")
        print(
            f"pghot: no room left on disk at {where}: free some and run the same command again",
            file=sys.stderr,
        )
        return 1
    except KeyboardInterrupt:
        print("pghot: interrupted", file=sys.stderr)
        return 130
