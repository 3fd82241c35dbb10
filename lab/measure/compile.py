# SPDX-License-Identifier: GPL-2.0
"""Compiling the lab's own C: the memory model and the workloads."""

from __future__ import annotations

import hashlib
from pathlib import Path

from lab import paths
from lab.host import compiler


def compiled(source: Path, *headers: Path) -> Path:
    """Compile a directory's C, once for each content and compiler; return where the results are.

    ``headers`` are directories whose headers it includes. Several checkouts share the
    cache, and none gets what another one compiled from other sources.
    """
    files = [
        path for path in source.rglob("*") if path.suffix in (".c", ".h") or path.name == "Makefile"
    ]
    files += [path for directory in headers for path in directory.glob("*.h")]
    digest = hashlib.sha256(compiler.identity().encode())
    for path in sorted(files):
        digest.update(f"{path.relative_to(paths.ROOT)}\n".encode() + path.read_bytes())
    out = paths.CACHE / source.name / digest.hexdigest()[:16]
    stamp = out / ".complete"
    # Not again for another checkout, whose files are newer.
    if not stamp.exists():
        compiler.compile_c(source, out, f"OUT={out}")
        stamp.touch()
    return out
