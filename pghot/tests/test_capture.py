# SPDX-License-Identifier: GPL-2.0
"""`pghot capture`: the copy reads as the machine does."""

import os
import re
import subprocess

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


def test_a_copy_knows_what_could_not_be_read(tmp_path, cxl, run):
    """And that root's part now is to make another one, not to read this one."""
    paths = [f"{fakes.PGHOT}/enabled", "proc/sys/kernel/numa_balancing", "proc/zoneinfo"]
    with pytest.MonkeyPatch.context() as patch:
        real = Tree.open

        def opening(self, path: str) -> int:
            if path in paths:
                raise PermissionError(13, "no")
            return real(self, path)

        patch.setattr(Tree, "open", opening)
        live = collect(Tree(str(cxl.root)))
        assert capture(str(tmp_path / "copy"), str(cxl.root))[1] == len(paths)
    saved = collect(Tree(str(tmp_path / "copy")))
    why = "permission denied when it was copied; root can copy it"
    assert [(u.path, u.why) for u in saved.unread] == [(f"/{p}", why) for p in sorted(paths)]
    assert saved._replace(unread=live.unread) == live
    checks = run("doctor", "--json", "--root", tmp_path / "copy").json["checks"]
    said = {c["id"]: c["explanation"] for c in checks if c["verdict"] == "unknown"}
    assert said["enabled"] == f"/{fakes.PGHOT}/enabled: {why}."
    assert said["numa-balancing"] == f"/proc/sys/kernel/numa_balancing: {why}."


def test_a_copy_of_what_could_be_read_has_no_reasons(tmp_path, cxl):
    capture(str(tmp_path / "copy"), str(cxl.root))
    assert sorted(p.name for p in (tmp_path / "copy").iterdir()) == ["proc", "sys"]


@pytest.mark.parametrize("reasons", ["proc/vmstat", "\t\nx\n\ty", b"\xff\tz\nproc/vmstat\t\x1b[2J"])
def test_reasons_may_be_garbled(run, cxl, reasons):
    result = run("status", machine=cxl.write("unread", reasons))
    assert (result.status, result.err) == (0, "") and "\x1b" not in result.out


def test_a_copy_that_may_not_be_read_says_so(tmp_path, run, monkeypatch):
    """As one that root made, to anybody else."""

    def listing(path: str) -> list[str]:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "listdir", listing)
    result = run("doctor", "--root", tmp_path)
    assert (result.status, result.out) == (2, "")
    assert result.err == f"pghot: {tmp_path}/proc: permission denied; root can read it\n"


def test_others_do_not_read_what_root_has_read(tmp_path, cxl):
    capture(str(tmp_path / "copy"), str(cxl.root))
    assert (tmp_path / "copy").stat().st_mode & 0o77 == 0


def test_existing_directory_is_left_alone(tmp_path, run):
    (tmp_path / "mine").write_text("x")
    result = run("capture", tmp_path)
    assert (result.status, result.out) == (2, "")
    assert result.err.count("\n") == 1 and "exists already" in result.err
    assert [p.name for p in tmp_path.iterdir()] == ["mine"]


def test_any_name_of_a_directory_can_be_told(tmp_path, repo):
    """Also where the output takes no bytes that are not UTF-8."""
    name = os.fsencode(tmp_path) + b"/\xff\x1b"
    done = subprocess.run(
        [repo / "bin/pghot", "capture", name],
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONIOENCODING": "utf-8:strict"},
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert f" files in {tmp_path}/??; could not be read: " in done.stdout
    assert os.path.isdir(name)


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
