# SPDX-License-Identifier: GPL-2.0
"""make series: steps, and what format-patch makes of them."""

import re
from pathlib import Path

import pytest

from lab.errors import LabError
from lab.files import write
from lab.kernel import apply, series, source, steps
from lab.tests.kernel_fakes import LINES, git, hook, linux, replaced

TEXT = "".join(LINES)
MIDDLE = replaced(TEXT, ("line 10", "ten"))
STEPS = """
[[step]]
subject = "mm/new: add x"
body = '''
Because x is needed, and because this paragraph is longer than one line of a
commit message should be.

  kept = as it is
'''
files = ["mm/new/*"]

[[step]]
subject = "mm: call x"
body = "So that it runs."
patches = ["0001", "0002-b"]
"""


class Work:
    """A fake work tree with one overlay file, two hooks and two steps."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.pristine = linux(top / "pristine")
        self.overlay = top / "linux"
        self.patches = top / "patches"
        (self.overlay / "mm/new").mkdir(parents=True)
        (self.overlay / "mm/new/x.c").write_text("int x;\n")
        hook(self.patches, "0001-a", "mm/a.c", TEXT, MIDDLE)
        hook(self.patches, "0002-b", "mm/a.c", MIDDLE, replaced(MIDDLE, ("line 30", "thirty")))
        self.describe(STEPS)

    def describe(self, text: str) -> None:
        """Write series.toml."""
        (self.patches / "series.toml").write_text(text)

    def steps(self) -> list[series.Step]:
        """Read it."""
        return series.steps(self.pristine, self.overlay, self.patches)

    def emit(self, name: str = "series") -> list[Path]:
        """Write the series."""
        return series.emit(
            self.pristine,
            self.steps(),
            self.top / name,
            series.Author("A. Tester", "tester@host.example"),
        )


@pytest.fixture(name="work")
def _work(tmp_path: Path) -> Work:
    return Work(tmp_path)


def test_series_applies_with_git_am(work: Work, tmp_path: Path) -> None:
    paths = work.emit()
    assert [path.name for path in paths] == ["0001-mm-new-add-x.patch", "0002-mm-call-x.patch"]
    tree = linux(tmp_path / "clean")
    git(tree, "init", "-q")
    git(tree, "add", "-A")
    git(tree, "commit", "-q", "-m", "base")
    git(tree, "am", "-q", *map(str, paths))
    assert (tree / "mm/new/x.c").read_text() == "int x;\n"
    assert (tree / "mm/a.c").read_text() == replaced(MIDDLE, ("line 30", "thirty"))


def test_message_is_wrapped_and_signed(work: Work) -> None:
    text = work.emit()[0].read_text()
    assert "Subject: [PATCH 1/2] mm/new: add x\n" in text
    assert "\n  kept = as it is\n" in text
    assert "\nSigned-off-by: A. Tester <tester@host.example>\n" in text
    body = text.partition("\n\n")[2].partition("\n---\n")[0]
    assert max(map(len, body.splitlines()[:4])) <= 72


def test_series_is_reproducible(work: Work) -> None:
    first = [path.read_bytes() for path in work.emit("one")]
    assert first == [path.read_bytes() for path in work.emit("two")]


def test_older_series_is_replaced(work: Work) -> None:
    output = work.top / "series"
    output.mkdir()
    (output / "0009-old.patch").write_text("old")
    assert len(work.emit()) == 2
    assert not (output / "0009-old.patch").exists()
    assert not list(work.top.glob(".series*"))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'patches = ["0001", "0002-b"]',
            'patches = ["0001"]',
            r"in no step: patches/0002-b\.patch",
        ),
        (
            'files = ["mm/new/*"]',
            'patches = ["0001"]',
            "'0001' names no patch that is not in a step already",
        ),
        (
            'files = ["mm/new/*"]',
            'files = ["mm/other.c"]',
            r"'mm/other\.c' names no file of linux/",
        ),
        (
            'patches = ["0001", "0002-b"]',
            'patches = ["0002", "0001"]',
            "0001-a comes before a patch of an earlier step",
        ),
        ('body = "So that it runs."', "", "step 2: body: is missing"),
        (
            'files = ["mm/new/*"]',
            "file = 1",
            "step 1: file: unknown field, known are body, files, patches, subject",
        ),
        ('body = "So that it runs."', 'body = " "', "step 2: body: is empty"),
        ('files = ["mm/new/*"]', 'files = "mm/new/*"', "step 1: files: 'mm/new/.*' is not of type"),
        ("[[step]]", "[[stop]]", "series.toml: stop: unknown field, known are step"),
        ("[[step]]", "[[step", "mend it"),
    ],
)
def test_bad_steps_are_refused(
    work: Work,
    old: str,
    new: str,
    message: str,
) -> None:
    assert old in STEPS
    work.describe(STEPS.replace(old, new))
    with pytest.raises(LabError, match=message):
        work.emit()
    assert not (work.top / "series").exists()


def test_missing_list_is_named(work: Work) -> None:
    (work.patches / "series.toml").unlink()
    with pytest.raises(LabError, match="series.toml is missing"):
        work.steps()


def test_author_must_be_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(series.paths, "ROOT", tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    with pytest.raises(LabError, match="git does not know user.name: run"):
        series.author()


_MOST_LINES = 1500
"""Of a patch. Nobody reviews more at a time."""


def _touched(directory: Path, pristine: Path, found: list[series.Step]) -> Path:
    """The pristine files that the series changes, as a git tree."""
    for name, data in series.base(pristine, found).items():
        write(directory / name, data)
    for command in (["init", "-q"], ["add", "-A", "-f"], ["commit", "-q", "-m", "base"]):
        git(directory, *command)
    return directory


@pytest.mark.kernel
def test_series_applies_to_a_clean_tree(tmp_path: Path) -> None:
    pristine = source.ensure()
    found = series.steps(pristine)
    mail = series.emit(
        pristine, found, tmp_path / "series", series.Author("A. Tester", "tester@host.example")
    )
    assert len(mail) == len(found)
    for path in mail:
        changed = re.findall(r"^[+-](?!\+\+ |-- )", path.read_text(), re.MULTILINE)
        assert len(changed) < _MOST_LINES, path.name
    tree = _touched(tmp_path / "linux", pristine, found)
    git(tree, "am", "-q", *map(str, mail))
    for name, data in apply.expected(pristine).items():
        assert (tree / name).read_bytes() == data, name


@pytest.mark.parametrize(
    ("files", "adds"),
    [
        (["mm/new/x.c", "include/linux/x.h"], True),
        (["mm/new/x.c", "mm/old.c"], False),
        (["mm/new/met.c"], False),
        (["include/uapi/linux/x.h"], False),
        (["mm/new/x.c", "Documentation/mm/index.rst"], True),
    ],
)
def test_step_to_which_nothing_refers(tmp_path: Path, files: list[str], adds: bool) -> None:
    for name in ("mm/old.c", "Documentation/mm/index.rst"):
        write(tmp_path / name, b"")
    assert steps.only_adds(dict.fromkeys(files, b""), {"mm/new/met.c"}, tmp_path) == adds
