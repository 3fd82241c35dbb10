# SPDX-License-Identifier: GPL-2.0
"""Every C test case of harness/unit, as a test of its own, in each build."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

UNIT = Path(__file__).resolve().parent.parent / "unit"
CASE = re.compile(r"^\s*cmocka_unit_test\((\w+)\),$", re.MULTILINE)
DEFINED = re.compile(r"^TEST\((\w+)\)$", re.MULTILINE)

CASES = [
    (source.stem, case)
    for source in sorted(UNIT.glob("test_*.c"))
    for case in CASE.findall(source.read_text())
]


@pytest.mark.parametrize("source", sorted(UNIT.glob("test_*.c")), ids=lambda source: source.stem)
def test_every_case_is_listed(source: Path) -> None:
    text = source.read_text()
    assert DEFINED.findall(text) == CASE.findall(text) != []


@pytest.mark.parametrize("kind", ["plain", "asan"])
@pytest.mark.parametrize("program,case", CASES)
def test_case(build, run, kind: str, program: str, case: str) -> None:
    output = run(build(kind, "unit") / program, case)
    assert f"[       OK ] {case}\n" in output
    assert "[  PASSED  ] 1 test(s)." in output


def test_objects_have_one_name() -> None:
    """Else one that was built by hand would not be built anew when a header of it changed."""
    harness = UNIT.parent
    where = harness.parent / "build" / "harness"
    for words in ([], [f"O={where}"], ["O=../build/harness"]):
        made = subprocess.run(
            ["make", "-C", harness, "-pqR", "clean-nothing", *words],
            check=False, capture_output=True, text=True,
        )  # fmt: skip
        assert f"\nOUT := {where}/plain\n" in made.stdout
