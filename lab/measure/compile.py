# SPDX-License-Identifier: GPL-2.0
"""Compiling the lab's own C: the memory model and the workloads."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

from lab import paths
from lab.errors import LabError
from lab.files import locked
from lab.host import programs


def compile_c(source: Path, out: Path, *targets: str) -> None:
    """Run ``make`` in ``source`` with results in ``out``; raise LabError with its error."""
    programs.require("cc", "make", "stdlib.h")
    out.mkdir(parents=True, exist_ok=True)
    with locked(out.with_suffix(".lock")):
        done = subprocess.run(
            ["make", "-s", "-C", str(source), f"OUT={out}", *targets],
            capture_output=True,
            text=True,
            check=False,
        )
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if "error" in line.lower()]
        raise LabError(
            f"{source.relative_to(paths.ROOT)} does not compile: "
            f"{(said or done.stderr.splitlines() or ['make said nothing'])[0]}"
        )


def compiled(source: Path, *headers: Path) -> Path:
    """Compile a directory's C, once for each content; return where the results are.

    ``headers`` are directories whose headers it includes. Several checkouts share the
    cache, and none gets what another one compiled from other sources.
    """
    files = [
        path for path in source.rglob("*") if path.suffix in (".c", ".h") or path.name == "Makefile"
    ]
    files += [path for directory in headers for path in directory.glob("*.h")]
    digest = hashlib.sha256()
    for path in sorted(files):
        digest.update(f"{path.relative_to(paths.ROOT)}\n".encode() + path.read_bytes())
    out = paths.CACHE / source.name / digest.hexdigest()[:16]
    stamp = out / ".complete"
    # Not again for another checkout, whose files are newer.
    if not stamp.exists():
        compile_c(source, out)
        stamp.touch()
    return out
