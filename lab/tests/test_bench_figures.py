# SPDX-License-Identifier: GPL-2.0
"""lab/bench/figures.py and origin.py: numbers as people write them, and what made them."""

import argparse
import re
import subprocess

import pytest

from lab import paths
from lab.bench import figures, origin
from lab.bench.matrix import best_pages, recovered
from lab.tests import bench_fakes


def test_nothing_is_a_dash_and_zero_has_no_sign():
    assert figures.figure(None, ".2f") == "-"
    assert figures.figure(-0.001, ".2f") == "0.00" and figures.figure(0.0, ".2f") == "0.00"
    assert figures.figure(-0.25, ".2f") == "-0.25" and figures.figure(0, ",") == "0"
    assert figures.share(None) == figures.score(None, "keys/s") == figures.count(None) == "-"


@pytest.mark.parametrize(
    "value, unit, text",
    [
        (504321.7, "keys/s", "504,000 keys/s"),
        (12345678.0, "TEPS", "12,300,000 TEPS"),
        (12.345, "GB/s", "12.3 GB/s"),
        (0.012345, None, "0.0123"),
        (999.96, "MB/s", "1,000 MB/s"),
        (-504321.7, None, "-504,000"),
        (0, "rows/s", "0.00 rows/s"),
    ],
)
def test_scores_have_three_digits_and_no_powers_of_ten(value, unit, text):
    assert figures.score(value, unit) == text


def test_other_figures():
    assert figures.count(16384) == "16,384"
    assert figures.seconds(4.5204) == "4.520"
    assert figures.late(1.194) == "1.19"
    assert figures.harm(-0.25) and not figures.harm(-0.001) and not figures.harm(None)


def test_the_delay():
    # 3 s instead of 2 s, where slow memory makes 4 s of it: half is recovered.
    rows = bench_fakes.rows("redis", pghot=0.5, stock=-0.25)
    rows.append(bench_fakes.row("movepages-4k", "stock-2"))
    late = figures.delays(rows)
    assert late["redis", "", "pghot-default"] == 2.0
    assert late["redis", "", "stock-2"] == 5.0
    assert late["redis", "", "fast"] == 0.0 and late["redis", "", "slow"] == 4.0
    assert late["movepages-4k", "", "stock-2"] is None


def test_the_delay_is_against_the_bound_of_the_same_model():
    rows = [
        {**bench_fakes.row("redis", name, share, slow=slow), "variation": model}
        for model, slow in (("a", 4.0), ("b", 8.0))
        for name, share in (("slow", 0.0), ("stock-2", 0.5))
    ]
    late = figures.delays(rows)
    assert late["redis", "a", "stock-2"] == 2.0 and late["redis", "b", "stock-2"] == 4.0


def options(**given):
    return argparse.Namespace(
        **{"quick": False, "fresh": True, "docs": True, "experiment": None, "contender": None}
        | given
    )


def test_the_command_is_what_the_results_depend_on():
    assert origin.of("bench", options()).command == "make bench"
    asked = options(quick=True, experiment="redis,gups", contender="stock-2")
    assert (
        origin.of("bench", asked, contender="stock-2").command
        == "make bench QUICK=1 EXPERIMENT=redis,gups"
    )


def git(where, *words):
    subprocess.run(
        ["git", "-c", "user.name=x", "-c", "user.email=x@y", *words],
        cwd=where,
        check=True,
        capture_output=True,
    )


def test_the_commit_says_whether_what_is_measured_was_edited(tmp_path, monkeypatch):
    monkeypatch.setattr(origin.paths, "ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.setattr(origin.edit, "unsaved", list)
    assert origin.commit() == "unknown commit"
    git(tmp_path, "init", "-q")
    (tmp_path / "linux").mkdir()
    (tmp_path / "linux" / "policy.c").write_text("a\n", encoding="utf-8")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "x")
    clean = origin.commit()
    assert clean.startswith("commit ") and "edited" not in clean
    # Documents are written by what asks.
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "bench.md").write_text("a\n", encoding="utf-8")
    assert origin.commit() == clean
    # The kernel is built with edits of its built tree, which git does not see.
    monkeypatch.setattr(origin.edit, "unsaved", lambda: ["mm/pghot/policy.c"])
    assert origin.commit() == f"{clean}, edited"
    monkeypatch.setattr(origin.edit, "unsaved", list)
    (tmp_path / "linux" / "policy.c").write_text("b\n", encoding="utf-8")
    assert origin.commit() == f"{clean}, edited"


def test_all_that_measures_is_looked_at_for_edits():
    imported = {
        found
        for path in (paths.ROOT / "lab" / "measure").glob("*.py")
        for found in re.findall(r"^(?:from|import) (lab|pghot)\b", path.read_text(), re.MULTILINE)
    }
    assert imported <= set(origin._MEASURED)


def test_without_git_the_commit_is_not_known(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert origin.commit() == "unknown commit"


def test_best_pages_are_the_hottest_on_the_socket_that_misses_them():
    pages = "10 5 0\n11 1 1\n1f 2 7\n20 0 3\n"
    assert best_pages(pages, {0: 1, 3: 1}) == b"10 0\n1f 3\n"
    # Each node takes what it can hold and no more.
    assert best_pages("1 9 0\n2 8 0\n3 7 0\n4 1 0\n", {0: 2, 3: 1}) == b"1 0\n2 0\n3 3\n"


def test_recovered():
    assert recovered(2.0, 1.0, 3.0) == 0.5
    assert recovered(4.0, 1.0, 3.0) == -0.5
    assert recovered(2.0, None, 3.0) is None
    assert recovered(2.0, 1.0, 1.0) is None and recovered(2.0, 3.0, 1.0) is None
