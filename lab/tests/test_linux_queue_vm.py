# SPDX-License-Identifier: GPL-2.0
"""Much is found at once, and moving it takes longer than the window: a modelled machine."""

import pytest

from lab.tests.bench_runs import by_kernel, runs_of

pytestmark = pytest.mark.vm

# As shipped. The scale has it find less at once.
_FINDS_MUCH = "echo 10 >/sys/kernel/mm/pghot/sources/page_table/cpu_permille"


@pytest.mark.parametrize("name", ["random-file", "random-anon-busy"])
def test_what_only_waits_for_its_turn_is_moved_all(kernel, name):
    run = runs_of(name, "pghot-default-page_table")[0]
    done = by_kernel(kernel, run, "how long moving takes", _FINDS_MUCH)
    # All of it is in use all the time. Where all CPUs are busy, the thread has a part of one.
    assert done.vmstat["pghot_moved"] > 16000
    assert done.vmstat["pghot_skip_stale"] < done.vmstat["pghot_moved"] / 50
