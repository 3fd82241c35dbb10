# SPDX-License-Identifier: GPL-2.0
"""Kernels in which pghot is off show nothing of it and promote as ever."""

import pytest

from lab import selftests
from lab.guest import Guest
from lab.tests import guests

pytestmark = pytest.mark.vm


@pytest.fixture(scope="module")
def programs():
    """Directory with the scripts and their helpers."""
    return selftests.build()


@pytest.fixture(scope="module", params=["pghot=off", "CONFIG_PGHOT=n"])
def machine(request, programs):
    """The two-socket machine without pghot, by boot option and by configuration."""
    if request.param == "pghot=off":
        flavour, cmdline = request.getfixturevalue("kernel"), ["pghot=off"]
    else:
        flavour, cmdline = request.getfixturevalue("stock_kernel"), []
    machine = guests.Machine("three-node", flavour, cmdline)
    yield machine
    machine.close()


@pytest.mark.parametrize("name", selftests.names("off.sh"))
def test_off(machine, programs, name):
    guests.run(machine, programs, "off.sh", name)


@guests.again
def test_a_wrong_boot_option_is_one_line_and_off(kernel):
    with Guest("three-node", kernel, ["pghot=fast"]) as guest:
        done = guest.sh("ls -d /sys/kernel/mm/pghot")
    assert done.status != 0
    assert done.warnings == ["pghot: unknown mode 'fast', staying off: use default, precise or off"]
