# SPDX-License-Identifier: GPL-2.0
"""A kernel tree of three files, and git, for tests of the tree tooling."""

from __future__ import annotations

import subprocess
from pathlib import Path

from lab.kernel import patchfile, source

MAKEFILE = "# SPDX\nVERSION = 7\nPATCHLEVEL = {minor}\nSUBLEVEL = 4\n"
LINES = [f"line {number}\n" for number in range(1, 61)]


def linux(directory: Path, minor: int = 3) -> Path:
    """Write a tree that passes for Linux 7.``minor``.4; return it."""
    (directory / "mm").mkdir(parents=True)
    (directory / "Makefile").write_text(MAKEFILE.format(minor=minor))
    (directory / "mm/a.c").write_text("".join(LINES))
    (directory / "mm/b.c").write_text("int b;\n")
    (directory / source.ORIGIN).write_text("fake")
    return directory


def replaced(text: str, *changes: tuple[str, str]) -> str:
    """``text`` with whole lines replaced."""
    for old, new in changes:
        assert f"{old}\n" in text
        text = text.replace(f"{old}\n", f"{new}\n", 1)
    return text


def hook(patches: Path, name: str, file: str, before: str, after: str) -> None:
    """Write the patch ``name`` that turns ``before`` into ``after``."""
    patches.mkdir(exist_ok=True)
    text = patchfile.diff(file, before.encode(), after.encode())
    (patches / f"{name}.patch").write_text(f"Why {name} is.\n\n{text}")


def tarball(tree: Path, archive: Path) -> Path:
    """Pack a tree as kernel.org does."""
    subprocess.run(["tar", "-C", str(tree.parent), "-cJf", str(archive), tree.name], check=True)
    return archive


def git(directory: Path, *args: str) -> None:
    """Run git as a reviewer would."""
    subprocess.run(
        ["git", "-c", "user.name=r", "-c", "user.email=r@r.example", *args],
        cwd=directory,
        check=True,
        capture_output=True,
    )
