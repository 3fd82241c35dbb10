# SPDX-License-Identifier: GPL-2.0
"""Measured runs, real ones: the same each time, and what can go wrong in them."""

import pytest

from lab.measure import Run, measure

pytestmark = pytest.mark.vm

SHORT = ("random", "--mib", "8", "--accesses", "200000", "--place", "1")


def short(*, setup="", workload=SHORT, **more):
    """A run of less than a guest second."""
    return measure(Run("small", "stock", workload, setup=setup, **more))


@pytest.fixture(scope="module")
def plain(stock_kernel):
    return short()


def test_a_run(plain):
    assert plain.error is None
    assert plain.seconds == pytest.approx(plain.workload["seconds"], rel=1e-3)
    # 8 MiB in a cache of 2 MiB: three of four accesses go to CXL memory of 250 ns.
    assert 0.02 < plain.seconds < 0.1
    assert plain.model["nodes"][1]["loads"] + plain.model["nodes"][1]["stores"] \
        == pytest.approx(300000, rel=0.05)
    assert plain.kernel_seconds > 0
    assert len(plain.model["cpus"]) == 2


def test_the_same_again(plain):
    again = short()
    assert again.model == plain.model
    assert again.workload == plain.workload
    assert again.vmstat == plain.vmstat


def test_the_fast_node_is_faster(plain):
    fast = short(workload=(*SHORT[:-1], "0"))
    assert fast.seconds < 0.7 * plain.seconds


def test_pages_are_counted(stock_kernel):
    counted = short(count_pages=True)
    lines = [line.split() for line in counted.pages.splitlines()]
    area = [int(count) for page, count in lines if int(count) > 50]
    # Every page of the area about as often, which is its share of all misses.
    assert len(area) == 2048
    assert sum(area) == pytest.approx(300000, rel=0.05)


@pytest.mark.parametrize("more, error", [
    ({"workload": ("random", "--mib", "0")}, "the workload failed with status"),
    ({"setup": "echo this went wrong; false"}, "set-up failed: this went wrong"),
    ({"workload": ("random", "--mib", "8", "--place", "7")},
     "the workload failed with status 1: cannot place memory"),
    ({"setup": "echo c >/proc/sysrq-trigger"}, "the guest's kernel reported: Kernel panic"),
    ({"setup": "echo '<4>something new' >/dev/kmsg"},
     "the guest's kernel reported: something new"),
    ({"setup": "sleep 100000", "limit_s": 8}, "the guest did not end within 8 s"),
    ({"setup": "poweroff -f"}, "the guest powered off before the workload ended"),
])
def test_a_failed_run_says_why(stock_kernel, more, error):
    result = short(**more)
    assert result.error is not None and result.error.startswith(error), result.error
