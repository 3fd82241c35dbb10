# SPDX-License-Identifier: GPL-2.0
"""Recorders, a consumer and memory hotplug at once; nothing may be lost. Nor may a kick."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize("layout", ["default", "precise"])
@pytest.mark.parametrize(
    "kind,rounds,accesses",
    [
        ("plain", 100, 200_000),
        ("asan", 30, 50_000),
        ("tsan", 60, 20_000),
    ],
)
def test_conservation(build, run, kind: str, layout: str, rounds: int, accesses: int) -> None:
    assert run(build(kind, "concurrent") / "concurrent", layout, rounds, accesses) == ""


@pytest.mark.parametrize("kind", ["plain", "asan", "tsan"])
def test_kicks(build, run, kind: str) -> None:
    assert run(build(kind, "concurrent") / "concurrent_wake", 2) == ""
