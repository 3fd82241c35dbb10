# SPDX-License-Identifier: GPL-2.0
"""Other memory models: the runs made with them, and the table of what comes out."""

import io
import json

import pytest
from rich.console import Console

from lab import paths
from lab.bench import description, marks, options, order, published, report, sensitivity
from lab.bench.matrix import cell
from lab.bench.runner import Matrix
from lab.cli import main
from lab.machines.variation import variations
from lab.measure import Result

MODELS = {model.name: model for model in variations()}


def varied(names, models=("as-described", "overlap")):
    return sensitivity.varied(description.experiments(names), [MODELS[name] for name in models])


def test_every_run_has_its_model():
    fast = next(read for read in description.contenders() if read.name == "fast")
    runs = [
        cell(read, fast).runs[0] for read in varied("random-anon", ("as-described", "half-cache"))
    ]
    assert [run.variation.llc for run in runs] == [1.0, 0.5]


def measure(run):
    """The slow bound 2 s, the fast one 1 s, stock-2 1.25 s; one run breaks."""
    if run.variation == MODELS["overlap"].of_machine() and run.workload[0] == "gups":
        return Result(error="it broke")
    seconds = (
        1.0
        if run.workload[run.workload.index("--place") + 1] == "0"
        else 1.25
        if "balancing 2" in run.setup
        else 2.0
    )
    return Result(
        seconds=seconds,
        model={"pages": {"promoted": 7, "demoted_again": 0}},
        vmstat={"pgpromote_success": 5 if run.workload[0] == "gups" else 0},
    )


def shown(group, width=80):
    out = io.StringIO()
    Console(file=out, width=width).print(group)
    return out.getvalue()


def test_a_model_of_the_scale_changes_constants_and_no_machine():
    """So bounds, which have none, are the same runs."""
    known = {one.name: one for one in description.contenders()}
    plain, more = varied("gups", ("as-described", "double-memory"))
    assert more.scale.memory == 2 * plain.scale.memory
    assert cell(plain, known["slow"]).runs == cell(more, known["slow"]).runs
    stock = [cell(read, known["stock-2"]).runs[0] for read in (plain, more)]
    assert stock[0].variation == stock[1].variation and stock[0].setup != stock[1].setup
    assert plain.scale.scan_ms() < more.scale.scan_ms()


def matrix(names, *contenders, models=("as-described", "overlap")):
    return Matrix(
        varied(names, models),
        [read for read in description.contenders() if read.name in contenders],
        measure,
        workers=1,
    ).run()


def test_the_kernels_times_are_those_of_a_machine_whose_cpu_is_faster():
    (contender,) = (one for one in description.contenders() if one.name == "stock-2")
    plain, faster = varied("redis", ("as-described", "faster-cpu"))
    setups = [cell(one, contender).runs[0].setup for one in (plain, faster)]
    assert plain.scale == faster.scale
    clock = MODELS["faster-cpu"].clock
    assert plain.scale.script(cold=False) in setups[0] and "\nclock=" not in setups[0]
    assert plain.scale.script(cold=False) not in setups[1] and f"\nclock={clock}\n" in setups[1]
    assert faster.scale.in_guest_time(clock).script(cold=False) in setups[1]


def test_the_table_has_a_line_for_each_model():
    rows = matrix("random-anon,gups", "fast", "slow", "stock-2")
    assert {row["variation"] for row in rows} == {"as-described", "overlap"}
    text = shown(sensitivity.table(rows, [MODELS["as-described"], MODELS["overlap"]]))
    lines = [line.split() for line in text.splitlines()]
    # R, (1 - R) T_slow, and how many pages came, by the kernel or by the model.
    assert ["stock-2", "as-described", "1.250", "0.75", "0.50", "7"] in lines
    assert ["overlap", "1.250", "0.75", "0.50", "7"] in lines
    assert ["stock-2", "as-described", "1.250", "0.75", "0.50", "5"] in lines
    assert ["overlap", "-", "-", "-", "-"] in lines
    assert ["random-anon"] in lines and ["gups"] in lines
    assert "gups, overlap, stock-2: it broke" in text


@pytest.mark.parametrize("width", [80, 100, 120])
def test_no_figure_is_cut_off(width):
    rows = matrix(
        "random-anon,graph500,redis",
        "fast",
        "slow",
        "stock-2",
        "pghot-default",
        models=tuple(MODELS),
    )
    text = shown(sensitivity.table(rows, list(MODELS.values())), width)
    assert "\u2026" not in text
    assert all(len(line) <= width for line in text.splitlines())


def test_the_control_takes_part():
    """Its image's chance is not to pass for what a model changes."""
    known = {read.name: read for read in options.chosen(sensitivity.CONTENDERS)}
    assert marks.headline(list(known)) and marks.REFERENCE in known
    assert any(read.like == marks.REFERENCE for read in known.values())
    rows = matrix("redis", *known)
    (found,) = order.orders(rows)
    assert set(found.leads) == {"as-described", "overlap"}
    assert {row["contender"] for row in rows if "like" in row} == {"off-2"}
    rows = matrix(sensitivity.EXPERIMENTS, *known, models=("overlap",))
    controlled = {row["experiment"] for row in rows if row.get("like") == marks.REFERENCE}
    assert controlled == set(sensitivity.EXPERIMENTS.split(","))


def test_what_is_varied_is_not_of_the_easy_class_alone():
    """Where DRAM is full, other parts of the policy decide, and demotion too."""
    read = description.experiments(sensitivity.EXPERIMENTS)
    assert {one.decides for one in read} == {"first", "full"} and all(one.quick for one in read)
    taking = options.chosen(sensitivity.CONTENDERS)
    runs = sum(
        len(cell(one, who).runs)
        for one in varied(sensitivity.EXPERIMENTS, MODELS)
        for who in taking
    )
    assert runs == len(MODELS) * 4 * (2 + 3 * 3) == 484
    said = (paths.ROOT / "docs" / "model.md").read_text(encoding="utf-8")
    said = said.partition("    make sensitivity ")[2].partition("<!-- begin")[0]
    assert said.count(f"{runs} ") == 2 and all(f"`{one.name}`" in said for one in read)


def test_what_no_run_is_made_for_is_no_failure():
    rows = matrix("random-anon", "fast", "slow", "best", models=("overlap",))
    assert not any(row["failed"] for row in rows)
    assert "random-anon, overlap, best: no best_mib in its file" in shown(
        sensitivity.table(rows, [MODELS["overlap"]])
    )


@pytest.mark.parametrize("names, status", [("random-anon", 0), ("random-anon,gups", 1)])
def test_the_verb_writes_all_rows(tmp_path, monkeypatch, capsys, names, status):
    def run_matrix(experiments, contenders, *, quick, fresh):
        assert fresh
        return Matrix(experiments, contenders, measure, quick=quick, workers=1).run()

    monkeypatch.setattr(sensitivity, "run_matrix", run_matrix)
    monkeypatch.setattr(options, "OUT", tmp_path)
    assert (
        main(["sensitivity", "--experiment", names, "--contender", "stock-2", "--fresh"]) == status
    )
    written = json.loads((tmp_path / "sensitivity.json").read_text(encoding="utf-8"))
    read = {one.name: one.one_seed for one in description.experiments(names)}
    assert len(written["rows"]) == len(MODELS) * 3 * len(names.split(","))
    assert all(
        len(row["seconds_by_seed"]) == (1 if row["contender"] in read[row["experiment"]] else 3)
        for row in written["rows"]
        if not row["failed"]
    )
    assert written["host"]["command"] == f"make sensitivity EXPERIMENT={names} CONTENDER=stock-2"
    document = (tmp_path / "sensitivity.md").read_text(encoding="utf-8")
    said = capsys.readouterr().out
    assert all(name in said and f"| {name} |" in document for name in MODELS)
    (one,) = description.experiments("random-anon")
    assert f"| overlap | 2.000 s, {2000 / one.scale.scan_ms():.1f} |" in document
    assert said.splitlines()[-1] == report.digest_told(written["rows"])
    assert written["digest"] in said


def test_an_experiment_is_published_by_itself_and_the_page_once_all_are(
    tmp_path, monkeypatch, capsys
):
    page = tmp_path / "docs" / "model.md"
    page.parent.mkdir()
    page.write_text("<!-- begin: make sensitivity -->\n<!-- end -->\n", encoding="utf-8")
    monkeypatch.setattr(
        sensitivity,
        "run_matrix",
        lambda experiments, contenders, *, quick, fresh: Matrix(
            experiments, contenders, measure, quick=quick, workers=1
        ).run(),
    )
    monkeypatch.setattr(options, "OUT", tmp_path / "build")
    monkeypatch.setattr(sensitivity.paths, "ROOT", tmp_path)
    monkeypatch.setattr(published, "SENSITIVITY", tmp_path / "docs" / "sensitivity.json")
    every = sensitivity.EXPERIMENTS.split(",")
    for number, name in enumerate(every, 1):
        assert "Made by" not in page.read_text(encoding="utf-8")
        assert main(["sensitivity", "--docs", "--experiment", name]) == 0
        left = f"{number} of {len(every)} experiments"
        assert (left in capsys.readouterr().err) == (number < len(every))
    text = page.read_text(encoding="utf-8")
    assert "Made by `make sensitivity`, " in text
    assert all(f"| {name} | T_slow, scans |" in text for name in every)


@pytest.mark.parametrize(
    "options, error",
    [
        (["--docs", "--experiment", "gups"], "leave gups out of EXPERIMENT, or leave out DOCS"),
        (["--docs", "--quick"], "leave out QUICK"),
        (["--experiment", "movepages-4k"], "movepages-4k has no bounds"),
        (["--experiment", "pmbench-pareto", "--quick"], "pmbench-pareto has no quick form"),
        (["--contender", "nobody"], "unknown contender 'nobody'"),
    ],
)
def test_what_it_cannot_do(options, error, capsys, monkeypatch):
    monkeypatch.setattr(sensitivity, "run_matrix", lambda *_, **__: pytest.fail("it ran"))
    assert main(["sensitivity", *options]) == 1
    assert error in capsys.readouterr().err
