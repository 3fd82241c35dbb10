# SPDX-License-Identifier: GPL-2.0
"""What `pghot explain` explains, against the kernel's own lists and against the documentation."""

import re
from pathlib import Path

import pytest

from pghot.counters import COUNTERS, FLOW
from pghot.explain import FILES
from pghot.tests.fakes import PGHOT_COUNTERS

STAT_H = "linux/mm/pghot/stat.h"


def kernel_counters(text: str) -> set[str]:
    """The /proc/vmstat names of a header with lines "X(skip_stale, ...)"."""
    return {f"pghot_{name.lower()}" for name in re.findall(r"^\s*X\(\s*(\w+)", text, re.MULTILINE)}


def source_counters(sources: Path) -> set[str]:
    """Those that each source has of its own."""
    return {
        f"pghot_recorded_{name}"
        for path in sources.glob("*.c")
        for name in re.findall(r'^\t\.name = "(\w+)",', path.read_text(), re.MULTILINE)
    }


def test_reading_the_kernels_list():
    text = (
        "#define PGHOT_STATS(X)\t\\\n\tX(recorded)\t\\\n"
        '\tX(SKIP_STALE, "cold")\t\\\n#define X(y) y\n'
    )
    assert kernel_counters(text) == {"pghot_recorded", "pghot_skip_stale"}


def test_every_counter_of_the_kernel_is_explained_and_no_other(repo):
    header = repo / STAT_H
    if not header.exists():
        pytest.skip(f"{STAT_H} is not there")
    sources = header.parent / "source"
    assert kernel_counters(header.read_text()) | source_counters(sources) == {
        name for name in COUNTERS if name.startswith("pghot_")
    }


def test_the_fake_machine_has_every_counter():
    # Its kernel has no such sources.
    assert {*PGHOT_COUNTERS, "pghot_recorded_hotness_unit", "pghot_recorded_hw_sample"} == {
        name for name in COUNTERS if name.startswith("pghot_")
    }


@pytest.mark.parametrize("name", COUNTERS)
def test_each_counter_reads_as_sentences(name):
    counter = COUNTERS[name]
    assert counter.meaning[0].isupper() and counter.meaning.endswith(".")
    assert (counter.advice == "") == (counter.kind == FLOW)
    assert counter.advice.endswith(".") or not counter.advice
    assert counter.meaning.isascii() and counter.advice.isascii()


def test_explain_one(run):
    out = run("explain", "pghot_skip_dirty").out
    assert out.startswith(
        "pghot_skip_dirty (dropped)\n    The page belongs to a file and is dirty.\n"
    )
    assert out.endswith("    run: sysctl -w vm.dirty_background_ratio=5\n")


def test_explain_json(run):
    document = run("explain", "--json").json
    assert document["schema"] == 1
    assert {c["name"] for c in document["counters"]} == set(COUNTERS)
    assert {s["name"] for s in document["settings"]} == set(FILES)


def test_explain_a_setting(run):
    assert run("explain", "freq_threshold").out == (
        "freq_threshold (accesses)\n    accesses within the window that make a page ready\n"
        "    file: /sys/kernel/mm/pghot/freq_threshold\n"
    )


def test_each_file_of_pghot_and_of_engines_is_explained_and_no_other(repo):
    abi = repo / "linux/Documentation/ABI/testing"
    texts = [(abi / f"sysfs-kernel-mm-{room}").read_text() for room in ("pghot", "migrate-offload")]
    known = set(re.findall(r"^(?:What:)?\s+(/sys/\S+)", "\n".join(texts), re.MULTILINE))
    explained = {file for found in FILES.values() for file in found.files}
    assert explained == {file for file in known if not file.endswith("/")}


@pytest.mark.parametrize(
    "said, meant",
    [
        ("freq_treshold", "did you mean freq_threshold, "),
        ("skip_dirty", "did you mean pghot_skip_dirty?"),
        ("moved", "did you mean pghot_moved"),
        ("moonlight", "`pghot explain` lists all names"),
    ],
)
def test_what_somebody_may_have_meant_is_named(run, said, meant):
    result = run("explain", said)
    assert (result.status, result.out) == (2, "")
    wanted = f"error: no counter or setting is named '{said}'; {meant}"
    assert wanted in result.err.splitlines()[-2]


def test_the_documented_list_is_this_list(run, repo):
    assert run("explain", "--markdown").out in (repo / "docs/tool.md").read_text()
