# SPDX-License-Identifier: GPL-2.0
"""lab/bench/description.py: what the shipped experiments say, and who takes part in them."""

import pytest

from lab.bench import description, documents
from lab.bench.runner import Matrix
from lab.errors import LabError
from lab.measure import Result
from lab.tests import bench_fakes

CONTENDERS = description.contenders()
LONG = description.long_ones()
SHIPPED = description.experiments()
FOLLOWED = [read for read in SHIPPED if read.document]
"""Experiments that follow a document."""


def made_up(_run):
    """A result of any run."""
    pages = {"promoted": 0, "demoted": 0, "demoted_again": 0}
    return Result(seconds=1.0, workload={"score": 1.0}, model={"pages": pages})


@pytest.mark.parametrize("read", FOLLOWED, ids=lambda read: read.name)
def test_each_figure_of_a_document_comes_into_the_table(read):
    """In full, without anything being asked for by name."""
    rows = Matrix([read], CONTENDERS, made_up, everywhere=False, workers=1).run()
    lines = documents.results(rows, bench_fakes.ORIGIN, [read]).splitlines()
    assert read.document.figures
    for figure in read.document.figures:
        assert any(line.startswith("| `") and f"| {figure.text} |" in line for line in lines), (
            figure
        )


def test_who_a_document_names_takes_part_in_short_runs_only_as_others_do():
    named = next(read for read in FOLLOWED if read.name == "movepages-4k")
    (stock,) = (one for one in CONTENDERS if one.name == "stock-0")
    assert description.take_part(named, stock, quick=False)
    assert not description.take_part(named, stock, quick=True)
    (other,) = description.experiments("gups")
    assert not description.take_part(other, stock, quick=False)


def test_a_document_stays_where_its_threads_were_cold():
    kept = {read.name for read in FOLLOWED if read.variant}
    assert kept == {"random-anon-cold", "random-thp-cold"}
    (anon,) = description.experiments("random-anon")
    for kind in description.VARIANTS.keys() - {"cold", "long"}:
        assert description.variant(anon, kind).document is None
    (old,) = description.experiments("graph500-cold")
    assert old.document is None


@pytest.mark.parametrize("read", LONG, ids=lambda read: read.name)
def test_a_long_form_is_as_much_longer_as_it_says(read):
    """And so are its constants, to the last digit."""
    (short,) = description.experiments(read.variant.of)
    differ = [
        pair for pair in zip(short.workload, read.workload, strict=True) if len(set(pair)) > 1
    ]
    (amount,) = differ
    assert int(amount[1]) == short.long_times * int(amount[0])
    assert read.scale.time * read.long_times == short.scale.time and read.scale.time > 1


def test_policies_that_adapt_slowly_are_in_long_runs_of_wide_experiments():
    assert any(read.wide for read in LONG)
    for read in LONG:
        part = {one for one in CONTENDERS if description.take_part(read, one, quick=False)}
        assert (part == set(CONTENDERS)) == read.wide


def test_a_long_form_that_cannot_be_scaled_is_refused(tmp_path):
    path = tmp_path / "gups.toml"
    text = (description.EXPERIMENTS / path.name).read_text(encoding="utf-8")
    path.write_text(text.replace("long_times = 10", "long_times = 15"), encoding="utf-8")
    with pytest.raises(LabError, match="gups.toml: long_times: does not divide 20, the time of"):
        description.experiment(path)
