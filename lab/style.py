# SPDX-License-Identifier: GPL-2.0
"""The one Python style of the work tree: ruff's formatter and checks, mypy's types.

What they ask for is in pyproject.toml.
"""

from __future__ import annotations

import subprocess
import sys

from lab import paths

_CHECKS = (
    ("ruff", "check", "--quiet", "--output-format", "concise"),
    ("ruff", "format", "--quiet", "--check"),
    ("mypy", "--no-error-summary", f"--cache-dir={paths.CACHE / 'mypy'}"),
)


def complaints() -> list[str]:
    """What the checkers say, one line each; empty where all is well."""
    found = []
    for command in _CHECKS:
        done = subprocess.run(
            [sys.executable, "-m", *command],
            cwd=paths.ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
        said = (done.stdout + done.stderr).splitlines()
        if done.returncode:
            found += said or [f"{' '.join(command)} failed with status {done.returncode}"]
    return found
