# SPDX-License-Identifier: GPL-2.0
"""Where promotion gains nothing it slows down by itself: modelled machines whose DRAM is full."""

from dataclasses import replace
from itertools import pairwise

import pytest

from lab.measure import Result
from lab.tests.bench_runs import by_kernel, runs_of

pytestmark = pytest.mark.vm

_EXCHANGED = ("pghot_promoted_pages", "pgdemote_kswapd", "numa_hint_faults")
_LOOKED_AT = (*_EXCHANGED, "pghot_recorded_page_cache")

_LOOKS = f"""#!/bin/sh
looks() {{
	until [ -e /run/lab/vmstat.begin ]; do usleep 10000; done
	until [ -e /run/lab/vmstat.end ]; do
		awk '/[.]/ {{ printf "{{\\"seconds\\":%s", $1 }}
			/^({"|".join(_LOOKED_AT)}) / {{ printf ",\\"%s\\":%s", $1, $2 }}
			END {{ print "}}" }}' /proc/uptime /proc/vmstat
		usleep 100000
	done
}}
looks >/run/looks &
"$@" >/run/said || {{ cat /run/said; exit 1; }}
wait
looks=$(tr '\\n' ',' </run/looks)
echo "{{\\"looks\\":[${{looks%,}}],$(tail -n 1 /run/said | cut -c 2-)"
"""
"""A workload, which says beside its own what the counters were every tenth of a second of its
measured part. CPUs that it has not look at them."""


def _run(
    kernel,
    name: str,
    backoff: int,
    accesses: str = "",
    looks: bool = False,
    contender: str = "pghot-default-hint_fault",
    setup: str = "",
) -> Result:
    """A run of an experiment with pghot, short if it need not make so many accesses and nobody
    looks what comes of them."""
    run = runs_of(name, contender, quick=not accesses and not looks)[0]
    if accesses:
        words = list(run.workload)
        words[words.index("--accesses") + 1] = accesses
        run = replace(run, workload=tuple(words))
    if looks:
        run = replace(
            run,
            workload=("sh", "/looks", *run.workload),
            programs=(*run.programs, run.workload[0]),
            files={**run.files, "/looks": _LOOKS.encode()},
        )
    setup = f"{setup}\necho {backoff} >/sys/kernel/mm/pghot/backoff"
    return by_kernel(kernel, run, "how often pages are accessed beside it", setup)


def _quiet(run: Result, counter: str) -> float:
    """How much a counter grows in a second, at most, in the quietest quarter of a run."""
    rates = sorted(
        (after[counter] - before[counter]) / (after["seconds"] - before["seconds"])
        for before, after in pairwise(run.workload["looks"])
    )
    return rates[len(rates) // 4]


def test_memory_that_is_all_alike_is_hardly_exchanged(kernel):
    # Until it has learned is a second or two, by chance: of what begins a little later it is
    # another time. Before, it does what the other run does. So it is asked how it goes after
    # that: in a quarter at least of a run of more than four seconds.
    freely = _run(kernel, "hostile-uniform", 0)
    slowed = _run(kernel, "hostile-uniform", 1, "16000000", looks=True)
    assert freely.vmstat["pghot_delay_no_gain"] == 0
    assert slowed.vmstat["pghot_exchange_loss"] > 0
    assert slowed.vmstat["pghot_delay_no_gain"] > 0
    assert slowed.score and freely.score and freely.seconds
    # Accesses a second.
    assert slowed.score > freely.score
    for counter in _EXCHANGED:
        # The first step alone makes it an eighth.
        assert _quiet(slowed, counter) < freely.vmstat[counter] / freely.seconds / 4


def test_where_hint_faults_find_nothing_hot_pages_are_left_mapped(kernel):
    # In a run that is long enough for all pages to have been looked at once.
    freely = _run(kernel, "idle", 0)
    spared = _run(kernel, "idle", 1, "20000000", looks=True)
    assert freely.vmstat["pghot_hint_spared"] == 0 and freely.seconds
    assert spared.vmstat["pghot_hint_spared"] > 10000
    faults = "numa_hint_faults"
    assert _quiet(spared, faults) < freely.vmstat[faults] / freely.seconds / 4


def test_what_is_hot_is_exchanged_for_what_is_not(kernel):
    slowed = _run(kernel, "hostile-alternate", 1)
    assert slowed.vmstat["pghot_exchange_gain"] > 0
    assert slowed.vmstat["pghot_exchange_loss"] == 0
    assert slowed.vmstat["pghot_promoted_pages"] > 10000


def test_a_file_that_does_not_fit_is_hardly_promoted(kernel):
    # It is read in turn, beside a server whose pages gain by being promoted. What is watched of
    # it are neighbours, so that one round in twenty takes it for worth more than it is. When
    # that is over is by chance: it is asked how it goes in a quarter at least of the run.
    freely = _run(kernel, "tenants", 0, contender="pghot-default")
    done = _run(kernel, "tenants", 1, contender="pghot-default", looks=True)
    of = {tenant["name"]: tenant for tenant in done.workload["detail"]["tenants"]}
    assert freely.vmstat["pghot_refused_no_gain"] == 0 and freely.seconds
    assert done.vmstat["pghot_exchange_loss"] > 0
    recorded = "pghot_recorded_page_cache"
    assert done.vmstat["pghot_refused_no_gain"] > freely.vmstat[recorded] / 4
    for counter in (recorded, "pghot_promoted_pages"):
        assert _quiet(done, counter) < freely.vmstat[counter] / freely.seconds / 4
    assert of["server"]["promoted"] > 10000


def test_what_is_evicted_for_promotion_and_wanted_again_is_a_loss(kernel):
    # Nothing is exchanged without demotion: there are no pages to watch. Reclaim drops what
    # is read in turn, for what is promoted of it, and it is read from the disk again.
    done = _run(
        kernel,
        "tenants",
        1,
        contender="pghot-default",
        setup="echo /sys/kernel/mm/numa/demotion_enabled 0 >>/run/lab/settings",
    )
    assert done.vmstat["pgdemote_kswapd"] == 0
    assert done.vmstat["workingset_refault_file"] > 10000
    # By the exchange of tiers alone it would be none at all.
    assert done.vmstat["pghot_exchange_loss"] > 0
    assert done.vmstat["pghot_delay_no_gain"] > 0
