# SPDX-License-Identifier: GPL-2.0
"""make hook: edits of the built tree go back to where they belong."""

from pathlib import Path

import pytest

from lab.errors import LabError
from lab.files import write
from lab.kernel import apply, edit
from lab.tests.kernel_fakes import LINES, hook, linux, replaced

TEXT = "".join(LINES)
FIRST = replaced(TEXT, ("line 10", "ten"))
SECOND = replaced(FIRST, ("line 30", "thirty"))


class Work:
    """A fake work tree with two hooks of one file, synced to a built tree."""

    def __init__(self, top: Path) -> None:
        self.place = edit.Place(
            linux(top / "pristine"), top / "built/linux", top / "linux", top / "patches"
        )
        (top / "linux/mm/new").mkdir(parents=True)
        (top / "linux/mm/new/x.c").write_text("int x;\n")
        hook(self.place.patches, "0001-a", "mm/a.c", TEXT, FIRST)
        hook(self.place.patches, "0002-b", "mm/a.c", FIRST, SECOND)
        self.tree = self.place.tree
        self.sync()

    def sync(self) -> None:
        """Bring the tree up to date."""
        apply.sync(self.place.pristine, self.tree, self.expected())

    def expected(self) -> dict[str, bytes]:
        """What the work tree says."""
        return apply.expected(self.place.pristine, self.place.overlay, self.place.patches)

    def change(self, name: str, *changes: tuple[str, str]) -> None:
        """Edit a file in place, as an editor does."""
        path = self.tree / name
        path.write_text(replaced(path.read_text(), *changes))

    def write_back(self, selected: str = "") -> list[tuple[str, str]]:
        """Do what make hook does; check that tree and work tree agree."""
        result = edit.plan(self.place, selected)
        for path, data in result.files.items():
            write(path, data)
        for name, data in self.expected().items():
            assert (self.tree / name).read_bytes() == data
        return result.edits


@pytest.fixture(name="work")
def _work(tmp_path: Path) -> Work:
    return Work(tmp_path)


def patch(work: Work, name: str) -> str:
    """The text of a patch."""
    return (work.place.patches / f"{name}.patch").read_text()


def test_nothing_changed(work: Work) -> None:
    assert not work.write_back()


def test_what_is_edited_is_known_until_it_is_written_back(
    work: Work, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edit.source, "PRISTINE", work.place.pristine)
    monkeypatch.setattr(edit.paths, "OVERLAY", work.place.overlay)
    monkeypatch.setattr(edit.paths, "PATCHES", work.place.patches)
    monkeypatch.setattr(edit.build, "tree_of", lambda _: work.tree)
    # checkpatch keeps the names that it found in headers, where it runs.
    (work.tree / ".checkpatch-camelcase.date.202611211636").write_text("CamelCase\n")
    assert edit.unsaved() == []
    work.change("mm/a.c", ("line 5", "five"))
    (work.tree / "mm/new/y.c").write_text("int y;\n")
    assert edit.unsaved() == ["mm/a.c", "mm/new/y.c"]
    monkeypatch.setattr(edit.build, "tree_of", lambda _: work.tree / "none")
    assert edit.unsaved() == []


def test_overlay_file(work: Work) -> None:
    (work.tree / "mm/new/x.c").write_text("int better;\n")
    assert work.write_back() == [("mm/new/x.c", "linux/mm/new/x.c")]
    assert (work.place.overlay / "mm/new/x.c").read_text() == "int better;\n"


def test_new_file_goes_to_the_overlay(work: Work) -> None:
    (work.tree / "mm/new/y.c").write_text("int y;\n")
    (work.tree / "mm/new/y.c.orig").write_text("litter\n")
    assert work.write_back() == [("mm/new/y.c", "linux/mm/new/y.c")]


def test_last_patch_takes_the_edit(work: Work) -> None:
    before = patch(work, "0001-a")
    work.change("mm/a.c", ("line 50", "fifty"))
    assert work.write_back() == [("mm/a.c", "patches/0002-b.patch")]
    assert "+fifty" in patch(work, "0002-b")
    assert patch(work, "0002-b").startswith("Why 0002-b is.\n")
    assert patch(work, "0001-a") == before


@pytest.mark.parametrize("name", ["0001", "0001-a", "0001-a.patch"])
def test_named_patch_takes_the_edit(work: Work, name: str) -> None:
    work.change("mm/a.c", ("line 5", "five\nand more"))
    assert work.write_back(name) == [("mm/a.c", "patches/0001-a.patch")]
    assert "+five" in patch(work, "0001-a")
    assert "five" not in patch(work, "0002-b").replace(" five", "")
    assert "@@ -28,7 +28,7 @@" in patch(work, "0002-b")


def test_edit_of_a_later_patchs_line_is_refused(work: Work) -> None:
    work.change("mm/a.c", ("thirty", "THIRTY"))
    with pytest.raises(LabError, match=r"meets lines of patches/0002-b\.patch"):
        work.write_back("0001")
    assert "THIRTY" not in patch(work, "0001-a")


def test_unhooked_file_needs_a_patch(work: Work) -> None:
    work.change("mm/b.c", ("int b;", "long b;"))
    with pytest.raises(LabError, match="mm/b.c is in no patch yet"):
        work.write_back()
    assert work.write_back("0001") == [("mm/b.c", "patches/0001-a.patch")]
    assert "+long b;" in patch(work, "0001-a")


def test_new_patch(work: Work) -> None:
    work.change("mm/b.c", ("int b;", "long b;"))
    assert work.write_back("0003-long") == [("mm/b.c", "patches/0003-long.patch")]
    assert "SPDX-License-Identifier" in patch(work, "0003-long")


@pytest.mark.parametrize(
    ("name", "message"), [("7", "no such patch"), ("0002-other", "the number is that of 0002-b")]
)
def test_unknown_patch_is_refused(work: Work, name: str, message: str) -> None:
    work.change("mm/a.c", ("line 50", "fifty"))
    with pytest.raises(LabError, match=message):
        work.write_back(name)


def test_deleted_file_is_refused(work: Work) -> None:
    (work.tree / "mm/new/x.c").unlink()
    with pytest.raises(LabError, match="mm/new/x.c was deleted"):
        work.write_back()


def test_undone_hook_is_refused(work: Work) -> None:
    work.change("mm/a.c", ("thirty", "line 30"))
    with pytest.raises(LabError, match=r"nothing is left of .*0002-b\.patch"):
        work.write_back()


def test_change_on_both_sides_is_refused(work: Work) -> None:
    (work.tree / "mm/new/x.c").write_text("int tree;\n")
    (work.place.overlay / "mm/new/x.c").write_text("int work;\n")
    with pytest.raises(LabError, match="changed both"):
        work.write_back()
    assert (work.place.overlay / "mm/new/x.c").read_text() == "int work;\n"


def test_stale_tree_does_not_overwrite_newer_work(work: Work) -> None:
    (work.place.overlay / "mm/new/x.c").write_text("int work;\n")
    result = edit.plan(work.place)
    assert not result.files
