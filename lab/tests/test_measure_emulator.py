# SPDX-License-Identifier: GPL-2.0
"""lab/measure/emulator.py: which QEMU and which firmware make a run."""

import subprocess
from pathlib import Path

import pytest

from lab.errors import LabError
from lab.host import qemu
from lab.measure import emulator


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A QEMU that says what it is and where its firmware lies, and no more."""
    program = tmp_path / "qemu"
    program.write_text(
        f"#!/bin/sh\ncase $1 in\n--version) cat {tmp_path}/version ;;\n"
        f"-L) echo /none; echo {tmp_path} ;;\nesac\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    (tmp_path / "version").write_text("QEMU emulator version 10.0.2\n", encoding="utf-8")
    for name in emulator.FIRMWARE:
        (tmp_path / name).write_bytes(b"firmware")
    monkeypatch.setattr(qemu, "PROGRAM", str(program))
    return tmp_path


@pytest.mark.parametrize("changed", ["qemu", *emulator.FIRMWARE])
def test_what_each_part_holds_tells_emulators_apart(installed, changed):
    """One that was built again has the same name and version."""
    before = emulator.identity()
    assert emulator.identity() == before
    with open(installed / changed, "a", encoding="utf-8") as file:
        file.write("# built again\n")
    assert emulator._said(emulator._program(), "--version") == ["QEMU emulator version 10.0.2"]
    assert emulator.identity() != before


def test_a_version_tells_emulators_apart(installed):
    """What is on PATH may only start the real one."""
    before = emulator.identity()
    (installed / "version").write_text("QEMU emulator version 10.0.2 (patched)", encoding="utf-8")
    emulator._said.cache_clear()
    assert emulator.identity() != before


def test_nothing_is_read_twice(installed, monkeypatch):
    """A benchmark asks for each of its hundreds of runs, and QEMU has 29 MB."""
    before = emulator.identity()
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} is read again"))
    monkeypatch.setattr(subprocess, "run", lambda *_, **__: pytest.fail("QEMU is asked again"))
    assert emulator.identity() == before


def test_firmware_that_is_missing_is_said(installed):
    (installed / "bios-256k.bin").unlink()
    with pytest.raises(LabError, match="QEMU's firmware bios-256k.bin is missing: install"):
        emulator.identity()


def test_a_qemu_that_is_not_there_is_said(monkeypatch):
    monkeypatch.setattr(qemu, "PROGRAM", "/none/qemu")
    with pytest.raises(LabError, match="/none/qemu is missing: install qemu-system-x86"):
        emulator.identity()


def test_a_qemu_that_does_not_run_is_said(monkeypatch):
    monkeypatch.setattr(qemu, "PROGRAM", "false")
    with pytest.raises(LabError, match="false --version does not run: install it again"):
        emulator.identity()
