# SPDX-License-Identifier: GPL-2.0
"""Other memory models: what becomes of the machine, and the table of what comes out."""

import io
import re

import pytest
from rich.console import Console

from lab import machine
from lab.bench import description, sensitivity
from lab.bench.matrix import cell
from lab.bench.runner import Matrix
from lab.cli import main
from lab.errors import LabError
from lab.measure import Result, plugin
from lab.variation import Variation

CXL = machine.load("dram-cxl")


def test_as_described_changes_nothing():
    assert Variation().of(CXL) == CXL
    name, (_, model) = next(iter(description.variations().items()))
    assert name == "as-described"
    assert model == Variation()


def test_factors_reach_the_model():
    varied = Variation(llc=0.5, latency=2.0, extra_ns=30, bandwidth=0.5).of(CXL)
    assert varied.latency_ns == ((210, 530),)
    assert (varied.model.llc, varied.model.llc_hit_ns, varied.model.share) == (1 << 20, 24, 32)
    assert varied.model.dma == CXL.model.dma
    assert varied.nodes == CXL.nodes


def test_each_variation_is_another_model(tmp_path):
    told = [plugin.config(model.of(CXL), tmp_path)
            for _, model in description.variations().values()]
    assert len(set(told)) == len(told) >= 8


def test_a_cache_has_a_size_that_can_be():
    with pytest.raises(LabError, match="dram-cxl: a last-level cache of 1048576.7|not a power"):
        Variation(llc=0.7).of(CXL)


@pytest.mark.parametrize("text, error", [
    ("[a]\n", "variations.toml: a: about: is missing"),
    ('[a]\nabout = "x"\nlatency = 2\n', "a: latency: 2 is not of type float"),
    ('[a]\nabout = "x"\nlatency = 0.0\n', "a: latency: 0.0 is not from 0.1 to 10"),
    ('[a]\nabout = "x"\nextra_ns = -1\n', "a: extra_ns: -1 is not from 0 to 10000"),
    ('[a]\nabout = "x"\nspeed = 1.0\n', "a: speed: unknown field"),
    ("a = 1\n", "variations.toml: a: is not a table"),
])
def test_a_bad_variation_names_the_field(tmp_path, text, error):
    path = tmp_path / "v.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(LabError, match=re.escape(error)):
        description.variations(path)


def test_every_run_has_its_model():
    experiment, = description.experiments("random-anon")
    varied = sensitivity.varied([experiment], ["as-described", "half-cache"])
    fast = next(read for read in description.contenders() if read.name == "fast")
    assert [cell(read, fast).runs[0].variation.llc for read in varied] == [1.0, 0.5]


def test_the_table_has_a_line_for_each_model():
    experiments = sensitivity.varied(description.experiments("random-anon,gups"),
                                     ["as-described", "overlap"])
    contenders = [read for read in description.contenders()
                  if read.name in ("fast", "slow", "stock-2")]

    def measure(run):
        if run.variation.latency == 0.5 and run.workload[0] == "gups":
            return Result(error="it broke")
        seconds = {0: 2.0, 2: 1.25}[2 if "balancing 2" in run.setup else 0]
        if "'0'" in repr(run.workload):
            seconds = 1.0
        return Result(seconds=seconds, model={"pages": {"promoted": 0, "demoted_again": 0}})

    rows = sensitivity.split(Matrix(experiments, contenders, measure, workers=1).run())
    assert {row["variation"] for row in rows} == {"as-described", "overlap"}
    out = io.StringIO()
    Console(file=out, width=120).print(sensitivity.table(rows))
    lines = [line.split() for line in out.getvalue().splitlines()]
    assert ["as-described", "0.750", "0.750"] in lines
    assert ["overlap", "0.750", "-"] in lines
    assert "failed: it broke" in out.getvalue()


def test_without_bounds_there_is_nothing_to_compare(capsys):
    assert main(["sensitivity", "--experiment", "movepages-4k"]) == 1
    assert "movepages-4k has no bounds" in capsys.readouterr().err
