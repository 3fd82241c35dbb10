# SPDX-License-Identifier: GPL-2.0
"""lab/measure/run.py: what tells one run from another."""

import subprocess
import sys
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any

import pytest

from lab import paths
from lab.machines.variation import Variation
from lab.measure import Run

RUN = Run("small", "stock", ("random",), files={"/a": b"1", "/b": b"2"})

OTHERS: dict[str, Any] = {
    "machine": "dram-cxl",
    "kernel": "pghot",
    "workload": ("random", "--mib", "2"),
    "cmdline": ("pghot=off",),
    "setup": "true",
    "programs": ("mark",),
    "files": {"/a": b"1", "/b": b"3"},
    "packages": ("redis-server",),
    "variation": Variation(llc=2.0),
    "timeline_ms": 10,
    "count_pages": True,
    "samples": True,
    "engine": True,
    "profile": True,
    "limit_s": 1.0,
}


@pytest.mark.parametrize("field", [field.name for field in fields(Run)])
def test_each_field_tells_runs_apart(field):
    assert replace(RUN, **{field: OTHERS[field]}).key != RUN.key


def test_words_are_not_run_together():
    assert replace(RUN, workload=("a", "b c")).key != replace(RUN, workload=("a b", "c")).key


def test_equal_runs_have_one_key():
    turned = MappingProxyType({"/b": b"2", "/a": b"1"})
    assert replace(RUN, files=turned).key == RUN.key
    assert hash(RUN.key) == hash(replace(RUN).key)


def test_the_key_is_that_of_another_process_too():
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from lab.measure import Run\nprint(Run('small', 'stock', ('random',)).key)",
        ],
        cwd=paths.ROOT,
        env={"PYTHONHASHSEED": "7", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == Run("small", "stock", ("random",)).key
