# SPDX-License-Identifier: GPL-2.0
"""make clean: what can be built again is removed, and nothing else."""

import pytest

from lab import clean, cli


@pytest.fixture(name="built")
def _built(tmp_path, monkeypatch):
    rooms = [tmp_path / "build", tmp_path / "cache/build"]
    for name, room in zip(("OUT", "BUILDS"), rooms):
        room.mkdir(parents=True)
        monkeypatch.setattr(clean.paths, name, room)
    (tmp_path / "cache/src").mkdir()
    monkeypatch.setattr(clean.edit, "unsaved", list)
    return rooms


def test_builds_go_and_downloads_stay(built, tmp_path):
    assert cli.main(["clean"]) == 0
    assert not any(room.exists() for room in built)
    assert (tmp_path / "cache/src").exists()
    assert cli.main(["clean"]) == 0


def test_edits_that_are_not_written_back_are_not_lost(built, monkeypatch, capsys):
    monkeypatch.setattr(clean.edit, "unsaved", lambda: ["mm/a.c"])
    assert cli.main(["clean"]) == 1
    assert "not written back: mm/a.c: run 'make hook'" in capsys.readouterr().err
    assert all(room.exists() for room in built)
