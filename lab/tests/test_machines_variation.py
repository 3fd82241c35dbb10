# SPDX-License-Identifier: GPL-2.0
"""Other memory models: what becomes of the machine, and what the file may say."""

import re

import pytest

from lab import machines
from lab.errors import LabError
from lab.machines.guest_time import in_guest_time
from lab.machines.variation import Variation, variations
from lab.measure import plugin

CXL = machines.load("dram-cxl")
MODELS = {model.name: model for model in variations()}


def test_as_described_changes_nothing():
    assert Variation().of(CXL) == CXL
    assert next(iter(MODELS)) == "as-described"
    assert MODELS["as-described"].of(CXL) == CXL


def test_factors_reach_the_model():
    varied = Variation(llc=0.5, latency=2.0, bandwidth=0.5, tlb=2.0).of(CXL)
    assert varied.model and CXL.model
    assert varied.latency_ns == ((180, 500),)
    assert (varied.model.llc, varied.model.llc_hit_ns, varied.model.share) == (1 << 20, 24, 32)
    assert varied.model.tlb.second == 2 * CXL.model.tlb.second
    assert varied.model.dma == CXL.model.dma
    assert varied.nodes == CXL.nodes


def test_a_faster_cpu_has_slower_memory_in_its_own_time():
    varied = Variation(clock=4).of(CXL)
    guest = in_guest_time(varied)
    assert varied.clock == 4 and varied.latency_ns == CXL.latency_ns
    assert guest.latency_ns == ((360, 1000),) and guest.clock == 1
    assert guest.model and CXL.model and guest.model.share == 4 * CXL.model.share
    assert guest.model.tlb.walk_ns == 4 * CXL.model.tlb.walk_ns
    assert MODELS["faster-cpu"].clock > 1


def test_each_variation_is_another_model(tmp_path):
    told = [(plugin.config(model.of(CXL), tmp_path), model.memory) for model in MODELS.values()]
    assert len(set(told)) == len(told) >= 10
    # What it stands for is no part of a machine.
    for model in MODELS.values():
        assert model.of_machine().of(CXL) == model.of(CXL)


# What lab/memsim/config.c takes at most, by the place in a line.
_MOST = {
    "llc": {3: 1000, 4: 1000},
    "tlb": {2: 1 << 20, 4: 1000, 5: 1000},
    "node": {2: 1 << 24},
    "path": {3: 1 << 20, 4: 1 << 24},
    "dma": {2: 1 << 20, 3: 1 << 24},
    "mmio": {1: 1 << 20, 2: 1 << 20},
    "ipi": {1: 1 << 20, 2: 1 << 20},
    "ibs": {1: 1 << 20},
}


def taken(text):
    """Whether the model takes each number of its description."""
    lines = [line.split() for line in text.splitlines()]
    return all(
        int(line[at]) <= most for line in lines for at, most in _MOST.get(line[0], {}).items()
    )


def test_each_machine_is_one_that_the_model_takes_or_is_refused(tmp_path):
    refused = set()
    for name in machines.names():
        machine = machines.load(name, engine=True)
        for model in MODELS.values() if machine.model else ():
            try:
                varied = model.of(machine)
            except LabError:
                refused.add((name, model.name))
            else:
                assert taken(plugin.config(varied, tmp_path, samples=True)), (name, model.name)
    assert ("small-full", "faster-cpu") in refused
    assert {model for _, model in refused} == {"faster-cpu", "double-bandwidth"}


@pytest.mark.parametrize(
    "model, error",
    [
        (Variation(llc=0.7), "dram-cxl: a last-level cache of 1468006 bytes is not a power"),
        (Variation(bandwidth=3.0), "dram-cxl: 3 times the bandwidth needs a share of 5.33333"),
        (Variation(tlb=3.0), "dram-cxl: translations of 4608 pages are not 12 ways"),
        (Variation(bandwidth=32.0), "needs a share of 0.5"),
        (
            Variation(clock=16, latency=10.0),
            "dram-cxl: 16 guest nanoseconds for one of the machine's and 10 times the latency make",
        ),
    ],
)
def test_what_no_machine_can_have(model, error):
    with pytest.raises(LabError, match=re.escape(error)):
        model.of(CXL)


@pytest.mark.parametrize(
    "text, error",
    [
        ("[a]\n", "variations.toml: a: about: is missing"),
        ('[a]\nabout = "x"\nlatency = 2\n', "a: latency: 2 is not of type float"),
        ('[a]\nabout = "x"\nlatency = 0.0\n', "a: latency: 0.0 is not from 0.1 to 10"),
        ('[a]\nabout = "x"\ntlb = 65.0\n', "a: tlb: 65.0 is not from 0.1 to 64"),
        ('[a]\nabout = "x"\nextra_ns = 30\n', "a: extra_ns: unknown field"),
        ('[a]\nabout = "x"\nspeed = 1.0\n', "a: speed: unknown field"),
        ("a = 1\n", "variations.toml: a: is not a table"),
    ],
)
def test_a_bad_variation_names_the_field(tmp_path, text, error):
    path = tmp_path / "variations.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LabError, match=re.escape(error)):
        variations(path)
