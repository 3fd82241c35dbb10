# SPDX-License-Identifier: GPL-2.0
"""Runs the command on a fake machine, and denies it files as the kernel denies them to a user."""

import json
import os
from pathlib import Path
from typing import NamedTuple

import pytest

from pghot.cli import main
from pghot.tests import fakes
from pghot.tree import Tree

# Before it is imported: what it keeps is built, and no part of the tree.
os.environ.setdefault(
    "HYPOTHESIS_STORAGE_DIRECTORY",
    str(Path(__file__).resolve().parents[2] / "build" / "hypothesis"),
)


class Result(NamedTuple):
    status: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def run(capsys):
    """Runs `pghot ARGS`, on a machine if one is given."""

    def command(*args, machine=None) -> Result:
        argv = [str(a) for a in args] + (["--root", str(machine.root)] if machine else [])
        try:
            status = main(argv)
        except SystemExit as stop:
            status = int(stop.code or 0)
        return Result(status, *capsys.readouterr())

    return command


@pytest.fixture
def verdicts(run):
    """The doctor's verdict on a machine by check, and its exit status under "exit"."""

    def command(machine) -> dict:
        result = run("doctor", "--json", machine=machine)
        return {**{c["id"]: c["verdict"] for c in result.json["checks"]}, "exit": result.status}

    return command


@pytest.fixture
def finding(run):
    """One finding of the doctor on a machine."""

    def command(machine, check: str) -> dict:
        found = [
            c for c in run("doctor", "--json", machine=machine).json["checks"] if c["id"] == check
        ]
        assert len(found) == 1
        return found[0]

    return command


@pytest.fixture(params=["bare", "stock_cxl", "cxl"])
def any_machine(request, tmp_path):
    return getattr(fakes, request.param)(tmp_path)


@pytest.fixture
def bare(tmp_path):
    return fakes.bare(tmp_path)


@pytest.fixture
def stock(tmp_path):
    return fakes.stock_cxl(tmp_path)


@pytest.fixture
def cxl(tmp_path):
    return fakes.cxl(tmp_path)


@pytest.fixture
def deny(monkeypatch):
    """Makes files unreadable even for root, who runs these tests in CI."""
    denied: set[str] = set()
    real = Tree.open

    def opening(self, path: str) -> int:
        if path in denied:
            raise PermissionError(13, os.strerror(13))
        return real(self, path)

    monkeypatch.setattr(Tree, "open", opening)
    return lambda *paths: denied.update(paths)


@pytest.fixture
def repo() -> Path:
    return Path(__file__).resolve().parents[2]
