# SPDX-License-Identifier: GPL-2.0
"""Where promotion gains nothing it slows down by itself: modelled machines whose DRAM is full."""

from dataclasses import replace

import pytest

from lab.bench import description
from lab.bench.matrix import cell
from lab.measure import Result, measure

pytestmark = pytest.mark.vm


def _run(kernel, name: str, backoff: int, quick: bool = True, then: str = "") -> Result:
    """A run of an experiment with pghot, short if it need not be longer."""
    if kernel.flavour == "debug":
        pytest.skip("how often pages are accessed beside it a debug kernel changes")
    (read,) = description.experiments(name)
    (pghot,) = (one for one in description.contenders() if one.name == "pghot-default-hint_fault")
    run = cell(read, pghot, quick=quick).runs[0]
    setup = f"{run.setup}\necho {backoff} >/sys/kernel/mm/pghot/backoff{then}"
    done = measure(replace(run, kernel=str(kernel.bzimage), setup=setup))
    assert done.error is None
    return done


def test_memory_that_is_all_alike_is_hardly_exchanged(kernel):
    # What it learns takes most of a short run.
    freely = _run(kernel, "hostile-uniform", 0, quick=False)
    # When it has learned that is chance: of what begins a little later it is another one.
    starts = ("", "; sleep 0.013", "; sleep 0.023")
    all_slowed = [_run(kernel, "hostile-uniform", 1, quick=False, then=then) for then in starts]
    assert freely.vmstat["pghot_delay_no_gain"] == 0
    for slowed in all_slowed:
        assert slowed.vmstat["pghot_exchange_loss"] > 0
        assert slowed.vmstat["pghot_delay_no_gain"] > 0
        assert slowed.seconds and freely.seconds
        assert slowed.seconds < freely.seconds
    for counter in ("pghot_promoted_pages", "pgdemote_kswapd", "numa_hint_faults"):
        mean = sum(slowed.vmstat[counter] for slowed in all_slowed) / len(all_slowed)
        assert mean < freely.vmstat[counter] / 2


def test_what_is_hot_is_exchanged_for_what_is_not(kernel):
    slowed = _run(kernel, "hostile-alternate", 1)
    assert slowed.vmstat["pghot_exchange_gain"] > 0
    assert slowed.vmstat["pghot_exchange_loss"] == 0
    assert slowed.vmstat["pghot_promoted_pages"] > 10000
