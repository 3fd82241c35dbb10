# SPDX-License-Identifier: GPL-2.0
"""lab/bench/resolution.py: what like kernels differ by, and what that decides."""

import io
import re
from dataclasses import replace

import pytest
from rich.console import Console

from lab.bench import (
    description,
    documents,
    figures,
    followed,
    marks,
    matrix,
    page,
    report,
    resolution,
)
from lab.tests import bench_fakes


def rows(twin=0.46, **shares):
    """Redis, with a control of the stock kernel, and another experiment without one."""
    made = bench_fakes.rows("redis", **({"pghot": 0.55, "stock": 0.5, "twin": twin} | shares))
    return made + bench_fakes.rows("gups", pghot=0.55, stock=0.5)


def test_the_difference_of_kernels_that_are_alike():
    found = resolution.differences(rows())
    assert list(found) == [("redis", "")] and round(found["redis", ""], 3) == 0.04
    assert resolution.of(rows(twin=0.5), ("redis", "")) == resolution.LEAST
    said = resolution.told(rows())
    assert said.startswith("Resolution: controls (off-2 and stock-2) differ in R by ")
    # A table is a sample of images: the most of one is no bound.
    assert said.endswith(
        "0.04 in the median of this table, and in redis by 0.04, where they do most. Other builds "
        "may differ by more."
    )
    assert "at most" not in said
    assert resolution.told(bench_fakes.rows("gups", pghot=0.5)) == ""


def test_the_difference_of_scores_without_bounds():
    scored = [
        bench_fakes.row("movepages-4k", "stock-0", score=2.0),
        bench_fakes.row("movepages-4k", "off", score=1.9, like="stock-0"),
        bench_fakes.row("movepages-4k", "pghot-default", score=4.0),
    ]
    assert resolution.score_differences(scored) == {"movepages-4k": pytest.approx(0.05)}
    assert resolution.all_told([*rows(), *scored])[1] == (
        "Resolution of scores without bounds: like kernels differ by 5.0% in movepages-4k."
    )
    # With bounds it is R that counts, and a run that failed has no score.
    assert resolution.score_differences(rows()) == {}
    scored[1]["score"] = None
    assert resolution.score_differences(scored) == {} and resolution.all_told(scored) == []


def test_without_a_control_nobody_knows_what_chance_makes():
    """Of one experiment nothing is known because another one has a control."""
    assert resolution.of(rows(), ("gups", "")) is None
    busy = [
        {**row, "variant_of": whole}
        for whole in ("redis", "gups")
        for row in bench_fakes.rows(f"{whole}-busy", pghot=0.55, stock=0.5)
    ]
    made = [*busy, *rows()]
    assert resolution.of(made, ("redis-busy", "")) == pytest.approx(0.04)
    assert resolution.of(made, ("gups-busy", "")) is None
    own = bench_fakes.row("redis-busy", "off-2", 0.4, like="stock-2", variant_of="redis")
    assert resolution.of([*made, own], ("redis-busy", "")) == pytest.approx(0.1)
    # Like kernels that agree in the variant do not undo what they differ by in the whole.
    agreed = {**own, "recovered": 0.5, "recovered_by_seed": [0.5]}
    other = bench_fakes.rows("sqlite", stock=0.5, twin=0.5)
    assert resolution.of([*made, *other, agreed], ("redis-busy", "")) == pytest.approx(0.04)
    # Of another memory model nothing is known either.
    model = [{**row, "variation": "overlap"} for row in busy]
    assert resolution.of([*model, *rows()], ("redis-busy", "overlap")) is None
    # Where the control happens to agree, the other experiments' still count.
    more = bench_fakes.rows("sqlite", stock=0.5, twin=0.5)
    wide = bench_fakes.rows("regions", stock=0.5, twin=0.42)
    assert resolution.of([*rows(), *more, *wide], ("sqlite", "")) == pytest.approx(0.04)


def test_seeds_that_differ_count_one_by_one():
    made = rows(twin=0.5)
    stock = next(row for row in made if row["contender"] == "stock-2")
    stock["recovered_by_seed"], made[-3]["recovered_by_seed"] = [0.4, 0.5, 0.6], None
    twin = next(row for row in made if row["contender"] == "off-2")
    twin["recovered_by_seed"] = [0.5, 0.5, 0.5]
    assert resolution.of(made, ("redis", "")) == pytest.approx(0.1)


def test_a_control_that_failed_is_none():
    made = bench_fakes.rows("redis", pghot=0.5, stock=0.5)
    broken = bench_fakes.row("redis", "off-2", error="no", failed=True, seconds=None)
    assert resolution.differences([*made, {**broken, "like": "stock-2"}]) == {}


def still(recovered, name="readers-7", contender="stock-2", **fields):
    """A row of an experiment in which no page was promoted."""
    more = {"promoted": 0, "seen_promoted": 0, "begins_slow": True} | fields
    return bench_fakes.row(name, contender, recovered, **more)


def test_what_nothing_was_promoted_for_is_not_the_policys():
    """Seven readers had R 0.28 of where the scheduler put them."""
    pghot = "pghot-default"
    made = [*rows(), still(0.28), still(-0.11, contender=pghot), still(0.09, "readers-1")]
    said = (
        "Not the policy, for no page was promoted: R of 0.28 in readers-7 with stock-2, of -0.11 "
        "in readers-7 with pghot-default."
    )
    assert resolution.told_unmoved(made) == said
    # Where there is a control, by what that differs by.
    twin = still(0.04, "readers-1", "off-2", like="stock-2")
    found = resolution.unmoved([*rows(), still(0.09, "readers-1"), twin])
    assert [row["contender"] for row in found] == ["stock-2"]
    assert resolution.unmoved([still(0.12), still(0.0, contender="off-2", like="stock-2")]) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"promoted": 1},
        {"seen_promoted": 1},
        {"begins_slow": False},
        {"promoted": None, "seen_promoted": None, "recovered": None},
    ],
)
def test_r_that_needs_no_reason(fields):
    """Something was promoted, by whose count it may be, data begin in DRAM, or the run failed."""
    row = still(0.5) | fields
    assert resolution.unmoved([row]) == [] and resolution.told_unmoved([row]) == ""


def test_what_damon_moves_is_promoted(tmp_path):
    """The kernel's counter does not know of it, the model sees it."""
    damon = still(0.13, "redis", "damon", seen_promoted=3615)
    made = [*rows(), damon]
    assert resolution.unmoved(made) == [] and resolution.told_unmoved(made) == ""
    assert resolution.unmoved([*rows(), {**damon, "seen_promoted": 0}])
    # And that is shown as well.
    out = io.StringIO()
    Console(file=out, width=120).print(report.table(made, 120))
    (line,) = [line for line in out.getvalue().splitlines() if "damon" in line]
    assert "3,615" in line
    known = description.experiments("redis")
    path = page.write(made, known, description.contenders(), tmp_path / "p.html")
    assert "<td>3,615</td>" in path.read_text(encoding="utf-8")
    document = followed.Document("t", "", (followed.Figure("damon", "1.0 s"),))
    told = documents.against(made, [replace(known[0], document=document)])
    assert "R 0.13, 3,615 pages promoted" in told


def test_what_is_not_the_policys_is_said_where_the_figures_are(tmp_path):
    bounds = [bench_fakes.row("readers-7", name, r) for name, r in (("fast", 1.0), ("slow", 0.0))]
    made = [*bounds, still(0.28), still(0.27, contender="pghot-default")]
    said = resolution.told_unmoved(made)
    known = description.experiments("readers-7")
    out = io.StringIO()
    Console(file=out, width=120).print(report.table(made, 120))
    path = page.write(made, known, description.contenders(), tmp_path / "p.html")
    for text in (
        out.getvalue(),
        path.read_text(encoding="utf-8"),
        documents.results(made, bench_fakes.ORIGIN, known),
        documents.summary(made, known, bench_fakes.ORIGIN),
    ):
        assert said in " ".join(text.split())


def test_what_is_not_the_policys_is_not_counted():
    """Nor is it told before R is: below the long table only."""
    made = [
        *bench_fakes.rows("redis", pghot=0.9, stock=0.5),
        still(0.28, contender="stock-2"),
        still(-0.3, contender="pghot-default"),
        # Nobody is held against this one.
        still(0.28, "readers-1", "damon"),
        *bench_fakes.rows("readers-1", pghot=0.1, stock=0.1),
    ]
    known = description.experiments()
    first = " ".join(documents.gain(made, known).split())
    slow, easy = bench_fakes.starting_slow(), bench_fakes.starting_slow("first")
    assert f"These are 2 of the {slow} experiments" in first
    assert re.search(rf"any hint fault promotes \| 1 of {easy} \| 50%[^|]* \| 90%", first)
    assert "Not counted: `readers-7`, where time was won or lost without a page" in first
    none = bench_fakes.starting_slow("none")
    assert re.search(rf"hint faults have nothing to gain: [^|]* \| 1 of {none} \| 10%", first)
    assert "Warning" not in first
    text = documents.summary(made, known, bench_fakes.ORIGIN)
    said = " ".join(text.split())
    assert "Of the 21 experiments whose data start in slow memory 2 are counted." in said
    assert "Not counted: `readers-7`" in said
    assert "| `readers-7` |" in text and "Not the policy, for no page was promoted" in said


@pytest.mark.parametrize("who", ["stock-2", "pghot-default"])
def test_to_promote_nothing_where_the_other_does_is_a_result(who):
    """Who gains nothing and loses time by looking for it is behind."""
    other = {"stock-2": "pghot-default"}.get(who, "stock-2")
    made = [still(-0.2, "gups-full", who), bench_fakes.row("gups-full", other, 0.4)]
    first = " ".join(documents.gain(made, description.experiments()).split())
    assert "Not counted" not in first
    slow = bench_fakes.starting_slow()
    assert f"These are 1 of the {slow} experiments" in first


def test_only_what_begins_as_the_slow_bound_can_have_no_reason():
    """Not a bound, nor what has its data in DRAM from the start."""
    known = {one.name: one for one in description.contenders()}

    def begins(experiment, contender):
        (read,) = description.experiments(experiment)
        return matrix.row(matrix.cell(read, known[contender]), [], [], [])["begins_slow"]

    assert begins("readers-7", "stock-2") and begins("hostile-triad", "stock-0")
    assert not begins("idle", "stock-2")
    for bound in ("fast", "slow", "best"):
        assert not begins("pmbench-normal", bound)


def bold(made):
    """What the summary has in bold, by experiment, where one seed is not all there is."""
    made = [
        {**row, "recovered_by_seed": row["recovered_by_seed"] * 3}
        if len(row["recovered_by_seed"] or []) == 1
        else row
        for row in made
    ]
    return bold_as_it_is(made)


def bold_as_it_is(made):
    """The same of these rows."""
    text = documents.summary(made, description.experiments(), bench_fakes.ORIGIN)
    lines = [line for line in text.splitlines() if line.startswith("| `")]
    found = {line.split("`")[1]: re.findall(r"\*\*(.*?)\*\*", line) for line in lines}
    return {name: shares for name, shares in found.items() if shares}


def test_what_is_within_the_resolution_is_not_better():
    assert bold(rows(twin=0.48)) == {"redis": ["0.55"]}
    assert bold(rows(twin=0.48, pghot=0.45)) == {"redis": ["0.50"]}
    # Where the control differs by more, or comes near, nothing is.
    assert bold(rows(twin=0.44)) == bold(rows(twin=0.54)) == {}
    said = " ".join(documents.summary(rows(), [], bench_fakes.ORIGIN).split())
    assert "Resolution: controls" in said and "never bold" in said


def test_a_variant_is_not_better_than_the_whole_can_show():
    for twin, shown in ((0.48, ["0.55"]), (0.44, None)):
        busy = bench_fakes.rows("redis-busy", pghot=0.55, stock=0.5)
        made = [*rows(twin=twin), *({**row, "variant_of": "redis"} for row in busy)]
        assert bold(made).get("redis-busy") == shown


def test_who_is_better_is_so_with_every_seed():
    for seeds, shown in (([0.52, 0.58], ["0.55"]), ([0.49, 0.61], None)):
        made = rows(twin=0.5)
        pghot = next(row for row in made if row["contender"].startswith("pghot"))
        pghot["recovered_by_seed"] = seeds
        for row in made:
            if row["contender"] in ("stock-2", "off-2"):
                row["recovered_by_seed"] = [0.5, 0.5]
        assert bold(made).get("redis") == shown


def test_one_seed_decides_nothing():
    """It always agrees with itself."""
    assert bold(rows(twin=0.48)) and bold_as_it_is(rows(twin=0.48)) == {}


def test_the_resolution_is_where_the_figures_are(tmp_path):
    out = io.StringIO()
    Console(file=out, width=120).print(report.table(rows(), 120))
    said = "controls (off-2 and stock-2) differ in R by 0.04"
    assert said in " ".join(out.getvalue().split())
    assert said in " ".join(documents.results(rows(), bench_fakes.ORIGIN).split())
    path = page.write(
        rows(), description.experiments("redis"), description.contenders(), tmp_path / "p.html"
    )
    assert said in path.read_text(encoding="utf-8")


def test_the_spread_of_seeds_is_where_the_figures_are(tmp_path):
    made = rows()
    made[2]["recovered_by_seed"] = [0.5, 0.6, 0.55]
    assert figures.spread(made[2]) == "0.50..0.60" and figures.spread(made[3]) == ""
    out = io.StringIO()
    Console(file=out, width=120).print(report.table(made, 120))
    assert "0.50..0.60" in out.getvalue()
    text = documents.results(made, bench_fakes.ORIGIN)
    assert "| redis | 0.55 (0.50..0.60) |" in text
    path = page.write(
        made, description.experiments("redis"), description.contenders(), tmp_path / "p.html"
    )
    assert "(0.50..0.60)" in path.read_text(encoding="utf-8")


def test_the_controls_are_like_what_is_there():
    known = {read.name: read for read in description.contenders()}
    pairs = [(read, known[read.like]) for read in known.values() if read.like]
    assert {one.name for one, _ in pairs} == {"off", "off-2"}
    for one, other in pairs:
        assert one.balancing == other.balancing and one.placement == other.placement
        assert one.setup == other.setup and one.cmdline == ("pghot=off",)
    # So that there is a resolution in every table.
    assert any(one.part != "wide" and other.part == "everywhere" for one, other in pairs)
    assert known[marks.MAIN[1]].like == marks.MAIN[0]
