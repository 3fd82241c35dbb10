# SPDX-License-Identifier: GPL-2.0
"""lab/measure/transcript.py: what a measured guest wrote."""

import pytest

from lab.measure import transcript

ANSWER = """@@blocks
0 0
0 1
1 32
@@status
0
@@out
{"a": 1}
@@vmstat.begin
pgpromote_success 5
nr_free 7
@@vmstat.end
pgpromote_success 9
nr_free 3
pghot_new 2
@@end
"""


def test_sections():
    found = transcript.sections(ANSWER)
    assert list(found) == ["blocks", "status", "out", "vmstat.begin", "vmstat.end", "end"]
    assert transcript.blocks(found["blocks"]) == {0: {0, 1}, 1: {32}}
    assert transcript.growth(found) == {"pgpromote_success": 4, "nr_free": -4, "pghot_new": 2}


def test_an_answer_that_was_cut_off():
    found = transcript.sections(ANSWER[: ANSWER.index("pgpromote_success 9")])
    assert "end" not in found
    assert transcript.growth(found) == {}
    assert transcript.sections("") == {}


@pytest.mark.parametrize(
    "line, reported",
    [
        ("[    0.5] pci_bus 0000:00: Unknown NUMA node; performance will be reduced", False),
        ("[    0.510189] pci_bus 0000:00: Unknown NUMA node; performance will be reduced", False),
        ("[    1.954685] reboot: Power down", False),
        ("[    1.954685] page_alloc: something new", True),
        ("what a program said", False),
        # Whose time is its instructions, from that the host takes no CPU away.
        ("[    0.000000] tsc: Unable to calibrate against PIT", True),
        ("[    2.510189] workqueue: vmstat_update hogged CPU for >10000us 4 times", True),
    ],
)
def test_warnings(line, reported):
    assert bool(transcript.warnings(f"{line}\n")) is reported


def test_fatal_messages():
    assert (
        transcript.fatal("[    1.000000] Kernel panic - not syncing: x\n")
        == "Kernel panic - not syncing: x"
    )
    assert transcript.fatal("[    1.000000] reboot: Power down\n") is None
