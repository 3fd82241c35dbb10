# SPDX-License-Identifier: GPL-2.0
"""The benchmark runs and says what it is meant to; how fast is not tested."""

from __future__ import annotations

import json
import subprocess

import pytest


@pytest.fixture(scope="module")
def figures(build) -> dict:
    """Of a small node: 64 sections of 128 MiB."""
    program = build("cost", "costs") / "cost"
    output = subprocess.run(
        [program, "64", "20000", "3", "2"], check=True, capture_output=True, text=True
    ).stdout
    return json.loads(output)


def test_states_its_conditions(figures: dict) -> None:
    assert figures["node_bytes"] == 64 << 27
    assert "compiler barrier" in figures["rcu_read_lock"]


def check_times(row: dict) -> None:
    for name in ("bare_ns", "record_ns", "ratio"):
        stat = row[name]
        assert 0 < stat["min"] <= stat["median"] <= stat["max"]


@pytest.mark.parametrize("layout", ["default", "precise"])
@pytest.mark.parametrize("way", ["alone", "batch"])
def test_records_that_become_ready(figures: dict, layout: str, way: str) -> None:
    row = figures[layout]["record"]["each_ready"][way]
    check_times(row)
    assert row["share_that_became_ready"] > 0.9


@pytest.mark.parametrize("layout", ["default", "precise"])
@pytest.mark.parametrize("way", ["alone", "batch", "stream"])
def test_records(figures: dict, layout: str, way: str) -> None:
    result = figures[layout]["record"][way]
    assert [row["threads"] for row in result["threads"]] == [1, 2]
    for row in result["threads"]:
        check_times(row)
        assert 0 <= row["share_that_became_ready"] < 0.5
    bar = result["bar"]
    assert bar["met"] == (bar["ratio"] <= bar["at_most"])


@pytest.mark.parametrize("layout", ["default", "precise"])
def test_scans(figures: dict, layout: str) -> None:
    scan = figures[layout]["scan"]
    assert scan["idle_bar"]["met"] in (True, False)
    assert scan["first_in_an_era_ns"]["median"] > 0 and scan["in_an_era_ns"]["median"] > 0
    assert [row["share_of_blocks"] for row in scan["hot"]] == [0.001, 0.01, 0.1]
    for row in scan["hot"]:
        assert row["walk_and_collect_ns"]["median"] > 0
