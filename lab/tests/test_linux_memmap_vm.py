# SPDX-License-Identifier: GPL-2.0
"""Memory that holds its own page structs: hotplug tests with memmap_on_memory."""

import pytest

from lab import selftests
from lab.tests import guests

pytestmark = pytest.mark.vm

machine = guests.fixture("three-node", "pghot=default", "memory_hotplug.memmap_on_memory=1")


def test_the_kernel_does_so(machine):
    done = machine.sh("cat /sys/module/memory_hotplug/parameters/memmap_on_memory")
    assert done.stdout.strip() == "Y"


@pytest.mark.parametrize("name", selftests.names("hotplug.sh"))
def test_hotplug(machine, name):
    guests.run(machine, selftests.build(), "hotplug.sh", name)
