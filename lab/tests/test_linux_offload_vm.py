# SPDX-License-Identifier: GPL-2.0
"""Selftests of copy engines for page migration, on the two-socket machine."""

import pytest

from lab import selftests
from lab.tests import guests

pytestmark = pytest.mark.vm

machine = guests.fixture("three-node")

SCRIPT = "offload.sh"


@pytest.mark.parametrize("name", selftests.names(SCRIPT))
def test_offload(machine, name):
    guests.run(machine, selftests.build(), SCRIPT, name)
