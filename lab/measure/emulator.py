# SPDX-License-Identifier: GPL-2.0
"""Which QEMU and which firmware make a run: both run instructions in it, or decide which."""

from __future__ import annotations

import hashlib
import subprocess
from functools import cache
from pathlib import Path

from lab.errors import LabError
from lab.host import qemu

FIRMWARE = ("bios-256k.bin", "linuxboot_dma.bin")
"""What a q35 machine begins with, and what loads a kernel given with -kernel."""


def _said(option: str) -> list[str]:
    try:
        done = subprocess.run(
            [qemu.PROGRAM, *option.split()], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise LabError(f"{qemu.PROGRAM} {option} does not run: install it again") from error
    return done.stdout.splitlines()


@cache
def identity() -> bytes:
    """A digest of QEMU's version, its distribution's included, and of its firmware.

    LabError where a file of the firmware is in none of the places QEMU looks at.
    """
    whole = hashlib.sha256("\n".join(_said("--version")).encode())
    places = [Path(line) for line in _said("-L help")]
    for name in FIRMWARE:
        found = next((place / name for place in places if (place / name).is_file()), None)
        if found is None:
            raise LabError(f"QEMU's firmware {name} is missing: install {qemu.PACKAGE} again")
        whole.update(hashlib.sha256(found.read_bytes()).digest())
    return whole.digest()
