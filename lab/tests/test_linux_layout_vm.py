# SPDX-License-Identifier: GPL-2.0
"""Which layout the kernel chooses, by the nodes of the top tier and the boot option."""

import pytest

from lab.guest import Guest
from lab.tests import guests

pytestmark = pytest.mark.vm


@pytest.mark.parametrize(
    ("machine", "options", "layout"),
    [
        ("three-node", [], "default"),
        ("three-socket", [], "precise"),
        ("three-socket", ["pghot=default"], "default"),
    ],
)
@guests.again
def test_layout(kernel, machine, options, layout):
    with Guest(machine, kernel, options) as guest:
        done = guest.sh("cat /sys/kernel/mm/pghot/layout; ls -d /sys/kernel/mm/pghot/target*")
    assert done.stdout.split()[0] == layout
    assert len(done.stdout.split()) == 1 + (3 if machine == "three-socket" else 2)
    assert done.warnings == []
