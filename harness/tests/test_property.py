# SPDX-License-Identifier: GPL-2.0
"""The kernel's code against the plain model: random operation sequences."""

from __future__ import annotations

import pytest

SEQUENCES = 2000
OPERATIONS = 400


# Seeds are consecutive numbers from here on, one a sequence.
@pytest.mark.parametrize("seed", [1, 100_000, 200_000, 300_000])
@pytest.mark.parametrize("kind", ["plain", "asan"])
@pytest.mark.parametrize("what", ["map", "policy"])
def test_random_operations(build, run, what: str, kind: str, seed: int) -> None:
    assert run(build(kind, "property") / "property", what, seed, SEQUENCES, OPERATIONS) == ""


@pytest.mark.parametrize("kind", ["plain", "asan"])
def test_long_sequences(build, run, kind: str) -> None:
    assert run(build(kind, "property") / "property", "map", 400_000, 20, 20_000) == ""


# What the fuzzer found once, and when.
KNOWN = {
    "a clock that is behind, after the group has entered an era": (
        "map 4030303030ff0000001effffffff000000303030303030303030303030ffffff00"
    ),
}


@pytest.mark.parametrize("operations", KNOWN.values(), ids=KNOWN)
def test_what_was_found_once(build, run, operations: str) -> None:
    run(build("plain", "property") / "property", *operations.split())


@pytest.mark.parametrize("what,runs", [("map", 10_000), ("policy", 100_000)])
def test_fuzz(build, run, tmp_path, what: str, runs: int) -> None:
    output = run(
        build("fuzz", "fuzzers") / f"fuzz_{what}",
        f"-runs={runs}",
        "-seed=1",
        "-max_len=1601",
        "-len_control=0",
        f"-artifact_prefix={tmp_path}/",
        tmp_path,
    )
    assert f"Done {runs} runs" in output
