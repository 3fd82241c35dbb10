# SPDX-License-Identifier: GPL-2.0
"""The same selftests in the precise layout: beside the others, since each guest has but one."""

import pytest

from lab import selftests
from lab.tests import guests

pytestmark = [pytest.mark.vm, pytest.mark.long]

machine = guests.fixture("three-node", "pghot=precise")

ONCE = {
    ("modes.sh", "access_times_do_not_pass_for_cpus"),
    ("modes.sh", "no_page_is_the_schedulers_when_the_mode_changes"),
    ("modes.sh", "writers_take_turns"),
    ("scan.sh", "period_follows_faults"),
}
"""How records are laid out has no part in these: they ask about switches, and about marks and
periods that are the scheduler's. They take minutes."""


@pytest.mark.parametrize(
    ("script", "name"), [test for test in guests.of_layouts() if test not in ONCE]
)
def test_selftest(machine, script, name):
    guests.run(machine, selftests.build(), script, name)
