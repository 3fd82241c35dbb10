# SPDX-License-Identifier: GPL-2.0
"""What programs on the other CPUs lose, and where that is shown."""

import io
from dataclasses import replace

import pytest
from rich.console import Console

from lab import machines
from lab.bench import (
    description,
    documents,
    figures,
    matrix,
    page,
    published,
    report,
    resolution,
)
from lab.measure import Result
from lab.tests import bench_fakes

CONTENDERS = {read.name: read for read in description.contenders()}


def made(*runs, cpus=(2, 3)):
    """Results of seconds, of milliseconds that the kernel took of all CPUs but those of the
    workload, and of those by which the own part of what keeps them busy is off the measured one."""
    pages = {"promoted": 0, "demoted_again": 0}
    return [
        Result(
            seconds=seconds,
            hog={"instructions": 2e9 * seconds - taken * 1e6, "seconds": seconds + off, "cpus": 2},
            model={
                "pages": pages,
                "cpus": [
                    {
                        "cpu": cpu,
                        "kernel": {"instructions": kernel, "ns": kernel},
                        "idle_ns": seconds * idle * 1e9,
                    }
                    # What the workload's own CPUs do is not taken from others.
                    for cpu, kernel, idle in (
                        *((cpu, taken * 25e4, 0.0) for cpu in cpus),
                        *((cpu, 9e9, 0.25) for cpu in (0, 1)),
                    )
                ],
            },
        )
        for seconds, taken, off in runs
    ]


def row(results, slow):
    (busy,) = description.experiments("redis-busy")
    return matrix.row(matrix.cell(busy, CONTENDERS["stock-2"]), results, [], slow)


def test_what_was_taken_from_others_is_cpu_time():
    # Ticks take 20 ms in 5 s, so 16 ms in 4 s.
    slow = made((5.0, 20, 0))
    assert row(made((4.0, 56, 0)), slow)["hog_lost_ms"] == pytest.approx(40)
    assert row(slow, slow)["hog_lost_ms"] == 0
    # Of each seed beside its own bound, and the mean of these.
    seeds = made((5.0, 20, 0), (5.0, 100, 0))
    assert row(made((4.0, 36, 0), (2.0, 80, 0)), seeds)["hog_lost_ms"] == pytest.approx(30)


def test_how_idle_each_cpu_was_is_in_the_row():
    """Of the measured part, the mean of the seeds."""
    seeds = made((4.0, 56, 0), (2.0, 56, 0), cpus=(2,))
    assert row(seeds, made((5.0, 20, 0)))["idle"] == [0.0, 0.25, 0.25]
    assert row([replace(seeds[0], model={"pages": seeds[0].model["pages"]})], [])["idle"] is None


def test_no_cpu_is_idle_in_rows_of_which_that_is_said():
    """Published ones, as far as they have it. In redis-2cpu the client's CPU is, for four fifths of
    the time."""
    said = [read.name for read in description.experiments() if read.variant]
    said = [name for name in said if name.rpartition("-")[2] in description.NO_SPARE]
    assert "graph500-busy" in said and "redis-2cpu" not in said
    entries = published.read(published.BENCH)
    told = [own for own in published.rows_of(entries, said) if own.get("idle")]
    if not told:
        pytest.skip("rows of before do not have it")
    for own in told:
        assert max(own["idle"]) < 0.05, (own["experiment"], own["contender"])


@pytest.mark.parametrize("kind", description.NO_SPARE)
def test_of_a_variant_without_an_idle_cpu_all_are_taken(kind):
    for read in description.experiments():
        if read.variant and read.variant.name == kind:
            taken = sorted(read.variant.hogs + read.variant.left)
            cpus = sum(node.cpus for node in machines.load(read.machine).nodes)
            assert taken == list(range(cpus)), read.name


@pytest.mark.parametrize("off", [-0.0051, 0.0039])
def test_when_what_is_busy_begins_and_ends_takes_nothing(off):
    """It was seen to begin and end its own part so much too early or too late."""
    slow = made((5.0, 20, 0.0))
    assert row(made((2.5, 10, off)), slow)["hog_lost_ms"] == pytest.approx(0)


def test_without_others_or_a_bound_nothing_is_lost():
    busy, idle = (
        made((4.0, 20, 0)),
        [Result(seconds=4.0, model={"pages": made((1, 1, 0))[0].model["pages"]})],
    )
    for results, slow in ((busy, []), (busy, idle), (idle, idle), (busy, [Result(error="no")])):
        assert row(results, slow)["hog_lost_ms"] is None
    assert row([Result(error="no")], busy)["hog_lost_ms"] is None
    # Nor in an experiment that keeps nobody busy.
    (alone,) = description.experiments("redis")
    made_of = matrix.cell(alone, CONTENDERS["stock-2"])
    assert matrix.row(made_of, busy, [], busy)["hog_lost_ms"] is None


def busy_rows():
    """Of one that takes some ms and one that takes many; ``fast`` seems to take some too."""
    rows = bench_fakes.rows("redis-busy", pghot=0.9, stock=0.8)
    for one, lost in zip(rows, (-7.2, 0.0, 344.6, 2.5)):
        one.update(hog_lost_ms=lost, hog_idle_rate=6e8)
    return rows


def shown(rows, tmp_path):
    """As the terminal, the documents and the page have them."""
    out = io.StringIO()
    Console(file=out, width=140).print(report.table(rows, 140))
    experiments = description.experiments("redis-busy")
    path = page.write(rows, experiments, list(CONTENDERS.values()), tmp_path / "p.html")
    text = documents.results(rows, bench_fakes.ORIGIN)
    assert all(len(line) <= 100 for line in text.splitlines() if not line.startswith("|"))
    return out.getvalue(), text, path.read_text(encoding="utf-8")


def test_it_is_where_the_figures_are_in_whole_ms(tmp_path):
    terminal, text, html = shown(busy_rows(), tmp_path)
    assert "lost ms" in terminal and " 345 " in terminal and "344.6" not in terminal
    assert "| lost ms | fast | pghot-default | stock-2 |" in text
    assert "| redis-busy | -7 | 345 | 2 |" in text
    assert "<td>345</td>" in html


def test_what_moves_nothing_says_what_is_nothing(tmp_path):
    """Beside what others lose; and so do kernels that are alike, where they differ by more."""
    rows = busy_rows()
    for said in shown(rows, tmp_path):
        assert "differ by, is up to 7 ms in redis-busy." in " ".join(said.split())
    twin = bench_fakes.row("redis-busy", "off-2", 0.8, like="stock-2", hog_lost_ms=-8.0)
    assert resolution.apart_ms([*rows, twin]) == pytest.approx(10.5)
    assert resolution.told_ms(bench_fakes.rows("redis", pghot=0.9)) == ""


def test_which_pages_faults_moved_themselves(tmp_path):
    """Where no CPU is idle they do, and the page is not moved in the background."""
    rows = busy_rows()
    rows[2].update(promoted=4590, in_fault=3067)
    for said in shown(rows, tmp_path):
        assert "in fault" in said and "0.67" in said
    counters = {"pgpromote_success": 4590, "pghot_promoted_pages": 1523}
    results = [replace(one, vmstat=counters) for one in made((4.0, 20, 0))]
    assert row(results, results)["in_fault"] == 3067
    assert row(made((4.0, 20, 0)), results)["in_fault"] is None
    # Where CPUs are idle nobody asks.
    assert figures.in_fault({**rows[2], "hog_idle_rate": None}) == figures.NONE
