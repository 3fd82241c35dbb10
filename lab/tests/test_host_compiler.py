# SPDX-License-Identifier: GPL-2.0
"""lab/host/compiler.py: C compiles, or the first error says why not."""

import os

import pytest

from lab import paths
from lab.errors import LabError
from lab.host.compiler import compile_c, identity


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    directory = tmp_path / "room"
    directory.mkdir()
    (directory / "Makefile").write_text("one: one.c\n\t$(CC) -o $(OUT)/one one.c $(EXTRA)\n")
    (directory / "one.c").write_text("int main(void)\n{\n\treturn VALUE;\n}\n")
    return directory


def test_words_reach_make(source, tmp_path):
    out = tmp_path / "out" / "room"
    compile_c(source, out, f"OUT={out}", "EXTRA=-DVALUE=0", "one")
    assert (out / "one").exists()


@pytest.mark.parametrize(
    "name, value",
    [
        ("CC", "false"),
        ("MAKEFLAGS", "CC=false"),
        ("GNUMAKEFLAGS", "CC=false"),
        *((name, "--nonsense") for name in ("CFLAGS", "CPPFLAGS", "LDFLAGS", "LDLIBS")),
    ],
)
def test_what_others_are_compiled_with_is_left_out(source, tmp_path, monkeypatch, name, value):
    makefile = "one: one.c\n\t$(LINK.c) -DVALUE=0 -o $(OUT)/one one.c $(LDLIBS)\n"
    (source / "Makefile").write_text(makefile)
    monkeypatch.setenv(name, value)
    out = tmp_path / "out" / "room"
    compile_c(source, out, f"OUT={out}", "one")
    assert (out / "one").exists()


def test_makefiles_of_others_are_left_out(source, tmp_path, monkeypatch):
    (source / "Makefile").write_text("OTHERS ?= touch\none:\n\t$(OTHERS) $(OUT)/one\n")
    (tmp_path / "others.mk").write_text("OTHERS = false\n")
    monkeypatch.setenv("MAKEFILES", str(tmp_path / "others.mk"))
    out = tmp_path / "out" / "room"
    compile_c(source, out, f"OUT={out}", "one")
    assert (out / "one").exists()


def test_a_compiler_that_does_not_say_which_it_is(tmp_path, monkeypatch):
    cc = tmp_path / "cc"
    cc.write_text("#!/bin/sh\necho none >&2\nexit 1\n")
    cc.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(LabError, match="^cc --version failed: none$"):
        identity()


def test_the_first_error_is_named(source, tmp_path):
    with pytest.raises(
        LabError, match=r"^room does not compile: one.c:3:[0-9]+: error: .VALUE. undec"
    ):
        compile_c(source, tmp_path / "out", f"OUT={tmp_path}")
    (source / "Makefile").write_text("all:\n\t@exit 3\n")
    with pytest.raises(LabError, match=r"^room does not compile: make(\[\d+\])?: .* Error 3"):
        compile_c(source, tmp_path / "out")
