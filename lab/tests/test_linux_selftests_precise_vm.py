# SPDX-License-Identifier: GPL-2.0
"""The same selftests in the precise layout: beside the others, since each guest has but one."""

import pytest

from lab import selftests
from lab.tests import guests

pytestmark = [pytest.mark.vm, pytest.mark.long]

machine = guests.fixture("three-node", "pghot=precise")

ONCE = {
    "age.sh",
    "headroom.sh",
    "modes.sh-access_times_do_not_pass_for_cpus",
    "modes.sh-no_page_is_the_schedulers_when_the_mode_changes",
    "modes.sh-writers_take_turns",
    "scan.sh-period_follows_faults",
}
"""Scripts, and single tests of others, in which it has no part how records are laid out: they ask
about lists of reclaim, watermarks, and marks and periods that are the scheduler's."""


def _tests() -> list[tuple[str, str]]:
    return [
        (script, name)
        for script, name in guests.of_layouts()
        if not {script, f"{script}-{name}"} & ONCE
    ]


def test_what_runs_once_is_there():
    of_layouts = guests.of_layouts()
    assert {one for script, name in of_layouts for one in (script, f"{script}-{name}")} >= ONCE


@pytest.mark.parametrize(("script", "name"), _tests())
def test_selftest(machine, script, name):
    guests.run(machine, selftests.build(), script, name)
