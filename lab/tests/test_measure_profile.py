# SPDX-License-Identifier: GPL-2.0
"""lab/measure/profile.py: where the time went."""

import pytest

from lab.measure import profile


def test_profile_by_function():
    functions = profile.symbols(
        "ffffffff81000000 T first\nffffffff81000010 t second\nffffffff82000000 D data\n"
    )
    assert profile.by_function(
        "401000 5\nffffffff81000004 7\nffffffff8100000f 1\nffffffff81000010 2\n", functions
    ) == {"user space": 5, "first": 8, "second": 2}


def test_the_kernel_is_not_user_space_where_its_functions_are_unknown():
    assert profile.by_function("401000 5\nffffffff81000004 7\n", []) == {
        "user space": 5,
        "kernel": 7,
    }
    first = [(0xFFFFFFFF81000010, "first")]
    assert profile.by_function("ffffffff81000004 7\n", first) == {"kernel": 7}


@pytest.mark.parametrize("place", ["System.map", "arch/x86/boot/System.map"])
def test_functions_are_named_as_the_kernels_tree_has_them(tmp_path, place):
    image = tmp_path / "arch/x86/boot/bzImage"
    image.parent.mkdir(parents=True)
    taken = "ffffffff81000004 7000000\n"
    assert profile.show(taken, str(image)) == (
        "       7.000 ms  kernel\n"
        f"There is no System.map with {image}: functions of the kernel have no names."
    )
    (tmp_path / place).write_text("ffffffff81000000 T first\n", encoding="ascii")
    assert profile.show(taken, str(image)) == "       7.000 ms  first"
