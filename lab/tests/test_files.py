# SPDX-License-Identifier: GPL-2.0
"""lab/files.py: files are whole, or as they were."""

import json
import os
from collections import namedtuple
from contextlib import suppress

import pytest

from lab import files
from lab.errors import LabError


def test_a_file_and_its_directories_are_made(tmp_path):
    path = tmp_path / "a" / "b"
    assert files.write_text(path, "\u00e9\n")
    assert path.read_bytes() == b"\xc3\xa9\n"
    assert path.stat().st_mode & 0o777 == 0o644


def test_an_equal_file_keeps_its_time(tmp_path):
    path = tmp_path / "file"
    files.write(path, b"x")
    os.utime(path, (1, 1))
    assert not files.write(path, b"x")
    assert path.stat().st_mtime == 1
    assert files.write(path, b"y")
    assert path.stat().st_mtime > 1


def test_a_hard_link_keeps_the_old_contents(tmp_path):
    path, link = tmp_path / "file", tmp_path / "link"
    files.write(path, b"old")
    link.hardlink_to(path)
    files.write(path, b"new")
    assert (path.read_bytes(), link.read_bytes()) == (b"new", b"old")


def test_modes_are_kept_and_scripts_can_run(tmp_path):
    path = tmp_path / "file"
    files.write(path, b"x")
    path.chmod(0o600)
    files.write(path, b"y")
    assert path.stat().st_mode & 0o777 == 0o600
    files.write(tmp_path / "script", b"#!/bin/sh\n")
    assert (tmp_path / "script").stat().st_mode & 0o777 == 0o755


def test_json_for_people(tmp_path):
    path = tmp_path / "file"
    files.write_json(path, {"a": [1]})
    assert json.loads(path.read_text()) == {"a": [1]}
    assert path.read_text().endswith("}\n") and len(path.read_text().splitlines()) == 5


def test_a_write_that_fails_leaves_all_as_it_was(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, "No space left on device")

    path = tmp_path / "file"
    files.write_json(path, 1)
    with pytest.raises(TypeError):
        files.write_json(path, object())
    with monkeypatch.context() as patch:
        patch.setattr(files.os, "replace", full)
        with pytest.raises(OSError, match="No space left"):
            files.write_json(path, 2)
    assert path.read_text() == "1\n"
    assert os.listdir(tmp_path) == ["file"]


def test_staging_leaves_nothing(tmp_path):
    left = tmp_path / ".out.killed"
    left.mkdir()
    with files.staging(tmp_path / "out") as directory:
        assert directory.parent == tmp_path
        assert not left.exists()
        (directory / "file").write_text("x")
    assert not list(tmp_path.iterdir())


@pytest.fixture(params=["at once", "in two steps"])
def replaced(request, tmp_path, monkeypatch):
    """A directory to replace, on file systems of both kinds."""
    if request.param == "in two steps":
        monkeypatch.setattr(files, "_exchange", lambda *_: False)
    path = tmp_path / "series"
    path.mkdir()
    (path / "old").touch()
    return path


def replace(path):
    with files.staging(path) as directory:
        (directory / "made").mkdir()
        (directory / "made" / "new").touch()
        files.replace_directory(directory / "made", path)


def test_a_directory_is_replaced(replaced):
    replace(replaced)
    assert os.listdir(replaced) == ["new"]
    assert os.listdir(replaced.parent) == ["series"]
    replace(replaced.parent / "another")
    assert os.listdir(replaced.parent / "another") == ["new"]


@pytest.mark.parametrize("last", range(3))
def test_a_killed_replacement_loses_no_directory(replaced, monkeypatch, last):
    """Whichever of its steps is the last, the old one or the new one is there after."""

    class Killed(BaseException):
        pass

    steps: list[object] = []

    def counted(real):
        def step(*args, **keywords):
            if len(steps) == last:
                raise Killed
            steps.append(real)
            return real(*args, **keywords)

        return step

    with monkeypatch.context() as patch:
        # A killed process tidies nothing up.
        patch.setattr(files.Path, "rename", counted(files.Path.rename))
        patch.setattr(files, "_exchange", counted(files._exchange))
        directory = replaced.parent / ".series.killed"
        (directory / "made").mkdir(parents=True)
        (directory / "made" / "new").touch()
        with suppress(Killed):
            files.replace_directory(directory / "made", replaced)
    with files.staging(replaced):
        assert os.listdir(replaced) in (["old"], ["new"])
    replace(replaced)
    assert os.listdir(replaced) == ["new"]


def test_a_link_is_never_missing(tmp_path, monkeypatch):
    link = tmp_path / "sources" / "pghot"
    files.symlink(link, tmp_path / "one")
    assert link.readlink() == tmp_path / "one"
    with monkeypatch.context() as patch:
        patch.setattr(files.os, "replace", lambda *_: 1 / 0)
        files.symlink(link, tmp_path / "one")
        with pytest.raises(ZeroDivisionError):
            files.symlink(link, tmp_path / "two")
    assert link.readlink() == tmp_path / "one"
    files.symlink(link, tmp_path / "two")
    assert link.readlink() == tmp_path / "two"
    assert os.listdir(link.parent) == ["pghot"]


def test_room_is_asked_for_where_nothing_is_yet(monkeypatch, tmp_path):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(files.shutil, "disk_usage", lambda _path: usage(0, 0, 2**29))
    files.need_room(tmp_path / "not/yet", 0.5, "building")
    with pytest.raises(LabError, match=r"^building needs 1.5 GiB at .*/not/yet, and 0.5 GiB are"):
        files.need_room(tmp_path / "not/yet", 1.5, "building")
