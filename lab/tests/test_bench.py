# SPDX-License-Identifier: GPL-2.0
"""lab/bench: experiments, contenders and the matrix, with runs that are made up."""

import io
import json
import re
import signal
import subprocess
from dataclasses import replace

import pytest
from rich.console import Console

from lab.bench import description, display, page, report, runner
from lab.bench.matrix import cell
from lab.bench.runner import Matrix
from lab.errors import LabError
from lab.host import programs
from lab.measure import Guests, Result, workloads
from lab.tests import bench_fakes


@pytest.fixture
def experiment(tmp_path):
    path = tmp_path / "test.toml"
    path.write_text(bench_fakes.EXPERIMENT, encoding="utf-8")
    return description.experiment(path)


CONTENDERS = {contender.name: contender for contender in description.contenders()}


def test_all_that_is_shipped_loads():
    for read in description.experiments():
        assert read.workload[0] in workloads.names()
        assert read.quick == () or read.quick[0] == read.workload[0]
        for figure in read.document.figures if read.document else ():
            assert figure.contender in CONTENDERS, read.name
    assert {
        "fast",
        "slow",
        "best",
        "stock-0",
        "stock-2",
        "damon",
        "pghot-default",
        "pghot-precise",
    } <= set(CONTENDERS)


def test_unknown_experiment():
    with pytest.raises(LabError, match="unknown experiment 'none': choose from"):
        description.experiments("none")


def test_a_cell_is_a_run(experiment):
    (run,) = cell(experiment, CONTENDERS["pghot-precise"]).runs
    assert run.workload == ("random", "--place", "1", "--accesses", "4", "--seed", "1")
    assert run.cmdline == ("pghot=precise",)
    assert run.programs == ("mark",)
    # Nothing is moved before the measured part.
    assert "echo 0 >/proc/sys/kernel/numa_balancing" in run.setup
    assert "echo /proc/sys/kernel/numa_balancing 2 >>/run/lab/settings" in run.setup
    (quick,) = cell(replace(experiment, seeds=3), CONTENDERS["fast"], quick=True).runs
    assert quick.workload == ("random", "--place", "0", "--accesses", "1", "--seed", "1")


def test_programs_of_both_come_along(experiment):
    marking = replace(CONTENDERS["stock-2"], programs=("mark",))
    (run,) = cell(replace(experiment, programs=("probe",)), marking).runs
    assert run.programs == ("probe", "mark")
    shipped = [(read.name, read.programs) for read in description.experiments()]
    shipped += [(read.name, read.programs) for read in CONTENDERS.values()]
    for name, taken in shipped:
        assert set(taken) <= set(workloads.names()), name
    with pytest.raises(LabError, match=r"^test.toml: programs: 'move' is not in lab/workloads: "):
        cell(replace(experiment, programs=("move",)), marking)
    with pytest.raises(LabError, match=r"^stock-2.toml: programs: 'move' is not in"):
        cell(experiment, replace(marking, programs=("move",)))


def test_the_figures_are_means_of_the_seeds(experiment):
    def measure(run):
        return replace(
            made_up(run),
            seconds=float(run.workload[-1]),
            vmstat={"pgpromote_success": 10 * int(run.workload[-1])},
        )

    row = rows_of(replace(experiment, seeds=3, best_mib=()), measure, ("fast", "slow", "stock-2"))[
        "stock-2"
    ]
    assert row["seconds"] == 2.0 and row["seconds_by_seed"] == [1.0, 2.0, 3.0]
    assert row["promoted"] == 20

    # The best placement takes two runs of a seed, and has one.
    def one_fails(run):
        return Result(error="no") if run.workload[-1] == "2" else made_up(run)

    rows = rows_of(replace(experiment, seeds=3), one_fails)
    assert rows["stock-2"]["error"] == "no" and rows["best"]["recovered"] == 0.875


def test_the_figures_of_each_seed_are_against_its_own_bounds(experiment):
    def measure(run):
        seed = int(run.workload[-1])
        return replace(made_up(run), seconds=made_up(run).seconds + seed)

    row = rows_of(replace(experiment, seeds=3, best_mib=()), measure, ("fast", "slow", "stock-2"))[
        "stock-2"
    ]
    assert row["recovered_by_seed"] == [0.5, 0.5, 0.5]


def test_one_seed_is_held_against_the_bounds_with_that_seed(experiment):
    def measure(run):
        return replace(made_up(run), seconds=made_up(run).seconds * int(run.workload[-1]))

    names = ("fast", "slow", "stock-2", "pghot-precise")
    rows = rows_of(replace(experiment, seeds=3, best_mib=()), measure, names)
    assert len(rows["stock-2"]["seconds_by_seed"]) == 3
    one = rows["pghot-precise"]
    assert one["seconds_by_seed"] == [1.5] and one["recovered_by_seed"] == [one["recovered"]] == [
        0.75
    ]


def test_bounds_of_one_seed_stand_for_all(experiment):
    def measure(run):
        seed = int(run.workload[-1])
        assert seed == 1 or "numa_balancing 2" in run.setup
        return replace(made_up(run), seconds=made_up(run).seconds + 0.25 * (seed - 1))

    read = replace(experiment, seeds=3, best_mib=(), one_seed=("fast", "slow"))
    rows = rows_of(read, measure, ("fast", "slow", "stock-2"))
    assert rows["fast"]["recovered_by_seed"] == [1.0]
    assert rows["stock-2"]["recovered_by_seed"] == [0.5, 0.375, 0.25]
    assert rows["stock-2"]["recovered"] == 0.375
    busy = description.variant(replace(read, workload=(*read.workload, "--cpus", "0")), "busy")
    lost = {"cpus": [{"cpu": 1, "kernel": {"instructions": 0, "ns": 5e6}, "idle_ns": 0}]}
    rows = rows_of(
        busy,
        lambda run: replace(made_up(run), model={**made_up(run).model, **lost}),
        ("fast", "slow", "stock-2"),
    )
    assert rows["stock-2"]["hog_lost_ms"] == pytest.approx(5 - 5 * 2 / 3)


def test_others_are_held_against_those_beside_the_slow_bound(experiment):
    def measure(run):
        rate = 2e9 if run.workload[2] == "1" and "numa_balancing 2" not in run.setup else 1.5e9
        assert run.programs == ("mark", "hog") and "hog --cpus 1 --idle-cpus 0 >" in run.setup
        assert "echo /run/lab/busy 1 >>/run/lab/settings" in run.setup
        done = made_up(run)
        did = rate * done.seconds
        left = {"idle_cpus": 1, "idle_instructions": did / 4}
        # Its own time goes on after the measured part.
        hog = {"instructions": did, "seconds": done.seconds + 0.055, "cpus": 1, **left}
        return replace(done, hog=hog)

    words = (*experiment.workload, "--cpus", "0")
    busy = description.variant(replace(experiment, workload=words, best_mib=()), "busy")
    rows = rows_of(busy, measure, ("fast", "slow", "stock-2"))
    assert rows["stock-2"]["hog_share"] == 0.75 and rows["slow"]["hog_share"] == 1.0
    assert rows["stock-2"]["hog_rate"] == 4 * rows["stock-2"]["hog_idle_rate"] == 1.5e9
    assert rows["stock-2"]["variant_of"] == "test" and rows["stock-2"]["experiment"] == "test-busy"
    (run,) = cell(experiment, CONTENDERS["stock-2"]).runs
    assert run.programs == ("mark",) and "hog" not in run.setup


def test_the_cpus_of_the_workload_are_left_to_it(experiment):
    words = ("random", "--cpus", "0,4", "--place", "{place}")
    two = replace(experiment, machine="two-socket-cxl", workload=words)
    made = description.variant(two, "busy").variant
    assert made is not None and made.hogs == (1, 2, 3, 5, 6, 7) and made.left == (0, 4)
    # One that says nothing of CPUs can come to run on any.
    made = description.variant(replace(two, workload=words[:1]), "busy").variant
    assert made is not None and made.hogs == () and made.left == tuple(range(8))


def test_cells_without_a_run_say_why(experiment):
    fits = cell(replace(experiment, best_mib=()), CONTENDERS["best"])
    assert fits.runs == () and fits.error is not None and "fits into DRAM" in fits.error
    (larger,) = description.experiments("hostile-triad")
    why = cell(larger, CONTENDERS["best"]).error
    assert why is not None and "no best_mib" in why and "fits into DRAM" not in why
    none = replace(experiment, fast=None, slow=None, unbounded="no bounds here")
    assert cell(none, CONTENDERS["slow"]).error == "no bounds here"
    assert cell(none, CONTENDERS["stock-2"]).runs


def made_up(run):
    """A result whose time says what ran."""
    words = run.workload
    seconds = {"0": 1.0, "1": 3.0}[words[words.index("--place") + 1]]
    if "numa_balancing 2" in run.setup:
        seconds = 2.0
    if run.kernel == "pghot":
        seconds = 1.5
    if "--best" in words:
        seconds = 1.25
    user, kernel = {"misses": 4, "ns": 1000}, {"misses": 100, "ns": 500}
    node = {"pages": 3, "user": user, "kernel": kernel}
    return Result(
        seconds=seconds,
        kernel_seconds=0.1,
        vmstat={"pgpromote_success": 7},
        workload={"score": 1 / seconds, "unit": "runs/s", "detail": {}},
        model={
            "pages": {"promoted": 7, "demoted": 1, "demoted_again": 1},
            "timeline": [{"ns": 50000000, "nodes": [node, node]}],
        },
        pages="10 3\n11 1\n" if run.count_pages else None,
    )


class Counted:
    """Counts the runs that are made."""

    def __init__(self, measure=made_up):
        self.runs = []
        self._measure = measure

    def __call__(self, run):
        self.runs.append(run)
        return self._measure(run)


def rows_of(experiment, measure, names=tuple(CONTENDERS)):
    matrix = Matrix([experiment], [CONTENDERS[name] for name in names], measure, workers=2)
    return {row["contender"]: row for row in matrix.run()}


def test_the_matrix(experiment):
    measure = Counted()
    rows = rows_of(experiment, measure)
    assert list(rows) == list(CONTENDERS)
    assert rows["fast"]["recovered"] == 1 and rows["slow"]["recovered"] == 0
    assert rows["stock-2"]["recovered"] == 0.5
    assert rows["pghot-default"]["recovered"] == 0.75
    assert rows["best"]["recovered"] == 0.875
    assert rows["stock-2"]["demoted_again"] == 1
    # What programs wait for is not mixed with the kernel's copies.
    assert rows["stock-2"]["timeline"] == [
        {"ms": 50, "pages": [3, 3], "miss_ns": 250.0, "kernel_miss_ns": 5.0}
    ]
    # best takes two.
    assert len(measure.runs) == len(CONTENDERS) + 1


def test_the_same_run_is_made_once(experiment):
    """Of contenders that differ in their names only."""
    twin = replace(CONTENDERS["stock-2"], name="twin")
    measure = Counted()
    rows = Matrix([experiment], [CONTENDERS["stock-2"], twin], measure, workers=2).run()
    assert [row["contender"] for row in rows] == ["stock-2", "twin"]
    assert rows[0]["seconds"] == rows[1]["seconds"] == 2.0
    assert len(measure.runs) == 1


def test_each_cell_has_its_own_results(experiment):
    other = replace(experiment, name="other", start="0")
    rows = Matrix([experiment, other], [CONTENDERS["stock-0"]], made_up, workers=2).run()
    assert [(row["experiment"], row["seconds"]) for row in rows] == [("test", 3.0), ("other", 1.0)]


def test_a_failed_run_is_a_row_and_the_rest_goes_on(experiment):
    def measure(run):
        return Result(error="the guest hangs") if run.kernel == "pghot" else made_up(run)

    rows = rows_of(experiment, measure)
    assert rows["pghot-default"]["error"] == "the guest hangs"
    assert rows["pghot-default"]["seconds"] is None
    assert rows["stock-2"]["recovered"] == 0.5


def test_a_failed_bound_leaves_no_recovered_share(experiment):
    rows = rows_of(
        experiment,
        lambda run: Result(error="no") if run.workload[2] == "0" else made_up(run),
        ("fast", "slow", "stock-2"),
    )
    assert rows["stock-2"]["seconds"] == 2 and rows["stock-2"]["recovered"] is None


def test_a_run_that_breaks_down_is_a_row_too(experiment):
    def measure(run):
        if run.kernel == "pghot":
            raise OSError("No space left on device")
        return made_up(run)

    rows = rows_of(experiment, measure)
    assert rows["pghot-default"]["error"] == "OSError: No space left on device"
    assert rows["stock-2"]["recovered"] == 0.5


def test_what_comes_from_the_cache_says_nothing_of_how_long_others_take(experiment, monkeypatch):
    """Hours were taken for minutes where many runs had been made before."""
    clock = [0.0]
    monkeypatch.setattr(runner.time, "monotonic", lambda: clock[0])
    told = []

    class Told(runner.Progress):
        def ended(self, name, result, left, seconds):
            told.append((left, seconds))

    def measure(run):
        # Only our own kernel has to be run.
        clock[0] += 40.0 if run.kernel == "pghot" else 0.01
        return made_up(run)

    names = ("fast", "slow", "stock-2", "pghot-default", "pghot-precise")
    contenders = [CONTENDERS[name] for name in names]
    Matrix([experiment], contenders, measure, workers=1, progress=Told()).run()
    assert [left for left, _ in told] == [4, 3, 2, 1, 0]
    assert all(seconds is None or seconds == 40.0 * left for left, seconds in told)
    assert told[-1] == (0, 0.0)


def test_what_bounds_it_stays_where_it_is(experiment):
    for name in ("fast", "slow", "best"):
        assert "demotion_enabled 0" in cell(experiment, CONTENDERS[name]).runs[0].setup
    for name in ("stock-0", "stock-2", "damon", "pghot-default"):
        assert "demotion_enabled 1" in cell(experiment, CONTENDERS[name]).runs[0].setup


def test_when_counting_fails_best_says_so(experiment):
    rows = rows_of(
        experiment, lambda run: Result(error="no count") if run.count_pages else made_up(run)
    )
    assert rows["best"]["error"] == "no count"


def test_an_interrupt_stops_the_guests_that_run(experiment):
    guests, ended = Guests(), []

    def measure(run):
        if run.kernel == "pghot":
            raise KeyboardInterrupt
        # A guest that would run on and on.
        with guests.started(["sleep", "1000"], subprocess.DEVNULL) as guest:
            ended.append(guest.wait(60))
        return Result(error="stopped")

    matrix = Matrix([experiment], list(CONTENDERS.values()), measure, workers=8, guests=guests)
    with pytest.raises(KeyboardInterrupt):
        matrix.run()
    assert set(ended) <= {-signal.SIGKILL}
    with pytest.raises(LabError, match="interrupted"), guests.started([], subprocess.DEVNULL):
        pass


def test_an_error_may_hold_anything(experiment):
    rows = rows_of(experiment, lambda _: Result(error="no [/init] [bold"))
    out = io.StringIO()
    Console(file=out, width=report.WIDTH).print(report.table(list(rows.values()), report.WIDTH))
    assert "(1) no [/init] [bold" in out.getvalue()
    assert rows["stock-2"]["failed"] and rows["best"]["failed"]


@pytest.mark.parametrize("width", [80, 100, 130])
def test_the_table_fits_the_terminal(experiment, width):
    rows = list(rows_of(replace(experiment, best_mib=()), made_up).values())
    out = io.StringIO()
    Console(file=out, width=width).print(report.table(rows, width))
    shown = out.getvalue()
    assert "…" not in shown
    assert all(len(line) <= width for line in shown.splitlines())
    assert "pghot-precise" in shown and "0.75" in shown
    assert ("runs/s" in shown) == (width > 120)
    # A cell without figures has its reason below.
    assert re.search(r"best +\(1\)", shown)
    assert "(1) no best_mib in its file: all fits into DRAM, so it is fast" in shown


def test_what_is_shown_while_it_runs(experiment, capsys, monkeypatch):
    for terminal in (False, True):
        monkeypatch.setattr(
            display,
            "status",
            Console(stderr=True, force_terminal=terminal, force_interactive=terminal, width=100),
        )
        monkeypatch.setattr("lab.log.status", display.status)
        with display.display() as shown:
            Matrix(
                [experiment],
                list(CONTENDERS.values()),
                lambda run: Result(error="it hangs") if run.kernel == "pghot" else made_up(run),
                workers=2,
                progress=shown,
            ).run()
        said = capsys.readouterr().err
        assert "test pghot-default: it hangs" in said
        if terminal:
            assert re.search(r"(\d+)/\1\b", said)
        else:
            assert "test fast: 1.000 s (" in said and "(0 to go)" in said


def test_results_are_the_same_but_for_the_host(experiment, tmp_path):
    texts = []
    for name in ("a", "b"):
        path = tmp_path / name
        report.write(list(rows_of(experiment, made_up).values()), {"seconds": name}, path)
        texts.append(json.loads(path.read_text(encoding="utf-8")))
    assert texts[0].pop("host") != texts[1].pop("host")
    assert texts[0] == texts[1]


def test_the_page_stands_alone(experiment, tmp_path):
    rows = list(rows_of(experiment, made_up).values())
    path = page.write(
        rows, [experiment], list(CONTENDERS.values()), tmp_path / "p.html", bench_fakes.ORIGIN
    )
    text = path.read_text(encoding="utf-8")
    # The overview, and two charts of what happened over time.
    assert text.count("<svg") == 3
    assert "5 s" in text and "a document" in text
    # Nothing is fetched from anywhere.
    assert not re.search(r'(?:src|href)="(?!#)(?!http://www\.w3\.org)', text)
    assert "0.75" in text
    # What slow memory costs for 0.75 s before pages have come, of 3 s.
    assert re.search(r"pghot-default</td>.*0\.75.*<td>0\.75</td>", text)
    assert "make bench QUICK=1" in text and "commit 0123456789ab" in text
    assert "prefers-color-scheme: dark" in text


def test_the_page_has_each_figure_as_people_write_it(tmp_path):
    rows = bench_fakes.rows("redis", pghot=0.9, stock=-0.25)
    rows.append(bench_fakes.row("redis", "damon", error="<it> hangs", failed=True, seconds=None))
    read = description.experiments("redis")
    path = page.write(rows, read, list(CONTENDERS.values()), tmp_path / "p.html")
    text = path.read_text(encoding="utf-8")
    assert "504,000 keys/s" in text and "16,384" in text and "e+0" not in text
    assert "&lt;it&gt; hangs" in text and "<it>" not in text
    # Open without a click, as it is the only one; said before that, too.
    assert '<details id="redis" open>' in text
    assert re.search(r"pghot</span> <b>0\.90</b>.*stock Linux</span> -0\.25", text)
    assert re.search(r'class="r bad"><span class="value">-0\.25', text)


def test_the_page_opens_in_a_browser(experiment, tmp_path):
    programs.require("chromium")
    rows = list(rows_of(experiment, made_up).values())
    path = page.write(rows, [experiment], list(CONTENDERS.values()), tmp_path / "p.html")
    picture = tmp_path / "page.png"
    done = subprocess.run(
        [
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--enable-logging=stderr",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--window-size=400,900",
            f"--screenshot={picture}",
            path.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert picture.is_file(), done.stderr
    assert picture.stat().st_size > 10000
    # What the page itself complains of.
    assert "CONSOLE" not in done.stderr
