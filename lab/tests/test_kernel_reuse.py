# SPDX-License-Identifier: GPL-2.0
"""lab/kernel/reuse.py: one kernel's objects as the beginning of another build."""

import os
import subprocess
from pathlib import Path

import pytest

from lab.kernel import reuse
from lab.kernel.build import BuiltKernel

# As kbuild's: it makes what is older than its source, or was made by another command.
_MAKEFILE = """\
all: a.o sub/b.o
-include .a.o.cmd sub/.b.o.cmd
a.o sub/b.o: %.o: FORCE
\t@test -e $@ -a ! {tree}/$*.c -nt $@ -a "$(saved_$@)" = "cc {tree}/$*.c" || {{ \\
\t  echo CC $@; mkdir -p sub; cp {tree}/$*.c $@; \\
\t  echo 'saved_$@ := cc {tree}/$*.c' >$(dir $@).$(notdir $@).cmd; }}
.PHONY: all FORCE
"""


def made(tree: Path, out: Path) -> list[str]:
    """What make makes in ``out``."""
    (out / "Makefile").write_text(_MAKEFILE.format(tree=tree))
    done = subprocess.run(["make", "-rs"], cwd=out, check=True, capture_output=True, text=True)
    return [line.split()[1] for line in done.stdout.splitlines()]


@pytest.fixture
def kernel(tmp_path: Path) -> BuiltKernel:
    """A kernel of two files."""
    tree, out = tmp_path / "stock/linux", tmp_path / "stock/out"
    (tree / "sub").mkdir(parents=True)
    out.mkdir()
    (tree / "a.c").write_text("a\n")
    (tree / "sub/b.c").write_text("b\n")
    (out / "source").symlink_to(tree)
    assert made(tree, out) == ["a.o", "sub/b.o"]
    return BuiltKernel("stock", tree, out, out / "bzImage", out / ".config")


def test_only_what_differs_is_compiled(kernel: BuiltKernel, tmp_path: Path) -> None:
    tree, out = tmp_path / "series/linux", tmp_path / "series/out"
    subprocess.run(["cp", "-a", kernel.source.parent, tmp_path / "series"], check=True)
    subprocess.run(["rm", "-r", out], check=True)
    (tree / "sub/b.c").write_text("other\n")
    # Written long before the objects that are copied.
    os.utime(tree / "sub/b.c", (0, 0))
    reuse.begin_with(kernel, tree, out, ["sub/b.c"])
    assert (out / "source").readlink() == tree
    assert made(tree, out) == ["sub/b.o"]
    assert (out / "sub/b.o").read_text() == "other\n"
    assert made(tree, out) == []
    # The kernel itself is what it was.
    assert made(kernel.source, kernel.out) == []
    assert (kernel.out / "sub/b.o").read_text() == "b\n"


def test_what_names_no_directory_stays_as_it_is(kernel: BuiltKernel, tmp_path: Path) -> None:
    data = b"\x7fELF \xff " + os.fsencode(kernel.source)
    (kernel.out / "a.o").write_bytes(data)
    (kernel.out / ".odd.cmd").write_bytes(b"\xff" + os.fsencode(kernel.out))
    tree, out = tmp_path / "series/linux", tmp_path / "series/out"
    reuse.begin_with(kernel, tree, out, [])
    assert (out / "a.o").read_bytes() == data
    assert (out / "a.o").stat().st_mtime_ns == (kernel.out / "a.o").stat().st_mtime_ns
    assert (out / ".odd.cmd").read_bytes() == b"\xff" + os.fsencode(out)
