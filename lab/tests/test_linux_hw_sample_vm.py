# SPDX-License-Identifier: GPL-2.0
"""Samples of the CPUs as a source, on the modelled machine: no other CPU of the tests has them."""

import os

import pytest

from lab.host import programs
from lab.measure import Run, measure

pytestmark = pytest.mark.vm

DEBUG = bool(os.environ.get("PGHOT_DEBUG"))
SOURCES = "/sys/kernel/mm/pghot/sources"
ALONE = f"""
echo 0 >/proc/sys/kernel/numa_balancing
echo 400 >/sys/kernel/mm/pghot/window_ms
echo "{SOURCES}/hw_sample/enabled 1" >>/run/lab/settings
"""
BEGUN = """
while [ "$(cat running)" = 0 ]; do usleep 10000; done
"""
HOT_PAGES = (8 << 20) // 4096

UPDATES = "gups --mib 64 --hot-mib 8 --updates {} --threads 2 --cpus 0,1 --place 1"

SCRIPT = """#!/bin/sh
# A workload on the CXL node, and something beside it.
cd {sources}/hw_sample
{workload} >/tmp/out &
workload=$!
say() {{ echo "$1=$2" >>/tmp/said; }}
: >/tmp/said
{beside}
wait $workload || exit 1
recorded() {{ sed -n 's/^pghot_recorded_hw_sample //p' /proc/vmstat; }}
say recorded_before $(recorded)
for file in *; do say $file "$(cat $file)"; done
say recorded_after $(recorded)
said=$(sed 's/\\(.*\\)=\\(.*\\)/"\\1":"\\2",/' /tmp/said | tr -d '\\n')
sed "s/\\"detail\\":{{/\\"detail\\":{{$said/" /tmp/out
"""


def run(beside="", updates=4000000, workload=UPDATES, samples=True, setup=ALONE, packages=()):
    """Random updates of a small hot set, or another workload."""
    beside = BEGUN + beside if beside else ""
    workload = workload.format(updates)
    script = SCRIPT.format(sources=SOURCES, beside=beside, workload=workload)
    result = measure(
        Run(
            "dram-cxl",
            "debug" if DEBUG else "pghot",
            ("beside",),
            setup=setup,
            programs=(workload.split()[0],),
            packages=packages,
            files={"/bin/beside": script.encode()},
            samples=samples,
        )
    )
    # Among others if there was a warning in the kernel's log.
    assert result.error is None
    return result


@pytest.fixture(scope="module")
def alone(kernel):
    # Pages come more slowly beside a debug kernel's checks.
    return run(updates=8000000 if DEBUG else 4000000)


def test_what_is_hot_is_promoted(alone):
    moved = alone.vmstat["pgpromote_success"]
    # Others too: there is plenty of room, and one access is enough.
    assert moved > 0.9 * HOT_PAGES
    # Most accesses are to those that are hot, which are the first to come: of a run that takes
    # as long in a debug kernel half of the time is its own checks.
    fast, slow = map(sum, zip(*(cpu["user"]["nodes"] for cpu in alone.model["cpus"])))
    assert fast > (1 if DEBUG else 5) * slow
    assert alone.vmstat["pghot_moved"] == moved
    said = alone.workload["detail"]
    assert said["event"] == "ibs_op" and said["away"] == "0"
    # Others of the machine are sampled before the workload begins, and after it.
    assert int(said["recorded_before"]) <= int(said["accesses"]) <= int(said["recorded_after"])
    assert alone.vmstat["pghot_recorded_hw_sample"] > moved
    assert not alone.vmstat["pghot_dropped"]


def test_the_budget_is_kept(alone):
    """By what it says of itself, and by what the model saw."""
    said = alone.workload["detail"]
    assert alone.seconds is not None
    busy = 2 * alone.seconds
    # Less of it when hardly any sample is of a page that could be promoted.
    assert 0.25 * 5e-3 * busy < int(said["cpu_usec"]) / 1e6 < 1.3 * 5e-3 * busy
    made = sum(cpu["sampled"]["made"] for cpu in alone.model["cpus"])
    assert int(said["samples"]) == pytest.approx(made, rel=0.05)


def test_accessed_bits_are_looked_at_where_samples_were(alone):
    """There are fewer samples than pages that are hot."""
    said = alone.workload["detail"]
    assert int(said["looked"]) >= 4 * HOT_PAGES
    assert int(said["samples"]) < int(said["accesses"])
    # The budget of all CPUs, and a round that takes more of it than there is.
    cpus = len(alone.model["cpus"])
    assert 0 < int(said["look_usec"]) / 1e6 < cpus * 5e-3 * alone.seconds + 0.05


READ = "readers --mib 32 --loops 20 --readers 1 --cpus 0 --place 1"
DISK = """
mke2fs -F -I 256 /dev/ram0 >/dev/null 2>&1 && mount -t ext4 /dev/ram0 /mnt || exit 1
"""


def test_what_the_kernel_accesses_is_sampled_and_not_looked_at(kernel, alone):
    """By its own addresses it is mapped in no process."""
    result = run(workload=READ, setup=DISK + ALONE)
    said = result.workload["detail"]
    assert int(said["accesses"]) > 100 and result.vmstat["pgpromote_success"] > 100
    assert int(said["looked"]) < int(alone.workload["detail"]["looked"]) / 10


def test_a_machine_without_the_counter_says_so(kernel):
    setup = f"""
echo 0 >/proc/sys/kernel/numa_balancing
if echo 1 >{SOURCES}/hw_sample/enabled; then exit 1; fi
[ "$(cat {SOURCES}/hw_sample/enabled)" = 0 ] && [ "$(cat {SOURCES}/hw_sample/event)" = none ]
dmesg | grep -q "source hw_sample does not start (-95)"
"""
    result = run(updates=1000, samples=False, setup=setup)
    assert result.vmstat["pghot_recorded_hw_sample"] == 0


ISOLATED = """
mkdir -p /sys/fs/cgroup && mount -t cgroup2 none /sys/fs/cgroup || exit 1
echo +cpuset >/sys/fs/cgroup/cgroup.subtree_control
cell=/sys/fs/cgroup/cell
mkdir $cell && echo 0-1 >$cell/cpuset.cpus && echo $workload >$cell/cgroup.procs || exit 1
taken() { awk '/NMI:/ { print $2 + $3 }' /proc/interrupts; }
during() { before=$(taken); usleep 100000; say $1 $(($(taken) - before)); }
during shared
echo isolated >$cell/cpuset.cpus.partition
say partition $(cat $cell/cpuset.cpus.partition)
usleep 50000
during isolated
say away_isolated $(cat away)
echo member >$cell/cpuset.cpus.partition
usleep 50000
during again
"""


def test_isolated_cpus_are_not_interrupted(kernel):
    """Those of the workload are, for a while: who has others works on, and is sampled."""
    said = run(ISOLATED, updates=8000000).workload["detail"]
    assert said["partition"] == "isolated" and said["away_isolated"] == said["away"] == "0"
    assert int(said["shared"]) > 20 and int(said["again"]) > 20
    assert int(said["isolated"]) == 0


PERF = """
usleep 300000
say before $(cat samples)
perf record -q -a -e ibs_op/cnt_ctl=1/ -c 65536 -o /tmp/recorded -- usleep 500000 &
perf=$!
seen=0
while kill -0 $perf 2>/dev/null; do
    [ "$(cat away)" = 0 ] || seen=1
    usleep 50000
done
say seen $seen
wait $perf || exit 1
say at_end $(cat samples)
usleep 1000000
say back $(cat away)
say after $(cat samples)
say records $(perf script -i /tmp/recorded -F cpu 2>/dev/null | wc -l)
"""


def test_perf_has_the_counter_and_it_comes_back(kernel):
    programs.require("perf", packages={"perf": "linux-perf"})
    result = run(PERF, updates=9000000, packages=("perf",))
    said = result.workload["detail"]
    # It looks at times whether it is alone.
    assert said["seen"] == "1" and said["back"] == "0"
    assert int(said["before"]) > 0 and int(said["after"]) > int(said["at_end"])
    # Two CPUs for 0.4 s, in which they execute some 40 million instructions each.
    assert int(said["records"]) > 500


TASK = """
usleep 300000
perf record -q -e ibs_op/cnt_ctl=1/ -c 65536 -o /tmp/recorded -p $workload -- \\
    usleep 500000 || exit 1
usleep 1000000
say back $(cat away)
say records $(perf script -i /tmp/recorded -F ip 2>/dev/null | wc -l)
"""


def test_a_task_has_the_counter_too(kernel):
    """One of a task comes after ours by perf's order, and would never have it."""
    programs.require("perf", packages={"perf": "linux-perf"})
    result = run(TASK, updates=9000000, packages=("perf",))
    said = result.workload["detail"]
    assert said["back"] == "0" and int(said["records"]) > 300


HOTPLUG = """
cpu=/sys/devices/system/cpu/cpu3/online
usleep 300000
say before $(cat samples)
echo 0 >$cpu || exit 1
usleep 100000
say offline $(cat samples)
echo 1 >$cpu || exit 1
usleep 300000
say online $(cat samples)
say complete $(cat away)
"""


def test_cpus_come_and_go(kernel):
    result = run(HOTPLUG)
    said = result.workload["detail"]
    assert 0 < int(said["before"]) < int(said["offline"]) < int(said["online"])
    assert said["complete"] == "0"


SWITCH = """
for i in 1 2 3 4 5; do
    usleep 50000
    echo 0 >enabled
    say stopped$i $(cat samples)
    usleep 20000
    say later$i $(cat samples)
    echo 1 >enabled || exit 1
done
"""


def test_it_is_switched_off_and_on(kernel):
    said = run(SWITCH).workload["detail"]
    for i in range(1, 6):
        assert said[f"stopped{i}"] == said[f"later{i}"]
    assert int(said["samples"]) > int(said["later5"])


CALLS_FAIL = """
echo 0 >/proc/sys/kernel/numa_balancing
cd /sys/kernel/debug/fail_function || exit 1
echo hw_sample_open >inject
echo 0xfffffffffffffff4 >hw_sample_open/retval
echo 0 >verbose
echo 100 >probability
"""
FAILS = f"""
# The first call is to see whether there are any; the others are one for each CPU.
for call in $(seq 2 $(($(nproc) + 1))); do
    echo $call >space
    echo 1 >times
    if echo 1 >{SOURCES}/hw_sample/enabled; then exit 1; fi
    [ "$(cat times)" = 0 ] || exit 1
    [ "$(cat {SOURCES}/hw_sample/enabled)" = 0 ] && [ "$(cat {SOURCES}/hw_sample/event)" = none ] \
        || exit 1
done
[ "$(dmesg | grep -c "source hw_sample does not start (-12)")" = $(nproc) ] || exit 1
echo "{SOURCES}/hw_sample/enabled 1" >>/run/lab/settings
"""


@pytest.mark.skipif(not DEBUG, reason="only a debug kernel makes a call fail on demand")
def test_a_counter_that_cannot_be_had_leaves_none(kernel):
    """Whichever CPU's it is. Afterwards all can be had, as those of the others were given back."""
    result = run(setup=CALLS_FAIL + FAILS)
    assert int(result.workload["detail"]["samples"]) > 0
    assert result.vmstat["pghot_recorded_hw_sample"] > 0


LATE = f"""
cpu=/sys/devices/system/cpu/cpu3/online
away={SOURCES}/hw_sample/away
echo 1 >{SOURCES}/hw_sample/enabled && echo 0 >$cpu && echo 1 >times && echo 1 >$cpu || exit 1
[ "$(cat times)" = 0 ] && [ "$(cat $away)" = 1 ] || exit 1
tries=0
until [ "$(cat $away)" = 0 ]; do
    tries=$((tries + 1))
    [ $tries -lt 100 ] || exit 1
    usleep 100000
done
"""


@pytest.mark.skipif(not DEBUG, reason="only a debug kernel makes a call fail on demand")
def test_a_cpu_that_comes_and_cannot_have_one_is_asked_again(kernel):
    """Until it has one none counts: all CPUs do, or none."""
    result = run(setup=CALLS_FAIL + LATE)
    assert int(result.workload["detail"]["samples"]) > 0
    assert result.vmstat["pghot_recorded_hw_sample"] > 0
