# SPDX-License-Identifier: GPL-2.0
"""Kernel selftests of pghot in the default layout, on the two-socket machine; not those of
sources."""

import pytest

from lab import selftests
from lab.tests import guests

pytestmark = [pytest.mark.vm, pytest.mark.long]

machine = guests.fixture("three-node", "pghot=default")


@pytest.mark.parametrize(("script", "name"), guests.of_layouts())
def test_selftest(machine, script, name):
    guests.run(machine, selftests.build(), script, name)
