# SPDX-License-Identifier: GPL-2.0
"""lab/guest/kernel_log.py: what counts in a kernel log. Lines are real ones."""

import re

import pytest

from lab import paths
from lab.guest import kernel_log
from lab.guest.errors import TAIL, GuestError

NONE = re.compile(r"(?!)")


@pytest.mark.parametrize(
    "line",
    [
        "[    4.130769] Kernel panic - not syncing: sysrq triggered crash",
        "[    3.930769] BUG: kernel NULL pointer dereference, address: 0000000000000000",
        "[    3.930769][   T63] BUG: KASAN: slab-use-after-free in f+0x1/0x2",
        "[    3.930769] BUG: sleeping function called from invalid context at mm/a.c:1",
        "[   93.930769] watchdog: BUG: soft lockup - CPU#1 stuck for 134s! [a:63]",
        "[    2.698811] kernel BUG at drivers/misc/lkdtm/bugs.c:132!",
        "[    2.698811] Oops: invalid opcode: 0000 [#1] SMP",
        "[   62.698811] rcu: INFO: rcu_sched self-detected stall on CPU",
        "[   62.698811] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
        "[  362.698811] INFO: task bash:63 blocked for more than 245 seconds.",
        "[    2.698811] BUG: Bad page state in process a  pfn:1",
    ],
)
def test_fatal(line):
    assert kernel_log.fatal(line) == re.sub(r"^\[.*?\] ?(\[.*?\] )?", "", line)


@pytest.mark.parametrize(
    "line",
    [
        "Kernel panic - not syncing: a test's own output",
        "[    1.000000] WARNING: possible circular locking dependency detected",
        "[    1.000000] lab: BUG: no",
        "[    1.000000] Kernel command line: panic=-1 oops=panic",
        "",
    ],
)
def test_not_fatal(line):
    assert kernel_log.fatal(line) is None


def test_parse():
    record = kernel_log.parse("12,339,5140725,-;a\\x0ab; c")
    assert record == kernel_log.Record(1, 4, 339, 5.140725, "a\nb; c")
    assert kernel_log.parse(" SUBSYSTEM=pci") is None
    assert kernel_log.parse("") is None


def records(*items):
    """Records of (priority, seconds, text)."""
    return [
        kernel_log.Record(priority >> 3, priority & 7, i, time, text)
        for i, (priority, time, text) in enumerate(items)
    ]


def test_warnings_by_level():
    log = records((6, 1, "info"), (5, 2, "notice"), (4, 3, "warning"), (0, 4, "emergency"))
    assert kernel_log.warnings(log, NONE) == ["warning", "emergency"]


def test_user_space_does_not_warn():
    assert kernel_log.warnings(records((12, 1, "WARNING: mine")), NONE) == []


def test_reports_below_warning_count():
    log = records((6, 1, "kmemleak: 3 new suspected memory leaks (see ...)"))
    assert len(kernel_log.warnings(log, NONE)) == 1


def test_known_messages_are_left_out():
    log = records((4, 1, "known 12"), (4, 2, "unknown"))
    assert kernel_log.warnings(log, re.compile(r"known \d+$")) == ["unknown"]


def test_a_stack_trace_is_one_report():
    log = records(
        (4, 1.000, "WARNING: a"),
        (4, 1.001, "Call Trace:"),
        (4, 1.002, " f+0x1"),
        (4, 9.0, "another"),
    )
    assert kernel_log.warnings(log, NONE) == ["WARNING: a\nCall Trace:\n f+0x1", "another"]


def test_the_list_in_the_tree(tmp_path):
    known = kernel_log.known(kernel_log.KNOWN, kernel_log.HOST)
    assert known.match("9p: Bad value for 'source'")
    # What is slow by a clock is no fault: the host may have been busy.
    assert known.match("    # a_case: Test should be marked slow (runtime: 4.651184956s)")
    assert not known.match("WARNING: anything")
    assert not known.match("")
    empty = tmp_path / "empty"
    empty.write_text("# nothing\n")
    assert not kernel_log.known(empty).match("")


def test_no_work_of_ours_may_hog_a_cpu():
    known = kernel_log.known(kernel_log.HOST)
    sources = [path.read_text(encoding="utf-8") for path in paths.OVERLAY.rglob("*.c")]
    ours = {
        name
        for text in sources
        for name in re.findall(r"^static void (\w+)\(struct work_struct \*", text, re.MULTILINE)
    }
    assert {"nodes_sync_work", "exchange_work", "mt_work"} <= ours
    for name, stock in (("vmstat_update", True), *((name, False) for name in ours)):
        line = f"workqueue: {name} hogged CPU for >10000us 4 times, consider switching"
        assert bool(known.match(line)) is stock, name


def test_error_shows_the_end_of_the_log():
    error = GuestError("it hung", "\n".join(map(str, range(1000))))
    assert error.reason == "it hung"
    lines = str(error).splitlines()
    assert lines[0] == "it hung; the end of its log:"
    assert lines[-1].strip() == "999"
    assert len(lines) == TAIL + 1
    assert str(GuestError("it hung")) == "it hung"
