# SPDX-License-Identifier: GPL-2.0
"""Which QEMU and which firmware make a run: both run instructions in it, or decide which."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from functools import cache
from pathlib import Path
from typing import NamedTuple

from lab.errors import LabError
from lab.host import qemu

FIRMWARE = ("bios-256k.bin", "kvmvapic.bin", "linuxboot_dma.bin")
"""What a q35 machine begins with, what it has of its own beside that, and what loads a
kernel given with -kernel."""


class _File(NamedTuple):
    """A file as it is now: what was found out about it holds for as long as it is this."""

    path: Path
    size: int
    changed_ns: int


def _now(path: Path) -> _File:
    status = path.stat()
    return _File(path, status.st_size, status.st_mtime_ns)


@cache
def _content(file: _File) -> bytes:
    return hashlib.sha256(file.path.read_bytes()).digest()


def _program() -> _File:
    found = shutil.which(qemu.PROGRAM)
    if found is None:
        raise LabError(f"{qemu.PROGRAM} is missing: install {qemu.PACKAGE}")
    return _now(Path(found))


@cache
def _said(program: _File, option: str) -> list[str]:
    try:
        done = subprocess.run(
            [program.path, *option.split()], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise LabError(f"{qemu.PROGRAM} {option} does not run: install it again") from error
    return done.stdout.splitlines()


def identity() -> bytes:
    """A digest of QEMU, of the version it says it is, and of its firmware.

    What they hold counts, as one that was built again says the same version. LabError where
    a file of the firmware is in none of the places QEMU looks at.
    """
    program = _program()
    whole = hashlib.sha256(_content(program))
    whole.update("\n".join(_said(program, "--version")).encode())
    places = [Path(line) for line in _said(program, "-L help")]
    for name in FIRMWARE:
        found = next((place / name for place in places if (place / name).is_file()), None)
        if found is None:
            raise LabError(f"QEMU's firmware {name} is missing: install {qemu.PACKAGE} again")
        whole.update(_content(_now(found)))
    return whole.digest()
