# SPDX-License-Identifier: GPL-2.0
"""Selftests of the sources that are off by default, on the two-socket machine.

What their reports are worth in both layouts the harness tests; here it is what they find.
"""

import pytest

from lab import selftests
from lab.tests import guests

pytestmark = pytest.mark.vm

machine = guests.fixture("three-node", "pghot=default")

ELSEWHERE = [("hotness_unit.sh", "promotes_without_numa_balancing")]
"""Needs a device that only the modelled machine has: test_linux_hotness_unit_vm.py."""
TESTS = [
    (script, name)
    for script in selftests.SOURCES
    for name in selftests.names(script)
    if (script, name) not in ELSEWHERE
]


@pytest.mark.parametrize(("script", "name"), TESTS)
def test_source(machine, script, name):
    guests.run(machine, selftests.build(), script, name)
