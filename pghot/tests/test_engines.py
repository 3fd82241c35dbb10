# SPDX-License-Identifier: GPL-2.0
"""Copy engines: what `pghot status` shows of them, and what `pghot doctor` makes of it."""

import re

import pytest

from pghot.engines import ALL_REASONS, TEST
from pghot.snapshot import collect
from pghot.tests.fakes import OFFLOAD, REASONS, add_engine, with_engines
from pghot.text import report
from pghot.tree import Tree

DCBM = f"{OFFLOAD}/dcbm"


@pytest.fixture
def offload(cxl):
    """mtcopy is off, dcbm is on and has copied."""
    return with_engines(cxl)


@pytest.fixture
def engines(run):
    """The engines of a machine, by name."""

    def command(machine) -> dict:
        said = run("status", "--json", machine=machine).json["migrate_offload"]["engines"]
        return {engine["name"]: engine for engine in said}

    return command


@pytest.fixture
def shown(run):
    """The rows of the text, in words."""

    def command(machine) -> list[list[str]]:
        text = run("status", machine=machine).out.partition("Copy engines")[2]
        return [line.split() for line in text.partition("\n\n")[0].splitlines()[1:]]

    return command


def test_status(engines, shown, offload):
    assert list(engines(offload)) == ["dcbm", "mtcopy"]
    dcbm = engines(offload)["dcbm"]
    sizes = dcbm.pop("folio_sizes")
    assert dcbm == {
        "name": "dcbm",
        "use": "on",
        "reasons": REASONS.split(),
        "copied_folios": 8400,
        "failed_folios": 12,
        "busy_jobs": 30,
    }
    assert [size["folio_bytes"] for size in sizes] == [4096 << order for order in range(11)]
    assert sizes[0] == {"folio_bytes": 4096, "copied_folios": 8000, "failed_folios": 12}
    assert shown(offload)[1:] == [
        ["dcbm", "on", "8,400", "8.4", "12", "30", "all"],
        ["mtcopy", "off", "0", "0.0", "0", "0", "all"],
    ]


def test_engines_need_no_pghot(shown, stock):
    assert [row[0] for row in shown(with_engines(stock))[1:]] == ["dcbm", "mtcopy"]


def test_a_kernel_without_any(run, cxl):
    assert run("status", "--json", machine=cxl).json["migrate_offload"] is None
    out = run("status", machine=cxl).out
    assert "Copy engines" not in out and "first_folio_us" not in out


def test_a_kernel_that_has_none_yet(run, verdicts, shown, cxl):
    cxl.write(f"{OFFLOAD}/first_folio_us", 100)
    assert run("status", "--json", machine=cxl).json["migrate_offload"]["engines"] == []
    assert shown(cxl) == [["none:", "the", "CPU", "copies", "all", "that", "migrates"]]
    assert "copy-engines" not in verdicts(cxl)


@pytest.mark.parametrize("value, known", [("250", 250), ("soon", None), (None, None)])
def test_the_setting(run, offload, value, known):
    path = f"{OFFLOAD}/first_folio_us"
    offload.remove(path) if value is None else offload.write(path, value)
    setting = run("status", "--json", machine=offload).json["migrate_offload"]["settings"][0]
    assert (setting["name"], setting["value"], setting["unit"]) == ("first_folio_us", known, "us")
    row = re.search(r"^  first_folio_us +(\S+) ", run("status", machine=offload).out, re.M)
    assert row and row[1] == ("?" if known is None else str(known))


def test_failures_of_an_earlier_time_are_over(run, offload, monkeypatch):
    offload.write(f"{DCBM}/folios-4kB/failed", 400)
    monkeypatch.setattr("time.sleep", offload.age)
    now = run("doctor", "--json", "--interval", 3, machine=offload).json
    by_id = {check["id"]: check for check in now["checks"]}
    assert by_id["engine-failures"]["verdict"] == "ok"
    assert run("doctor", machine=offload).status == 1


def test_rates(engines, run, offload, monkeypatch):
    now = iter((100.0, 104.0))
    monkeypatch.setattr("time.monotonic", lambda: next(now))
    monkeypatch.setattr(
        "time.sleep", lambda s: offload.age(s).write(f"{DCBM}/folios-4kB/copied", 8400)
    )
    rates = run("status", "--json", "--interval", 4, machine=offload).json["rates"]
    assert rates["engines"] == {"dcbm": 100.0, "mtcopy": 0.0}


@pytest.mark.parametrize(
    "reasons, known, said",
    [
        (REASONS, REASONS.split(), "all"),
        (f"{REASONS} defragmentation", [*REASONS.split(), "defragmentation"], "all"),
        ("demotion numa_misplaced", ["demotion", "numa_misplaced"], "demotion, numa_misplaced"),
        ("", [], "none"),
        ("\x1b[2J", None, "?"),
    ],
)
def test_reasons(engines, shown, offload, reasons, known, said):
    offload.write(f"{DCBM}/reasons", reasons)
    assert engines(offload)["dcbm"]["reasons"] == known
    assert " ".join(shown(offload)[1][6:]) == said


def test_the_reasons_are_those_that_the_fake_kernel_writes():
    assert set(REASONS.split()) == ALL_REASONS


@pytest.mark.parametrize("width", [80, 100])
def test_many_reasons_wrap(offload, width):
    offload.write(f"{DCBM}/reasons", REASONS.removesuffix(" damon"))
    text = report(collect(Tree(str(offload.root))), width).partition("Copy engines")[2]
    section = text.partition("\n\n")[0]
    assert "longterm_pin, demotion" in " ".join(section.split())
    assert max(map(len, section.splitlines())) <= width


#: A file, what it holds, and the field that is None then.
GARBLED = [
    ("enabled", "2", "use"),
    ("enabled", "", "use"),
    ("busy", "none", "busy_jobs"),
    ("folios-64kB/copied", "4e3", "copied_folios"),
    ("folios-64kB/failed", b"\xff", "failed_folios"),
]


@pytest.mark.parametrize("file, content, field", GARBLED)
def test_what_is_garbled_is_none_and_named(run, engines, offload, file, content, field):
    offload.write(f"{DCBM}/{file}", content)
    assert engines(offload)["dcbm"][field] is None
    unread = run("status", "--json", machine=offload).json["unread"]
    assert [one["path"] for one in unread] == [f"/{DCBM}/{file}"]


NEEDED = [(file, field) for file, _, field in GARBLED[1:]] + [("reasons", "reasons")]


@pytest.mark.parametrize("file, field", NEEDED)
def test_what_is_missing_is_none(run, engines, shown, offload, file, field):
    offload.remove(f"{DCBM}/{file}")
    assert engines(offload)["dcbm"][field] is None and "?" in shown(offload)[1]
    assert run("status", "--json", machine=offload).json["unread"] == []


@pytest.mark.parametrize("file, field", NEEDED)
def test_what_is_denied_is_none_and_named(run, engines, offload, deny, file, field):
    deny(f"{DCBM}/{file}")
    assert engines(offload)["dcbm"][field] is None
    unread = run("status", "--json", machine=offload).json["unread"]
    assert unread == [{"path": f"/{DCBM}/{file}", "why": "permission denied; root can read it"}]


def test_one_size_that_is_unreadable_leaves_the_others(engines, offload):
    offload.write(f"{DCBM}/folios-4kB/failed", "x")
    sizes = engines(offload)["dcbm"]["folio_sizes"]
    assert sizes[0] == {"folio_bytes": 4096, "copied_folios": 8000, "failed_folios": None}
    assert sizes[9]["copied_folios"] == 400


def test_what_is_no_engine_is_none(engines, offload):
    offload.write(f"{OFFLOAD}/later_setting", 1).write(f"{OFFLOAD}/a b/enabled", 1)
    offload.write(f"{DCBM}/folios-0kB/copied", 1).write(f"{DCBM}/folios-all/copied", 1)
    assert list(engines(offload)) == ["dcbm", "mtcopy"]
    assert engines(offload)["dcbm"]["copied_folios"] == 8400


# --- pghot doctor ------------------------------------------------------------


@pytest.mark.parametrize(
    "dcbm, said",
    [
        (1, "Copy engines: dcbm on, mtcopy off."),
        (0, "Copy engines: dcbm off, mtcopy off; the CPU copies all that migrates."),
    ],
)
def test_what_is_on_and_off_is_said(verdicts, finding, offload, dcbm, said):
    offload.write(f"{DCBM}/enabled", dcbm)
    found = finding(offload, "copy-engines")
    assert (found["verdict"], found["summary"], found["command"]) == ("ok", said, None)
    assert ("engine-failures" in verdicts(offload)) == bool(dcbm)
    assert "test-engine" not in verdicts(offload) and verdicts(offload)["exit"] == 0


def test_always_is_for_measurements(verdicts, finding, offload):
    offload.write(f"{DCBM}/enabled", "always")
    found = finding(offload, "copy-engines")
    assert (found["verdict"], verdicts(offload)["exit"]) == ("warn", 1)
    assert found["summary"].endswith(": dcbm.")
    assert found["command"] == "echo 1 > /sys/kernel/mm/migrate_offload/dcbm/enabled"
    offload.write(f"{OFFLOAD}/mtcopy/enabled", "always")
    assert finding(offload, "copy-engines")["command"] == (
        "echo 1 > /sys/kernel/mm/migrate_offload/dcbm/enabled"
        " && echo 1 > /sys/kernel/mm/migrate_offload/mtcopy/enabled"
    )


def test_whether_one_is_on_may_be_unknown(verdicts, finding, offload):
    offload.remove(f"{DCBM}/enabled")
    found = finding(offload, "copy-engines")
    assert (found["verdict"], verdicts(offload)["exit"]) == ("unknown", 2)
    assert found["summary"] == "Whether the copy engine dcbm is used cannot be read."
    assert found["explanation"] == f"/{DCBM}/enabled: it is missing."


@pytest.mark.parametrize(
    "use, copied, failed, verdict",
    [
        (1, 9900, 100, "ok"),
        (1, 9800, 101, "warn"),
        ("always", 0, 100, "warn"),
        (1, 0, 99, "ok"),
        (1, 10**9, 10**6, "ok"),
        (1, 0, 0, "ok"),
        (1, -5, 1000, "ok"),
        (1, "?", 1000, "unknown"),
        (1, 1000, "?", "unknown"),
        (0, 0, 10000, None),
        ("?", 0, 10000, None),
    ],
)
def test_failures(verdicts, offload, use, copied, failed, verdict):
    offload.write(f"{DCBM}/enabled", use).write(f"{DCBM}/folios-2048kB/copied", 0)
    offload.write(f"{DCBM}/folios-4kB/copied", copied)
    offload.write(f"{DCBM}/folios-4kB/failed", failed)
    assert verdicts(offload).get("engine-failures") == verdict


def test_failures_are_explained(finding, offload):
    offload.write(f"{DCBM}/folios-4kB/failed", 2100)
    found = finding(offload, "engine-failures")
    assert found["summary"].endswith(" given since boot: dcbm 20.0%.")
    assert found["command"] == "echo 0 > /sys/kernel/mm/migrate_offload/dcbm/enabled"
    assert "/sys/module/dcbm/parameters/channels" in found["explanation"]
    # Those are the pages that the CPU does not copy.
    assert "these pages stay where they were and cannot move" in found["explanation"]
    offload.remove(OFFLOAD)
    found = finding(add_engine(offload, "mtcopy", 1, _64kB=(100, 100)), "engine-failures")
    assert found["summary"].endswith(" given since boot: mtcopy 50.0%.")
    assert "dcbm" not in found["explanation"]


def test_the_counter_that_is_missing_is_named(finding, offload):
    offload.remove(f"{DCBM}/folios-64kB/failed")
    found = finding(offload, "engine-failures")
    assert found["explanation"] == f"/{DCBM}/folios-64kB/failed: it is missing."
    for order in range(11):
        offload.remove(f"{DCBM}/folios-{4 << order}kB")
    found = finding(offload, "engine-failures")
    assert found["explanation"] == f"/{DCBM}/folios-*: it is missing."


@pytest.mark.parametrize("use", [0, 1, "always", "?"])
def test_the_test_engine_is_for_no_server(verdicts, finding, offload, use):
    """Whatever else is wrong with it: it is to go."""
    add_engine(offload, TEST, use, _4kB=(0, 5000))
    said = {check: v for check, v in verdicts(offload).items() if v != "ok"}
    assert said == {"test-engine": "fail", "exit": 1}
    assert finding(offload, "test-engine")["command"] == (
        "echo 0 > /sys/kernel/debug/migrate_offload_test/present"
    )


def test_the_test_engine_is_called_as_in_the_kernel(repo):
    text = (repo / "linux/drivers/migrate_offload/test_engine.c").read_text()
    assert re.findall(r'^\t\.name = "(\w+)",$', text, re.MULTILINE) == [TEST]
    assert 'debugfs_create_dir("migrate_offload_test"' in text and '"present"' in text
