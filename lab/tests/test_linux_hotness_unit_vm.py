# SPDX-License-Identifier: GPL-2.0
"""Hotness monitoring units as a source of pghot, with the memory model's units."""

import pytest

from lab.measure import Run, measure

pytestmark = pytest.mark.vm

SOURCE = "/sys/kernel/mm/pghot/sources/hotness_unit"
DRIVER = "/sys/bus/pci/drivers/hotness_unit_pci"
PAGES = 16 * 256
HOT_PAGES = 96 * 256
ON = f"echo 1 >{SOURCE}/enabled"

# Where it does not hold the set-up fails, or what the set-up left in the background, and with
# that the run.
EXPECT = 'expect() { [ "$(cat "$1")" = "$2" ] || { echo "$1: $(cat "$1")" >&2; exit 1; }; }'


def run(setup, *, layout="default"):
    """Random accesses of two threads on node 0 to memory of the CXL node."""
    words = "random --kind anon --threads 2 --cpus 0,1 --mib 16 --accesses 3000000 --place 2"
    done = measure(
        Run(
            "two-socket-cxl",
            "pghot",
            tuple(words.split()),
            cmdline=(f"pghot={layout}",),
            setup="\n".join(("echo 0 >/proc/sys/kernel/numa_balancing", EXPECT, setup)),
        )
    )
    assert done.error is None
    assert done.vmstat["numa_pte_updates"] == 0
    return done


@pytest.fixture(scope="module")
def off():
    return run(f"expect {SOURCE}/enabled 0; expect {SOURCE}/running 0; expect {SOURCE}/units 1")


def test_it_is_off_unless_switched_on(off):
    assert off.vmstat["pghot_recorded"] == off.vmstat["pgpromote_success"] == 0


@pytest.mark.parametrize("layout", ["default", "precise"])
def test_pages_are_promoted_without_numa_balancing(off, layout):
    on = run(f"{ON}; expect {SOURCE}/running 1; expect {SOURCE}/threshold 2", layout=layout)
    counted = on.vmstat
    assert counted["pghot_recorded_hotness_unit"] == counted["pghot_recorded"] >= PAGES
    assert 0.98 * PAGES < counted["pghot_promoted_pages"] <= counted["pgpromote_success"]
    assert counted["pghot_moved"] > 0.98 * PAGES
    assert on.seconds < 0.7 * off.seconds


def test_where_pages_were_is_not_recorded():
    """With two sources: the device lists pages that the other has had promoted by then."""
    words = "readers --mib 16 --readers 3 --cpus 0,1,0 --loops 40 --place 2"
    done = measure(
        Run(
            "two-socket-cxl",
            "pghot",
            tuple(words.split()),
            cmdline=("pghot=default",),
            setup=f"mkdir -p /mnt; {ON}; echo 1 >/sys/kernel/mm/pghot/sources/page_cache/enabled",
        )
    )
    assert done.error is None
    counted = done.vmstat
    assert counted["pghot_promoted_pages"] > 0.9 * PAGES
    assert counted["pghot_recorded_hotness_unit"] > 0
    assert counted["pghot_skip_gone"] < 0.01 * PAGES


def test_what_was_demoted_does_not_pass_for_what_was_there():
    """A page that nobody accesses comes into the place of a hot one, and is copied there: it is
    not to be promoted for what the unit counted of both."""
    words = "patterns --shape alternate --mib 256 --hot-mib 96 --turns 1 --accesses 6000000"
    cold = "--cold-place 0 --cold-mib 150 --cpus 0,1 --place 1"
    done = measure(
        Run(
            "dram-cxl-small",
            "pghot",
            (*words.split(), *cold.split()),
            setup="\n".join(
                (
                    "echo 0 >/proc/sys/kernel/numa_balancing",
                    "echo 1 >/sys/kernel/mm/numa/demotion_enabled",
                    "echo 200 >/sys/kernel/mm/pghot/window_ms",
                    ON,
                )
            ),
        )
    )
    assert done.error is None
    assert done.vmstat["pgdemote_kswapd"] > HOT_PAGES / 4
    # Without that each that is demoted becomes ready, and comes back.
    assert HOT_PAGES / 2 < done.vmstat["pghot_ready"] < 1.25 * HOT_PAGES


def test_a_device_may_go_while_it_counts(off):
    """Removed and found again, over and over; at the end it is there."""
    away = f"""
{ON}
device=$(basename $(ls -d {DRIVER}/0*))
{{ (
    for i in 1 2 3 4 5 6 7 8; do
        usleep 20000
        echo $device >{DRIVER}/unbind
        expect {SOURCE}/units 0
        usleep 5000
        echo $device >{DRIVER}/bind
        expect {SOURCE}/units 1
    done
) || poweroff -f; }} &
"""
    assert run(away).vmstat["pghot_promoted_pages"] > 0.9 * PAGES


def test_epochs_may_change_while_it_counts(off):
    changes = f"""
{ON}
(
    for i in 1 2 3 4 5 6 7 8; do
        usleep 20000
        echo $((i * 7)) >{SOURCE}/epoch_ms
        echo $((i % 2)) >{SOURCE}/enabled
    done
    echo 1 >{SOURCE}/enabled
) &
"""
    assert run(changes).vmstat["pghot_promoted_pages"] > 0.9 * PAGES
