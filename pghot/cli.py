# SPDX-License-Identifier: GPL-2.0
"""The command: parses arguments, and loads only what the subcommand needs, to answer fast."""

import argparse
import math
import sys
import time
from collections.abc import Callable
from typing import Any

from pghot import __version__

#: Exit status for a wrong command line (argparse's own) and for a root that cannot be read.
USAGE = 2

EXAMPLES = """\
examples:
  pghot status                      what the machine does now, and what stops it
  pghot status --watch 2            again every 2 seconds, with rates over that time
  pghot status --interval 5 --json  rates over 5 seconds, as JSON
  pghot doctor                      what is wrong, and the command that mends it
  pghot explain pghot_skip_stale    what a counter means, and what to do about it
  pghot status --root captured/     a tree copied from another machine's /proc and /sys
"""


def seconds(text: str) -> float:
    """A time of 0.1 to 86400 seconds; raises for argparse."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0.1 <= value <= 86400:
        raise argparse.ArgumentTypeError(f"'{text}' is not a time of 0.1 to 86400 seconds")
    return value


def rounds(text: str) -> int:
    """How often, from 1 on; raises for argparse."""
    if not (text.isascii() and text.isdigit() and 0 < int(text[:9]) and len(text) < 9):
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number above 0")
    return int(text)


def build_parser() -> argparse.ArgumentParser:
    """The whole command line; the man page is made from it."""
    parser = argparse.ArgumentParser(
        prog="pghot",
        description="Shows what memory tiering does on this machine, and finds what stops hot pages from"
        " being promoted to DRAM.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"pghot {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--json", action="store_true", help="print one JSON document instead of text")
    rooted = argparse.ArgumentParser(add_help=False)
    rooted.add_argument(
        "--root", metavar="DIR", default="/", help="read DIR/proc and DIR/sys (default: %(default)s)"
    )

    about = "tiers, nodes, sources, pages promoted and demoted, and why ready pages were not moved"
    status = commands.add_parser(
        "status", parents=[common, rooted], help=about, description=f"Shows {about}.", allow_abbrev=False
    )
    how_often = status.add_mutually_exclusive_group()
    how_often.add_argument(
        "--watch",
        metavar="SECONDS",
        type=seconds,
        help="report again and again, with rates over SECONDS; with --json one document a line",
    )
    how_often.add_argument(
        "--interval",
        metavar="SECONDS",
        type=seconds,
        help="wait SECONDS and give rates over that time, not the average since boot",
    )
    status.add_argument(
        "--count", metavar="N", type=rounds, help="with --watch: stop after N reports (default: never)"
    )
    status.set_defaults(run=_status)

    about = "check for what stops promotion, and name the command that mends it"
    doctor = commands.add_parser(
        "doctor",
        parents=[common, rooted],
        help=about,
        description=f"{about[0].upper()}{about[1:]}. Exit status: 0 healthy, 1 problems found, 2 something"
        " could not be checked or the command line is wrong.",
        allow_abbrev=False,
    )
    doctor.set_defaults(run=_doctor)

    about = "say what counters mean and what to do about them"
    explain = commands.add_parser(
        "explain", parents=[common], help=about, description=f"{about[0].upper()}{about[1:]}.",
        allow_abbrev=False,
    )
    explain.add_argument("name", metavar="COUNTER", nargs="*", help="names from /proc/vmstat (default: all)")
    explain.add_argument("--markdown", action="store_true", help="print the table of docs/tool.md")
    explain.set_defaults(run=_explain)
    return parser


def _width() -> int:
    import os

    try:
        return max(60, min(os.get_terminal_size(sys.stdout.fileno()).columns, 120))
    except (OSError, ValueError):
        return 100


def _print_json(document: Any, lines: bool = False) -> None:
    import json

    print(json.dumps(document, indent=None if lines else 2), flush=True)


def _status(args: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from pghot.snapshot import between, collect
    from pghot.text import report
    from pghot.tree import Tree

    if args.count and not args.watch:
        parser.error("--count needs --watch")
    clear = "\033[H\033[2J" if args.watch and sys.stdout.isatty() and not args.json else ""
    period = args.watch or args.interval
    before, started = collect(Tree(args.root)), time.monotonic()
    done = 0
    while True:
        now = before
        if period:
            time.sleep(period)
            now, then, started = collect(Tree(args.root)), started, time.monotonic()
            now["rates"], before = between(before, now, started - then), now
        if args.json:
            _print_json(now, lines=bool(args.watch))
        else:
            print(clear + report(now, _width()), end="\n\n" if args.watch else "\n", flush=True)
        done += 1
        if not args.watch or done == args.count:
            return 0


def _doctor(args: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from pghot.doctor import examine, exit_status, report
    from pghot.snapshot import collect
    from pghot.tree import Tree

    document = examine(collect(Tree(args.root)))
    if args.json:
        _print_json(document)
    else:
        print(report(document, _width()))
    return exit_status(document["checks"])


def _explain(args: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    from pghot.explain import as_json, as_markdown, as_text, chosen

    if args.json and args.markdown:
        parser.error("--json and --markdown exclude each other")
    try:
        counters = chosen(args.name)
    except KeyError as error:
        parser.error(f"no counter is named {error}; `pghot explain` lists them all")
    if args.json:
        _print_json(as_json(counters))
    else:
        print(as_markdown(counters) if args.markdown else as_text(counters, _width()))
    return 0


def main(argv: list[str] | None = None) -> int:
    """Run the command and return its exit status; raises SystemExit for a wrong command line."""
    from pghot.snapshot import NothingToRead

    parser = build_parser()
    args = parser.parse_args(argv)
    run: Callable[[argparse.Namespace, argparse.ArgumentParser], int] = args.run
    try:
        return run(args, parser)
    except NothingToRead as error:
        print(f"pghot: {error}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        return 130


def entry() -> int:
    """The console script: as `main`, and a closed pipe ends it silently, as it ends any tool."""
    import signal

    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    return main()
