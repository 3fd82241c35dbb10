# SPDX-License-Identifier: GPL-2.0
"""lab/measure/machine_time.py, lab/machines/guest_time.py: to guest time and back."""

import json
import re
from dataclasses import asdict, replace

import pytest

from lab import machines, measure, paths
from lab.bench.scale import Scale
from lab.machines.guest_time import in_guest_time
from lab.measure import Result, Run, boot, plugin
from lab.measure.machine_time import RATES, TIMES, in_machine_time, is_time
from lab.tests.test_machines import GOOD

CLOCKED = GOOD.replace(
    "share = 16", "share = 2, clock = 4, dma = { channels = 3, setup_ns = 7, MiBps = 400 }"
)
MACHINE = machines.parse(CLOCKED)["m"]


def test_all_times_and_bandwidths_reach_the_model(tmp_path):
    plain = machines.parse(CLOCKED.replace("clock = 4, ", ""))["m"]
    now, then = (
        plugin.config(one, tmp_path, timeline_ms=50).splitlines() for one in (MACHINE, plain)
    )

    def values(lines, key):
        return [list(map(int, line.split()[1:])) for line in lines if line.split()[0] == key]

    # Numbers behind each key: which are times, and which are rates.
    told = {
        "timeline_ms": ((0,), ()),
        "llc": ((2, 3), ()),
        "tlb": ((3, 4), ()),
        "node": ((), (1,)),
        "path": ((2,), (3,)),
        "dma": ((1,), (2,)),
        "mmio": ((0, 1), ()),
        "ipi": ((0, 1), ()),
    }
    same = {line.split()[0] for line in now} - told.keys()
    assert same == {"output", "cpu", "hmu", "range"}
    assert [line for line in now if line.split()[0] in same] == [
        line for line in then if line.split()[0] in same
    ]
    for key, (times, rates) in told.items():
        for ours, plainly in zip(values(now, key), values(then, key), strict=True):
            for at, (value, before) in enumerate(zip(ours, plainly, strict=True)):
                want = before * 4 if at in times else before / 4 if at in rates else before
                assert value == pytest.approx(want, abs=0.5 if at in rates else 0), (key, at)


def test_the_kernel_is_told_what_is_described():
    assert machines.qemu_args(MACHINE) == machines.qemu_args(
        machines.parse(CLOCKED.replace("clock = 4, ", ""))["m"]
    )


def test_a_machine_in_guest_time_is_there():
    guest = in_guest_time(MACHINE)
    assert guest.clock == 1 and in_guest_time(guest) == guest
    assert in_guest_time(machines.load("three-node")) == machines.load("three-node")


def test_results_are_in_the_machines_time():
    model = {
        "seconds": 2.0,
        "nodes": [{"node": 1, "loads": 40, "ns": 100, "wait_ns": 8}],
        "cpus": [{"cpu": 0, "kernel": {"instructions": 12, "ns": 40, "walk_ns": 4}, "idle_ns": 8}],
        "timeline": [{"ns": 400, "nodes": [{"pages": 4, "user": {"misses": 4, "ns": 40}}]}],
    }
    tenants = [{"name": "a", "score": 3.0, "unit": "MB/s", "p99_us": 6.0, "promoted": 4}]
    detail = {"latency": [[400.0, 800.0]], "bandwidth": [25.0], "folios": 4, "tenants": tenants}
    workload = {"seconds": 2.0, "score": 5.0, "unit": "GB/s", "verified": True, "detail": detail}
    raw = Result(seconds=2.0, kernel_seconds=1.0, workload=workload, model=model, profile="ff 40\n")
    assert in_machine_time(raw, 1) is raw
    got = in_machine_time(raw, 4)
    assert (got.seconds, got.kernel_seconds, got.score, got.profile) == (0.5, 0.25, 20.0, "ff 10\n")
    assert got.workload["seconds"] == 0.5 and got.workload["verified"] is True
    assert got.workload["detail"] == {
        "latency": [[100.0, 200.0]],
        "bandwidth": [100.0],
        "folios": 4,
        "tenants": [{"name": "a", "score": 12.0, "unit": "MB/s", "p99_us": 1.5, "promoted": 4}],
    }
    assert got.model == {
        "seconds": 0.5,
        "nodes": [{"node": 1, "loads": 40, "ns": 25, "wait_ns": 2}],
        "cpus": [{"cpu": 0, "kernel": {"instructions": 12, "ns": 10, "walk_ns": 1}, "idle_ns": 2}],
        "timeline": [{"ns": 100, "nodes": [{"pages": 4, "user": {"misses": 4, "ns": 10}}]}],
        "instruction_ns": 0.25,
    }
    # What others get done is told in guest time.
    hog = {"instructions": 3e9, "seconds": 2.05, "cpus": 2}
    assert in_machine_time(replace(raw, hog=hog), 4).hog_rate == 1.5e9
    one = replace(raw, workload={"score": 8.0, "unit": "ns"})
    assert in_machine_time(one, 4).score == 2.0
    assert in_machine_time(replace(raw, workload={"score": 8.0, "unit": "pages"}), 4).score == 8.0
    assert in_machine_time(Result(error="no"), 4) == Result(error="no")


def test_each_time_of_a_workload_is_known_by_its_name():
    """Counts are whole numbers, and what is printed with a point has a dimension."""
    found = set()
    for path in (paths.ROOT / "lab" / "workloads").rglob("*.c"):
        text = path.read_text(encoding="utf-8")
        found |= set(re.findall(r'\\"(\w+)\\":\[*%\.\d+[fg]', text))
    assert {"seconds", "p99_us", "cpu_ns"} <= found
    # A score goes by its unit; a share has none.
    dimensionless = {"score", "first_fifth"}
    assert {name for name in found if not is_time(name) and name not in RATES} == dimensionless
    assert not set(TIMES) & set(RATES)


def test_what_is_kept_is_converted_too(tmp_path, monkeypatch):
    class Known:
        """A run whose result is there."""

        machine = MACHINE

        def __init__(self, _run):
            pass

        @staticmethod
        def digest():
            return "known"

    monkeypatch.setattr(measure, "Prepared", Known)
    monkeypatch.setattr(measure, "cached", lambda key: tmp_path / key)
    kept = Result(seconds=2.0, workload={"score": 1.0, "unit": "GB/s"})
    (tmp_path / "known").write_text(json.dumps(asdict(kept)), encoding="utf-8")
    got = measure.measure(Run("m", "stock", ("random",)), reuse=True)
    assert (got.seconds, got.score) == (0.5, 4.0)
    assert boot.Prepared is not Known


def test_constants_are_those_of_the_machines_time():
    scale = Scale(memory=512, time=20, data=256)
    assert scale.in_guest_time(1) == scale
    assert scale.in_guest_time(4).hot_ms() == 4 * scale.hot_ms()
