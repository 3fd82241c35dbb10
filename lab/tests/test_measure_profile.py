# SPDX-License-Identifier: GPL-2.0
"""lab/measure/profile.py: where the time went."""

from lab.measure import profile


def test_profile_by_function():
    functions = profile.symbols(
        "ffffffff81000000 T first\nffffffff81000010 t second\nffffffff82000000 D data\n"
    )
    assert profile.by_function(
        "401000 5\nffffffff81000004 7\nffffffff8100000f 1\nffffffff81000010 2\n", functions
    ) == {"user space": 5, "first": 8, "second": 2}
