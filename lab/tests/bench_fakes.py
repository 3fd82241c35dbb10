# SPDX-License-Identifier: GPL-2.0
"""Rows of results.json that no run has made."""

from lab import machines
from lab.bench import description
from lab.bench.origin import Origin

ORIGIN = Origin("make bench QUICK=1", "commit 0123456789ab")
EXPERIMENT = """
about = "a test"
machine = "small"
workload = ["random", "--place", "{place}", "--accesses", "4"]
quick = ["random", "--place", "{place}", "--accesses", "1"]
start = "1"
fast = "0"
slow = "1"
decides = "first"
best_mib = [1]
programs = ["mark"]
[document]
title = "a document"
differs = "everything"
figures = [{ contender = "stock-2", text = "5 s" }]
[scale]
memory = 128
time = 26
data = 64
"""
"""What a small experiment's file says."""


def altered(tmp_path, name, old, new):
    """A copy of an experiment's file that says something else in one place."""
    path = tmp_path / f"{name}.toml"
    text = (description.EXPERIMENTS / path.name).read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    return path


def starting_slow(decides=""):
    """How many experiments there are whose data start where the slow bound has them, on nodes
    without CPUs: of a class, or of all."""
    found = set()
    for one in description.experiments():
        cpuless = {
            str(node) for node, has in enumerate(machines.load(one.machine).nodes) if not has.cpus
        }
        if not one.variant and decides in ("", one.decides) and one.start == one.slow:
            found |= {one.name} if set(one.start.split(",")) <= cpuless else set()
    return len(found)


def row(experiment, contender, recovered=None, *, slow=4.0, fast=2.0, **fields):
    """A row of a run that ended; T follows from R."""
    seconds = slow - (slow - fast) * recovered if recovered is not None else 3.0
    return {
        "experiment": experiment,
        "machine": "dram-cxl",
        "contender": contender,
        "error": None,
        "failed": False,
        "seconds": seconds,
        "seconds_by_seed": [seconds],
        "recovered": recovered,
        "score": 504321.7,
        "unit": "keys/s",
        "promoted": 16384,
        "in_fault": None,
        "demoted": 0,
        "demoted_again": 0,
        "seen_promoted": 16384,
        "kernel_seconds": 0.25,
        "recovered_by_seed": [recovered],
        "hog_rate": None,
        "hog_share": None,
        "hog_idle_rate": None,
        "hog_lost_ms": None,
        "detail": {},
        "timeline": [
            {"ms": 50, "pages": [0, 9], "miss_ns": 250.0},
            {"ms": 100, "pages": [9, 0], "miss_ns": 100.0},
        ],
        **fields,
    }


def rows(experiment, *, seeds=1, **shares):
    """The bounds, and contenders with these shares, the same for so many seeds: pghot is its
    default, stock stock-2, twin a control that is like that."""
    names = {"pghot": "pghot-default", "stock": "stock-2", "twin": "off-2"}
    like = {"twin": {"like": "stock-2"}}
    return [
        row(experiment, "fast", 1.0),
        row(experiment, "slow", 0.0),
        *(
            row(
                experiment,
                names.get(name, name),
                share,
                **{"recovered_by_seed": [share] * seeds, **like.get(name, {})},
            )
            for name, share in shares.items()
        ),
    ]
