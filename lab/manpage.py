# SPDX-License-Identifier: GPL-2.0
"""``make manpage``: the man page of pghot, made from its argument parser.

argparse-manpage would fill the examples like prose, and those of subcommands it leaves out. So
examples and exit statuses are sections of their own, made from what --help prints.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from lab import paths
from lab.log import console
from lab.verbs import Verbs
from pghot import cli

PAGE = paths.OUT / "pghot.8"


def add_parser(verbs: Verbs) -> None:
    """Register ``manpage``."""
    verbs.add_parser(
        "manpage",
        help="write pghot's man page to build/pghot.8",
        description="Write the man page of pghot to build/pghot.8, from its argument parser.",
    ).set_defaults(run=run)


def parser() -> argparse.ArgumentParser:
    """The parser of pghot without the end of its help, which `sections` has; of subcommands
    argparse-manpage leaves that end out by itself."""
    whole = cli.build_parser()
    whole.epilog = None
    return whole


def _item(term: str, text: str) -> str:
    """An item of a list, in the language of man(7)."""
    escaped = [part.replace("\\", r"\e").replace("-", r"\-") for part in (term, text)]
    return ".TP\n\\fB{}\\fR\n{}\n".format(*escaped)


def sections() -> str:
    """Exit statuses, and each example once, in the form that --include takes."""
    statuses = [_item(str(status), meaning) for status, meaning in cli.EXIT_STATUS.items()]
    examples: dict[str, str] = {}
    for line in "".join(cli.EXAMPLES.values()).splitlines():
        command, about = re.split(r" {2,}", line.strip(), maxsplit=1)
        examples.setdefault(command, about)
    shown = [_item(command, about) for command, about in examples.items()]
    return f"[exit status]\n{''.join(statuses)}[examples]\n{''.join(shown)}"


def write(to: Path) -> None:
    """Write the page, in the language of man(7)."""
    to.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8") as include:
        include.write(sections())
        include.flush()
        subprocess.run(
            [
                Path(sys.executable).with_name("argparse-manpage"),
                *("--module", "lab.manpage", "--function", "parser", "--format", "pretty"),
                *("--project-name", "pghot", "--manual-section", "8"),
                *("--manual-title", "System administration"),
                *("--description", "show what memory tiering does, and what stops it"),
                *("--include", include.name, "--output", to),
            ],
            check=True,
            env={**os.environ, "PYTHONPATH": str(paths.ROOT)},
        )


def run(_args: argparse.Namespace) -> None:
    """Write the page and say how to read it."""
    write(PAGE)
    console.print(f"man {PAGE}", markup=False)
