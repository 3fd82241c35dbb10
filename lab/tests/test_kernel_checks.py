# SPDX-License-Identifier: GPL-2.0
"""lab/kernel/checks.py: the checkers are content with the kernel code, and not with all code."""

import subprocess
from pathlib import Path

import pytest

from lab.host import programs
from lab.kernel import checks, series, source

pytestmark = pytest.mark.kernel


def test_checkpatch_is_silent() -> None:
    assert not checks.checkpatch_all()


def test_checkpatch_complains_of_bad_code(tmp_path: Path) -> None:
    code = b"// SPDX-License-Identifier: GPL-2.0\nint f(int a){return a;}\n"
    step = series.Step("mm/bad: add f", "So that it is there.\n", {"mm/bad.c": code}, [])
    who = series.Author("A. Tester", "tester@host.example")
    mail = series.emit(source.ensure(), [step], tmp_path / "series", who)
    complaints = checks.checkpatch(source.ensure(), mail)
    assert {line.rpartition(": ")[0] for line in complaints} == {"mm/bad.c:2: ERROR:SPACING"}


def test_sparse_is_silent() -> None:
    assert not checks.sparse()


def test_sparse_complains_of_bad_code(tmp_path: Path) -> None:
    programs.require("sparse")
    bad = tmp_path / "bad.c"
    bad.write_text(
        "int f(int __attribute__((noderef)) *p);\n"
        "int f(int __attribute__((noderef)) *p)\n"
        "{\n\t__typeof_unqual__(*p) v = *p;\n\treturn v;\n}\n"
    )
    done = subprocess.run(
        [*checks.SPARSE.split(), str(bad)], check=False, capture_output=True, text=True
    )
    assert "warning: dereference of noderef expression" in done.stderr


def test_hooks_are_small() -> None:
    lines = checks.hook_lines()
    assert lines
    assert sum(lines.values()) < checks.MAX_HOOK_LINES
