# SPDX-License-Identifier: GPL-2.0
"""lab/measure/boot.py: what a measured guest is made of."""

import subprocess
from dataclasses import replace

from lab import machines
from lab.measure import Run, boot, emulator, plugin


def test_words_of_the_workload_reach_it_as_they_are():
    script = boot._quoted("it's $HOME")
    done = subprocess.run(
        ["sh", "-c", f"printf %s {script}"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "it's $HOME"


def test_only_programs_that_are_named_come_along():
    # The name of a directory is no program.
    setup = "ls /sys/kernel/mm/damon/regions; mark begin"
    run = Run("small", "stock", ("random", "--file", "/mnt/readers"), setup=setup)
    assert boot._programs(run) == {"random"}
    assert boot._programs(replace(run, programs=("mark", "random"))) == {"random", "mark"}
    script = replace(run, workload=("sh", "-c", "mark begin"), files={"/x": b"#!/bin/sh\ngups"})
    assert boot._programs(script) == set()
    root = boot._root(replace(script, programs=("mark",))).bytes()
    assert b"bin/mark\0" in root and b"bin/random\0" not in root


def prepared(tmp_path, machine):
    """A run with inputs that are made up."""
    (tmp_path / "file").write_bytes(b"x")
    made = object.__new__(boot.Prepared)
    made.run, made.machine = Run("small", "stock", ("random",)), machine
    made.image, made.root = tmp_path / "file", b"root"
    made.model = plugin.Plugin(tmp_path / "file", (tmp_path / "file",))
    return made.digest()


def test_all_that_decides_a_result_is_in_its_digest(monkeypatch, tmp_path):
    small = machines.load("small")
    monkeypatch.setattr(emulator, "identity", lambda: b"10.0.2")
    first = prepared(tmp_path, small)
    assert prepared(tmp_path, small) == first
    for what, name, value in (
        (type(small), "cmdline", ("numa=off",)),
        (boot, "SCHEMA", boot.SCHEMA + 1),
        (emulator, "identity", lambda: b"10.0.3"),
    ):
        with monkeypatch.context() as other:
            other.setattr(what, name, value)
            assert prepared(tmp_path, small) != first, name
