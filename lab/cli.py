# SPDX-License-Identifier: GPL-2.0
"""The command line: one verb for each thing that can be done, and a make target for each."""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

from lab import paths
from lab.errors import LabError
from lab.verbs import Verbs

# Each module has add_parser(verbs), which sets ``run`` on its parsers:
# run(args) -> exit status or None. The help lists them in this order.
COMMANDS = (
    "lab.demo.command",
    "lab.test",
    "lab.soak",
    "lab.bench.command",
    "lab.measure.command",
    "lab.compare.command",
    "lab.kernel.command",
    "lab.check",
    "lab.manpage",
    "lab.shell",
    "lab.clean",
)
_VERB = "VERB [OPTION ...]"

_ENDS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""What asks this process to end: ctrl-C, kill and a terminal that is closed."""


def parser() -> argparse.ArgumentParser:
    """Return the parser of bin/lab with every verb."""
    top = argparse.ArgumentParser(
        prog="lab",
        usage=f"lab [-h] {_VERB}",
        description="Build, measure and test pghot. Each verb is also a target: see 'make help'.",
        epilog="'lab VERB --help' lists the options of a verb.",
    )
    top.set_defaults(run=lambda _: top.print_help())
    verbs: Verbs = top.add_subparsers(prog="lab", title="verbs", metavar=_VERB)
    for module in COMMANDS:
        importlib.import_module(module).add_parser(verbs)
    for verb in verbs.choices.values():
        # Often the docstring of the module, which marks names for people who read code.
        verb.description = (verb.description or "").replace("``", "'")
    return top


@contextmanager
def _interruptible() -> Iterator[None]:
    """Whoever asks for the end in the ``with`` block gets it as by ctrl-C: with nothing left
    behind. What is ignored, as by nohup, still is."""
    before = {number: signal.getsignal(number) for number in _ENDS}
    heeded = [number for number in _ENDS if before[number] != signal.SIG_IGN]

    def end(number: int, _frame: FrameType | None) -> NoReturn:
        # A shell that ends says so twice. What cleans up is interrupted by ctrl-C alone.
        for each in heeded:
            again = signal.default_int_handler if each == signal.SIGINT else lambda *_: None
            signal.signal(each, again)
        raise KeyboardInterrupt(number)

    for number in heeded:
        signal.signal(number, end)
    try:
        yield
    finally:
        for number in heeded:
            signal.signal(number, before[number])


def main(argv: list[str] | None = None) -> int:
    """Run one verb; return its exit status."""
    try:
        with _interruptible():
            args = parser().parse_args(argv)
            paths.check()
            return args.run(args) or 0
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        where = error.filename or os.environ.get("TMPDIR", "/tmp")
        print(
            f"lab: no room left on disk at {where}: free some and run the same command again",
            file=sys.stderr,
        )
        return 1
    except KeyboardInterrupt as error:
        print("lab: interrupted", file=sys.stderr)
        return 128 + (error.args[0] if error.args else signal.SIGINT)
