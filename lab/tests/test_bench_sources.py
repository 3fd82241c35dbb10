# SPDX-License-Identifier: GPL-2.0
"""Each source alone, and all together: who takes part, and what is called slower."""

import io
import json

import pytest
from rich.console import Console

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


def told(found, columns=("pghot-default", "pghot-default-hint_fault", "pghot-default-page_table")):
    return sources.slower(sources.beside(found), list(columns))


def test_every_source_that_a_contender_stands_for_is_one():
    known = {one.name: one for one in description.contenders()}
    assert set(sources.CONTENDERS.split(",")) <= set(known)
    alone = {
        name
        for name, one in known.items()
        if name.startswith(f"{sources.SHIPPED}-") and one.setup and name != sources.ALL
    }
    assert set(sources.ALONE) - {f"{sources.SHIPPED}-hint_fault"} <= alone
    assert alone - set(sources.ALONE) <= {f"{sources.SHIPPED}-dma"}


def test_all_experiments_with_bounds_take_part_once():
    found = sources.experiments()
    assert {one.name for one in found} == {
        one.name for one in description.experiments() if not one.variant and not one.unbounded
    }
    known = options.chosen(sources.CONTENDERS)
    (files, with_files), (others, with_others) = sources.with_something_to_see(found, known)
    assert {one.name for one in files} == {"idle", "readers-1", "readers-7", "readers-phases"}
    assert len(files) + len(others) == len(found)
    assert all(one.seeds == 1 for one in files + others)
    assert {one.name for one in with_files} - {one.name for one in with_others} == {
        "pghot-default-page_cache"
    }


def test_beside_off_and_the_best_alone():
    (one,) = sources.beside(rows())
    assert one.off_s == 2.0 and one.best == "pghot-default-page_table"
    assert one.longer["pghot-default-page_table"] == pytest.approx(-0.3)
    assert one.all_longer == pytest.approx(1.45 / 1.4 - 1)


def test_slower_begins_above_a_hundredth():
    assert told(rows()) == [
        "pghot-default: slower than off by more than 1% in no experiment.",
        "hint_fault: slower than off by more than 1% in no experiment.",
        "page_table: slower than off by more than 1% in no experiment.",
        "All together: slower than the best source alone by more than 1% in random-anon (+3.6%).",
    ]
    said = told(rows(hint_fault=2.03, all=1.41) + rows("gups", hint_fault=2.2, all=1.3))
    assert said[1] == (
        "hint_fault: slower than off by more than 1% in random-anon (+1.5%), gups (+10.0%)."
    )
    assert said[-1].endswith("than the best source alone by more than 1% in no experiment.")


@pytest.mark.parametrize("missing", ["off", "page_table", "hint_fault", "all"])
def test_a_run_that_failed_is_no_figure(missing):
    found = rows(**{missing: None})
    (one,) = sources.beside(found)
    assert (one.off_s is None) == (missing == "off") == (not one.longer)
    assert (one.all_longer is None) == (missing == "all")
    out = io.StringIO()
    Console(file=out, width=120).print(sources.table(found))
    assert "it broke" in out.getvalue()
    assert "| random-anon | " in sources.document(found, bench_fakes.ORIGIN)


def measure(run):
    return Result(seconds=1.0, model={"pages": {"promoted": 1, "demoted_again": 0}}, vmstat={})


def run_matrix(experiments, contenders, *, quick, fresh):
    return Matrix(experiments, contenders, measure, quick=quick, workers=1).run()


def test_the_verb_writes_rows_and_the_page_once_all_are_there(tmp_path, monkeypatch, capsys):
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
    assert f"2 of {len(every)} experiments" in said.err
    assert said.out.splitlines()[-1] == report.digest_told(written["rows"])
    assert "Made by" not in page.read_text(encoding="utf-8")
    assert main(["sources", "--docs"]) == 0
    text = page.read_text(encoding="utf-8")
    assert "Made by `make sources`, " in text
    assert all(f"| {name} | 1.000 | +0.0% |" in text for name in every)
    assert [f"\n- {name}: slower" in text for name in ("hint_fault", "all", "page_cache")] == [
        True
    ] * 3


@pytest.mark.parametrize(
    "words, error",
    [
        (["--docs", "--experiment", "redis-busy,movepages-4k"], "leave movepages-4k, redis-busy"),
        (["--docs", "--contender", "off"], "leave out CONTENDER"),
        (["--experiment", "nothing"], "unknown experiment 'nothing'"),
    ],
)
def test_what_it_cannot_do(words, error, capsys, monkeypatch):
    monkeypatch.setattr(sources, "run_matrix", lambda *_, **__: pytest.fail("it ran"))
    assert main(["sources", *words]) == 1
    assert error in capsys.readouterr().err
