# SPDX-License-Identifier: GPL-2.0
"""lab/bench/page.py: how contenders are held against each other on the page."""

import re

import pytest

from lab.bench import description, overview, page
from lab.tests import bench_fakes

OURS = "pghot-default"


def written(tmp_path, rows):
    """The page of these rows, with all that is known of their experiments."""
    names = ",".join(dict.fromkeys(row["experiment"] for row in rows))
    path = tmp_path / "p.html"
    page.write(rows, description.experiments(names), description.contenders(), path)
    return path.read_text(encoding="utf-8")


def standings(text):
    """Lines of the table of contenders, by their names, without what they are."""
    table = text.partition("<h2>The contenders")[2].partition("</table>")[0]
    lines = [re.findall(r"<td[^>]*>(?:<b>)?([^<]*)", line) for line in table.split("<tr")]
    return {line[0]: line[1:-1] for line in lines if line}


def test_a_contender_is_held_against_pghot_in_the_same_experiments(tmp_path):
    """off-2 takes part in the easy one alone: its median stood above pghot's."""
    rows = [
        *bench_fakes.rows("redis", pghot=0.9, stock=0.85, twin=0.8),
        *bench_fakes.rows("gups-full", pghot=0.2, stock=0.1),
    ]
    assert standings(written(tmp_path, rows)) == {
        # R, pghot's, the lowest, the delay, pghot's, how many.
        "pghot-default": ["0.55", "0.55", "0.20", "1.80", "1.80", "2"],
        "stock-2": ["0.47", "0.55", "0.10", "2.10", "1.80", "2"],
        "off-2": ["0.80", "0.90", "0.80", "0.80", "0.40", "1"],
    }


def test_what_tiering_does_not_decide_is_not_in_a_median(tmp_path):
    still = {"promoted": 0, "seen_promoted": 0, "begins_slow": True}
    rows = [
        *bench_fakes.rows("redis", pghot=0.9, stock=0.5),
        # A variant, data in DRAM from the start, and what no page was promoted for.
        *(
            {**row, "variant_of": "redis"}
            for row in bench_fakes.rows("redis-2cpu", pghot=0.1, stock=0.1)
        ),
        *bench_fakes.rows("idle", pghot=1.0, stock=1.0),
        *({**row, **still} for row in bench_fakes.rows("readers-7", pghot=0.3, stock=0.3)),
        # Without pghot there is nothing to hold it against.
        *bench_fakes.rows("sqlite", stock=0.2),
    ]
    assert standings(written(tmp_path, rows)) == {
        "pghot-default": ["0.90", "0.90", "0.90", "0.40", "0.40", "1"],
        "stock-2": ["0.50", "0.90", "0.50", "2.00", "0.40", "1"],
    }
    assert standings(written(tmp_path, bench_fakes.rows("idle", pghot=1.0, stock=1.0))) == {}


@pytest.mark.parametrize("stock, twin, best", [(0.5, 0.8, "0.80"), (0.8, 0.5, "0.80")])
def test_stock_linux_is_at_its_best_wherever_it_is_one_figure(tmp_path, stock, twin, best):
    """As in the tables: in the picture, and in what is said before a part is opened."""
    rows = bench_fakes.rows("redis", pghot=0.9, stock=stock, twin=twin)
    drawn = overview.draw(rows) or ""
    assert re.findall(r'class="num[^"]*">([^<]*)', drawn) == ["0.90", best]
    assert f"stock Linux</span> {best}" in written(tmp_path, rows)


def test_the_page_of_what_has_no_bounds(tmp_path):
    names = [read.name for read in description.contenders() if read.name != "best"]
    text = written(tmp_path, [bench_fakes.row("movepages-4k", name) for name in names])
    assert "Without bounds" in text and "Each experiment" not in text
    assert "The contenders" not in text and text.count("<svg") == 2


def test_without_bounds_the_better_score_is_the_best(tmp_path):
    rows = [
        bench_fakes.row("movepages-4k", OURS, score=2.0, unit="GB/s"),
        bench_fakes.row("movepages-4k", "off-2", score=1.0, unit="GB/s", like="stock-2"),
        bench_fakes.row("movepages-4k", "stock-2", score=1.5, unit="GB/s"),
    ]
    assert "stock Linux</span> 1.50 GB/s" in written(tmp_path, rows)
