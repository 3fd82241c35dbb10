# SPDX-License-Identifier: GPL-2.0
"""CPUs that sample instructions, by the kernel's own driver for AMD's, against what the model
counted."""

import pytest

from lab.host import programs
from lab.machines import load
from lab.measure import Run, measure

pytestmark = pytest.mark.vm


def sampled(*words, machine="dram-cxl", samples=True):
    return measure(Run(machine, "stock", ("ibs", *words), samples=samples))


def counted(result, field):
    return sum(cpu["sampled"][field] for cpu in result.model["cpus"])


@pytest.fixture(scope="module")
def misses(stock_kernel):
    """By two CPUs, of data on both nodes; few ops miss, so that many are tagged."""
    words = ("--place", "0,1", "--cpus", "0,1", "--misses", "--period", "256")
    result = sampled(*words, "--accesses", "2000000")
    assert result.error is None
    return result


def test_addresses_and_sources_are_those_of_the_accesses(misses):
    seen = misses.workload["detail"]
    assert seen["area"] > 15000 and not seen["wrong"] and not seen["lost"]
    assert not seen["own"] and not seen["cache"] and not seen["other"] and not seen["remote"]
    nodes = [sum(cpu["user"]["nodes"][node] for cpu in misses.model["cpus"]) for node in (0, 1)]
    assert seen["cxl"] / seen["area"] == pytest.approx(nodes[1] / sum(nodes), rel=0.02)


def test_latency_is_that_of_the_node(misses):
    seen, described = misses.workload["detail"], load("dram-cxl").latency_ns[0]
    assert [seen["dram_ns"], seen["cxl_ns"]] == pytest.approx(list(described), rel=0.02)


def test_each_sample_is_one_interrupt(misses):
    """None is lost, and none comes twice."""
    made = counted(misses, "made")
    assert made == counted(misses, "interrupts") == misses.workload["detail"]["interrupts"]
    assert all(cpu["sampled"]["made"] > 1000 for cpu in misses.model["cpus"][:2])
    assert not any(cpu["sampled"]["made"] for cpu in misses.model["cpus"][2:])
    # Those of the kernel are left out by the driver.
    assert misses.workload["detail"]["samples"] <= made


def test_most_ops_access_nothing_and_the_period_is_kept(stock_kernel):
    period = 16384
    result = sampled("--place", "1", "--cpus", "0", "--period", f"{period}")
    assert result.error is None
    (cpu,) = [cpu for cpu in result.model["cpus"] if cpu["sampled"]["made"]]
    made = cpu["sampled"]["made"]
    # The kernel's part in which it is on is short: the end of the interrupt's handler. Each
    # period is shorter by a number below 128.
    user = cpu["user"]["instructions"]
    assert user / period < made < (user + 1000 * made) / (period - 128)
    seen = result.workload["detail"]
    assert seen["bare"] > 0.8 * seen["samples"] and seen["samples"] > 0.98 * made


def test_what_was_fetched_ahead_has_missed_nothing(stock_kernel):
    words = ("--place", "1", "--cpus", "0", "--misses", "--period", "256", "--sequential")
    result = sampled(*words, "--accesses", "1000000")
    assert result.error is None
    # One line of a page begins the sequence.
    lines = result.model["nodes"][1]["loads"]
    assert lines > 900000 and result.workload["detail"]["area"] < 1000000 / 256 / 8


def test_cycles_are_time(stock_kernel):
    period = 65536
    result = sampled("--place", "1", "--cpus", "0", "--period", f"{period}", "--cycles")
    assert result.error is None
    # Any instruction: one in 15 accesses the area.
    seen = result.workload["detail"]
    assert seen["area"] > 20 and seen["cxl"] > 0.8 * seen["area"]
    user = result.model["cpus"][0]["user"]
    made = result.model["cpus"][0]["sampled"]["made"]
    assert made == pytest.approx((user["instructions"] + user["ns"]) / period, rel=0.05)


def test_memory_of_another_socket_is_called_so(stock_kernel):
    words = ("--place", "0,2", "--cpus", "4", "--misses", "--period", "256")
    result = sampled(*words, "--accesses", "100000", machine="two-socket-cxl")
    assert result.error is None
    seen, described = result.workload["detail"], load("two-socket-cxl").latency_ns[1]
    assert seen["remote"] == seen["area"] > 400 and not seen["wrong"]
    assert seen["dram_ns"] == pytest.approx(described[0], rel=0.02)
    assert seen["cxl_ns"] == pytest.approx(described[2], rel=0.02)


def test_the_same_again(misses):
    words = ("--place", "0,1", "--cpus", "0,1", "--misses", "--period", "256")
    again = sampled(*words, "--accesses", "2000000")
    assert again.workload == misses.workload
    assert {**again.model, "host": 0} == {**misses.model, "host": 0}


def test_without_it_there_is_none(stock_kernel):
    result = sampled("--accesses", "1000", samples=False)
    assert "this CPU does not sample instructions" in str(result.error)
    run = Run("dram-cxl", "stock", ("random", "--mib", "8", "--accesses", "1000"))
    assert all("sampled" not in cpu for cpu in measure(run).model["cpus"])


RECORDED = """#!/bin/sh
# Debian's perf, of a program whose data are on both nodes.
perf record -q -e ibs_op/l3missonly=1,cnt_ctl=1/ -c 512 -d -o /tmp/recorded -- \\
    random --mib 64 --accesses 1500000 --threads 2 --cpus 0,1 --place 0,1 >/tmp/random || exit 1
perf script -i /tmp/recorded -F data_src 2>/dev/null |
    awk '{ n++ } /RAM/ { ram++ } /CXL/ { cxl++ }
         END { printf "{\\"records\\":%d,\\"ram\\":%d,\\"cxl\\":%d}\\n", n, ram, cxl }' >/tmp/counts
sed "s/\\"detail\\":{/\\"detail\\":{\\"counts\\":$(cat /tmp/counts),/" /tmp/random
"""


def test_perf_records_what_the_model_counted(stock_kernel):
    programs.require("perf", packages={"perf": "linux-perf"})
    run = Run(
        "dram-cxl",
        "stock",
        ("recorded",),
        setup="echo 0 >/proc/sys/kernel/numa_balancing\n",
        programs=("random",),
        packages=("perf",),
        files={"/bin/recorded": RECORDED.encode()},
        samples=True,
    )
    result = measure(run)
    assert result.error is None
    counts = result.workload["detail"]["counts"]
    assert counts["records"] == counted(result, "made") > 500
    nodes = [sum(cpu["user"]["nodes"][node] for cpu in result.model["cpus"]) for node in (0, 1)]
    loads = counts["ram"] + counts["cxl"]
    assert counts["cxl"] / loads == pytest.approx(nodes[1] / sum(nodes), rel=0.02)
