# SPDX-License-Identifier: GPL-2.0
"""Where hint faults tell of other memory, page tables are looked at: a modelled machine."""

import pytest

from lab.tests.bench_runs import by_kernel, runs_of

pytestmark = pytest.mark.vm

_HOT = 96 << 8
"""Pages of each of the two hot sets of hostile-alternate."""


def test_what_hint_faults_tell_of_is_looked_at(kernel):
    # Two turns: the first hot set is what the scan finds as it begins.
    run = runs_of("hostile-alternate", "pghot-default", quick=True)[0]
    done = by_kernel(kernel, run, "how long a look takes")
    # Of the second one the scan finds nothing yet: it has used up its budget.
    assert done.vmstat["pghot_recorded_page_table"] > 1.4 * _HOT
