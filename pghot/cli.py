# SPDX-License-Identifier: GPL-2.0
"""The command: parses arguments, and loads only what the subcommand needs, to answer fast."""

import argparse
import math
import os
import sys
import time
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

from pghot import __version__

_Run = Callable[[argparse.Namespace], int]

#: Exit status for a wrong command line (argparse's own) and for a root that cannot be read.
USAGE = 2

EXAMPLES = {
    "": """\
  pghot status                      what the machine does now, and what stops it
  pghot status --watch 2            again every 2 seconds, with rates over that time
  pghot status --interval 5 --json  rates over 5 seconds, as JSON
  pghot doctor                      what is wrong, and the command that mends it
  pghot explain pghot_skip_stale    what a counter means, and what to do about it
  pghot capture saved               keep all that status and doctor read, for another day
  pghot doctor --root saved         examine what was kept, here or on another machine
""",
    "status": """\
  pghot status                      counts since boot, and their average rates
  pghot status --watch 2 --count 5  five reports, with rates over 2 seconds each
  pghot status --interval 5 --json  rates over 5 seconds, as JSON
  pghot status --root saved         of what `pghot capture saved` kept
""",
    "doctor": """\
  pghot doctor                      every check, and how to mend what is wrong
  pghot doctor --interval 5         by what is counted in 5 seconds, not since boot
  pghot doctor --json               the same for a program
  pghot doctor --root saved         of what `pghot capture saved` kept
""",
    "capture": """\
  pghot capture saved               make the directory saved
  pghot doctor --root saved         read it, here or on another machine
""",
    "explain": """\
  pghot explain                     every counter and setting
  pghot explain pghot_skip_stale    what a counter means, and what to do about it
  pghot explain freq_threshold      what a setting means, and which file has it
  pghot explain --json              all, for a program
""",
}

EXIT_STATUS = {
    0: "done; of doctor: every check is ok",
    1: "of doctor: at least one warn or fail",
    2: "wrong command line, nothing to read or not written; of doctor:"
    " something could not be checked",
    130: "ended by Ctrl-C",
}


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
    if not (text.isascii() and text.isdigit() and int(text[:9]) > 0 and len(text) < 9):
        raise argparse.ArgumentTypeError(f"'{text}' is not a whole number above 0")
    return int(text)


def _width() -> int:
    """Columns of the terminal, within reason; 100 when there is none."""
    import os

    try:
        return max(60, min(os.get_terminal_size(sys.stdout.fileno()).columns, 120))
    except (OSError, ValueError):
        return 100


class _Help(argparse.HelpFormatter):
    """Leaves examples alone, and asks the terminal itself: argparse would load shutil to do so."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_width() - 2)

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if "\n" in text else super()._fill_text(text, width, indent)


class _Parser(argparse.ArgumentParser):
    """Says with each error where the right words stand; its subcommands' parsers do so too."""

    def error(self, message: str) -> NoReturn:
        super().error(f"{message}\nsee '{self.prog} --help'")


def _parser(**more: Any) -> _Parser:
    return _Parser(formatter_class=_Help, **more)


def build_parser() -> argparse.ArgumentParser:
    """The whole command line; the man page is made from it."""
    exit_status = "".join(f"  {status}  {meaning}\n" for status, meaning in EXIT_STATUS.items())
    parser = _parser(
        prog="pghot",
        description="Show what memory tiering does on this machine, and find what stops hot pages"
        " from being promoted to DRAM.",
        epilog="examples:\n" + EXAMPLES[""] + "\nexit status:\n" + exit_status,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"pghot {__version__}")
    commands = parser.add_subparsers(
        prog="pghot", dest="command", metavar="COMMAND", required=True, title="commands"
    )

    common = _parser(add_help=False)
    common.add_argument("--json", action="store_true", help="print a JSON document, not text")
    rooted = _parser(add_help=False)
    rooted.add_argument(
        "--root",
        metavar="DIR",
        default="/",
        help="read DIR/proc and DIR/sys (default: %(default)s)",
    )

    def command(name: str, about: str, more: str, run: _Run, *parents: _Parser) -> _Parser:
        added = commands.add_parser(
            name,
            parents=parents,
            help=about,
            description=f"{about[0].upper()}{about[1:]}. {more}",
            epilog="examples:\n" + EXAMPLES[name],
            formatter_class=_Help,
            allow_abbrev=False,
        )
        added.set_defaults(run=run, parser=added)
        return added

    status = command(
        "status",
        "show tiers, pages moved, and why ready pages were not",
        "It also shows nodes, sources, copy engines and settings. A ? stands for what could not be"
        " read.",
        _status,
        common,
        rooted,
    )
    how_often = status.add_mutually_exclusive_group()
    how_often.add_argument(
        "--watch",
        metavar="SECONDS",
        type=seconds,
        help="report again and again, with rates over SECONDS; with --json one document per line",
    )
    how_often.add_argument(
        "--interval",
        metavar="SECONDS",
        type=seconds,
        help="wait SECONDS and give rates over that time, not the average since boot",
    )
    status.add_argument(
        "--count",
        metavar="N",
        type=rounds,
        help="with --watch: stop after N reports (default: never)",
    )

    doctor = command(
        "doctor",
        "find what stops promotion, and the command that mends it",
        "Exit status: 0 healthy, 1 problems found, 2 something could not be checked, or the report"
        " not written.",
        _doctor,
        common,
        rooted,
    )
    doctor.add_argument(
        "--interval",
        metavar="SECONDS",
        type=seconds,
        help="wait SECONDS and go by what is counted in that time, not since boot",
    )

    capture = command(
        "capture",
        "copy what status and doctor read into a new directory",
        "`--root DIR` reads it. Run it as root, so that the copy is complete.",
        _capture,
    )
    capture.add_argument("directory", metavar="DIR", help="the directory to make")

    explain = command(
        "explain",
        "say what counters and settings mean, and what to do",
        "The counters are those of tiering in /proc/vmstat. The settings are those of pghot, of"
        " its sources and of copy engines, and what sources tell of themselves, in /sys.",
        _explain,
        common,
    )
    explain.add_argument(
        "name", metavar="NAME", nargs="*", help="counters and settings (default: all)"
    )
    explain.add_argument("--markdown", action="store_true", help="print the list of docs/tool.md")
    return parser


def _print_json(content: NamedTuple, lines: bool = False) -> None:
    import json

    from pghot.document import document

    print(json.dumps(document(content), indent=None if lines else 2), flush=True)


def _status(args: argparse.Namespace) -> int:
    from pghot.snapshot import again, between, collect
    from pghot.text import report
    from pghot.tree import Tree

    if args.count and not args.watch:
        args.parser.error("--count needs --watch")
    clear = "\033[H\033[2J" if args.watch and sys.stdout.isatty() and not args.json else ""
    period = args.watch or args.interval
    before, started = collect(Tree(args.root)), time.monotonic()
    done = 0
    while True:
        now = before
        if period:
            time.sleep(period)
            now, then, started = again(Tree(args.root), before), started, time.monotonic()
            now, before = now._replace(rates=between(before, now, started - then)), now
        if args.json:
            _print_json(now, lines=bool(args.watch))
        else:
            print(clear + report(now, _width()), end="\n\n" if args.watch else "\n", flush=True)
        done += 1
        if not args.watch or done == args.count:
            return 0


def _doctor(args: argparse.Namespace) -> int:
    from pghot.doctor import examine, exit_status, report
    from pghot.snapshot import again, collect, grown
    from pghot.tree import Tree

    status, started = collect(Tree(args.root)), time.monotonic()
    if args.interval:
        time.sleep(args.interval)
        now = again(Tree(args.root), status)
        status = grown(status, now, time.monotonic() - started)
    diagnosis = examine(status)
    if args.json:
        _print_json(diagnosis)
    else:
        print(report(diagnosis, _width()))
    return exit_status(diagnosis.checks)


def _capture(args: argparse.Namespace) -> int:
    from pghot.capture import capture
    from pghot.tree import clean

    try:
        files, unread = capture(args.directory)
    except OSError as error:
        print(
            f"pghot: {args.directory}: {error.strerror}; name a directory that can be made",
            file=sys.stderr,
        )
        return USAGE
    print(f"{files} files in {clean(args.directory, 4096)}; could not be read: {unread}")
    return 0


def _explain(args: argparse.Namespace) -> int:
    from pghot.explain import as_markdown, as_text, chosen, like

    if args.json and args.markdown:
        args.parser.error("--json and --markdown exclude each other")
    try:
        explanation = chosen(args.name)
    except KeyError as error:
        near = ", ".join(like(error.args[0]))
        hint = f"did you mean {near}?" if near else "`pghot explain` lists all names"
        args.parser.error(f"no counter or setting is named {error}; {hint}")
    if args.json:
        _print_json(explanation)
    else:
        print(as_markdown(explanation) if args.markdown else as_text(explanation, _width()))
    return 0


_FIRST = ("-h", "--help", "--version", "--")
"""Options of no command."""


def _command(words: list[str]) -> int:
    """Run one command; raises SystemExit for a wrong command line, and after help."""
    parser = build_parser()
    if words and words[0].startswith("-") and words[0] not in _FIRST:
        parser.error(
            f"options come after the command, as in 'pghot status --json', and {words[0]} is first"
        )
    args, unknown = parser.parse_known_args(words)
    if unknown:
        # parse_args() would answer with the usage of the command as a whole.
        args.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    run: _Run = args.run
    return run(args)


def main(argv: list[str] | None = None) -> int:
    """Run the command and return its exit status; raises SystemExit for a wrong command line."""
    from pghot.snapshot import NothingToRead

    try:
        try:
            return _command(sys.argv[1:] if argv is None else argv)
        finally:
            sys.stdout.flush()
    except OSError as error:
        print(f"pghot: cannot write: {error.strerror}", file=sys.stderr)
        # What is left of it would fail again at the end of the process, with another exit status.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return USAGE
    except NothingToRead as error:
        print(f"pghot: {error}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        return 130


def entry() -> int:
    """The console script: as `main`, and a closed pipe ends it silently, as it ends any tool."""
    import signal

    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    # Python has None for what its caller has closed.
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - until the end
    if sys.stdout is None:
        print("pghot: there is no standard output to write to", file=sys.stderr)
        return USAGE
    return main()
