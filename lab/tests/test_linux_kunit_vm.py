# SPDX-License-Identifier: GPL-2.0
"""The kernel's own unit tests (KUnit) of pghot and of copy engines, run through debugfs."""

import re

import pytest

from lab import paths
from lab.tests import guests

pytestmark = pytest.mark.vm

_RUN = """
cd /sys/kernel/debug/kunit || exit
for suite in pghot* dcbm; do
	echo 1 >"$suite/run" || exit
	cat "$suite/results" || exit
done
"""


def _in_source():
    """(suite, case) of every KUnit case in the overlay."""
    found = []
    for path in sorted((paths.ROOT / "linux").glob("**/*_kunit.c")):
        text = path.read_text(encoding="utf-8")
        (suite,) = re.findall(r'kunit_suite \w+ = \{\n\t\.name = "(pghot\w*|dcbm)"', text)
        found += [
            (suite, case) for case in re.findall(r"^\tKUNIT_CASE\w*\((\w+)", text, re.MULTILINE)
        ]
    return found


CASES = _in_source()


def parse(text):
    """{(suite, case): "ok", "not ok" or "skipped"}.

    Suites are indented by four spaces, the parameters of a case by eight.
    """
    found, suite = {}, None
    for line in text.splitlines():
        if match := re.match(r" {4}# Subtest: (\S+)", line):
            suite = match[1]
        elif match := re.match(r" {4}(ok|not ok) \d+ (\S+)(.*)", line):
            verdict = "skipped" if "# SKIP" in match[3] else match[1]
            found[suite, match[2]] = verdict
    return found


def test_results_are_read():
    text = """KTAP version 1
1..1
    KTAP version 1
    # Subtest: pghot_record
    1..3
    ok 1 pack
        KTAP version 1
        # Subtest: ages
        ok 1 young
        not ok 2 old
    # ages: pass:1 fail:1 skip:0 total:2
    not ok 2 ages
    ok 3 classes # SKIP no classes
# pghot_record: pass:1 fail:1 skip:1 total:3
not ok 1 pghot_record
"""
    assert parse(text) == {
        ("pghot_record", "pack"): "ok",
        ("pghot_record", "ages"): "not ok",
        ("pghot_record", "classes"): "skipped",
    }


@pytest.fixture(scope="module")
def results(kernel):
    """What every suite said, run once."""
    machine = guests.Machine("three-node", kernel, [])
    done = machine.sh(_RUN)
    machine.close()
    return done


@pytest.mark.parametrize(
    ("suite", "case"),
    CASES,
    ids=[f"{suite.removeprefix('pghot_')}-{case}" for suite, case in CASES],
)
def test_kunit(results, suite, case):
    assert parse(results.stdout).get((suite, case)) == "ok", results.stdout + results.stderr


def test_suites_end_well(results):
    assert results.status == 0, results.stderr
    assert not results.warnings, "\n".join(results.warnings)
    # None that the source above does not show.
    assert set(parse(results.stdout)) == set(CASES)
