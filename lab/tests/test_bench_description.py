# SPDX-License-Identifier: GPL-2.0
"""lab/bench/description.py: what the shipped experiments say, and who takes part in them."""

import io
import math
import re
from dataclasses import replace
from functools import partial
from itertools import pairwise

import pytest
from rich.console import Console

from lab import machines, paths
from lab.bench import description, documents, page, report
from lab.bench.matrix import cell
from lab.bench.runner import Matrix
from lab.bench.scale import COMMON
from lab.measure import Result
from lab.tests import bench_fakes

CONTENDERS = description.contenders()
LONG = description.long_ones()
SHIPPED = description.experiments()
FOLLOWED = [read for read in SHIPPED if read.document]
"""Experiments that follow a document."""


def made_up(_run):
    """A result of any run."""
    pages = {"promoted": 0, "demoted": 0, "demoted_again": 0}
    return Result(seconds=1.0, workload={"score": 1.0}, model={"pages": pages})


@pytest.mark.parametrize("read", FOLLOWED, ids=lambda read: read.name)
def test_each_figure_of_a_document_comes_into_the_table(read):
    """In full, without anything being asked for by name."""
    by_file = partial(description.take_part, quick=False)
    rows = Matrix([read], CONTENDERS, made_up, taking=by_file, workers=1).run()
    lines = documents.results(rows, bench_fakes.ORIGIN, [read]).splitlines()
    assert read.document.figures
    for figure in read.document.figures:
        assert any(line.startswith("| `") and f"| {figure.text} |" in line for line in lines), (
            figure
        )


def test_who_a_document_names_takes_part_in_short_runs_only_as_others_do():
    named = next(read for read in FOLLOWED if read.name == "movepages-4k")
    (stock,) = (one for one in CONTENDERS if one.name == "stock-0")
    assert description.take_part(named, stock, quick=False)
    assert not description.take_part(named, stock, quick=True)
    (other,) = description.experiments("gups")
    assert not description.take_part(other, stock, quick=False)


def told(name):
    """An experiment, why it differs from its document, and figures in the document."""
    (read,) = description.experiments(name)
    document = read.document
    assert document
    said = {figure.contender: figure.text for figure in document.figures}
    return read, " ".join(document.differs.split()), said


def pages_of(text):
    return int(text.replace(",", ""))


def test_regions_says_which_share_is_promoted_in_the_document():
    read, differs, figures = told("regions")
    words = dict(pairwise(read.workload))
    regions = int(words["--regions"])
    (there,) = map(pages_of, re.findall(r"([\d,]+) pages promoted", figures["stock-2"]))
    # A GiB each.
    assert f"{there / (regions << 18):.1%} of the hot pages" in differs
    assert f"({there:,} of {regions << 18:,})" in differs
    # Here: test_docs_figures.py.
    # A turn, and what the threshold lets the scan come before it, of all turns.
    in_time = (read.turn.ms + read.scale.hot_ms()) / (regions * read.turn.ms)
    assert f"it comes to {in_time:.0%} of their pages in time" in differs


def test_pmbench_says_why_it_gains_less_than_in_the_document():
    read, differs, figures = told("pmbench-normal")
    before, after = (float(figures[name].split()[0]) for name in ("stock-0", "stock-2"))
    assert f"do {after / before - 1:.0%} more than none" in differs
    ((ours, slow),) = (
        map(float, two) for two in re.findall(r"\(([\d.]+) s and ([\d.]+) s", differs)
    )
    assert f"did {slow / ours - 1:.0%} more than the slow bound" in differs
    # It stood for more memory then, which took longer to scan, and made half as many accesses more.
    then = replace(read.scale, memory=COMMON[0])
    assert f"a run of {slow * 1000 / then.scan_ms():.2f} passes" in differs
    accesses = int(dict(pairwise(read.workload))["--accesses"])
    now = slow * accesses / 12000000
    assert round(now * 1000 / read.scale.scan_ms()) == 2 and "after some two passes" in differs


def test_a_document_stays_where_its_threads_were_cold():
    kept = {read.name for read in FOLLOWED if read.variant}
    assert kept == {"random-anon-cold", "random-thp-cold"}
    (anon,) = description.experiments("random-anon")
    for kind in description.VARIANTS.keys() - {"cold", "long"}:
        assert description.variant(anon, kind).document is None
    (old,) = description.experiments("graph500-cold")
    assert old.document is None


@pytest.mark.parametrize("read", LONG, ids=lambda read: read.name)
def test_a_long_form_is_as_much_longer_as_it_says(read):
    """And stands for so much more: its constants are those of the short form, so that policies
    have as many times more scans, steps and intervals in it."""
    (short,) = description.experiments(read.variant.of)
    differ = [
        pair for pair in zip(short.workload, read.workload, strict=True) if len(set(pair)) > 1
    ]
    (amount,) = differ
    assert int(amount[1]) == short.long_times * int(amount[0])
    assert read.long_times > 1 and read.scale == short.scale
    assert read.about.endswith(f"; it takes {short.long_times} times as long")
    slow, who = next(one for one in CONTENDERS if one.name == "slow"), CONTENDERS[-1]
    for one in (slow, who):
        (long, *_), (made, *_) = cell(read, one).runs, cell(short, one).runs
        assert long.setup == made.setup


def test_policies_that_adapt_slowly_are_in_long_runs_of_wide_experiments():
    """With the control, and without those that have nothing to adapt."""
    wide = {read.variant.of for read in LONG if read.variant and read.wide}
    assert wide == {"redis", "gups-full"}
    field = {one.name for one in CONTENDERS if one.part == "everywhere"}
    for read in LONG:
        part = {one.name for one in CONTENDERS if description.take_part(read, one, quick=False)}
        assert part == field | ({"damon", "off-2"} if read.wide else set())


def test_the_page_says_how_damons_quota_grows():
    """By damon_feed_loop_next_input() of Linux: by the share of the goal that is missing."""
    text = " ".join((paths.ROOT / "docs/bench.md").read_text(encoding="utf-8").split())
    script = (description.CONTENDERS / "damon.sh").read_text(encoding="utf-8")
    (goal,) = re.findall(r"used_bp\n.*target_value\" (\d+)\n.*\$to", script)
    assert f"The goal is that {int(goal) / 100:.1f}% of DRAM are used." in text
    (read,) = description.experiments("gups-full")
    (damon,) = (one for one in CONTENDERS if one.name == "damon")
    interval = 1000 // read.scale.time
    assert f"With each interval, {interval} ms at the common scale" in text
    assert (
        'reset_interval_ms" $((time < 1000 ? 1000 / time : 1))' in cell(read, damon).runs[0].setup
    )
    told = re.findall(r"(\d+)% are, it grows ([\d.]+) times, and is a page .*?after (\d+)", text)
    assert len(told) == 2
    for used, times, page_after in told:
        factor = 2 - int(used) * 100 / int(goal)
        assert f"{factor:.2f}" == times
        assert math.ceil(math.log(4096, factor)) == int(page_after)
    # A run that gains nothing takes as long as the slow bound.
    slow = re.search(r"\| gups-full \(([\d.]+), ", text)
    assert slow
    assert f"whose run has {float(slow[1]) * 1000 / interval:.0f} intervals: DAMON can" in text


@pytest.mark.parametrize(
    "read", [read for read in SHIPPED if not read.variant], ids=lambda r: r.name
)
def test_no_cpu_is_idle_in_a_busy_variant(read):
    """Of any experiment, also of one that can run on all CPUs."""
    made = description.variant(read, "busy")
    assert made.variant
    cpus = sum(node.cpus for node in machines.load(read.machine).nodes)
    busy, left = made.variant.hogs, made.variant.left
    assert sorted(busy + left) == list(range(cpus)) and left
    (run, *_) = cell(made, CONTENDERS[0]).runs or (None,)
    if run:
        words = f"--idle-cpus {','.join(map(str, left))} >/run/hog"
        assert words in run.setup and ("hog --cpus " in run.setup) == bool(busy)
        assert "hog" in run.programs and "/run/lab/busy 1 >>/run/lab/settings" in run.setup


def test_what_a_busy_workload_leaves_is_where_the_figures_are(tmp_path):
    rows = bench_fakes.rows("redis-busy", pghot=0.9, stock=0.5)
    for row in rows:
        row["hog_idle_rate"] = 6.2e8
    assert "| redis-busy | 0.62 | 0.62 |" in documents.results(rows, bench_fakes.ORIGIN)
    out = io.StringIO()
    Console(file=out, width=140).print(report.table(rows, 140))
    assert " left " in out.getvalue() and " 0.62 " in out.getvalue()
    read = description.experiments("redis-busy")
    text = page.write(rows, read, CONTENDERS, tmp_path / "p.html").read_text(encoding="utf-8")
    assert "<th>left</th>" in text and "<td>0.62</td>" in text


def test_where_chance_decides_a_control_has_as_many_seeds():
    """Also in variants whose figures are told. One seed have only those whom nobody is held
    against seed by seed."""
    names = {read.name: read for read in SHIPPED}
    known = {one.name: one for one in CONTENDERS}
    for name in ("gups", "regions-slow", "regions-busy", "gups-full-busy", "redis-2cpu", "sqlite"):
        read = names[name]
        assert description.take_part(read, known["off-2"], quick=False), name
        assert len(cell(read, known["off-2"]).runs) == (2 if name == "regions-busy" else 3), name
    # Where nobody can be ahead or behind nothing is said of who is. It only shrinks.
    for name in (
        "random-thp", "readers-1", "readers-phases", "pmbench-uniform", "hostile-uniform",
        "hostile-triad", "idle",
    ):  # fmt: skip
        assert len(cell(names[name], known["off-2"]).runs) == 2, name
    assert names["pmbench-normal-limited"].seeds == 3
    compared = {"stock-2", "off-2", "pghot-default"}
    for read in SHIPPED:
        assert not compared & set(read.one_seed), read.name
        seeds = {name: len(cell(read, known[name]).runs) for name in (*read.one_seed, "stock-2")}
        assert set(seeds.values()) <= {1, read.seeds} and seeds["stock-2"] == read.seeds


def test_files_that_are_not_mapped_have_somebody_who_can_act():
    known = {one.name: one for one in CONTENDERS}
    for read in SHIPPED:
        if read.workload[0] == "readers" and not read.variant:
            assert description.take_part(read, known["pghot-default-page_cache"], quick=False)


def test_the_best_placement_has_one_seed():
    """It takes two runs of each, and one says what DRAM can hold."""
    (read,) = description.experiments("gups-full")
    seeds = {one.name: len(cell(read, one).runs) for one in CONTENDERS}
    assert seeds["best"] == 1 and seeds["stock-2"] == read.seeds == 3


def test_hostile_patterns_do_not_fit_by_as_much_as_is_said():
    text = " ".join((paths.ROOT / "docs/bench.md").read_text(encoding="utf-8").split())
    said = re.search(
        r"(\d+) MiB, four times as much as DRAM .* Of its (\d+) MiB .* for (\d+)\.", text
    )
    assert said
    mib, dram, room = map(int, said.groups())
    assert mib == 4 * room
    for name in ("hostile-triad", "hostile-uniform", "hostile-alternate"):
        (read,) = description.experiments(name)
        words = dict(pairwise(read.workload))
        assert machines.load(read.machine).nodes[0].size == dram << 20
        # What another pattern fills DRAM with, and what the best placement has of it.
        assert int(words.get("--cold-mib", room)) == room >= sum(read.best_mib)
        if "--cold-mib" not in words:
            assert int(words["--mib"]) == mib
            assert f" {mib} MiB, four times as much as DRAM has room for" in read.about


def test_the_contender_of_the_guide_lets_the_matrix_be(tmp_path):
    """Who follows docs/bench.md has as many runs as before, and those that are asked for."""
    page_text = (paths.ROOT / "docs/bench.md").read_text(encoding="utf-8")
    guide = page_text.partition("as a contender of its own. Copy")[2].partition("3. Change")[0]
    (name,) = re.findall(r"`lab/contenders/([\w-]+)\.toml` to", guide)
    told = re.findall(r"^ {7}(\w+) = (.*)$", guide, re.MULTILINE)
    assert [field for field, _ in told] == ["about", "kernel", "part"]
    text = (description.CONTENDERS / f"{name}.toml").read_text(encoding="utf-8")
    for field, value in told:
        text = re.sub(rf"^{field} = .*\n", "", text, flags=re.MULTILINE) + f"{field} = {value}\n"
    path = tmp_path / "before.toml"
    path.write_text(text, encoding="utf-8")
    made = description.contender(path)
    assert made.kernel == "build/before" and made.cmdline == ("pghot=default",)
    for read in (*SHIPPED, *LONG):
        for quick in (False, True):
            assert not description.take_part(read, made, quick=quick)
