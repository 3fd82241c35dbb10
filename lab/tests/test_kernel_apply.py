# SPDX-License-Identifier: GPL-2.0
"""Overlay and hooks applied to a tree."""

from pathlib import Path

import pytest

from lab.errors import LabError
from lab.kernel import apply, patchfile
from lab.tests.kernel_fakes import LINES, hook, linux, replaced

TEXT = "".join(LINES)


class Work:
    """A fake work tree, source and built tree."""

    def __init__(self, top: Path) -> None:
        self.pristine = linux(top / "pristine")
        self.tree = top / "built" / "linux"
        self.overlay = top / "linux"
        self.patches = top / "patches"
        (self.overlay / "mm/new").mkdir(parents=True)
        (self.overlay / "mm/new/x.c").write_text("int x;\n")

    def expected(self) -> dict[str, bytes]:
        """What the tree is to hold."""
        return apply.expected(self.pristine, self.overlay, self.patches)

    def sync(self, linked: bool = False) -> None:
        """Bring the tree up to date."""
        apply.sync(self.pristine, self.tree, self.expected(), linked)


@pytest.fixture(name="work")
def _work(tmp_path: Path) -> Work:
    return Work(tmp_path)


def test_overlay_and_hooks_in_number_order(work: Work) -> None:
    middle = replaced(TEXT, ("line 10", "ten"))
    hook(work.patches, "0002-b", "mm/a.c", middle, replaced(middle, ("ten", "TEN")))
    hook(work.patches, "0001-a", "mm/a.c", TEXT, middle)
    work.sync()
    assert "TEN\n" in (work.tree / "mm/a.c").read_text()
    assert (work.tree / "mm/new/x.c").read_text() == "int x;\n"
    assert (work.tree / "mm/b.c").read_text() == "int b;\n"


def test_empty_overlay_and_patches(work: Work, tmp_path: Path) -> None:
    assert not apply.expected(work.pristine, tmp_path / "no", tmp_path / "none")


def test_moved_lines_still_apply(work: Work) -> None:
    hook(work.patches, "0001-a", "mm/a.c", TEXT, replaced(TEXT, ("line 30", "thirty")))
    (work.pristine / "mm/a.c").write_text("new first line\n" * 5 + TEXT)
    assert b"thirty\n" in work.expected()["mm/a.c"]


def test_failing_hook_names_patch_file_and_hunk(work: Work) -> None:
    hook(
        work.patches,
        "0007-fault",
        "mm/a.c",
        TEXT,
        replaced(TEXT, ("line 5", "five"), ("line 50", "fifty")),
    )
    (work.pristine / "mm/a.c").write_text(replaced(TEXT, ("line 49", "other")))
    with pytest.raises(
        LabError,
        match=r"0007-fault\.patch does not apply to "
        r"mm/a\.c of Linux 7\.3\.4: hunk 2 \(line 47\)",
    ):
        work.sync()
    assert not work.tree.exists()


def test_hook_of_missing_file_is_named(work: Work) -> None:
    hook(work.patches, "0001-a", "mm/gone.c", TEXT, replaced(TEXT, ("line 5", "five")))
    with pytest.raises(LabError, match=r"0001-a\.patch .* mm/gone\.c is not in"):
        work.expected()


def test_overlay_must_not_hide_a_kernel_file(work: Work) -> None:
    (work.overlay / "mm/b.c").write_text("int c;\n")
    with pytest.raises(LabError, match="linux/mm/b.c is also a file of Linux"):
        work.expected()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("--- /dev/null\n+++ b/mm/n.c\n@@ -0,0 +1 @@\n+int n;\n", "mm/n.c as a new"),
        ("no change at all\n", "holds no change"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n" * 2, "changes x twice"),
    ],
)
def test_malformed_hooks_are_refused(
    work: Work,
    text: str,
    message: str,
) -> None:
    work.patches.mkdir()
    (work.patches / "0001-a.patch").write_text(text)
    with pytest.raises(LabError, match=message):
        work.expected()


def test_two_hooks_of_one_number_are_refused(work: Work) -> None:
    for name in ("0001-a", "0001-b"):
        hook(work.patches, name, "mm/a.c", TEXT, replaced(TEXT, ("line 5", "five")))
    with pytest.raises(LabError, match="number is also that of 0001-a"):
        work.expected()


def test_only_changed_files_are_written(work: Work) -> None:
    hook(work.patches, "0001-a", "mm/a.c", TEXT, replaced(TEXT, ("line 5", "five")))
    work.sync()
    before = {path: path.stat().st_mtime_ns for path in work.tree.rglob("*.c")}
    (work.overlay / "mm/new/x.c").write_text("int y;\n")
    work.sync()
    changed = {path for path, when in before.items() if path.stat().st_mtime_ns != when}
    assert changed == {work.tree / "mm/new/x.c"}


def test_what_is_removed_goes_back_to_stock(work: Work) -> None:
    hook(work.patches, "0001-a", "mm/a.c", TEXT, replaced(TEXT, ("line 5", "five")))
    work.sync()
    (work.patches / "0001-a.patch").unlink()
    (work.overlay / "mm/new/x.c").unlink()
    work.sync()
    assert (work.tree / "mm/a.c").read_text() == TEXT
    assert not (work.tree / "mm/new/x.c").exists()


def test_linked_tree_leaves_the_source_alone(work: Work) -> None:
    hook(work.patches, "0001-a", "mm/a.c", TEXT, replaced(TEXT, ("line 5", "five")))
    work.sync(linked=True)
    assert (work.tree / "mm/b.c").stat().st_ino == (work.pristine / "mm/b.c").stat().st_ino
    assert (work.pristine / "mm/a.c").read_text() == TEXT


def test_edits_of_the_built_tree_are_kept(work: Work) -> None:
    work.sync()
    (work.tree / "mm/new/x.c").write_text("int edited;\n")
    work.sync()
    assert (work.tree / "mm/new/x.c").read_text() == "int edited;\n"


def test_edits_on_both_sides_are_an_error(work: Work) -> None:
    work.sync()
    (work.tree / "mm/new/x.c").write_text("int edited;\n")
    (work.overlay / "mm/new/x.c").write_text("int other;\n")
    with pytest.raises(LabError, match="changed both in .*: mm/new/x.c"):
        work.sync()
    assert (work.tree / "mm/new/x.c").read_text() == "int edited;\n"


def test_unhooked_edit_is_not_overwritten_by_a_new_hook(work: Work) -> None:
    work.sync()
    (work.tree / "mm/a.c").write_text("mine\n")
    hook(work.patches, "0001-a", "mm/a.c", TEXT, replaced(TEXT, ("line 5", "five")))
    with pytest.raises(LabError, match="changed both in .*: mm/a.c"):
        work.sync()


def test_another_source_replaces_the_tree(work: Work) -> None:
    work.sync()
    (work.pristine / ".pghot-origin").write_text("newer")
    (work.pristine / "mm/b.c").write_text("int newer;\n")
    (work.tree.parent / "out").mkdir()
    work.sync()
    assert not (work.tree.parent / "out").exists()
    assert (work.tree / "mm/b.c").read_text() == "int newer;\n"


def test_a_replacement_that_was_killed_begins_anew(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another source's tree and objects left is not taken for the new one's."""
    work.sync()
    (work.pristine / ".pghot-origin").write_text("newer")
    (work.pristine / "mm/b.c").write_text("int newer;\n")
    (work.tree.parent / "out").mkdir()
    for step in ("copy", "write"):
        with monkeypatch.context() as patch:
            patch.setattr(apply, step, lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                work.sync()
        assert not (work.tree.parent / "out").exists()
        assert work.tree.exists()
    work.sync()
    assert (work.tree / "mm/b.c").read_text() == "int newer;\n"
    assert (work.tree / "mm/new/x.c").read_text() == "int x;\n"


def test_another_source_does_not_lose_edits(work: Work) -> None:
    work.sync()
    (work.tree / "mm/new/x.c").write_text("int edited;\n")
    (work.pristine / ".pghot-origin").write_text("newer")
    with pytest.raises(LabError, match="mm/new/x.c, and the Linux source is"):
        work.sync()


def test_changed_lines_count_additions_and_removals(tmp_path: Path) -> None:
    hook(
        tmp_path,
        "0001-a",
        "mm/a.c",
        TEXT,
        replaced(TEXT, ("line 5", "five\nand more"), ("line 9", "nine")),
    )
    assert patchfile.load(tmp_path)[0].changed_lines() == 5


def test_patch_text_survives_parsing(tmp_path: Path) -> None:
    hook(tmp_path, "0001-a", "mm/a.c", TEXT, replaced(TEXT, ("line 5", "five")))
    patch = patchfile.load(tmp_path)[0]
    assert patch.text() == patch.path.read_text()
    assert patch.header == "Why 0001-a is.\n\n"
