# SPDX-License-Identifier: GPL-2.0
"""Kernel selftests of pghot, in both layouts, on the two-socket machine; not those of sources."""

import pytest

from lab import selftests
from lab.tests import guests

pytestmark = pytest.mark.vm

LAYOUTS = ("default", "precise")
ELSEWHERE = (
    "lib.sh",
    "tiers.sh",
    "blocks.sh",
    "lru.sh",
    "off.sh",
    "soak.sh",
    "offload.sh",
    *selftests.SOURCES,
)
SCRIPTS = sorted(path.name for path in selftests.SOURCE.glob("*.sh") if path.name not in ELSEWHERE)
# No source is on in these: no layout has a part in them.
ONCE = {("modes.sh", "writers_take_turns")}
TESTS = [
    (layout, script, name)
    for layout in LAYOUTS
    for script in SCRIPTS
    for name in selftests.names(script)
    if layout == LAYOUTS[0] or (script, name) not in ONCE
]


@pytest.fixture(scope="module")
def programs():
    """Directory with the scripts and their helpers."""
    return selftests.build()


@pytest.fixture(scope="module")
def machine(request, kernel, programs):
    """The two-socket machine with the kernel under test."""
    machine = guests.Machine("three-node", kernel, [f"pghot={request.param}"])
    yield machine
    machine.close()


@pytest.mark.parametrize(
    ("machine", "script", "name"),
    TESTS,
    ids=[f"{layout}-{script[:-3]}-{name}" for layout, script, name in TESTS],
    indirect=["machine"],
)
def test_selftest(machine, programs, script, name):
    guests.run(machine, programs, script, name)
