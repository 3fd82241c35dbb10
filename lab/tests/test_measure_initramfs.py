# SPDX-License-Identifier: GPL-2.0
"""lab/measure/initramfs.py: archives that the kernel unpacks."""

import shutil
import subprocess

import pytest

from lab.errors import LabError
from lab.measure.initramfs import Initramfs


def example():
    root = Initramfs()
    root.directory("/proc")
    root.file("/a/b/text", "content")
    root.file("/bin/run", b"#!/bin/sh\n", program=True)
    root.link("/bin/sh", "run")
    root.character_device("/dev/console", 5, 1)
    return root.bytes()


def test_an_initramfs_is_the_same_each_time():
    assert example() == example()


def test_an_initramfs_is_what_cpio_reads(tmp_path):
    if shutil.which("cpio") is None:
        pytest.fail("cpio is missing: it is needed to build kernels")
    listed = (
        subprocess.run(["cpio", "-t", "--quiet"], input=example(), check=True, capture_output=True)
        .stdout.decode()
        .split()
    )
    assert listed == [
        "a",
        "a/b",
        "a/b/text",
        "bin",
        "bin/run",
        "bin/sh",
        "dev",
        "dev/console",
        "proc",
    ]
    subprocess.run(
        ["cpio", "-id", "--quiet", "a/b/text"], input=example(), check=True, cwd=tmp_path
    )
    assert (tmp_path / "a/b/text").read_text() == "content"


def test_a_program_brings_its_libraries():
    root = Initramfs()
    root.program("cat")
    assert b"libc.so.6" in root.bytes()
    with pytest.raises(LabError, match="program no-such-program is missing"):
        root.program("no-such-program")
