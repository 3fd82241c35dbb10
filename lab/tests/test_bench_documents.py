# SPDX-License-Identifier: GPL-2.0
"""lab/bench/documents.py: Markdown tables, and their place in the documents."""

import json
import re

import pytest

from lab import paths
from lab.bench import (
    command,
    description,
    documents,
    markdown,
    marks,
    options,
    overview,
    published,
    report,
    resolution,
)
from lab.cli import main
from lab.errors import LabError
from lab.machines.variation import Variation
from lab.measure import workloads
from lab.tests import bench_fakes, results_shown

ROWS = [
    *bench_fakes.rows("redis", pghot=0.9, stock=0.5),
    *(
        bench_fakes.row("movepages-4k", name, score=score, unit="GB/s")
        for name, score in (("stock-2", 1.5), ("pghot-default", 2.25))
    ),
]


def test_all_results():
    text = documents.results(ROWS, bench_fakes.ORIGIN)
    made = "Made by `make bench QUICK=1`, commit 0123456789ab. Digest of all rows: "
    assert f"{made}{report.digest(ROWS)}. Rows are of the kernel of" in " ".join(text.split())
    assert "| R | pghot-default | stock-2 |\n| --- | ---: | ---: |\n| redis | 0.90 | 0.50 |" in text
    assert "| redis (4.00) | 0.40 | 2.00 |" in text
    assert "| movepages-4k, GB/s | 2.25 | 1.50 |" in text


def test_one_seed_beside_means_of_seeds_that_differ_is_marked():
    def spread(by):
        made = bench_fakes.rows("gups", seeds=2, pghot=0.8, stock=0.6, damon=0.5, best=0.9)
        made[3]["recovered_by_seed"] = [0.6 - by / 2, 0.6 + by / 2]
        for row in made[4:]:
            row["recovered_by_seed"] = row["recovered_by_seed"][:1]
        return documents.results([*made, *ROWS], bench_fakes.ORIGIN)

    text = spread(0.1)
    assert (
        "| gups | 0.80 (0.80..0.80) | 0.60 (0.55..0.65) | 0.50 (one seed) | 0.90 (one seed) |"
        in text
    )
    assert "| gups (4.00) | 0.80 | 1.60 | 2.00 (one seed) | 0.40 (one seed) |" in text
    assert "*One seed* stands where there is but one" in " ".join(text.split())
    # Those whose seeds agree may be held against each other, and so may those of one seed each.
    assert "| redis | 0.90 | 0.50 | - | - |" in text and "ne seed" not in spread(0.01)


def test_the_published_table_marks_each_figure_of_one_seed_that_may_mislead():
    entries = published.read(published.BENCH)
    shown = results_shown.table("R")
    for name, line in shown.items():
        seeds = {row["contender"]: row["recovered_by_seed"] or [] for row in entries[name]["rows"]}
        apart = any(max(of) - min(of) > resolution.LEAST for of in seeds.values() if of)
        for contender, cell in line.items():
            one = len(seeds.get(contender, [])) == 1
            assert cell.endswith("(one seed)") == (apart and one), (name, contender)


def test_who_is_ahead_of_whom_is_told_by_the_rule():
    """Of pghot beside the stock kernel, and of its sources beside hint faults alone."""
    other = {"pghot-default-all": 0.95}
    rows = [
        *bench_fakes.rows("redis", seeds=3, pghot=0.9, stock=0.5, twin=0.49, **other),
        *bench_fakes.rows("gups", seeds=3, pghot=0.9, stock=0.91, twin=0.9, **other),
        *bench_fakes.rows("sqlite", pghot=0.9, stock=0.5, damon=0.1),
    ]
    text = documents.results(rows, bench_fakes.ORIGIN)
    assert (
        "| Contender | beside | ahead | alike | behind | not known |\n"
        "| --- | --- | --- | --- | --- | --- |\n"
        "| pghot-default | stock Linux | redis | gups | - | sqlite |\n"
        "| pghot-default-all | pghot-default | redis, gups | - | - | - |\n\n"
    ) in text
    assert "| Contender |" not in documents.results(ROWS[4:], bench_fakes.ORIGIN)


def test_what_documents_say_is_beside_what_came_out():
    known = description.experiments("random-anon,movepages-4k,redis")
    rows = [
        *ROWS,
        *bench_fakes.rows("random-anon", stock=0.75),
        bench_fakes.row("movepages-4k", "stock-0", score=1.25, unit="GB/s"),
    ]
    text = documents.results(rows, bench_fakes.ORIGIN, known)
    assert (
        "| `random-anon` | stock-2 | 102.9 s, 2,097,144 pages promoted | 2.500 s, R 0.75, 16,384 "
        "pages promoted |" in text
    )
    assert "| `movepages-4k` | stock-0 | 3.55 GB/s | 1.25 GB/s |" in text
    # A scan of all takes 400 ms and 123 ms.
    assert "| redis (4.00, 10.0) |" in text and "| random-anon (4.00, 32.5) |" in text
    # Of pghot nothing came out, and of Redis no document says anything.
    assert "107.6 s" not in text and "| `redis` |" not in text
    assert "- `random-anon` (“mm: Hot page tracking and promotion infrastructure (v3)”): 64" in text
    assert max(map(len, text.partition("Why they differ")[2].splitlines())) <= 100
    assert documents.against(ROWS, known[2:]) == ""


def test_what_a_document_has_as_a_score_is_one_here_too():
    (known,) = description.experiments("pmbench-normal")
    row = bench_fakes.row("pmbench-normal", "stock-2", 0.15, score=8926312.0, unit="accesses/s")
    text = documents.against([row], [known])
    assert (
        "| `pmbench-normal` | stock-2 | 164.0 M accesses/s (all patches) | 8,930,000 accesses/s, "
        "3.700 s, R 0.15, 16,384 pages promoted |" in text
    )


@pytest.mark.parametrize(
    "read",
    [read for read in description.experiments() if read.document],
    ids=lambda read: read.name,
)
def test_a_documents_figures_can_be_held_against_the_labs(read):
    """In seconds, which any run has, or in the unit of the workload's score."""
    text = (workloads.SOURCE / f"{read.workload[0]}.c").read_text(encoding="ascii")
    (unit,) = re.findall(r'workload_result\(.*, "([^"]+)",$', text, re.MULTILINE)
    if read.workload[0] == "sockets":
        # The pattern of Graph500.
        unit = "TEPS"
    for figure in read.document.figures:
        timed = read.fast and re.search(r"\d s\b", figure.text)
        assert timed or unit in figure.text, (figure.text, unit)


@pytest.mark.parametrize("name", ["compaction-idle", "compaction-busy"])
def test_what_huge_pages_took_in_the_document_is_a_score(name):
    (read,) = description.experiments(name)
    assert read.document
    for figure in read.document.figures:
        (told,) = re.findall(r"^(\d+) huge pages/s \(([\d.]+) s for (\d+)\)", figure.text)
        rate, seconds, pages = map(float, told)
        assert rate == pytest.approx(pages / seconds, abs=1)


def test_scores_without_bounds_have_a_resolution():
    control = bench_fakes.row("movepages-4k", "off-2", score=1.455, like="stock-2")
    text = documents.results([*ROWS, control], bench_fakes.ORIGIN)
    assert "Resolution of scores without bounds: like kernels differ by 3.0% in movepages" in text
    assert "Resolution of scores" not in documents.results(ROWS, bench_fakes.ORIGIN)


def test_a_run_that_failed_is_a_dash():
    rows = [row for row in ROWS if row["contender"] != "stock-2"]
    rows.append(
        bench_fakes.row("redis", "stock-2", error="no", failed=True, seconds=None, score=None)
    )
    assert "| redis | 0.90 | - |" in documents.results(rows, bench_fakes.ORIGIN)
    text = documents.summary(rows, description.experiments(), bench_fakes.ORIGIN)
    # Better than nothing is not better.
    assert "| `redis` | - | 0.90 (0.40 s) |" in text


def test_the_summary_holds_pghot_against_the_stock_kernel():
    rows = [
        *bench_fakes.rows("gups", seeds=3, pghot=-0.9, stock=-0.2, twin=-0.2),
        *bench_fakes.rows("redis", seeds=3, pghot=0.9, stock=0.5, twin=0.5),
        *bench_fakes.rows("sqlite", seeds=3, pghot=0.515, stock=0.499, twin=0.499),
        *bench_fakes.rows("idle", pghot=0.99, stock=0.99),
    ]
    text = documents.summary(rows, description.experiments(), bench_fakes.ORIGIN)
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    assert [line.split("`")[1] for line in lines] == [
        "idle",
        "redis",
        "sqlite",
        "gups",
    ]
    lines = lines[1:]
    assert "| 0.50 (2.00 s) | **0.90** (0.40 s) |" in lines[0]
    # A draw: chance can make so little.
    assert "| 0.50 (2.00 s) | 0.52 (1.94 s) |" in lines[1]
    assert "| **-0.20** (4.80 s) | -0.90 (7.60 s) |" in lines[2]
    assert "a hot set that moves twice" in lines[2]
    # Data of idle start in DRAM.
    said = "Of the 21 experiments whose data start in slow memory 3 are counted."
    assert said in " ".join(text.split())
    assert "Made by `make bench QUICK=1`, commit 0123456789ab." in text


def test_the_short_table_has_what_stands_for_all_and_says_where_the_others_are():
    rows = [
        *bench_fakes.rows("redis", seeds=3, pghot=0.9, stock=0.5, twin=0.6),
        *bench_fakes.rows("sqlite", pghot=0.5, stock=0.4),
        bench_fakes.row("movepages-4k", "stock-2", score=1.5),
    ]
    known = description.experiments()
    text = documents.short(rows, known, bench_fakes.ORIGIN, ["redis", "tenants"])
    # No delay, and no name of the better one of like kernels, which the page has explained.
    assert "| `redis` | 0.60 | **0.90** |" in text and "`sqlite`" not in text
    said = " ".join(text.split())
    assert "1 of the 2 experiments and variants that have an R: [all of them](docs" in said
    whole = documents.short(rows, known, bench_fakes.ORIGIN, ["redis", "sqlite"])
    assert "0.50 ?" in whole and "all of them" not in whole


def test_the_first_sentences_name_where_one_is_ahead():
    rows = [
        *bench_fakes.rows("redis", seeds=3, pghot=0.9, stock=0.5, twin=0.5),
        *bench_fakes.rows("gups", seeds=3, pghot=-0.9, stock=-0.2, twin=-0.2),
        *bench_fakes.rows("sqlite", seeds=3, pghot=0.515, stock=0.499, twin=0.499),
    ]
    said = " ".join(documents.gain(rows, description.experiments()).split())
    told = "`redis` (90% against 50%), `gups` (-90% against -20%). Slower with pghot than "
    told += "where nothing moves: `gups`. The table has the median"
    assert f"Where they are apart, pghot against stock Linux: {told}" in said
    # Its data start in DRAM.
    rows += bench_fakes.rows("hostile-triad", seeds=3, pghot=-0.1, stock=-0.05, twin=-0.05)
    said = " ".join(documents.gain(rows, description.experiments()).split())
    also = "; of those that are not counted, variants among them, `hostile-triad`. The table"
    assert f"where nothing moves: `gups`{also}" in said
    alike = documents.gain(rows[-4:], description.experiments())
    assert "Where they are apart" not in " ".join(alike.split())


def test_a_line_for_each_model():
    models = [Variation("as-described"), Variation("overlap")]
    own = bench_fakes.rows("redis", seeds=3, pghot=0.9, stock=0.5)
    rows = [{**row, "variation": model.name} for model in models for row in own]
    text = documents.sensitivity(rows, models, bench_fakes.ORIGIN)
    assert "| redis | T_slow, scans | pghot-default | stock-2 | lead | order |" in text
    assert (
        "| as-described | 4.000 s | 0.90 (0.40) | 0.50 (2.00) | +0.40 (+0.40..+0.40) | - |" in text
    )
    assert "| overlap | 4.000 s | 0.90 (0.40) | 0.50 (2.00) | +0.40 (+0.40..+0.40) | same |" in text
    assert "- redis: pghot-default is ahead as described, and with 1 of 1 other models" in text
    # A scan of Redis's 40 MiB takes 400 ms at the fastest.
    read = description.experiments("redis")
    text = documents.sensitivity(rows, models, bench_fakes.ORIGIN, read)
    assert "| overlap | 4.000 s, 10.0 | 0.90 (0.40) |" in text
    rows[1] |= {"seconds": None}
    text = documents.sensitivity(rows, models, bench_fakes.ORIGIN, read)
    assert "| as-described | - s |" in text and "| overlap | 4.000 s, 10.0 |" in text


def test_a_model_in_which_pghot_loses_is_seen_where_chance_decides_as_described():
    models = [Variation("as-described"), Variation("overlap")]
    rows = [
        {**row, "variation": model.name}
        for model, pghot in zip(models, (0.5, 0.2))
        for row in bench_fakes.rows("redis", seeds=3, pghot=pghot, stock=0.5)
    ]
    text = documents.sensitivity(rows, models, bench_fakes.ORIGIN)
    assert (
        "| overlap | 4.000 s | 0.20 (3.20) | 0.50 (2.00) | -0.30 (-0.30..-0.30) | behind |" in text
    )
    assert "stock Linux is ahead with overlap (-0.30" in " ".join(text.split())
    for word in ("same", "turned", "ahead", "behind", "open"):
        assert f"*{word}*" in text


def test_a_text_takes_the_place_of_the_last_one(tmp_path):
    path = tmp_path / "a.md"
    path.write_text(
        "before\n<!-- begin: make bench -->\nold\\1\n<!-- end -->\nbetween\n"
        "<!-- begin: make sensitivity -->\nother\n<!-- end -->\n",
        encoding="utf-8",
    )
    for _ in range(2):
        assert markdown.put(path, "bench", "new \\1\n")
    assert path.read_text(encoding="utf-8") == (
        "before\n<!-- begin: make bench -->\nnew \\1\n<!-- end -->\nbetween\n"
        "<!-- begin: make sensitivity -->\nother\n<!-- end -->\n"
    )


def test_a_document_without_marks_stays_as_it_is(tmp_path, capsys):
    path = tmp_path / "a.md"
    path.write_text("nothing here\n", encoding="utf-8")
    assert not markdown.put(path, "bench", "x\n")
    assert path.read_text(encoding="utf-8") == "nothing here\n"
    assert "a.md has no <!-- begin: make bench -->" in capsys.readouterr().err
    path.write_text("<!-- begin: make bench -->\n", encoding="utf-8")
    with pytest.raises(LabError, match="has no <!-- end --> after it"):
        markdown.put(path, "bench", "x\n")


@pytest.mark.parametrize(
    "name, verbs",
    [
        ("README.md", ["bench", "bench (gain)"]),
        ("docs/bench.md", ["bench", "bench (summary)", "sources"]),
        ("docs/model.md", ["sensitivity"]),
    ],
)
def test_the_documents_have_their_marks(name, verbs):
    text = (paths.ROOT / name).read_text(encoding="utf-8")
    assert [text.count(f"<!-- begin: make {verb} -->") for verb in verbs] == [1] * len(verbs)
    assert text.count(markdown.END) == len(verbs)


@pytest.fixture
def work_tree(tmp_path, monkeypatch):
    """Documents that ``make bench`` may write to, and no runs."""
    (tmp_path / "docs").mkdir()
    for path in (tmp_path / "README.md", tmp_path / "docs" / "bench.md"):
        marks_of = ("bench", "bench (summary)")
        blocks = [f"<!-- begin: make {verb} -->\n<!-- end -->\n" for verb in marks_of]
        path.write_text("\n".join(blocks), encoding="utf-8")
    monkeypatch.setattr(command, "run_matrix", lambda *_, **__: ROWS)
    monkeypatch.setattr(command.paths, "ROOT", tmp_path)
    monkeypatch.setattr(command, "_PICTURE", tmp_path / "docs" / "pictures" / "bench.svg")
    monkeypatch.setattr(published, "BENCH", tmp_path / "docs" / "bench.json")
    monkeypatch.setattr(options, "OUT", tmp_path / "build")
    return tmp_path


def bench(*words):
    return main(["bench", *words])


def test_the_verb_writes_documents_only_when_asked(work_tree):
    before = (work_tree / "README.md").read_text(encoding="utf-8")
    assert bench() == 0
    assert (work_tree / "README.md").read_text(encoding="utf-8") == before
    assert not (work_tree / "docs" / "pictures").exists()
    made = {path.name for path in (work_tree / "build").iterdir()}
    assert made == {"results.json", "results.md", "index.html", "overview.svg"}

    assert bench("--docs") == 0
    assert "| 0.50 | 0.90 ? |" in (work_tree / "README.md").read_text(encoding="utf-8")
    document = (work_tree / "docs" / "bench.md").read_text(encoding="utf-8")
    assert "| 0.50 (2.00 s) | 0.90 (0.40 s) ? |" in document
    assert (work_tree / "build" / "results.md").read_text(encoding="utf-8") in document
    picture = work_tree / "docs" / "pictures" / "bench.svg"
    assert picture.read_bytes() == (work_tree / "build" / "overview.svg").read_bytes()
    assert "make bench DOCS=1, " in picture.read_text(encoding="utf-8")


def test_the_verb_ends_with_the_digest_of_what_it_wrote(work_tree, capsys):
    assert bench("--docs") == 0
    written = json.loads((work_tree / "build" / "results.json").read_text(encoding="utf-8"))
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == report.digest_told(written["rows"]) and written["digest"] in last
    for name in ("README.md", "docs/bench.md"):
        assert written["digest"] in (work_tree / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "words, named",
    [
        (["--contender", "stock-2", "--quick"], "CONTENDER, QUICK"),
        (["--experiment", "redis", "--contender", "stock-2"], "CONTENDER"),
        (["--experiment", "redis", "--quick"], "QUICK"),
        (["--long"], "LONG"),
    ],
)
def test_a_part_of_the_results_is_not_written_to_documents(
    work_tree, monkeypatch, capsys, words, named
):
    monkeypatch.setattr(command, "run_matrix", lambda *_, **__: pytest.fail("it ran"))
    before = (work_tree / "README.md").read_text(encoding="utf-8")
    assert bench("--docs", *words) != 0
    assert f"leave out {named}" in capsys.readouterr().err
    assert (work_tree / "README.md").read_text(encoding="utf-8") == before


def test_what_stands_for_all_is_written_and_called_so(work_tree, monkeypatch):
    asked = []

    def run_matrix(experiments, contenders, **_):
        asked.append(({one.name for one in experiments}, {one.name for one in contenders}))
        return ROWS

    monkeypatch.setattr(command, "run_matrix", run_matrix)
    assert bench("--main", "--docs") == 0
    assert asked == [(set(overview.MAIN), {*marks.MAIN, *marks.BOUNDS})]
    text = (work_tree / "README.md").read_text(encoding="utf-8")
    assert "Made by `make bench MAIN=1`" in text
    # All experiments are not there.
    assert "Made by" not in (work_tree / "docs" / "bench.md").read_text(encoding="utf-8")
    assert not (work_tree / "docs" / "bench.json").exists()


def test_an_experiment_is_published_by_itself_and_pages_once_all_are(
    work_tree, monkeypatch, capsys
):
    asked = "redis"
    every = [one for one in description.experiments() if one.name in ("redis", "movepages-4k")]
    monkeypatch.setattr(
        command.description,
        "experiments",
        lambda names="", **_: [one for one in every if one.name in (names or "redis,movepages-4k")],
    )
    monkeypatch.setattr(
        command, "run_matrix", lambda *_, **__: [row for row in ROWS if row["experiment"] == asked]
    )
    monkeypatch.setattr(command.origins, "commit", lambda: f"commit of {asked}")
    pages = [work_tree / "README.md", work_tree / "docs" / "bench.md"]

    assert bench("--docs", "--experiment", asked) == 0
    assert "1 of 2 experiments" in capsys.readouterr().err
    assert all("Made by" not in page.read_text(encoding="utf-8") for page in pages)

    asked = "movepages-4k"
    assert bench("--docs", "--experiment", asked) == 0
    for page in pages:
        text = " ".join(page.read_text(encoding="utf-8").split())
        # The one that the matrix has first, as both have as many.
        assert (
            "Made by `make bench DOCS=1`, commit of movepages-4k; commit of redis (redis). " in text
        )
    # Once more, and nothing changes.
    before = (work_tree / "docs" / "bench.json").read_text(encoding="utf-8")
    assert bench("--docs", "--experiment", asked) == 0
    assert (work_tree / "docs" / "bench.json").read_text(encoding="utf-8") == before
    entries = published.read(published.BENCH)
    assert [entry["command"] for entry in entries.values()] == [
        "make bench EXPERIMENT=movepages-4k",
        "make bench EXPERIMENT=redis",
    ]
    assert all("timeline" not in row for entry in entries.values() for row in entry["rows"])


def test_what_is_no_part_of_the_matrix_is_not_published(work_tree, monkeypatch, capsys):
    monkeypatch.setattr(command, "run_matrix", lambda *_, **__: pytest.fail("it ran"))
    assert bench("--docs", "--experiment", "gups-long") != 0
    assert "leave gups-long out of EXPERIMENT" in capsys.readouterr().err
    assert not (work_tree / "docs" / "bench.json").exists()


def test_a_file_of_rows_that_is_broken_is_left_alone(work_tree, monkeypatch, capsys):
    monkeypatch.setattr(command, "run_matrix", lambda *_, **__: pytest.fail("it ran"))
    for text in ("{", '{"schema": 2, "experiments": {}}', "[]"):
        (work_tree / "docs" / "bench.json").write_text(text, encoding="utf-8")
        assert bench("--docs", "--experiment", "redis") != 0
        assert "take it from git" in capsys.readouterr().err
        assert (work_tree / "docs" / "bench.json").read_text(encoding="utf-8") == text


def test_what_stands_for_all_is_not_chosen_again(work_tree, capsys):
    assert bench("--main", "--experiment", "redis") != 0
    assert "leave out the others" in capsys.readouterr().err


def test_long_runs_are_chosen_once_too(work_tree, monkeypatch, capsys):
    asked = []

    def run_matrix(experiments, _contenders, **_):
        asked.append({one.name for one in experiments})
        return ROWS

    monkeypatch.setattr(command, "run_matrix", run_matrix)
    assert bench("--long") == 0
    assert asked == [{one.name for one in description.long_ones()}]
    assert "make bench LONG=1" in (work_tree / "build" / "results.md").read_text(encoding="utf-8")
    for other in (["--quick"], ["--main"], ["--experiment", "redis"]):
        assert bench("--long", *other) != 0
        assert "LONG=1 says which experiments" in capsys.readouterr().err


def test_what_failed_is_not_written_to_documents(work_tree, monkeypatch, capsys):
    failed = [*ROWS, bench_fakes.row("redis", "damon", error="no", failed=True, score=None)]
    monkeypatch.setattr(command, "run_matrix", lambda *_, **__: failed)
    before = (work_tree / "README.md").read_text(encoding="utf-8")
    assert bench("--docs") == 1
    assert (work_tree / "README.md").read_text(encoding="utf-8") == before
    assert "documents are left as they are" in capsys.readouterr().err


def test_a_quick_run_takes_some_experiments_only_by_name(work_tree, monkeypatch):
    asked = []

    def run_matrix(experiments, _contenders, **_):
        asked.append({one.name for one in experiments})
        return ROWS

    monkeypatch.setattr(command, "run_matrix", run_matrix)
    for words in ([], ["--quick"], ["--quick", "--experiment", "gups-full,gups"]):
        assert bench(*words) == 0
    whole, quick, named = asked
    assert "gups-full" in whole and "gups" in quick and "gups-full" not in quick
    assert named == {"gups-full", "gups"}


def test_the_first_sentence_is_of_the_same_figures(work_tree):
    readme = work_tree / "README.md"
    readme.write_text("<!-- begin: make bench (gain) -->\nold\n<!-- end -->\nmore\n")
    assert bench("--docs") == 0
    text = " ".join(readme.read_text().split())
    assert " old " not in text and text.endswith("<!-- end --> more")
    assert re.search(r"Of these \d+ pghot is ahead of stock Linux at its best in \d+", text)
    assert documents.gain([], []) == ""
