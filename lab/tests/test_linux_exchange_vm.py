# SPDX-License-Identifier: GPL-2.0
"""Where promotion gains nothing it slows down by itself: modelled machines whose DRAM is full."""

from dataclasses import replace

import pytest

from lab.bench import description
from lab.bench.matrix import cell
from lab.measure import Result, measure

pytestmark = pytest.mark.vm


def _run(kernel, name: str, backoff: int, accesses: str = "", then: str = "") -> Result:
    """A run of an experiment with pghot, short if it need not make so many accesses."""
    if kernel.flavour == "debug":
        pytest.skip("how often pages are accessed beside it a debug kernel changes")
    (read,) = description.experiments(name)
    (pghot,) = (one for one in description.contenders() if one.name == "pghot-default-hint_fault")
    run = cell(read, pghot, quick=not accesses).runs[0]
    if accesses:
        words = list(run.workload)
        words[words.index("--accesses") + 1] = accesses
        run = replace(run, workload=tuple(words))
    setup = f"{run.setup}\necho {backoff} >/sys/kernel/mm/pghot/backoff{then}"
    done = measure(replace(run, kernel=str(kernel.bzimage), setup=setup))
    assert done.error is None
    return done


def test_memory_that_is_all_alike_is_hardly_exchanged(kernel):
    # Until it has learned is half a second to a second and a half, by chance: of what begins a
    # little later it is another time. So runs are four times as long as short ones.
    freely = _run(kernel, "hostile-uniform", 0, "16000000")
    starts = ("", "; sleep 0.013")
    all_slowed = [_run(kernel, "hostile-uniform", 1, "16000000", then) for then in starts]
    assert freely.vmstat["pghot_delay_no_gain"] == 0
    for slowed in all_slowed:
        assert slowed.vmstat["pghot_exchange_loss"] > 0
        assert slowed.vmstat["pghot_delay_no_gain"] > 0
        assert slowed.seconds and freely.seconds
        assert slowed.seconds < freely.seconds
        for counter in ("pghot_promoted_pages", "pgdemote_kswapd", "numa_hint_faults"):
            assert slowed.vmstat[counter] < freely.vmstat[counter] / 2


def test_what_is_hot_is_exchanged_for_what_is_not(kernel):
    slowed = _run(kernel, "hostile-alternate", 1)
    assert slowed.vmstat["pghot_exchange_gain"] > 0
    assert slowed.vmstat["pghot_exchange_loss"] == 0
    assert slowed.vmstat["pghot_promoted_pages"] > 10000
