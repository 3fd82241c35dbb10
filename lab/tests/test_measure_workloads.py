# SPDX-License-Identifier: GPL-2.0
"""lab/measure/workloads.py and compile.py: programs, built for the guest."""

import shutil
import subprocess

import pytest

from lab import paths
from lab.errors import LabError
from lab.measure import compile, plugin, workloads


def test_unknown_workload():
    with pytest.raises(LabError, match="unknown workload 'none': choose one of"):
        workloads.path("none")


def test_programs_are_the_same_wherever_they_are_compiled(tmp_path):
    """Sizes of files in the guest's memory decide where its pages lie."""
    outs = []
    for name in ("here", "elsewhere"):
        tree = tmp_path / name
        shutil.copytree(workloads.SOURCE, tree / "lab" / "workloads")
        shutil.copytree(plugin.SOURCE, tree / "lab" / "memsim")
        shutil.copytree(plugin.DRIVERS, tree / plugin.DRIVERS.relative_to(paths.ROOT))
        outs.append(tmp_path / f"out-{name}")
        for part in ("lab/workloads", "lab/memsim"):
            subprocess.run(
                ["make", "-s", "-j4", "-C", tree / part, f"OUT={outs[-1]}"],
                check=True,
                capture_output=True,
            )
    made = [
        path.name for path in outs[0].iterdir() if path.is_file() and path.suffix in ("", ".so")
    ]
    assert {"random", "hmu", "memsim.so", "freeze.so"} <= set(made)
    for name in made:
        assert (outs[0] / name).read_bytes() == (outs[1] / name).read_bytes(), name


def test_what_another_compiler_made_is_not_taken(tmp_path, monkeypatch):
    monkeypatch.setattr(paths, "CACHE", tmp_path)
    monkeypatch.setattr(
        compile.compiler, "compile_c", lambda source, out, *_: out.mkdir(parents=True)
    )
    first = compile.compiled(plugin.SOURCE)
    assert first == compile.compiled(plugin.SOURCE)
    monkeypatch.setattr(compile.compiler, "identity", lambda: "cc 99")
    assert compile.compiled(plugin.SOURCE) != first
