# SPDX-License-Identifier: GPL-2.0
"""lab/kernel/reuse.py: one kernel's objects as the beginning of another build."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from lab import paths
from lab.kernel import build, reuse
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


def _out() -> Path:
    return build.tree_of("pghot").parent / "out"


@pytest.fixture
def builds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], list[str]]:
    """Builds a flavour of one file, and tells what was there before make ran."""
    pristine = tmp_path / "src/linux"
    pristine.mkdir(parents=True)
    (pristine / "a.c").write_text("a\n")
    found: list[str] = []

    def ensure(flavour: str) -> list[str]:
        found.clear()
        build.ensure(flavour)
        return found

    def run(_tree: Path, out: Path, *targets: str, **named: object) -> int:
        # Configured for itself, and not with another kernel's choices.
        assert (out / ".config").read_text() == str(out)
        image = out / "arch/x86/boot/bzImage"
        image.parent.mkdir(parents=True, exist_ok=True)
        if targets == ("bzImage",):
            # What it packs is no header of it.
            assert named.get("shared", True)
            image.touch()
        if (out.parent.name == "stock") == (targets == ("vmlinux",)):
            # Who begins with what another one made does not know how much is left.
            assert (named["total"] is None) == bool(list(out.rglob("*.o")))
            found[:] = sorted(path.name for path in out.rglob("*.o"))
            (out / f"{out.parent.name}.o").touch()
            (out / "vmlinux").touch()
        return 1

    def configure(tree: Path, out: Path, *_: object) -> None:
        out.mkdir(parents=True, exist_ok=True)
        (out / "source").unlink(missing_ok=True)
        (out / "source").symlink_to(tree)
        (out / "Makefile").touch()
        (out / ".config").write_text(str(out))

    monkeypatch.setattr(paths, "BUILDS", tmp_path / "build")
    monkeypatch.setattr(paths, "SOURCES", tmp_path / "src")
    monkeypatch.setattr(build.programs, "require", lambda *_: None)
    monkeypatch.setattr(build, "need_room", lambda *_: None)
    for name, value in (("ensure", pristine), ("identity", "7.3"), ("version", "7.3")):
        monkeypatch.setattr(build.source, name, lambda *_, value=value: value)
    (pristine / build.source.ORIGIN).write_text("there")
    monkeypatch.setattr(build.apply, "expected", lambda _: {"b.c": b"ours\n"})
    monkeypatch.setattr(build.make, "run", run)
    monkeypatch.setattr(build, "configure", configure)
    return ensure


def test_a_first_build_begins_with_the_stock_kernels_objects(builds) -> None:
    assert builds("stock") == []
    assert builds("pghot") == ["stock.o"]
    kernel = build.ensure("pghot")
    assert (kernel.out / "source").readlink() == kernel.source
    # What was there is another's kernel, until there is one of its own.
    assert not (build.tree_of("stock").parent / "out/pghot.o").exists()
    # Whose kernel was made from something else is made anew on top of what it has.
    (kernel.source / "b.c").write_text("edited\n")
    assert builds("pghot") == ["pghot.o", "stock.o"]


def test_but_only_where_they_are_current(builds) -> None:
    assert builds("pghot") == []
    builds("stock")
    shutil.rmtree(_out())
    (build.tree_of("stock") / "a.c").write_text("edited\n")
    assert builds("pghot") == []
    # Nor where they are, but of a source that somebody edited.
    shutil.rmtree(_out())
    builds("stock")
    assert builds("pghot") == []


def test_whoever_removes_objects_gets_a_kernel_of_its_own_configuration(builds) -> None:
    assert builds("stock") == []
    assert builds("pghot") == ["stock.o"]
    shutil.rmtree(_out())
    assert builds("pghot") == ["stock.o"]


def test_edits_that_are_older_than_those_objects_are_compiled(builds) -> None:
    builds("pghot")
    edited, other = build.tree_of("pghot") / "a.c", build.tree_of("pghot") / "b.c"
    edited.write_text("edited\n")
    builds("stock")
    shutil.rmtree(_out())
    assert builds("pghot") == ["stock.o"]
    objects = (_out() / "stock.o").stat().st_mtime_ns
    assert min(path.stat().st_mtime_ns for path in (edited, other)) > objects


def test_and_not_with_those_of_an_interrupted_build(builds) -> None:
    builds("stock")
    (build.tree_of("stock").parent / "stamp").unlink()
    assert builds("pghot") == []
