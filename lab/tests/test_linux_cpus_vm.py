# SPDX-License-Identifier: GPL-2.0
"""A node's thread keeps to the CPUs next to the node, as they come and go."""

import pytest

from lab.guest import Guest
from lab.tests import guests

pytestmark = pytest.mark.vm

# CPUs 0 and 1 are next to node 2, the others are the other socket's.
_CPUS = """
cd /sys/devices/system/cpu
for cpu in %s; do echo %d >cpu$cpu/online || exit 1; done
pid=$(cat /sys/kernel/mm/pghot/node2/kmigrated)
sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' "/proc/$pid/status"
"""


def allowed(guest, cpus, online):
    """CPUs that the thread may run on once these CPUs came or went."""
    done = guest.sh(_CPUS % (" ".join(str(cpu) for cpu in cpus), online))
    assert done.status == 0, done.stderr
    assert done.warnings == []
    return done.stdout.strip()


@guests.again
def test_a_thread_follows_cpus_that_come_after_boot(kernel):
    with Guest("three-node", kernel, ["maxcpus=1"]) as guest:
        assert allowed(guest, [], 1) == "0"
        assert allowed(guest, [2, 3], 1) == "0"
        assert allowed(guest, [1], 1) == "0-1"


@guests.again
def test_a_thread_follows_cpus_that_come_back(kernel):
    with Guest("three-node", kernel, []) as guest:
        # Up to now it was parked.
        assert guest.sh("echo 2 >/proc/sys/kernel/numa_balancing").status == 0
        assert allowed(guest, [], 1) == "0-1"
        allowed(guest, [1], 0)
        assert allowed(guest, [1], 1) == "0-1"
