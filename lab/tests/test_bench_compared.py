# SPDX-License-Identifier: GPL-2.0
"""lab/bench/compared.py: in how many experiments pghot is ahead, and which of them count."""

import re
from dataclasses import replace

from lab import paths
from lab.bench import description, documents
from lab.tests import bench_fakes

SLOW = bench_fakes.starting_slow()
"""Experiments whose data start in slow memory, of all that there are."""


def test_stock_linux_is_the_better_one_of_like_kernels():
    rows = [
        *bench_fakes.rows("redis", pghot=0.88, stock=0.72, twin=0.81),
        *bench_fakes.rows("sqlite", pghot=0.5, stock=0.5, twin=0.25),
    ]
    known = description.experiments()
    text = documents.summary(rows, known, bench_fakes.ORIGIN)
    assert "| `redis` | 0.81 (0.76 s, off-2) | " in text
    assert "| `sqlite` | 0.50 (2.00 s) | " in text
    assert re.search(r"any hint fault.* \| 66% \(50 to 81\) \|", documents.gain(rows, known))
    said = " ".join(text.split())
    assert "Stock Linux: the better one of stock-2 and its control, which is named." in said


def test_what_begins_in_dram_is_not_counted():
    # Of these, hostile ones begin in DRAM and go on in slow memory where their bound does.
    rows = [
        row
        for name in ("redis", "pmbench-normal", "hostile-triad", "hostile-uniform", "idle")
        for row in bench_fakes.rows(name, pghot=0.9, stock=0.5)
    ]
    known = description.experiments()
    text = documents.summary(rows, known, bench_fakes.ORIGIN)
    said = f"Of the {SLOW} experiments whose data start in slow memory 2 are counted."
    assert said in " ".join(text.split())
    assert f"These are 2 of the {SLOW} experiments" in " ".join(documents.gain(rows, known).split())
    assert documents.gain(bench_fakes.rows("hostile-triad", pghot=0.9, stock=0.5), known) == ""
    (one,) = description.experiments("redis")
    for start in ("0", "0+", "1+", "0,1", "local"):
        both = [replace(one, start=start, slow=start)]
        assert documents.gain(bench_fakes.rows("redis", pghot=0.9, stock=0.5), both) == "", start


def test_an_easy_class_does_not_hide_a_hard_one():
    rows = [
        row
        for name, share in (("redis", 0.9), ("sqlite", 0.8), ("gups", 0.7), ("regions", 0.1))
        for row in bench_fakes.rows(name, pghot=share, stock=share - 0.05)
    ]
    text = documents.gain(rows, description.experiments())
    lines = [line for line in text.splitlines() if line.startswith("| ")][2:]
    assert len(lines) == len(description.DECIDES) + 1
    first = bench_fakes.starting_slow("first")
    assert re.search(
        rf"any hint fault.* 3 of {first} \| 75% \(65 to 85\) \| 80% \(70 to 90\) \|", lines[0]
    )
    assert re.search(r"DRAM is full.* 1 of \d+ \| 5% \(5 to 5\) \| 10% \(10 to 10\) \|", lines[1])
    none = bench_fakes.starting_slow("none")
    assert re.search(rf"nothing to gain.* 0 of {none} \| - \| - \| 0 \| 0 \| 0 \| 0 \|", lines[2])
    assert re.search(r"no CPU is idle \| 0 of \d \| - \| - \|", lines[3])
    # So that what follows is no line of the table.
    assert text.endswith("|\n\n")


def test_nothing_is_summed_up_over_all_classes():
    """A median of all goes by how many of each class there are."""
    rows = [
        row
        for name, share in (("redis", 0.91), ("sqlite", 0.83), ("regions", 0.12))
        for row in bench_fakes.rows(name, seeds=3, pghot=share, stock=0.37, twin=0.36)
    ]
    known = description.experiments()
    before, _, after = documents.gain(rows, known).partition("\n| Where")
    assert "pghot is ahead" in before and "| 37% (37 to 37) | 87% (83 to 91) |" in after
    whole = documents.summary(rows, known, bench_fakes.ORIGIN)
    prose = "\n".join(line for line in whole.splitlines() if not line.startswith("|"))
    # Figures of an experiment that is named are none of all.
    single, found = re.subn(r"`[\w-]+` \(\d+% against \d+%\)", "", " ".join(before.split()))
    assert found == 3
    single = single.replace("100% is as fast as DRAM, 0% no gain, below 0% harm", "")
    for text in (single, prose):
        assert not re.search(r"\d%|0\.(?:91|83|12|37)", text), text


def test_a_higher_median_does_not_look_like_a_lead():
    """Who is ahead is counted by what chance can make, in the sentence and in each class."""
    rows = [
        *bench_fakes.rows("redis", seeds=3, pghot=0.9, stock=0.5, twin=0.49),
        *bench_fakes.rows("sqlite", seeds=3, pghot=0.6, stock=0.58, twin=0.53),
        *bench_fakes.rows("gups", seeds=3, pghot=0.6, stock=0.9, twin=0.9),
        # One seed, and no control.
        *bench_fakes.rows("graph500", pghot=0.9, stock=0.5, twin=0.5),
        *bench_fakes.rows("gups-full", seeds=3, pghot=0.9, stock=0.5),
    ]
    known = description.experiments()
    text = documents.gain(rows, known)
    head, _, *lines = [line for line in text.splitlines() if line.startswith("| ")]
    assert head.endswith("| ahead | alike | behind | not known |")
    assert [re.findall(r"\d+", line)[-4:] for line in lines] == [
        ["1", "1", "1", "1"],
        ["0", "0", "0", "1"],
        ["0", "0", "0", "0"],
        ["0", "0", "0", "0"],
    ]
    said = (
        "Of these 5 pghot is ahead of stock Linux at its best in 1 and behind in 1. In 1 they are "
        "not told apart: seeds do not agree, or they differ by less than 2 points (0.02 in R) or "
        "than two builds that do the same. In 2 that is not known: they were run once only, or "
        "without a control."
    )
    summary = documents.summary(rows, known, bench_fakes.ORIGIN)
    for where in (text, summary):
        assert said in " ".join(where.split())
    # The same as is bold.
    assert re.findall(r"`([\w-]+)` .*\*\*", summary) == ["redis", "gups"]
    # What is not known is told from what is alike, and what the sign says comes first.
    assert set(re.findall(r"`([\w-]+)` .* s\) \? \|", summary)) == {"graph500", "gups-full"}
    assert "with a ? were run with one seed" in " ".join(summary.partition("\n|")[0].split())
    assert max(len(line) for line in text.splitlines() if not line.startswith("|")) <= 100


def test_each_experiment_is_in_one_class_of_the_table():
    """That of the document, and all that have bounds are."""
    text = (paths.ROOT / "docs" / "bench.md").read_text(encoding="utf-8")
    table = text.partition("Which code decides what is promoted")[2].partition("**Pages of")[0]
    known = {one.name: one for one in description.experiments() if not one.variant}
    found = {}
    for line in table.splitlines():
        if line.startswith("| "):
            for name in re.findall(r"`([\w-]+)`", line):
                found[name] = line.split("|")[3].strip()
    assert set(found) == {name for name, one in known.items() if one.decides}
    assert {name for name, one in known.items() if one.fast} == set(found)
    said = {
        decides: {found[name] for name in found if known[name].decides == decides}
        for decides in description.DECIDES
    }
    assert not said["first"] & said["full"] and not said["none"] & (said["first"] | said["full"])
    assert said["first"] == {"the first hint fault"} and said["none"] == {"nothing"}


def test_a_variant_is_no_further_workload():
    rows = bench_fakes.rows("redis", pghot=0.9, stock=0.5)
    rows += bench_fakes.rows("redis-2cpu", pghot=-0.5, stock=0.1)
    text = documents.summary(rows, description.experiments(), bench_fakes.ORIGIN)
    assert re.search(r"`redis-2cpu` \| .* \| .* \| .*; there are no CPUs but its two \|", text)
    assert f"Of the {SLOW} experiments whose data start in slow memory 1 are counted" in " ".join(
        text.split()
    )
    # The client's CPU is idle most of the time.
    (line,) = without_idle_cpus(rows)
    assert re.search(r"no CPU is idle \| 0 of \d \| - \| - \|", line)
    rows += bench_fakes.rows("graph500-busy", pghot=-0.5, stock=0.1)
    (line,) = without_idle_cpus(rows)
    assert "10% (10 to 10) | -50% (-50 to -50)" in line


def without_idle_cpus(rows):
    """Lines of the first table that are of such variants."""
    return re.findall(
        r"\| some of these where no CPU is idle .*", documents.gain(rows, description.experiments())
    )


def test_harm_where_no_cpu_is_idle_is_counted():
    rows = bench_fakes.rows("gups-full-busy", seeds=3, pghot=-0.2, stock=0.1, twin=0.09)
    rows += bench_fakes.rows("redis", pghot=0.9, stock=0.5)
    (line,) = without_idle_cpus(rows)
    assert line.endswith("| 0 | 0 | 1 | 0 |")
