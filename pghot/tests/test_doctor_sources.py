# SPDX-License-Identifier: GPL-2.0
"""`pghot doctor` on sources of accesses: which report, and what each of them needs."""

import re

import pytest

from pghot.subsystem import ALONE
from pghot.tests.doctor import problems
from pghot.tests.fakes import (
    PGHOT,
    balance,
    switch_off,
    switch_on,
    with_hotness_units,
    with_hw_sample,
)


@pytest.mark.parametrize("source", ["page_table", "page_cache", "hotness_unit"])
def test_another_source_does_without_numa_balancing(verdicts, finding, cxl, source):
    """As docs/faq.md says that one can."""
    switch_on(with_hotness_units(balance(cxl, 0), 1), source)
    assert problems(verdicts(cxl)) == {"exit": 0}
    assert finding(cxl, "numa-balancing")["summary"] == (
        f"NUMA balancing is off; {source} reports without it."
    )
    balance(cxl, 1).write(f"{PGHOT}/sources/hint_fault/enabled", 0)
    assert problems(verdicts(cxl)) == {"exit": 0}
    assert finding(cxl, "hint-faults")["summary"] == (
        f"The hint fault source is off; {source} reports without it."
    )


def test_all_that_report_are_named(finding, cxl):
    switch_on(switch_on(balance(cxl, 1), "page_table"), "page_cache")
    assert finding(cxl, "numa-balancing")["summary"] == (
        "NUMA balancing is on without memory tiering (mode 1);"
        " page_cache and page_table report without it."
    )


def test_a_source_that_cannot_report_does_not_count(verdicts, cxl):
    switch_on(with_hotness_units(balance(cxl, 0), 0), "hotness_unit")
    assert problems(verdicts(cxl)) == {
        "numa-balancing": "fail",
        "hotness-units": "warn",
        "exit": 1,
    }
    balance(cxl, 2)
    switch_off(cxl, "hint_fault", "page_table", "page_cache")
    assert verdicts(cxl)["hint-faults"] == "fail"


def test_hint_faults_that_others_take_are_a_warning(verdicts, cxl):
    """In a mode with memory tiering, in which NUMA balancing promotes by them."""
    switch_off(switch_on(cxl, "page_table"), "hint_fault", "page_cache")
    assert problems(verdicts(cxl)) == {"hint-faults": "warn", "exit": 1}


def test_sources_are_shown(finding, cxl):
    reports = "Reports: hint_fault, page_cache, page_table. Absent: hotness_unit, hw_sample."
    assert finding(cxl, "sources")["summary"] == reports
    switch_off(cxl, "page_table")
    reports = "Reports: hint_fault, page_cache. Off: page_table. Absent: hotness_unit, hw_sample."
    assert finding(cxl, "sources")["summary"] == reports
    switch_on(switch_on(with_hotness_units(balance(cxl, 1), 0), "hotness_unit"), "page_table")
    assert finding(cxl, "sources")["summary"] == (
        "Waits for kernel.numa_balancing=3: hint_fault, page_cache. No unit: hotness_unit."
        " Reports: page_table. Absent: hw_sample."
    )


def test_samples_give_way_to_others(verdicts, finding, cxl):
    """Who gives way does not report, though it runs."""
    with_hw_sample(balance(cxl, 0), away=0)
    assert finding(cxl, "numa-balancing")["summary"] == (
        "NUMA balancing is off; hw_sample reports without it."
    )
    with_hw_sample(cxl, away=1)
    assert (
        "Gives way to others, or a CPU has no counter: hw_sample."
        in finding(cxl, "sources")["summary"]
    )
    assert verdicts(cxl)["numa-balancing"] == "fail"


@pytest.mark.parametrize("running, verdict", [(1, "warn"), (0, "fail")])
def test_a_source_that_is_on_has_to_run(verdicts, finding, cxl, running, verdict):
    for name in ("page_table", "page_cache"):
        cxl.write(f"{PGHOT}/sources/{name}/running", 0)
    cxl.write(f"{PGHOT}/sources/hint_fault/running", running)
    assert problems(verdicts(cxl)) == {"sources": verdict, "exit": 1}
    found = finding(cxl, "sources")
    assert found["summary"].startswith("Switched on, and not running: ")
    assert found["summary"].endswith("page_cache, page_table.")
    assert found["command"] == "dmesg | grep 'pghot: source'"


def test_what_does_not_start_says_so_as_the_doctor_greps_for_it(finding, cxl, repo):
    cxl.write(f"{PGHOT}/sources/page_table/running", 0)
    pattern = finding(cxl, "sources")["command"].split("'")[1]
    text = (repo / "linux/mm/pghot/source.c").read_text()
    prefix = re.findall(r'^#define pr_fmt\(fmt\) "(.*)" fmt$', text, re.MULTILINE)[0]
    message = re.findall(r'pr_notice\("(source %s does not start .*?)"', text)[0]
    assert (prefix + message).startswith(pattern)


def test_whether_a_source_runs_may_be_unknown(verdicts, finding, cxl):
    cxl.write(f"{PGHOT}/sources/page_table/enabled", 1)
    cxl.remove(f"{PGHOT}/sources/page_table/running")
    assert problems(verdicts(cxl)) == {"sources": "unknown", "exit": 2}
    assert finding(cxl, "sources")["summary"] == "Whether page_table runs cannot be read."


def test_who_waits_is_not_stuck_where_the_mode_cannot_be_read(verdicts, cxl):
    balance(cxl, 0).write("proc/sys/kernel/numa_balancing", "x")
    assert problems(verdicts(cxl)) == {"numa-balancing": "unknown", "exit": 2}


@pytest.mark.parametrize("path", ["enabled", "sources/hint_fault/enabled"])
def test_sources_are_not_asked_while_none_is_on(verdicts, cxl, path):
    switch_off(cxl, "page_table", "page_cache")
    assert "sources" not in verdicts(cxl.write(f"{PGHOT}/{path}", 0))


def test_what_needs_no_numa_balancing_is_what_the_kernel_says(repo):
    texts = [file.read_text() for file in (repo / "linux/mm/pghot/source").glob("*.c")]
    sources = [re.search(r'^\t\.name = "(\w+)",\n(?:\t.*\n)*', text, re.M) for text in texts]
    alone = {found[1] for found in sources if found and "\t.alone = true,\n" in found[0]}
    assert alone == set(ALONE)


@pytest.mark.parametrize("units, verdict", [(0, "warn"), (2, "ok"), ("many", "unknown")])
def test_hotness_units_need_a_device(finding, cxl, units, verdict):
    switch_on(with_hotness_units(cxl, units), "hotness_unit")
    said = finding(cxl, "hotness-units")
    assert said["verdict"] == verdict
    assert "2 units" in said["summary"] or units != 2


def test_hotness_units_that_are_off_need_none(run, cxl):
    with_hotness_units(cxl, 0)
    assert "hotness-units" not in run("doctor", machine=cxl).out
