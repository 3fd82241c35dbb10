# SPDX-License-Identifier: GPL-2.0
"""lab/measure/emulator.py: which QEMU and which firmware make a run."""

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


def identity():
    emulator.identity.cache_clear()
    try:
        return emulator.identity()
    finally:
        emulator.identity.cache_clear()


@pytest.mark.parametrize("changed", ["version", *emulator.FIRMWARE])
def test_each_part_tells_emulators_apart(installed, changed):
    before = identity()
    assert identity() == before
    (installed / changed).write_text("QEMU emulator version 10.0.2 (patched)", encoding="utf-8")
    assert identity() != before


def test_firmware_that_is_missing_is_said(installed):
    (installed / "bios-256k.bin").unlink()
    with pytest.raises(LabError, match="QEMU's firmware bios-256k.bin is missing: install"):
        identity()


def test_a_qemu_that_does_not_run_is_said(monkeypatch):
    monkeypatch.setattr(qemu, "PROGRAM", "/none/qemu")
    with pytest.raises(LabError, match="/none/qemu --version does not run: install it again"):
        identity()
