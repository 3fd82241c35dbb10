# SPDX-License-Identifier: GPL-2.0
"""``make check``: the style of Python, of shell and of kernel code, and how long the hooks are."""

from __future__ import annotations

import argparse

from lab import style
from lab.errors import LabError
from lab.kernel import checks
from lab.log import console
from lab.verbs import Verbs


def add_parser(verbs: Verbs) -> None:
    """Register ``check``."""
    verbs.add_parser(
        "check", description=__doc__, help="check the style of Python and of kernel code"
    ).set_defaults(run=run)


def run(_args: argparse.Namespace) -> None:
    """Show all complaints; LabError if there are any."""
    complaints = style.complaints() + style.shell_complaints()
    complaints += checks.checkpatch_all() + checks.sparse()
    for line in complaints:
        console.print(line, markup=False)
    lines = checks.hook_lines()
    for name, count in lines.items():
        console.print(f"{count:5} changed lines  patches/{name}", markup=False)
    total = sum(lines.values())
    console.print(f"{total:5} of at most {checks.MAX_HOOK_LINES - 1}")
    if total >= checks.MAX_HOOK_LINES:
        raise LabError(
            f"the hooks change {total} lines: move code to linux/ "
            f"until they are under {checks.MAX_HOOK_LINES}"
        )
    if complaints:
        raise LabError(
            f"{len(complaints)} complaints of ruff, mypy, shellcheck, checkpatch and sparse, "
            "listed above: mend them"
        )
    console.print("ruff, mypy, shellcheck, checkpatch and sparse have no complaint")
