# SPDX-License-Identifier: GPL-2.0
"""The one style of the work tree: ruff and mypy for Python, shellcheck for shell.

What ruff and mypy ask for is in pyproject.toml.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from lab import paths
from lab.host import programs
from lab.tree import interpreter, tracked

_CHECKS = (
    ("ruff", "check", "--quiet", "--output-format", "concise"),
    ("ruff", "format", "--quiet", "--check"),
    ("mypy", "--no-error-summary", f"--cache-dir={paths.CACHE / 'mypy'}"),
)

# Of shellcheck, which calls a doubt that is mere style a note.
_SHELL = (
    "shellcheck",
    "--format=gcc",
    "--severity=warning",
    "--exclude=SC1007",  # "x= y=1" gives x an empty value
    "--exclude=SC2034",  # a part that others source has variables for them
    "--exclude=SC2046",  # words of what a command prints are split on purpose
)


def _said(command: list[str]) -> list[str]:
    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=False)
    said = (done.stdout + done.stderr).splitlines()
    if not done.returncode:
        return []
    return said or [f"{' '.join(command)} failed with status {done.returncode}"]


def shell_files() -> tuple[list[str], list[str]]:
    """Shell programs of the work tree, and parts that bash programs source."""
    scripts, parts = [], []
    for path in tracked():
        name, runs = str(path.relative_to(paths.ROOT)), Path(interpreter(path)).name
        if runs in ("sh", "bash"):
            scripts.append(name)
        elif path.suffix == ".sh":
            parts.append(name)
    return scripts, parts


def shell_complaints() -> list[str]:
    """What shellcheck says, one line each."""
    programs.require("shellcheck")
    whole, parts = shell_files()
    found = _said([*_SHELL, *whole]) if whole else []
    return found + (_said([*_SHELL, "--shell=bash", *parts]) if parts else [])


def complaints() -> list[str]:
    """What the checkers of Python say, one line each; empty where all is well."""
    return [line for command in _CHECKS for line in _said([sys.executable, "-m", *command])]
