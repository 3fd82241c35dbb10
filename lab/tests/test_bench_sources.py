# SPDX-License-Identifier: GPL-2.0
"""Each source alone, and all together: who takes part, and what is called slower."""

import io
import json

import pytest
from rich.console import Console

from lab import paths
from lab.bench import description, options, published, report, sources
from lab.bench.runner import Matrix
from lab.cli import main
from lab.measure import Result
from lab.tests import bench_fakes

SECONDS = {"off": 2.0, "pghot-default": 1.5, "hint_fault": 2.018, "page_table": 1.4, "all": 1.45}


def rows(experiment="random-anon", **changed):
    """As SECONDS has them, None for a run that failed."""
    took = SECONDS | changed
    return [
        bench_fakes.row(
            experiment,
            name if name in (sources.OFF, sources.SHIPPED) else f"{sources.SHIPPED}-{name}",
            seconds=seconds,
            error=None if seconds else "it broke",
            failed=seconds is None,
        )
        for name, seconds in took.items()
    ]


COLUMNS = ("pghot-default", "pghot-default-hint_fault", "pghot-default-page_table")


def told(found, chance=None):
    return sources.slower(sources.beside(found, chance), COLUMNS)


def test_every_source_that_a_contender_stands_for_is_one():
    known = {one.name: one for one in description.contenders()}
    assert set(sources.CONTENDERS) <= set(known)
    alone = {
        name
        for name, one in known.items()
        if name.startswith(f"{sources.SHIPPED}-") and one.setup and name != sources.ALL
    }
    assert set(sources.ALONE) - {f"{sources.SHIPPED}-hint_fault"} <= alone
    assert alone - set(sources.ALONE) <= {f"{sources.SHIPPED}-dma"}


def test_all_experiments_with_bounds_take_part():
    found = sources.experiments()
    assert {one.name for one in found} == {
        one.name for one in description.experiments() if not one.variant and not one.unbounded
    }
    files = {
        one.name
        for one in found
        if sum(sources.has_something_to_see(one, who) for who in sources.contenders()) == 8
    }
    assert files == {"idle", "readers-1", "readers-7", "readers-phases"}
    said = (paths.ROOT / "docs" / "bench.md").read_text(encoding="utf-8")
    runs = 7 * len(found) + len(files)
    assert f"make sources                   # {len(found)} experiments, {runs} runs:" in said


def test_beside_off_and_the_best_alone():
    (one,) = sources.beside(rows())
    assert one.off_s == 2.0 and one.best == "pghot-default-page_table"
    assert one.longer["pghot-default-page_table"] == pytest.approx(-0.3)
    assert one.all_longer == pytest.approx(1.45 / 1.4 - 1)


def test_slower_begins_above_a_hundredth():
    assert told(rows(hint_fault=2.02)) == [
        "pghot-default: slower than off by more than 1% in no experiment.",
        "hint_fault: slower than off by more than 1% in no experiment.",
        "page_table: slower than off by more than 1% in no experiment.",
        "all: slower than the best source alone by more than 1% in random-anon (+3.6%).",
    ]
    said = told(rows(hint_fault=2.0208, all=1.41) + rows("gups", hint_fault=2.2, all=1.3))
    assert said[1] == "hint_fault: slower than off by more than 1% in gups (+10.0%)."
    assert said[-1] == "all: slower than the best source alone by more than 1% in no experiment."


def test_what_seeds_differ_by_is_not_called_slower():
    said = told(rows(hint_fault=2.2) + rows("gups", hint_fault=2.2), {"gups": 0.18})
    assert said[1] == (
        "hint_fault: slower than off by more than 1% in random-anon (+10.0%); "
        "by less than seeds differ in gups (+10.0%)."
    )


def test_how_much_seeds_differ_is_of_the_published_table():
    chance = sources.by_chance()
    (row,) = (
        row
        for row in published.read(published.BENCH)["redis"]["rows"]
        if row["contender"] == sources.SHIPPED
    )
    took = row["seconds_by_seed"]
    assert chance["redis"] == max(took) / min(took) - 1 > 0


@pytest.mark.parametrize("missing", ["off", "page_table", "hint_fault", "all"])
def test_a_run_that_failed_is_no_figure(missing):
    found = rows(**{missing: None})
    (one,) = sources.beside(found)
    assert (one.off_s is None) == (missing == "off") == (not one.longer)
    assert (one.all_longer is None) == (missing != "off")
    assert (one.best is None) == (missing in ("page_table", "hint_fault"))
    unknown = [sentence for sentence in told(found) if "; not known in random-anon" in sentence]
    assert len(unknown) == (3 if missing == "off" else 1 if missing == "all" else 2)
    assert "it broke" in shown(found)
    assert "| random-anon | " in sources.document(found, bench_fakes.ORIGIN)


def shown(found, width=80):
    out = io.StringIO()
    Console(file=out, width=width).print(sources.table(found))
    return out.getvalue()


def test_no_figure_is_cut_off():
    text = shown(rows("hostile-alternate") + rows("readers-phases", page_cache=1.2))
    assert "\u2026" not in text
    lines = [line.split() for line in text.splitlines()]
    assert ["hostile-alternate", "off", "2.000", "-"] in lines
    assert ["page_table", "1.400", "-30.0%", "best"] in lines
    assert ["all", "1.450", "-27.5%", "+20.8%"] in lines


def measure(run):
    return Result(seconds=1.0, model={"pages": {"promoted": 1, "demoted_again": 0}}, vmstat={})


def run_matrix(experiments, contenders, *, quick, fresh, taking):
    assert all(one.seeds == 1 for one in experiments)
    return Matrix(experiments, contenders, measure, quick=quick, taking=taking, workers=1).run()


def test_the_verb_writes_rows_and_a_page_of_what_there_is(tmp_path, monkeypatch, capsys):
    page = tmp_path / "docs" / "bench.md"
    page.parent.mkdir()
    page.write_text("<!-- begin: make sources -->\n<!-- end -->\n", encoding="utf-8")
    monkeypatch.setattr(sources, "run_matrix", run_matrix)
    monkeypatch.setattr(sources.paths, "ROOT", tmp_path)
    monkeypatch.setattr(options, "OUT", tmp_path / "build")
    monkeypatch.setattr(published, "SOURCES", tmp_path / "docs" / "sources.json")
    every = [one.name for one in sources.experiments()]
    assert main(["sources", "--docs", "--experiment", "redis,readers-1"]) == 0
    written = json.loads((tmp_path / "build" / "sources.json").read_text(encoding="utf-8"))
    assert [row["experiment"] for row in written["rows"]] == ["redis"] * 7 + ["readers-1"] * 8
    said = capsys.readouterr()
    assert said.out.splitlines()[-1] == report.digest_told(written["rows"])
    text = page.read_text(encoding="utf-8")
    assert "Made by `make sources`, " in text and "Not made yet: graph500, " in text
    assert "| redis | " in text and "| gups | " not in text
    assert main(["sources", "--docs"]) == 0
    text = page.read_text(encoding="utf-8")
    assert "Made by `make sources`, " in text and "Not made yet" not in text
    assert all(f"| {name} | " in text for name in every) and " | 1.000 | +0.0% |" in text
    assert [f"\n- {name}: slower" in text for name in ("hint_fault", "all", "page_cache")] == [
        True
    ] * 3


@pytest.mark.parametrize(
    "words, error",
    [
        (["--docs", "--experiment", "redis-busy,movepages-4k"], "leave movepages-4k, redis-busy"),
        (["--docs", "--quick"], "leave out QUICK"),
        (["--quick", "--experiment", "gups,pmbench-pareto"], "pmbench-pareto: no quick form"),
        (["--experiment", "nothing"], "unknown experiment 'nothing'"),
    ],
)
def test_what_it_cannot_do(words, error, capsys, monkeypatch):
    monkeypatch.setattr(sources, "run_matrix", lambda *_, **__: pytest.fail("it ran"))
    assert main(["sources", *words]) == 1
    assert error in capsys.readouterr().err
