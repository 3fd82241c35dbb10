# SPDX-License-Identifier: GPL-2.0
"""All sources at once, and everything that can happen to memory meanwhile."""

import os

import pytest

from lab import selftests
from lab.tests import guests

pytestmark = pytest.mark.vm

MINUTES = float(os.environ.get("PGHOT_SOAK_MINUTES") or 0.5)
"""Of guest time; `make soak` asks for more."""


def test_contents_and_records_last(kernel):
    seconds = round(60 * MINUTES)
    machine = guests.Machine("three-node", kernel, ["pghot=default"])
    machine.prepare += f"export PGHOT_TEST_SOAK={seconds}\n"
    try:
        guests.run(
            machine,
            selftests.build(),
            "soak.sh",
            "contents_and_records_last",
            limit=seconds + 900,
            on_line=lambda line: print(line, flush=True),
        )
    finally:
        machine.close()
