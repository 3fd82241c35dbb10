# SPDX-License-Identifier: GPL-2.0
"""All CPUs are busy and there is plenty of room: hint faults move pages, none that is bound."""

import pytest

from lab import selftests
from lab.tests import guests

pytestmark = pytest.mark.vm

NAMES = [name for name in selftests.names("policy.sh") if name.endswith("_while_cpus_are_busy")]


@pytest.fixture(scope="module")
def machine(kernel):
    """A machine with more free DRAM than the kernel calls enough."""
    if kernel.flavour == "debug":
        pytest.skip("there is no roomy machine for a debug kernel")
    machine = guests.Machine("roomy", kernel, ["pghot=default"])
    yield machine
    machine.close()


@pytest.mark.parametrize("name", NAMES)
def test_policy(machine, name):
    guests.run(machine, selftests.build(), "policy.sh", name)
