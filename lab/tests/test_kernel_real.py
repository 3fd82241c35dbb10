# SPDX-License-Identifier: GPL-2.0
"""The real kernel: it builds, step by step, and the checkers are content."""

import re
import subprocess
from pathlib import Path

import pytest

from lab import paths
from lab.errors import LabError
from lab.files import write
from lab.kernel import apply, build, checks, series, source, steps
from lab.tests.kernel_fakes import git

pytestmark = pytest.mark.kernel


def _touched(directory: Path, pristine: Path, found: list[series.Step]) -> Path:
    """The pristine files that the series changes, as a git tree."""
    for name, data in series.base(pristine, found).items():
        write(directory / name, data)
    for command in (["init", "-q"], ["add", "-A", "-f"], ["commit", "-q", "-m", "base"]):
        git(directory, *command)
    return directory


@pytest.mark.parametrize("flavour", ["stock", "pghot"])
def test_kernel_builds(flavour: str) -> None:
    kernel = build.ensure(flavour)
    assert kernel.bzimage.stat().st_size > 2**20
    ours = "CONFIG_PGHOT=y" in kernel.config.read_text().splitlines()
    assert ours == (flavour == "pghot")
    assert (kernel.source / "mm/pghot").exists() == ours


def test_unchanged_kernel_is_not_built_again() -> None:
    before = build.ensure("pghot").bzimage.stat().st_mtime_ns
    assert build.ensure("pghot").bzimage.stat().st_mtime_ns == before


def test_series_applies_to_a_clean_tree(tmp_path: Path) -> None:
    pristine = source.ensure()
    found = series.steps(pristine)
    mail = series.emit(
        pristine, found, tmp_path / "series", series.Author("A. Tester", "tester@host.example")
    )
    assert len(mail) == len(found)
    tree = _touched(tmp_path / "linux", pristine, found)
    git(tree, "am", "-q", *map(str, mail))
    for name, data in apply.expected(pristine).items():
        assert (tree / name).read_bytes() == data, name


def test_every_step_of_the_series_builds() -> None:
    assert steps.build_all() == [step.subject for step in series.steps(source.ensure())]


def test_hooked_files_compile_without_pghot() -> None:
    assert "mm/migrate.o" in steps.build_without()


def test_checkpatch_is_silent() -> None:
    assert not checks.checkpatch_all()


def test_boot_parameters_are_documented() -> None:
    files = apply.expected(source.ensure())
    text = files["Documentation/admin-guide/kernel-parameters.txt"].decode()
    names = [
        name
        for file, data in files.items()
        if file in apply.overlay_files(paths.OVERLAY)
        for name in re.findall(r'__setup\("(\w+=?)"', data.decode())
    ]
    assert names
    for name in names:
        assert f"\n\t{name}\t" in text


def test_checkpatch_complains_of_bad_code(tmp_path: Path) -> None:
    bad = tmp_path / "bad.c"
    bad.write_text("// SPDX-License-Identifier: GPL-2.0\nint f(int a){return a;}\n")
    assert checks.checkpatch(source.ensure(), [str(bad)], [])


def test_sparse_is_silent() -> None:
    assert not checks.sparse()


def test_sparse_complains_of_bad_code(tmp_path: Path) -> None:
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


def test_failing_step_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    files = {**apply.expected(source.ensure()), "mm/migrate.c": b"not C at all;\n"}
    broken = series.Step("mm: break it", "Why.", files, [])
    monkeypatch.setattr(series, "steps", lambda _pristine: [broken])
    with pytest.raises(
        LabError,
        match=r"step 1 of the series \(mm: break it\) "
        r"does not build: .*mm/migrate\.c:1:1: error",
    ):
        steps.build_all()
