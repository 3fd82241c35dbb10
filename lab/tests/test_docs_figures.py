# SPDX-License-Identifier: GPL-2.0
"""What the pages say of measured runs is what their tables show: each figure that they quote of
an experiment, and each sentence that says how something came out.

Such a sentence is in CLAIMS with what has to hold for it. Where the tables are renewed and it does
not hold any more, it is to be written anew, here and there.
"""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from lab.bench import description, overview
from lab.bench.resolution import LEAST
from lab.tests.claims_of_models import OF_MODELS
from lab.tests.results_claimed import (
    ALL,
    HINTS,
    OURS,
    SAMPLES,
    TABLES,
    R,
    ahead,
    both,
    first_seed,
    lead,
    lower,
    more_lost,
    of_tenants,
    since_rows_with_r,
    stock,
    tail,
    tenant,
    where,
    without_engine,
)
from lab.tests.results_shown import (
    by_hand,
    earlier,
    experiments,
    made,
    number,
    page,
    shown,
    table,
    unfounded,
    values,
)

PROSE = (
    "README.md",
    "docs/bench.md",
    "docs/contributor.md",
    "docs/faq.md",
    "docs/glossary.md",
    "docs/kernel-reviewer.md",
    "docs/model.md",
    "docs/operator.md",
    "linux/Documentation/admin-guide/mm/pghot.rst",
    "linux/Documentation/mm/pghot.rst",
)
_HELD_ELSEWHERE = "What a guest second costs"
"""Of model.md: figures of the host, which test_docs_model.py holds."""


def parts(name: str) -> list[str]:
    """Without what is held elsewhere."""
    found, skipped = [], False
    for part in by_hand(name):
        if part.startswith("#"):
            skipped = part.lstrip("# ") == _HELD_ELSEWHERE
        if not skipped:
            found.append(part)
    return found


@pytest.mark.parametrize("name", PROSE)
def test_no_figure_is_quoted_that_no_table_shows(name):
    complaints = {part: found for part in parts(name) if (found := unfounded(part))}
    assert not complaints


@pytest.mark.parametrize("name", ["README.md", "docs/faq.md"])
def test_what_is_said_of_an_experiment_is_in_the_published_table(name):
    """With a control beside it, and without figures that only whoever wrote it has seen."""
    whole = {read.name for read in description.experiments()}
    told = 0
    for part in by_hand(name):
        named = set(re.findall(r"`(?:make bench EXPERIMENT=)?([\w-]+)`", part)) & whole
        assert named <= set(overview.MAIN), part
        assert not named or not re.search(r"\d\.\d+ ?(s\b|%)", part), part
        told += len(named)
    assert told


def _r(experiment: str, contender: str) -> str:
    return f"{values('R')[experiment][contender]:.2f}"


_ELSE = _r("gups-full", "damon")
_R, _DAMON, _HINT = _r("redis", OURS), _r("redis", "damon"), _r("random-thp", HINTS)
_OFF = _r("gups-full", "off-2")
_STOCK = re.findall(r"[\d.]+", table("Experiment", "README.md")["redis"]["stock Linux"])[0]


@pytest.mark.parametrize(
    "text, found",
    [
        (f"`redis` has an R of {_R}.", []),
        (f"Its R is {_R} ({_R}..{_R}), as in `redis`.", []),
        ("`redis` has an R of 1.99.", ["1.99"]),
        ("It falls from 1.99 to 1.98. `redis` is another.", ["1.99", "1.98"]),
        (f"`gups` and `redis` are apart: {_R} and -1.97.", ["-1.97"]),
        (f"`movepages-4k` has an R of {_R}.", [_R]),
        ("R of 1.99 was seen.", ["R 1.99"]),
        ("R differs by 0.02 or more.", []),
        ("In `sockets` 5% of the accesses are remote.", []),
        ("In `sockets` 77% of the accesses are remote.", ["77%"]),
        ("In `sockets` it is little. 77% less is less.", []),
        ("`redis` takes 98.765 s.", ["98.765 s"]),
        ("`redis` on a CPU of 0.25 ns per instruction, at 1.23 GB/s.", []),
        # Another contender's figure is none of the one that a sentence names.
        (f"`gups-full` with pghot has an R of {_OFF}.", [_OFF]),
        (f"`gups-full` with `pghot-default` has an R of {_OFF}.", [_OFF]),
        (f"`redis` has an R of {_R} with pghot and of {_DAMON} with DAMON.", []),
        (f"`gups-full` has an R of {_ELSE} with stock Linux.", [_ELSE]),
        (f"`redis` has an R of {_STOCK} with stock Linux and {_R} with pghot.", []),
        (f"`random-thp` has an R of {_HINT} with pghot.", [_HINT]),
        (f"`random-thp` has an R of {_HINT} with `pghot-default-hint_fault`.", []),
    ],
)
def test_a_figure_that_no_table_shows_is_noticed(text, found):
    assert unfounded(text) == found


@pytest.mark.skipif(earlier("0123456789ab") is None, reason="there is no history to look at")
def test_figures_of_an_earlier_table_are_looked_up():
    def said(commit, figure):
        return f"In the table of commit {commit} `gups-full-busy` has {figure}."

    assert unfounded(said("c750802ccf57", "0.23")) == []
    assert unfounded(said("c750802ccf57", "1.99")) == ["1.99"]
    assert unfounded(said("0123456789ab", "0.23")) == ["0.23"]


def test_figures_of_each_kind_are_found():
    assert _R in shown("redis")
    # Of model.md, of a sentence with several of them, and of what has no bounds.
    assert set(table("redis", "docs/model.md")) >= {"as-described", "overlap"}
    overlap = number(table("redis", "docs/model.md")["overlap"][OURS])
    assert f"{overlap:.2f}" in shown("redis")
    apart = re.search(r"kernels differ by ([\d.]+%) in compaction-busy", page("docs/bench.md"))
    assert apart and apart[1] in shown("compaction-busy")
    assert set(experiments()) >= {"gups-long", "redis-2cpu", "idle-busy"}


_T_SLOW = {
    name: float(re.findall(r"\(([\d.]+)", line["delay (T_slow, scans)"])[0])
    for name, line in table("delay (T_slow, scans)").items()
}
LONG_S = [
    _T_SLOW[read.variant.of] * read.long_times
    for read in description.long_ones()
    if read.variant and read.variant.of in _T_SLOW
]

CLAIMS: dict[str, tuple[str, Callable[[], bool]]] = {
    "With as little as there, pghot is [a little slower](docs/bench.md#scale) in `pmbench-normal` "
    "than stock Linux.": (
        "README.md",
        lambda: -0.1 < lead("pmbench-normal-watermarks") < 0,
    ),
    "with a server's share stock Linux is a little ahead (`pmbench-normal-watermarks`), and with "
    "that of a small machine pghot is (`pmbench-normal`).": (
        "docs/bench.md",
        lambda: -0.1 < lead("pmbench-normal-watermarks") < 0 and "pmbench-normal" in where("ahead"),
    ),
    "In `gups`, `gups-full` and `pmbench-normal` seeds of pghot and of stock Linux are far "
    "apart.": (
        "docs/bench.md",
        lambda: all(
            max(seeds) - min(seeds) > 3 * LEAST
            for name in ("gups", "gups-full", "pmbench-normal")
            for seeds in (made(name, one)["recovered_by_seed"] for one in (OURS, "stock-2"))
        ),
    ),
    "No row that has an R is of the kernel of this tree: dozens of commits to it came since.": (
        "docs/bench.md",
        lambda: all(count is None or count >= 24 for count in since_rows_with_r()),
    ),
    "What is won back, above, was measured with earlier kernels than this tree's: dozens of": (
        "README.md",
        lambda: all(count is None or count >= 24 for count in since_rows_with_r()),
    ),
    "most of its time is over when its pages come.": (
        "docs/faq.md",
        lambda: 0 < R["regions"][OURS] < 0.5,
    ),
    "comes when most of that time is over (`regions`), and with stock Linux not at all.": (
        "docs/kernel-reviewer.md",
        lambda: 0 < R["regions"][OURS] < 0.5 and stock("regions") < 0.05,
    ),
    "the scan of a file beside the server of `tenants` gets less done with pghot than with stock "
    "Linux.": (
        "README.md",
        lambda: all(ours < min(stocks) for ours, stocks, _ in of_tenants("R", "scan")),
    ),
    "both kernels had a higher R with it where that was measured, in one run each": (
        "docs/operator.md",
        lambda: all(
            pairs and all(a < b for a, b in pairs)
            for pairs in (both("pghot-default-3", OURS), both("stock-3", "stock-2"))
        ),
    ),
    "With either kernel the scan gets less done than beside the slow bound": (
        "docs/bench.md",
        lambda: all(max(ours, *stocks) < 0 for ours, stocks, _ in of_tenants("R", "scan")),
    ),
    "The slowest of the server's requests (p99 and p99.9) take longer than there with stock "
    "Linux": (
        "docs/bench.md",
        lambda: min(tail("stock-2", "slow") + tail("off-2", "slow")) > 1,
    ),
    "With pghot they take about half as long as with stock Linux, in `tenants-busy` too.": (
        "docs/bench.md",
        lambda: all(0.4 < part < 0.6 for part in tail(OURS, "stock-2") + tail(OURS, "off-2")),
    ),
    "In `tenants` that is still longer than beside the slow bound, in `tenants-busy` it is less.": (
        "docs/bench.md",
        lambda: min(tail(OURS, "slow")[:2]) > 1 > max(tail(OURS, "slow")[2:]),
    ),
    "pghot moves more, and most of that is pages of the file": (
        "docs/bench.md",
        lambda: all(
            tenant(name, OURS, "scan", "promoted")
            > tenant(name, OURS, "server", "promoted")
            > max(tenant(name, one, "scan", "promoted") for one in ("stock-2", "off-2"))
            for name in ("tenants", "tenants-busy")
        ),
    ),
    "the scan gets less done than with either sample of stock Linux, in `tenants` and "
    "`tenants-busy`, by more than twice what these two differ by.": (
        "docs/bench.md",
        lambda: all(
            min(stocks) - ours > 2 * abs(stocks[0] - stocks[1])
            for ours, stocks, _ in of_tenants("R", "scan")
        ),
    ),
    "Stock Linux gains no more on two CPUs than where more are idle.": (
        "docs/bench.md",
        lambda: stock("redis-2cpu") < stock("redis") + LEAST,
    ),
    "moving pages hardly pays, with either kernel: a run takes about as long as if nothing had "
    "been moved. pghot is ahead there with each seed, by less than what like kernels differ by.": (
        "docs/bench.md",
        lambda: (
            "gups-full-busy" in where("alike")
            and len(ahead("gups-full-busy")) == 3
            and min(ahead("gups-full-busy")) > 0
            and max(abs(stock("gups-full-busy")), abs(R["gups-full-busy"][OURS])) < 0.15
        ),
    ),
    "From programs on other CPUs pghot takes more than stock Linux does (`lost ms`) in "
    "`hostile-alternate-busy`, `regions-busy`, `tenants-busy`, `idle-busy` and `random-anon-busy`. "
    "In the first three it is ahead. In the last two R differs by less than 0.02, which is not "
    "told apart: in `random-anon-busy` pghot is behind both samples of stock Linux with both "
    "seeds, in `idle-busy` with one of two.": (
        "docs/bench.md",
        lambda: (
            more_lost()
            == {
                "hostile-alternate-busy",
                "tenants-busy",
                "regions-busy",
                "idle-busy",
                "random-anon-busy",
            }
            and more_lost() & where("alike") == {"idle-busy", "random-anon-busy"}
            and more_lost() - where("alike") <= where("ahead")
            and all(abs(lead(name)) < LEAST for name in more_lost() & where("alike"))
            and all(
                max(ahead("random-anon-busy", beside)) < 0 and len(ahead("idle-busy", beside)) == 2
                for beside in ("stock-2", "off-2")
            )
            and all(
                min(ahead("idle-busy", beside)) < 0 < max(ahead("idle-busy", beside))
                for beside in ("stock-2", "off-2")
            )
        ),
    ),
    "In `tenants-busy` most of what it moves is pages of the scanned file, for nothing.": (
        "docs/bench.md",
        lambda: (
            tenant("tenants-busy", OURS, "scan", "promoted")
            > tenant("tenants-busy", OURS, "server", "promoted")
            and tenant("tenants-busy", OURS, "scan", "R") < 0
        ),
    ),
    "As shipped, pghot is behind hint faults alone in none of those that have several seeds of "
    "both, and ahead in none.": (
        "docs/bench.md",
        lambda: not where("behind", HINTS, OURS) and not where("ahead", HINTS, OURS),
    ),
    "Its R is higher in `gups`, `random-thp`, `random-thp-cold`, `random-anon-cold` and `regions`, "
    "of which nobody knows what chance makes": (
        "docs/bench.md",
        lambda: lower(
            HINTS,
            "gups",
            "random-thp",
            "random-thp-cold",
            "random-anon-cold",
            "regions",
        ),
    ),
    "In `hostile-uniform` and `pmbench-normal` they differ by no more than chance can make.": (
        "docs/bench.md",
        lambda: {"hostile-uniform", "pmbench-normal"} <= where("alike", HINTS, OURS),
    ),
    "Page tables alone have a lower R where threads of both sockets have pages of their own "
    "(`graph500`), in one run": (
        "docs/bench.md",
        lambda: lower(TABLES, "graph500"),
    ),
    "The page cache alone does as well with files that are not mapped (`readers-1`, `readers-7`, "
    "`readers-phases`).": (
        "docs/bench.md",
        lambda: (
            where("alike", "pghot-default-page_cache", OURS)
            == {"readers-1", "readers-7", "readers-phases"}
        ),
    ),
    "Samples alone have a higher R than page tables alone in `graph500`, with one seed, and a "
    "lower one than stock Linux.": (
        "docs/bench.md",
        lambda: (
            R["graph500"][TABLES] + LEAST < R["graph500"][SAMPLES] < R["graph500"]["stock-2"]
            and len(made("graph500", SAMPLES)["recovered_by_seed"]) == 1
        ),
    ),
    "they find fewer of them than samples of the CPUs do there": (
        "docs/bench.md",
        lambda: made("graph500", TABLES)["promoted"] < made("graph500", SAMPLES)["promoted"],
    ),
    "them, where hardly anything is left to gain.": (
        "docs/bench.md",
        lambda: all(R[name][OURS] > 0.9 for name in where("alike", ALL, OURS)),
    ),
    "There the lead is smaller than in the same row with idle CPUs, and in `graph500-busy` the "
    "same.": (
        "README.md",
        lambda: all(
            lead(name) + (LEAST if name != "graph500-busy" else -0.005)
            <= lead(re.sub("-busy$", "", name))
            for name in R
            if name.endswith("-busy")
            and {OURS, "stock-2"} <= R[name].keys()
            and re.sub("-busy$", "", name) in R
            and not name.startswith("idle")
        ),
    ),
    "the client's is idle most of the time: the lead is smaller too.": (
        "README.md",
        lambda: lead("redis-2cpu") + LEAST < lead("redis"),
    ),
    "Looks at page tables are what wins `regions` and one with huge pages: with hint faults alone "
    "pghot gains nothing over stock Linux there.": (
        "README.md",
        lambda: (
            {"regions", "random-thp"} <= where("ahead")
            and all(
                first_seed(name, HINTS)
                < max(first_seed(name, other) for other in ("stock-2", "off-2")) + 0.02
                for name in ("regions", "random-thp")
            )
        ),
    ),
    "That it moves folios of 16 KiB and of 1 MiB faster is where an image has its code and data": (
        "docs/bench.md",
        lambda: (
            without_engine("movepages-16k") > 1.03
            and without_engine("movepages-1024k") > 1.02
            and all(
                0.98 < without_engine(f"movepages-{size}") < 1.02
                for size in ("4k", "64k", "256k", "2048k")
            )
        ),
    ),
    "In compaction it is 4% and 6% slower in the mean of three seeds": (
        "docs/bench.md",
        lambda: max(without_engine(f"compaction-{c}") for c in ("busy", "idle")) < 0.97,
    ),
    "If that part were scaled by the rule for all else, `regions` would gain nothing by these "
    "looks.": (
        "README.md",
        lambda: "then `regions` gains nothing by them" in page("docs/bench.md"),
    ),
    "A hotness unit and samples of the CPUs beside the other sources (`pghot-default-all`) change "
    "hardly anything in the experiments that have them,": (
        "docs/bench.md",
        lambda: (
            bool(where("alike", ALL, OURS))
            and not where("ahead", ALL, OURS)
            and not where("behind", ALL, OURS)
            and all(abs(a - b) < 1.5 * LEAST for a, b in both(ALL, OURS))
        ),
    ),
    "Alone, page tables have a lower R where threads run on both sockets (`graph500`), and hint "
    "faults with huge pages and with new threads, in one run of each": (
        "docs/faq.md",
        lambda: (
            lower(TABLES, "graph500")
            and lower(HINTS, "random-thp", "random-thp-cold", "random-anon-cold")
        ),
    ),
    "With `random-anon` in [bench.md](bench.md#results) it takes no longer than stock Linux. In "
    "the busy variant it does, with both seeds, by too little to be "
    "[told apart](bench.md#where-no-cpu-is-idle).": (
        "docs/kernel-reviewer.md",
        lambda: (
            min(ahead("random-anon") + ahead("random-anon", "off-2")) > 0
            and -LEAST < min(ahead("random-anon-busy")) <= max(ahead("random-anon-busy")) < 0
        ),
    ),
    "From slow memory they take 44 to 128 s of guest time.": (
        "docs/bench.md",
        lambda: (round(min(LONG_S)), round(max(LONG_S))) == (44, 128),
    ),
    "In full length contenders are apart in `tenants` and `redis`, and alike in `graph500`": (
        "docs/model.md",
        lambda: {"tenants", "redis"} <= where("ahead") and "graph500" in where("alike"),
    ),
    **OF_MODELS,
}


@pytest.mark.parametrize("words", CLAIMS)
def test_what_is_said_to_have_come_out_is_what_the_tables_show(words):
    name, holds = CLAIMS[words]
    assert words in " ".join(page(name).split()), f"{name} says something else: change CLAIMS too"
    assert holds(), f"the tables of {name} do not say so (any more): write it anew"


def test_experiments_files_say_no_more_than_the_tables():
    """What they say of the lab's own figures, for the list of reasons."""
    why = {
        read.name: " ".join(read.document.differs.split())
        for read in description.experiments()
        if read.document
    }
    assert "here some 10% with stock Linux and 15% with pghot's hint faults" in why["regions"]
    # Of forty regions of 4 MiB.
    beside = table("Followed", keys=2)
    for contender, share in (("stock-2", 0.1), (HINTS, 0.15)):
        (pages,) = re.findall(r"([\d,]+) pages promoted", beside[f"regions {contender}"]["lab"])
        said = float(pages.replace(",", "")) / (40 * 1024)
        assert said == pytest.approx(share, abs=0.02)
