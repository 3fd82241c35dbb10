# SPDX-License-Identifier: GPL-2.0
"""Much is found at once, and moving it takes longer than the window: a modelled machine."""

from dataclasses import replace

import pytest

from lab.measure import measure
from lab.tests.bench_runs import runs_of

pytestmark = pytest.mark.vm

# As shipped. The scale has it find less at once.
_FINDS_MUCH = "echo 10 >/sys/kernel/mm/pghot/sources/page_table/cpu_permille"


@pytest.mark.parametrize("name", ["random-file", "random-anon-busy"])
def test_what_only_waits_for_its_turn_is_moved_all(kernel, name):
    if kernel.flavour == "debug":
        pytest.skip("how long moving takes a debug kernel changes")
    run = runs_of(name, "pghot-default-page_table")[0]
    setup = f"{run.setup}\n{_FINDS_MUCH}"
    done = measure(replace(run, kernel=str(kernel.bzimage), setup=setup))
    assert done.error is None
    # All of it is in use all the time. Where all CPUs are busy, the thread has a part of one.
    assert done.vmstat["pghot_moved"] > 16000
    assert done.vmstat["pghot_skip_stale"] < done.vmstat["pghot_moved"] / 50
