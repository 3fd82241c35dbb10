# SPDX-License-Identifier: GPL-2.0
"""docs/model.md: what the model leaves out has a figure, and figures follow from the machine."""

from __future__ import annotations

import re

import pytest

from lab import machines, paths
from lab.bench import scale
from lab.host import qemu
from lab.machines.options import qemu_args

PAGE = (paths.ROOT / "docs/model.md").read_text(encoding="utf-8")
_FIGURE = re.compile(r"\d (ns|µs|ms|s|GB/s|Gbit/s|[KMGT]iB|%|times)\b|\d%")


def entries(heading: str) -> dict[str, str]:
    """What stands below a heading, in entries that begin with a name in bold."""
    section = PAGE.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    parts = re.split(r"^\*\*(.+?)\.?\*\*", section, flags=re.MULTILINE)[1:]
    assert parts
    return {name: " ".join(text.split()) for name, text in zip(parts[::2], parts[1::2])}


OMITTED = entries("What the model leaves out")


@pytest.mark.parametrize("name", OMITTED)
def test_what_is_left_out_has_a_figure(name):
    assert _FIGURE.search(f"{name}. {OMITTED[name]}")


@pytest.mark.parametrize(
    "text, found",
    [
        ("A CPU waits for each miss.", False),
        ("All 64 of them.", False),
        ("An x86-64 CPU sees 2 nodes.", False),
        ("It costs 250 ns.", True),
        ("60% of it", True),
        ("9.4 times as long", True),
    ],
)
def test_what_a_figure_is(text, found):
    assert bool(_FIGURE.search(text)) == found


DRAM_CXL = machines.load("dram-cxl")
assert DRAM_CXL.model is not None
FAST_NS, SLOW_NS = DRAM_CXL.latency_ns[0]
FAST, SLOW = (mibps * 1.048576e-3 / DRAM_CXL.model.share for mibps in DRAM_CXL.bandwidth_mibps[0])
"""GB/s that a node carries: bytes per ns."""
LINE = 64


@pytest.mark.parametrize(
    "name, figure",
    [
        ("Overlap of misses", f"draws {LINE / SLOW_NS:.2f} GB/s"),
        ("Overlap of misses", f"{LINE} bytes each {SLOW_NS} ns"),
        ("Overlap of misses", f"of the {SLOW:.1f} GB/s that"),
        ("Overlap of misses", f"{LINE / FAST_NS:.2f} of {FAST:.1f} GB/s"),
        ("Overlap of misses", f"{SLOW_NS / FAST_NS:.1f} times as long"),
        ("Overlap of misses", f"with {SLOW / (2 * LINE / SLOW_NS):.1f} at once each"),
        ("Overlap of misses", f"{FAST / SLOW:.1f} times as long, the ratio"),
        ("Instruction fetch", f"at {DRAM_CXL.model.llc_hit_ns} ns a line"),
        ("Instruction fetch", f"would take {DRAM_CXL.model.llc_hit_ns * 3.8 / LINE:.1f} ns more"),
        ("Prefetchers beyond the next line", f"{SLOW_NS} ns a line"),
        ("Prefetchers beyond the next line", f"what the node carries, {LINE / SLOW:.0f} ns"),
        ("Exceptions and system calls", f"costs {DRAM_CXL.model.interrupts.take_ns} ns"),
        (
            "Exceptions and system calls",
            f"take {54846 * DRAM_CXL.model.interrupts.take_ns / 2 / 1e6:.1f} ms of each",
        ),
        ("Devices' own memory traffic", f"{12.5 / FAST / DRAM_CXL.model.share:.0%} of the"),
        ("Devices' own memory traffic", f"{12.5 / SLOW / DRAM_CXL.model.share:.0%} of a CXL"),
    ],
)
def test_figures_follow_from_the_machine(name, figure):
    text = next(text for known, text in OMITTED.items() if known.startswith(name))
    assert figure in text


def test_what_exceptions_would_cost_is_a_share_of_the_run():
    text = OMITTED["Exceptions and system calls"]
    found = re.search(r"take ([\d.]+) ms of .* a quarter of a percent of the ([\d,]+) ms", text)
    assert found
    assert float(found[1]) / float(found[2].replace(",", "")) == pytest.approx(0.0025, rel=0.05)
    assert "the 54,846 hint faults" in text


def test_the_cpu_is_the_labs_choice():
    """What it has not is no lack of QEMU's."""
    (name,) = {word.split(",")[0] for word in qemu.MODEL_ARGS if word.startswith("qemu64")}
    assert f"the lab has chosen, QEMU's {name}, comes without" in OMITTED["Interrupts on their way"]
    assert "without fast string operations, by choice" in OMITTED["The speed of the CPU"]
    assert "+x2apic" not in str(qemu.MODEL_ARGS) and "+erms" not in str(qemu.MODEL_ARGS)


def test_what_a_sibling_would_take_follows_from_what_two_get_done():
    text = OMITTED["Two threads of a core"]
    assert ",threads=1" in str(qemu_args(machines.load("two-socket-cxl")))
    both = float(re.findall(r"together get ([\d.]+) times", text)[0])
    own = both / 2
    assert f"up to {both - 1:.0%} more" in text and f"each gets {own:.0%} done" in text
    assert text.count(f"{1 / own:.2f} ") == 2 and f"loses {1 / own - 1:.2f} ms" in text


def test_what_a_scan_delay_of_nothing_changes_has_its_size():
    """The kernel forgets who used a mapping after four times the delay."""
    text = OMITTED["Which threads use memory"]
    there, here = 4 * scale.SCAN_DELAY_MS, 4 * scale.SCAN_DELAY_MS // scale.COMMON[1]
    assert f"{there // 1000} to {2 * there // 1000} s on a server" in text
    assert f"{here} to {2 * here} ms at the common scale" in text
    old = dict(scale.Scale(*scale.COMMON, 64).settings(cold=False))
    (delay,) = (value for path, value in old.items() if path.endswith("/scan_delay_ms"))
    assert f"Here the scan delay is {delay}, " in text


def test_what_long_runs_take_is_what_the_table_says():
    rows = re.findall(r"^\| .*\| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|$", PAGE, re.MULTILINE)
    runs = [tuple(map(float, row)) for row in rows]
    boot, redis, gups = runs[0], *(run for run in runs if run[0] > 0.5)
    said = " ".join(PAGE.split())
    shares = sorted(now / before for _, before, now in (redis, gups))
    assert f"Long ones take {shares[0]:.0%} to {shares[1]:.0%}" in said
    assert ("they are not halved" in said) == (shares[0] > 0.5)
    without = [(now - boot[2]) / before for _, before, now in (redis, gups)]
    assert f"Redis would take {without[0]:.0%} of what it took, and `gups` {without[1]:.0%}" in said
    model = re.search(r"^\| the model \| (\d+)% \|$", PAGE, re.MULTILINE)
    assert model
    left = redis[2] * (1 - int(model[1]) / 100) / redis[1]
    assert f"the Redis run would take {left:.0%} of what it took" in said
