# SPDX-License-Identifier: GPL-2.0
"""What is said of experiments' memory, against the guest's kernel."""

import tomllib
from dataclasses import replace

import pytest

from lab.bench import description
from lab.measure import measure
from lab.tests.bench_runs import runs_of

pytestmark = pytest.mark.vm

_LARGEST = b"""#!/bin/sh
# What one process has mapped, anonymous memory or files, at most and at any time. Who ended
# while the shell waited for another one is unknown to "wait".
{ "$@" >/run/said 2>&1; echo $? >/run/ended; } &
largest=0
while [ ! -s /run/ended ]; do
	kib=$(grep -hE '^Rss(Anon|File):' /proc/[0-9]*/status 2>/dev/null |
		awk '$2 > n { n = $2 } END { print n + 0 }')
	[ "$kib" -le $largest ] || largest=$kib
	usleep 10000
done
[ "$(cat /run/ended)" = 0 ] || { tail -n 1 /run/said >&2; exit 1; }
echo "{\\"verified\\": true, \\"kib\\": $largest}"
"""
_LITTLE = {
    "--accesses": "20000",
    "--loops": "1",
    "--phase-loops": "1,2,1",
    "--queries": "1",
    "--requests": "64",
    "--searches": "1",
    "--updates": "20000",
}
"""Words that say how much is done, and not to how much memory."""


def _stated() -> list[str]:
    """Experiments whose file states it, one for each program and size."""
    found: dict[tuple[str, int], str] = {}
    for path in sorted(description.EXPERIMENTS.glob("*.toml")):
        table = tomllib.loads(path.read_text(encoding="utf-8"))
        words = tuple(table["workload"])
        # A file that is read and not mapped is of no process: nothing there is scanned.
        mapped = words[0] != "readers" or "--keep" in words
        if mapped and "unbounded" not in table and "data" in table.get("scale", {}):
            found.setdefault((words[0], table["scale"]["data"]), path.stem)
    return sorted(found.values())


def test_what_has_to_be_stated_is():
    assert {"redis", "sqlite", "readers-phases", "tenants", "sockets-full"} <= set(_stated())


@pytest.mark.parametrize("name", _stated())
def test_the_largest_process_has_as_much_as_it_says(name, stock_kernel):
    """At full length, which the scale of short runs goes by too, and with little work."""
    (read,) = description.experiments(name)
    run = runs_of(name, "slow")[0]
    words = run.workload
    little = (_LITTLE.get(option, word) for option, word in zip(("", *words), words))
    done = measure(
        replace(
            run,
            workload=("sh", "/largest", *little),
            files={"/largest": _LARGEST},
            programs=(*run.programs, words[0]),
        )
    )
    assert done.error is None
    assert done.workload["kib"] / 1024 == pytest.approx(read.scale.data, rel=0.2)


_BETWEEN = b"""#!/bin/sh
# Of a node of DRAM, how much lies between the watermarks that promotion goes by.
awk '
	/^Node 0/	{ first = 1 }
	/^Node [1-9]/	{ first = 0 }
	first && $1 == "high"	{ between -= $2 }
	first && $1 == "promo"	{ between += $2 }
	first && $1 == "managed" { all += $2 }
	END { printf "{\\"verified\\": true, \\"share\\": %.6f}\\n", between / all }
' /proc/zoneinfo
"""


def _between_watermarks(name: str) -> float:
    run = runs_of(name, "stock-2")[0]
    done = measure(replace(run, workload=("sh", "/between"), files={"/between": _BETWEEN}))
    # Which is no error here.
    assert done.error == "the workload had no measured part"
    return done.workload["share"]


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("pmbench-normal", 0.011, 0.013),
        ("tenants", 0.0015, 0.0025),
        ("gups-full", 0.0015, 0.0025),
        # What any node of some GiB has, by vm.watermark_scale_factor.
        ("pmbench-normal-watermarks", 0.0009, 0.0011),
        ("hostile-alternate", 0.0015, 0.0025),
        ("hostile-alternate-apart", 0.0095, 0.0105),
        # A quarter of what is kept free is more.
        ("pmbench-normal-apart", 0.011, 0.013),
    ],
)
def test_watermarks_are_as_far_apart_as_is_said(name, low, high, stock_kernel):
    assert low < _between_watermarks(name) < high
