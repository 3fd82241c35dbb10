# SPDX-License-Identifier: GPL-2.0
"""Begin a build with what another kernel was compiled to.

kbuild goes by command lines and time stamps. Command lines name the source tree and the
directory of objects, so that a copy of another kernel's objects would be of no use, and
compiling all again takes minutes even where the compiler's output is cached.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from lab.files import replace_directory, staging
from lab.log import progress


class Compiled(Protocol):
    """What is needed of lab.kernel.build's kernels."""

    @property
    def source(self) -> Path:
        """The source tree."""

    @property
    def out(self) -> Path:
        """The objects."""


def _files_that_name_directories(out: Path) -> Iterable[Path]:
    yield out / "Makefile"
    for pattern in (".*.cmd", "*.conf.cmd", ".*.d"):
        yield from out.rglob(pattern)


def _rename(path: Path, names: dict[str, str]) -> None:
    text = path.read_text(encoding="utf-8", errors="surrogateescape")
    before = text
    for old, new in names.items():
        text = text.replace(old, new)
    if text != before:
        path.write_text(text, encoding="utf-8", errors="surrogateescape")


def begin_with(kernel: Compiled, tree: Path, out: Path, changed: Iterable[str]) -> None:
    """Make ``out`` what ``kernel`` was compiled to, as if that had been from ``tree``.

    ``changed`` are the files of ``tree`` that differ from the kernel's source, and of the same
    version and compiler it has to be. They are given the present time: objects are older then,
    whenever the files were written.
    """
    names = {str(kernel.out): str(out), str(kernel.source): str(tree)}
    # Those are linked in any case, and who is not configured yet is to be.
    without = shutil.ignore_patterns("vmlinux*", "bzImage", ".config*")
    with staging(out) as directory, progress(f"Copying the objects to {out}"):
        shutil.copytree(kernel.out, directory / "out", symlinks=True, ignore=without)
        for path in _files_that_name_directories(directory / "out"):
            _rename(path, names)
        (directory / "out/source").unlink()
        (directory / "out/source").symlink_to(tree)
        for name in changed:
            os.utime(tree / name)
        # Last: whoever is killed before that has nothing to take for current.
        replace_directory(directory / "out", out)
