# SPDX-License-Identifier: GPL-2.0
"""Measured runs, real ones: the same each time, and what can go wrong in them."""

import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from lab.measure import Run, measure, plugin
from lab.tests.bench_runs import runs_of

pytestmark = pytest.mark.vm

SHORT = ("random", "--mib", "8", "--accesses", "200000", "--place", "1")


def short(*, setup="", workload=SHORT, **more):
    """A run of less than a guest second."""
    return measure(Run("small", "stock", workload, setup=setup, **more))


@pytest.fixture(scope="module")
def plain(stock_kernel):
    return short()


def test_a_run(plain):
    assert plain.error is None
    assert plain.seconds == pytest.approx(plain.workload["seconds"], rel=1e-3)
    # 8 MiB in a cache of 2 MiB: three of four accesses go to CXL memory of 250 ns.
    assert 0.02 < plain.seconds < 0.1
    assert plain.model["nodes"][1]["loads"] + plain.model["nodes"][1]["stores"] == pytest.approx(
        300000, rel=0.05
    )
    assert plain.kernel_seconds > 0
    assert len(plain.model["cpus"]) == 2


def test_the_same_again(plain):
    again = short()
    assert again.model == plain.model
    assert again.workload == plain.workload
    assert again.vmstat == plain.vmstat


def test_a_timer_does_not_come_before_its_time(stock_kernel):
    """QEMU looks at all CPUs' timers by one clock. A CPU that is behind it gets its
    timers early, finds nothing expired and sets them again, over and over."""
    busy = measure(
        Run(
            "dram-cxl",
            "stock",
            (
                "random",
                "--mib",
                "16",
                "--accesses",
                "2000000",
                "--threads",
                "4",
                "--cpus",
                "0,1,2,3",
                "--place",
                "1",
            ),
        )
    )
    assert busy.error is None
    assert busy.model["clocks_apart_ns"] <= 20000
    # Threads' start and end, and 1000 ticks a second.
    assert busy.kernel_seconds is not None and busy.seconds is not None
    assert busy.kernel_seconds < 0.01 * 4 * busy.seconds


_RESTLESS = r"""
#include <dlfcn.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

static int (*poll_on)(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *t, const sigset_t *s)
{
	static uint64_t x;
	struct timespec soon;

	if (!poll_on)
		*(void **)&poll_on = dlsym(RTLD_NEXT, "ppoll");
	if (getpid() != gettid())
		return poll_on(fds, n, t, s);
	if (!x) {
		clock_gettime(CLOCK_MONOTONIC, &soon);
		x = soon.tv_nsec * 0x9e3779b97f4a7c15 + getpid();
	}
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	soon = (struct timespec){ .tv_nsec = (x >> 20) % 50000 };
	return poll_on(fds, n, &soon, s);
}
"""
"""QEMU's main thread wakes without a reason, each 25 us on average, and looks at CPUs
and timers. A busy host does this now and then: it lets it go on when it likes."""

_NAPS = b"""#!/bin/sh
naps() { i=0; while [ $i -lt 60 ]; do usleep $1; i=$((i + 1)); done; }
mark begin
for n in $(seq $(nproc)); do naps $((300 + 70 * n)) & done
wait
mark end
echo '{"verified": true}'
"""
"""Each CPU works a little and sleeps a little. Where all sleep, the main thread moves
the clock on, and a fault in that stays in all that follows."""


@pytest.fixture
def restless(tmp_path, monkeypatch):
    """What a busy host does now and then, all the time."""
    source, library = tmp_path / "restless.c", tmp_path / "restless.so"
    source.write_text(_RESTLESS, encoding="utf-8")
    subprocess.run(
        ["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True
    )
    good = plugin.build()
    more = replace(good, preload=(library, *good.preload))
    monkeypatch.setattr(plugin, "build", lambda: more)


@pytest.mark.parametrize("cpus, times", [(1, 8), (2, 12), (4, 30)])
def test_fifty_times_the_same_under_load(stock_kernel, restless, cpus, times):
    """More guests at once than the host can run. Of five runs without lab/memsim/gate.c
    two differed from the others."""
    run = Run(
        "dram-cxl",
        "stock",
        ("sh", "/naps"),
        cmdline=(f"maxcpus={cpus}",),
        files={"/naps": _NAPS},
        programs=("mark",),
        count_pages=True,
    )
    with ThreadPoolExecutor(2 * len(os.sched_getaffinity(0))) as pool:
        results = list(pool.map(measure, [run] * times))
    assert results[0].error is None
    for result in results[1:]:
        assert replace(result, host_seconds=0) == replace(results[0], host_seconds=0)


def of_the_bench(experiment, contender, words):
    """A run of the benchmarks in its short form, with these words behind its options."""
    (run,) = runs_of(experiment, contender, quick=True)
    pairs = zip(("", *run.workload), run.workload)
    return replace(run, workload=tuple(words.get(option, word) for option, word in pairs))


@pytest.mark.parametrize(
    ("experiment", "contender"),
    [("regions", "pghot-default"), ("regions-busy", "pghot-default-hint_fault")],
)
def test_the_same_again_where_pages_move(restless, experiment, contender):
    """DRAM is full but for what kswapd keeps free, a few MiB, and four times as much comes;
    as shipped, and busy: at the cost of others."""
    words = {"--cold-mib": "320", "--region-mib": "16", "--regions": "1", "--accesses": "1500000"}
    run = of_the_bench(experiment, contender, words)
    with ThreadPoolExecutor(2) as pool:
        first, again = pool.map(measure, [run] * 2)
    assert first.error is None
    assert first.vmstat["pghot_promoted_pages"] > 1024
    assert first.vmstat["pgdemote_kswapd"] > 256
    assert ("instructions" in first.hog) == (experiment == "regions-busy")
    assert replace(again, host_seconds=0) == replace(first, host_seconds=0)


@pytest.mark.parametrize("experiment", ["random-anon", "random-anon-busy"])
def test_faults_move_pages_where_the_thread_is_behind(experiment):
    words = {"--mib": "16", "--accesses": "3000000"}
    done = measure(of_the_bench(experiment, "pghot-default-hint_fault", words))
    assert done.error is None
    in_fault, by_thread = done.vmstat["pghot_in_fault"], done.vmstat["pghot_promoted_pages"]
    # A fault tries once.
    assert 3500 < done.vmstat["pgpromote_success"] <= in_fault + by_thread
    # What a fault is left to move is not recorded, and all else is.
    assert in_fault + done.vmstat["pghot_recorded"] == pytest.approx(
        done.vmstat["numa_hint_faults"], rel=0.01
    )
    if experiment == "random-anon":
        # One thread, where two fault: they help it when it is far behind.
        assert by_thread > 1000 and in_fault > 500
    else:
        # A few go to the thread each time that it begins to look, so that it finds out when it
        # has a CPU for itself: 5, or 257 where it did not see last time that others want its
        # CPU. How often it comes to look is chance. All others the faults move.
        assert 5 <= by_thread < in_fault / 2


@pytest.mark.parametrize("contender", ["stock-2", "pghot-default-hint_fault"])
def test_idle_has_something_to_lose_and_nothing_to_gain(contender):
    """Hint faults come, and few of the pages that they are of are promoted."""
    done = measure(of_the_bench("idle", contender, {"--accesses": "4000000"}))
    assert done.error is None
    faults = done.vmstat["numa_hint_faults"]
    assert faults > 2000
    assert done.vmstat["pgpromote_success"] < 0.3 * faults
    if contender != "stock-2":
        assert done.vmstat["pghot_recorded"] > 0.9 * faults


def test_a_model_that_the_main_thread_could_disturb(monkeypatch, stock_kernel):
    good = plugin.build()
    monkeypatch.setattr(plugin, "build", lambda: replace(good, preload=()))
    error = short().error
    assert error is not None
    assert error.endswith("memsim: freeze.so has to be preloaded into QEMU")


def test_the_measured_part_can_begin_again(stock_kernel):
    """Code is translated with the model, without it, and with it again."""
    work = "i=0; while [ $i -lt 2000 ]; do i=$((i + 1)); done"
    once = f"#!/bin/sh\nmark begin\n{work}\nmark end\n"
    done = "echo '{\"verified\": true}'\n"

    def of(script):
        files = {"/script": (script + done).encode()}
        result = short(workload=("sh", "/script"), files=files, programs=("mark",))
        assert result.error is None
        assert result.model["clocks_apart_ns"] <= 20000
        return result

    def user(result):
        return sum(cpu["user"]["instructions"] for cpu in result.model["cpus"])

    first, second = of(once), of(once + "sleep 0.01\n" + once)
    assert user(second) == pytest.approx(user(first), rel=0.01)
    assert second.seconds == pytest.approx(first.seconds, rel=0.1)
    # It begins anew without an end as well.
    anew = of(f"#!/bin/sh\nmark begin\n{work}\n" + once.partition("\n")[2])
    assert user(anew) == pytest.approx(user(first), rel=0.01)
    assert anew.seconds == pytest.approx(first.seconds, rel=0.1)


def test_what_warms_up_is_not_measured(stock_kernel):
    """It tells the kernel what moving costs, in the time of the machine."""
    words = ("movepages", "--mib", "8", "--to", "0", "--cpus", "0", "--place", "1")
    cold, warm = (short(workload=(*words, *more)) for more in ((), ("--warm-mib", "8")))
    for done in (cold, warm):
        assert done.error is None
        assert done.vmstat["pgmigrate_success"] == done.workload["detail"]["folios"] == 2048
    assert warm.seconds == pytest.approx(cold.seconds, rel=0.1)


def test_more_readers_than_cpus_end_together(stock_kernel):
    """By chance the last of them would have a CPU to itself for a third of the run."""
    made = short(
        workload=("readers", "--mib", "4", "--readers", "7", "--loops", "8"), setup="mkdir -p /mnt"
    )
    assert made.error is None
    (phase,) = made.workload["detail"]["phases"]
    assert 0 < phase["ended_apart"] < phase["seconds_a_loop"] / 4


def test_the_fast_node_is_faster(plain):
    fast = short(workload=(*SHORT[:-1], "0"))
    assert fast.seconds < 0.7 * plain.seconds


def test_compaction_has_to_move_pages(stock_kernel):
    done = short(
        workload=("compaction", "--mib", "208", "--huge", "16", "--cpus", "1", "--place", "1")
    )
    assert done.error is None
    detail = done.workload["detail"]
    assert detail["huge"] == detail["as_huge"] == 16 and detail["free_before"] > 0
    # What a user waits for. Who needs fewer migrations for it is not to look slower.
    assert done.workload["unit"] == "huge pages/s"
    assert done.workload["score"] == pytest.approx(16 / done.workload["seconds"], rel=1e-4)
    # Of 512 pages one of each two, and some that were isolated with them. Blocks that were
    # nearly free in other places come first: what else the kernel keeps decides how many.
    assert 12 * 256 <= detail["migrated"] < 16 * 400
    assert done.vmstat["compact_stall"] >= 12


def test_pages_are_counted(stock_kernel):
    counted = short(count_pages=True)
    lines = [line.split() for line in counted.pages.splitlines()]
    area = [int(count) for page, count in lines if int(count) > 50]
    # Every page of the area about as often, which is its share of all misses.
    assert len(area) == 2048
    assert sum(area) == pytest.approx(300000, rel=0.05)


@pytest.mark.parametrize(
    "more, error",
    [
        ({"workload": ("random", "--mib", "0")}, "the workload failed with status"),
        ({"setup": "echo this went wrong; false"}, "set-up failed: this went wrong"),
        (
            {"workload": ("random", "--mib", "8", "--place", "7")},
            "the workload failed with status 1: cannot place memory",
        ),
        ({"setup": "echo c >/proc/sysrq-trigger"}, "the guest's kernel reported: Kernel panic"),
        (
            {"setup": "echo '<4>something new' >/dev/kmsg"},
            "the guest's kernel reported: something new",
        ),
        ({"setup": "sleep 100000", "limit_s": 8}, "the guest did not end within 8 s"),
        ({"setup": "poweroff -f"}, "the guest powered off before the workload ended"),
    ],
)
def test_a_failed_run_says_why(stock_kernel, more, error):
    result = short(**more)
    assert result.error is not None and result.error.startswith(error), result.error
