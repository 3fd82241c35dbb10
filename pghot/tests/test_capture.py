# SPDX-License-Identifier: GPL-2.0
"""`pghot capture`: the copy reads as the machine does."""

import re

import pytest

from pghot.capture import capture
from pghot.cli import main
from pghot.snapshot import collect
from pghot.tests import fakes
from pghot.tree import Tree


@pytest.mark.parametrize("kind", ["bare", "stock_cxl", "cxl", "engines"])
def test_copy_gives_the_same_status(tmp_path, kind):
    machine = getattr(fakes, kind)(tmp_path / "machine")
    files, unread = capture(str(tmp_path / "copy"), str(machine.root))
    assert collect(Tree(str(tmp_path / "copy"))) == collect(Tree(str(machine.root)))
    assert (files > 10, unread) == (True, 0)


@pytest.mark.parametrize("listed, least", [("pghot", 30), ("migrate-offload", 6)])
def test_each_file_of_the_kernel_is_kept(tmp_path, repo, listed, least):
    """Those of its list, with nothing else that has the same value."""
    abi = (repo / f"linux/Documentation/ABI/testing/sysfs-kernel-mm-{listed}").read_text()
    files = re.findall(r"^What:\s+/(sys/\S+[^/\s])$", abi, re.MULTILINE)
    assert len(files) >= least
    machine = fakes.bare(tmp_path / "machine")
    names = {"<N>": "0", "<engine>": "dcbm", "<size>": "64"}
    paths = [re.sub("<.*?>", lambda m: names[m[0]], file) for file in files]
    for path in paths:
        machine.write(path, 1)
    capture(str(tmp_path / "copy"), str(machine.root))
    kept = {str(p.relative_to(tmp_path / "copy")) for p in tmp_path.glob("copy/sys/**/*")}
    assert [path for path in paths if path not in kept] == []


def test_others_do_not_read_what_root_has_read(tmp_path, cxl):
    capture(str(tmp_path / "copy"), str(cxl.root))
    assert (tmp_path / "copy").stat().st_mode & 0o77 == 0


def test_existing_directory_is_left_alone(tmp_path, run):
    (tmp_path / "mine").write_text("x")
    result = run("capture", tmp_path)
    assert (result.status, result.out) == (2, "")
    assert result.err.count("\n") == 1 and "exists already" in result.err
    assert [p.name for p in tmp_path.iterdir()] == ["mine"]


def test_no_such_parent(tmp_path, run):
    result = run("capture", tmp_path / "no/where")
    assert (result.status, result.err.count("\n")) == (2, 1)


def test_interrupted_copy_leaves_nothing(tmp_path, monkeypatch):
    def interrupt(self, path):
        raise KeyboardInterrupt

    monkeypatch.setattr(Tree, "open", interrupt)
    assert main(["capture", str(tmp_path / "copy")]) == 130
    assert list(tmp_path.iterdir()) == []


def test_this_very_machine(tmp_path, run):
    assert run("capture", tmp_path / "copy").status == 0
    captured = run("status", "--json", "--root", tmp_path / "copy").json
    assert captured["nodes"] == [] or captured["nodes"][0]["total_bytes"]
    assert captured["kernel"] == run("status", "--json").json["kernel"]
