# SPDX-License-Identifier: GPL-2.0
"""A memory block that does not get offline: nobody else waits for that."""

import pytest

from lab import selftests
from lab.tests import guests

pytestmark = [pytest.mark.vm]

machine = guests.fixture("three-node", "pghot=default")

_HOTPLUG = (
    "do_migrate_range: [0-9]+ callbacks suppressed$|migrating pfn [0-9a-f]+ failed|page: |memcg:|"
    "anon flags: |raw: |page dumped because: migration failure$"
)
"""What memory hotplug says of a page that cannot move, line by line."""


@pytest.mark.parametrize("name", selftests.names("stuck.sh"))
def test_selftest(machine, name):
    guests.run(machine, selftests.build(), "stuck.sh", name, stock=_HOTPLUG)
