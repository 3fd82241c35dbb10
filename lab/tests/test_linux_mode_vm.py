# SPDX-License-Identifier: GPL-2.0
"""What the mode of NUMA balancing at boot makes of hint faults and of memory for records."""

import pytest

from lab.guest import Guest
from lab.tests import guests

pytestmark = pytest.mark.vm

_STATE = """
cat /proc/sys/kernel/numa_balancing
cd /sys/kernel/mm/pghot && cat enabled sources/hint_fault/enabled sources/hint_fault/running
cat node2/map_bytes
"""


@pytest.mark.parametrize(
    ("options", "mode"),
    [
        (["numa_balancing=disable"], 0),
        (["numa_balancing=enable"], 1),
        (["sysctl.kernel.numa_balancing=2"], 2),
    ],
)
@guests.again
def test_records_are_kept_for_memory_tiering(kernel, options, mode):
    with Guest("three-node", kernel, options) as guest:
        done = guest.sh(_STATE)
    *state, map_bytes = map(int, done.stdout.split())
    assert state == [mode, 1, 1, int(mode == 2)]
    assert (map_bytes > 0) == (mode == 2)
    assert done.warnings == []
