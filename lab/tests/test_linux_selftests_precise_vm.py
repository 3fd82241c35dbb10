# SPDX-License-Identifier: GPL-2.0
"""The same selftests in the precise layout: beside the others, since each guest has but one."""

import pytest

from lab import selftests
from lab.tests import guests

pytestmark = [pytest.mark.vm, pytest.mark.long]

machine = guests.fixture("three-node", "pghot=precise")

ONCE = {("modes.sh", "writers_take_turns")}
"""No source is on in these: no layout has a part in them."""


@pytest.mark.parametrize(
    ("script", "name"), [test for test in guests.of_layouts() if test not in ONCE]
)
def test_selftest(machine, script, name):
    guests.run(machine, selftests.build(), script, name)
