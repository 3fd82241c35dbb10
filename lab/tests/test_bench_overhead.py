# SPDX-License-Identifier: GPL-2.0
"""lab/bench/overhead.py: what tiering costs where it has nothing to gain."""

import pytest

from lab import paths
from lab.bench import description, documents, overhead, published
from lab.tests import bench_fakes

NOT_TOLD = (
    "What differs by less than 2.0%, 0.02 in R, is not told apart, which is a rule for all tables "
    "and no measure of chance"
)


def rows(name="idle", ours=0.96, lost=(None, None, None), **more):
    """Of 4 s in slow memory and 2 s in DRAM. The control is the better one of stock Linux."""
    made = bench_fakes.rows(name, pghot=ours, stock=0.955, twin=0.97, **more)
    for row, ms in zip((made[0], made[2], made[4]), lost):
        row["hog_lost_ms"] = ms
    return made


def test_what_a_run_takes_longer():
    assert overhead.told(rows()) == (
        "Where nothing is to be gained (`idle`: what is used often lies in DRAM), a run takes 4.0% "
        "longer with pghot and 3.0% longer with stock Linux than where nothing is scanned or "
        f"moved. {NOT_TOLD}."
    )
    assert "takes 1.0% less with pghot and 3.0% longer" in overhead.told(rows(ours=1.01))


def test_who_pays_where_no_cpu_is_idle():
    busy = rows("idle-busy", ours=0.95, lost=(7.2, 19.0, 8.4))
    assert overhead.told(rows() + [{**row, "variant_of": "idle"} for row in busy]).endswith(
        "With all CPUs busy (`idle-busy`) it takes 5.0% longer with pghot and 3.0% longer with "
        "stock Linux; in a run of 2.1 s, programs on the other CPUs lose together 19 ms with pghot "
        f"and 8 ms with stock Linux, and 7 ms where nothing moves. {NOT_TOLD}, in both. "
        "Programs on other CPUs lose more with pghot than with stock Linux, by more than chance "
        "makes: 11 ms in `idle-busy`."
    )
    assert overhead.told(busy) == ""


def test_what_chance_makes_is_said_once_where_it_is_the_same():
    busy = [{**row, "variant_of": "idle"} for row in rows("idle-busy")]
    assert overhead.told(rows() + busy).count(NOT_TOLD) == 1
    apart = [row | {"recovered": 0.99} if row.get("like") else row for row in busy]
    told = overhead.told(rows() + apart)
    assert "moved. What differs by less than 2.5% can be chance. With" in told
    assert told.endswith("What differs by less than 3.5% can be chance.")


def test_a_rule_for_what_is_printed_is_not_called_chance():
    """Like kernels agree: they showed no chance of 2%."""
    agreed = bench_fakes.rows("idle", pghot=0.96, stock=0.97, twin=0.97)
    assert overhead.told(agreed).endswith(f"{NOT_TOLD}.")
    assert "can be chance" not in overhead.told(agreed)


def test_without_a_control_it_is_not_known_what_chance_makes():
    assert overhead.told(rows()[:4]).endswith("What chance makes there is not known.")


@pytest.mark.parametrize("missing", range(4))
def test_half_of_it_says_nothing(missing):
    some = rows()[:4]
    failed = {"error": "no", "failed": True, "seconds": None, "recovered": None}
    assert overhead.told(some[:missing] + some[missing + 1 :]) == ""
    assert overhead.told([*some[:missing], some[missing] | failed, *some[missing + 1 :]]) == ""


def test_the_readme_says_what_it_costs():
    known = description.experiments()
    assert documents.gain(rows(), known).startswith("**What it costs.** Where nothing is")
    both = documents.gain(rows() + bench_fakes.rows("redis", pghot=0.9, stock=0.5), known)
    assert both.startswith("**What it gains.**") and "|\n\n**What it costs.** Where" in both
    assert both.endswith(".\n\n")
    assert max(len(line) for line in both.splitlines() if not line.startswith("|")) <= 100


def lost(name, fast, ours, *stocks):
    """Milliseconds that programs on the other CPUs lose."""
    made = bench_fakes.rows(name, pghot=0.5, stock=0.5, twin=0.5)
    for row, ms in zip((made[0], *made[2:]), (fast, ours, *stocks)):
        row["hog_lost_ms"] = ms
    return made[: 3 + len(stocks)]


def test_where_pghot_takes_more_from_others_all_are_named():
    made = [
        *lost("regions-busy", 0.0, 130.0, 8.0, 14.0),
        *lost("gups-full-busy", 4.0, 695.0, 430.0, 532.0),
        # Within what like kernels differ by, within a tenth, and no more than fast loses.
        *lost("graph500-busy", 0.0, 560.0, 430.0, 532.0),
        *lost("tenants-busy", 2.0, 124.0, 117.0, 116.0),
        *lost("random-anon-busy", 8.0, 12.0, 5.0, 5.0),
        # Without a control, and less than with stock Linux.
        *lost("sqlite-busy", 5.0, 37.0, 4.0),
        *lost("gups-busy", 5.0, 37.0, 80.0),
        *lost("redis", None, None, None),
    ]
    assert overhead.lost_more(made) == {
        "regions-busy": 116.0,
        "gups-full-busy": 163.0,
        "sqlite-busy": 33.0,
    }
    assert overhead.told_lost(made) == (
        "Lost more with pghot than with stock Linux, by more than that and a tenth: 116 ms in "
        "`regions-busy`, 163 ms in `gups-full-busy`, 33 ms in `sqlite-busy`."
    )
    assert overhead.told_lost(lost("gups-busy", 5.0, 37.0, 80.0)).endswith("a tenth: nothing.")
    shares = [
        row | {"hog_share": 0.925 if row["contender"].startswith("pghot") else 0.998}
        for row in made
    ]
    said = "116 ms in `regions-busy` (they get 92% done, with stock Linux 100%)"
    assert said in overhead.told_lost(shares)
    alike = [row | {"hog_share": 0.998} for row in made]
    assert "done" not in overhead.told_lost(alike)
    text = " ".join(documents.results(made, bench_fakes.ORIGIN).split())
    assert overhead.told_lost(made) in text


def scored(pghot, stock, twin, seeds=3, name="compaction-idle"):
    """Scores without bounds, and runs that go by them."""
    named = (("pghot-default", pghot), ("stock-2", stock), ("off-2", twin))
    return [
        bench_fakes.row(
            name,
            contender,
            score=score,
            unit="huge pages/s",
            seconds_by_seed=[26 / score] * seeds,
            **({"like": "stock-2"} if contender == "off-2" else {}),
        )
        for contender, score in named
    ]


def test_what_is_slower_by_its_score_is_told_where_all_is():
    """Without bounds there is no R by which pghot could be behind."""
    made = scored(702.0, 776.1, 780.0)
    said = (
        "Of experiments that have a score alone these are slower with pghot than with stock Linux, "
        "with every seed, and by more than two builds that do the same differ by: "
        "`compaction-idle` (702 against 780 huge pages/s, 10.0% less)."
    )
    assert overhead.told_slower(made) == said
    known = description.experiments()
    beside = bench_fakes.rows("redis", pghot=0.9, stock=0.5)
    for every in (made, rows() + made, beside + made):
        gain = " ".join(documents.gain(every, known).split())
        assert "**What it costs.**" in gain and gain.endswith(said)
    assert said in " ".join(documents.results(made, bench_fakes.ORIGIN).split())


@pytest.mark.parametrize(
    "made",
    [
        # Within what like kernels differ by, ahead, and with one seed.
        scored(702.0, 700.0, 780.0),
        scored(800.0, 776.1, 780.0),
        scored(702.0, 776.1, 780.0, seeds=1),
        # Without a control nobody knows what chance makes.
        scored(702.0, 776.1, 780.0)[:2],
        bench_fakes.rows("redis", pghot=0.1, stock=0.5, twin=0.5, seeds=3),
    ],
)
def test_what_is_not_known_to_be_slower_by_its_score_is_not_told(made):
    assert overhead.told_slower(made) == ""


def test_seeds_have_to_agree_on_who_is_slower_by_the_score():
    made = scored(702.0, 776.1, 780.0)
    made[0]["seconds_by_seed"] = [0.02, 0.05, 0.05]
    assert overhead.slower(made) == {}


def test_the_published_pages_tell_what_is_slower_by_its_score():
    entries = published.read(published.BENCH)
    every = published.rows_of(entries, [one.name for one in description.experiments()])
    assert overhead.told_slower(every)
    for name in ("README.md", "docs/bench.md"):
        text = " ".join((paths.ROOT / name).read_text(encoding="utf-8").split())
        assert overhead.told_slower(every) in text
