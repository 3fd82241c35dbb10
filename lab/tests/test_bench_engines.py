# SPDX-License-Identifier: GPL-2.0
"""lab/bench/engines.py: what copy engines give, beside the document."""

import io

import pytest
from rich.console import Console

from lab import machines
from lab.bench import description, documents, engines, figures, page
from lab.bench.matrix import cell
from lab.tests import bench_fakes

NAMES = ("movepages-4k", "movepages-2048k", "compaction-idle", "compaction-busy")
EXPERIMENTS = [one for one in description.experiments() if one.name in NAMES]
CONTENDERS = {one.name: one for one in description.contenders()}
CHANNELS = {name: one for name, one in CONTENDERS.items() if engines.is_engine(name)}


def copies(experiment, kib, **scores):
    """Rows of one size, of contenders with these GB/s; _ stands for a hyphen."""
    detail = {"folio_kib": kib, "folios": 1}
    return [
        bench_fakes.row(experiment, name.replace("_", "-"), score=score, unit="GB/s", detail=detail)
        for name, score in scores.items()
    ]


def compaction(experiment, contender, score, kernel, spins=0):
    return bench_fakes.row(
        experiment,
        contender,
        score=score,
        unit="huge pages/s",
        seconds=2.0,
        seconds_by_seed=[2.0],
        kernel_seconds=kernel,
        detail={"huge": 1, "migrated": 9, "spins": spins},
    )


ROWS = [
    *copies("movepages-2048k", 2048, stock_0=10.0, dma_1=12.0, dma_16=50.0),
    *copies("movepages-4k", 4, stock_0=4.0, off=3.9, stock_2=4.0, dma_1=5.0, dma_16=5.5),
    compaction("compaction-idle", "stock-0", 1000.0, 2.0),
    compaction("compaction-idle", "dma-16", 900.0, 1.5),
    compaction("compaction-busy", "stock-0", 500.0, 1.0, 1000),
    compaction("compaction-busy", "dma-16", 510.0, 0.8, 1100),
]


def test_copies_are_in_the_form_of_the_document():
    fast, times, _ = engines.tables(ROWS, EXPERIMENTS)
    assert fast.head == ("here / document", "4K", "2M")
    assert fast.lines == (
        ("stock Linux (fitted)", "4.00 / 3.55", "10.00 / 10.88"),
        ("our kernel, no engine", "3.90 / -", "- / -"),
        ("1 channel (its cost from both ends)", "5.00 / 2.63", "12.00 / 12.64"),
        ("16 channels", "5.50 / 4.40", "50.00 / 66.86"),
    )
    assert times.lines[0] == ("our kernel, no engine", "0.97 / -", "- / -")
    assert times.lines[-1] == ("16 channels", "1.38 / 1.24", "5.00 / 6.15")


def test_compaction_is_in_the_form_of_the_document():
    *_, table = engines.tables(ROWS, EXPERIMENTS)
    assert table.lines == (
        (
            *("stock Linux", "500 / 493", "50.0 / 49.8", "1.00 / 1.01", "1.00 / 1.00"),
            *("1,000 / 981", "100.0 / 99.4", "1.00 / 1.01"),
        ),
        (
            *("16 channels", "510 / 505", "40.0 / 43.0", "0.78 / 0.85", "1.10 / 1.09"),
            *("900 / 867", "75.0 / 76.7", "0.83 / 0.88"),
        ),
    )


def test_how_far_the_model_is_off_is_said():
    told = engines.told(ROWS, EXPERIMENTS)
    cpu, channel = [4.0 / 3.55, 10.0 / 10.88], [5.0 / 2.63, 12.0 / 12.64]
    others = [5.5 / 4.4, 50.0 / 66.86]
    times = [there / beside for there, beside in zip(others, cpu)]
    for off in (cpu, channel, others, times):
        assert f"from {min(off) - 1:+.0%} to {max(off) - 1:+.0%}" in told
    assert "all others are predictions: they are off by 25% in the median" in told
    assert engines.told(ROWS[-4:], EXPERIMENTS) == ""


def test_without_an_engine_there_is_no_table():
    rows = copies("movepages-4k", 4, stock_0=4.0, off=3.9)
    assert engines.tables(rows, EXPERIMENTS) == [] and engines.told(rows, EXPERIMENTS) == ""
    failed = bench_fakes.row("movepages-4k", "dma-1", error="no", failed=True, detail=None)
    assert engines.tables([*rows, failed], EXPERIMENTS) == []
    assert engines.tables(bench_fakes.rows("redis", pghot=0.9), description.experiments()) == []


def test_they_are_in_all_that_is_published(tmp_path):
    text = documents.results(ROWS, bench_fakes.ORIGIN, EXPERIMENTS)
    assert "| 16 channels | 5.50 / 4.40 | 50.00 / 66.86 |" in text
    assert " ".join(engines.told(ROWS, EXPERIMENTS).split()) in " ".join(text.split())
    # Not in the table of all scores, which has a column for each contender.
    assert "| score | stock-2 | stock-0 | off |\n" in text
    assert all(len(line) <= 100 for line in text.splitlines() if not line.startswith("|"))
    path = tmp_path / "p.html"
    page.write(ROWS, EXPERIMENTS, description.contenders(), path)
    html = path.read_text(encoding="utf-8")
    assert '<td class="text">16 channels</td><td>5.50 / 4.40</td>' in html
    page.write(bench_fakes.rows("redis", pghot=0.9), [], description.contenders(), path)
    assert "Copy engines" not in path.read_text(encoding="utf-8")
    out = io.StringIO()
    for grid in engines.grids(ROWS, EXPERIMENTS):
        Console(file=out, width=120).print(grid)
    assert "50.00 / 66.86" in out.getvalue() and "…" not in out.getvalue()


def test_engines_are_where_their_document_has_them():
    assert len(CHANNELS) == 6
    for read in description.experiments():
        partners = {
            name for name, one in CHANNELS.items() if description.take_part(read, one, quick=False)
        }
        if read.name.startswith("movepages-"):
            assert partners == set(CHANNELS)
        else:
            compacts = read.name.startswith("compaction-")
            assert partners == ({"dma-1", "dma-16"} if compacts else set())


@pytest.mark.parametrize("name, seeds", [("compaction-idle", 3), ("movepages-4k", 1)])
def test_who_is_compared_has_as_many_seeds(name, seeds):
    (read,) = description.experiments(name)
    for contender in ("off", "dma-16"):
        assert len(cell(read, CONTENDERS[contender]).runs) == seeds


def test_an_engine_is_switched_on_by_the_machines_clock():
    (read,) = description.experiments("movepages-4k")
    for name, one in CHANNELS.items():
        (run,) = cell(read, one).runs
        assert f"channels={name.removeprefix('dma-')}\n" in run.setup
        assert run.setup.index("\nclock=12\n") < run.setup.index("first_folio_us")
        assert run.cmdline == ("pghot=off",)
    (other,) = description.experiments("gups")
    assert "clock=" not in cell(other, CHANNELS["dma-1"]).runs[0].setup


def test_what_a_job_costs_follows_from_the_document():
    """As lab/machines/machines.toml reckons it: what one channel takes longer for a page than its
    bytes and the kernel's own work, which is what the CPU takes beyond its copying."""
    there = {}
    for one in EXPERIMENTS:
        assert one.document
        for figure in one.document.figures:
            there[one.name, figure.contender] = float(figure.text.split()[0])
    machine = machines.load("two-socket-full").model
    assert machine is not None and machine.dma is not None
    small, large = NAMES[:2]
    rate = machine.dma.mibps * 1.048576e-3
    assert rate == pytest.approx(there[large, "dma-1"], rel=0.01)
    work = 4096 / there[small, "stock-0"] - 4096 / there[large, "stock-0"]
    own = 4096 / there[small, "dma-1"] - 4096 / rate - work
    assert own == pytest.approx(machine.dma.setup_ns, rel=0.02)
    other = machines.load("small-full").model
    assert other is not None and (other.dma, other.clock) == (machine.dma, machine.clock)


def test_a_figure_that_is_not_there_is_a_dash():
    both = engines.Both(None, 2.0)
    assert both.text(".1f") == f"{figures.NONE} / 2.0" and both.off() is None
    assert both.over(engines.Both(1.0, 0.0)) == engines.Both(None, None)
