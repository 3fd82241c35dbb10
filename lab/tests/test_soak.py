# SPDX-License-Identifier: GPL-2.0
"""How long memory is troubled; that itself is in test_linux_soak_vm.py."""

import pytest

from lab import soak
from lab.errors import LabError


def test_minutes_are_a_time():
    assert soak.minutes("20") == 20
    assert soak.minutes("0.5") == 0.5


@pytest.mark.parametrize("text", ["", "0", "-1", "nan", "inf", "20 m", "1e9"])
def test_what_is_no_time_is_refused(text):
    with pytest.raises(LabError, match="MINUTES="):
        soak.minutes(text)
