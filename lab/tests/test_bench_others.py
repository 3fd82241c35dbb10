# SPDX-License-Identifier: GPL-2.0
"""What programs on the other CPUs lose, and where that is shown."""

import io

import pytest
from rich.console import Console

from lab.bench import description, documents, matrix, page, report
from lab.measure import Result
from lab.tests import bench_fakes

CONTENDERS = {read.name: read for read in description.contenders()}


def made(*runs):
    """Results of seconds and of what two others were done with per second, each."""
    pages = {"promoted": 0, "demoted_again": 0}
    return [
        Result(
            seconds=seconds,
            # Its last look is some ms before the end.
            hog={"instructions": rate * (seconds - 0.25), "seconds": seconds - 0.25, "cpus": 2},
            model={"pages": pages},
        )
        for seconds, rate in runs
    ]


def row(results, slow):
    (busy,) = description.experiments("redis-busy")
    return matrix.row(matrix.cell(busy, CONTENDERS["stock-2"]), results, [], slow)


def test_what_was_taken_from_others_is_cpu_time():
    # A two-hundredth of two CPUs over 4 s, which as a share is none.
    slow = made((5.0, 2e9))
    found = row(made((4.0, 1.99e9)), slow)
    assert found["hog_share"] == pytest.approx(0.995)
    assert found["hog_lost_ms"] == pytest.approx(40)
    assert row(slow, slow)["hog_lost_ms"] == 0
    # Of each seed beside its own bound, and the mean of these.
    seeds = made((5.0, 2e9), (5.0, 1e9))
    assert row(made((4.0, 1e9), (2.0, 1e9)), seeds)["hog_lost_ms"] == pytest.approx(2000)


def test_without_others_or_a_bound_nothing_is_lost():
    busy, idle = made((4.0, 2e9)), [Result(seconds=4.0, model=made((1.0, 1e9))[0].model)]
    for results, slow in ((busy, []), (busy, idle), (idle, idle), (busy, [Result(error="no")])):
        assert row(results, slow)["hog_lost_ms"] is None
    assert row([Result(error="no")], busy)["hog_lost_ms"] is None


def test_it_is_where_the_figures_are(tmp_path):
    rows = bench_fakes.rows("redis-busy", pghot=0.9, stock=0.8)
    for one, (part, lost) in zip(rows, ((1, 0.0), (1, 0.0), (0.998, 12.34), (0.9996, 2.5))):
        one.update(hog_share=part, hog_lost_ms=lost)
    out = io.StringIO()
    Console(file=out, width=120).print(report.table(rows, 120))
    assert "lost ms" in out.getvalue() and "12.3" in out.getvalue()
    text = documents.results(rows, bench_fakes.ORIGIN)
    assert "| lost ms | pghot-default | stock-2 |" in text
    assert "| redis-busy | 12.3 | 2.5 |" in text
    assert all(len(line) <= 100 for line in text.splitlines() if not line.startswith("|"))
    experiments = description.experiments("redis-busy")
    path = page.write(rows, experiments, list(CONTENDERS.values()), tmp_path / "p.html")
    assert "<td>12.3</td>" in path.read_text(encoding="utf-8")
