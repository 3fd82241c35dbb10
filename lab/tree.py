# SPDX-License-Identifier: GPL-2.0
"""Which files the work tree has: those that Git keeps, or would."""

from __future__ import annotations

import subprocess
from pathlib import Path

from lab import paths


def tracked(*suffixes: str) -> list[Path]:
    """Files of the work tree with these suffixes (all without any), also those not
    committed yet."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "-co", "--exclude-standard"],
        cwd=paths.ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\0")
    found = (paths.ROOT / name for name in sorted(set(listed)))
    return [path for path in found if (not suffixes or path.suffix in suffixes) and path.is_file()]


def interpreter(path: Path) -> str:
    """The line that says which program runs this file, without ``#!``; "" where none does."""
    with open(path, "rb") as stream:
        first = stream.readline(200)
    return first[2:].decode(errors="replace").strip() if first.startswith(b"#!") else ""
