# SPDX-License-Identifier: GPL-2.0
"""What `status` and `doctor` advise is not what is so already."""

import re

import pytest

from pghot import settings
from pghot.counters import COUNTERS
from pghot.tests.fakes import PGHOT, PGHOT_COUNTERS, balance, stuck

DEMOTION = "sys/kernel/mm/numa/demotion_enabled"
SCALE_FACTOR = "proc/sys/vm/watermark_scale_factor"
DIRTY = "proc/sys/vm/dirty_background_ratio"
LIMIT = "proc/sys/kernel/numa_balancing_promote_rate_limit_MBps"

#: A reason; what is written where; the command, and a part of the words.
CASES = [
    ("delay_target_full", {DEMOTION: "true"}, "sysctl -w vm.watermark_scale_factor=100", "Wider"),
    ("delay_target_full", {DEMOTION: "true", SCALE_FACTOR: 100}, None, "the hot set is larger"),
    ("delay_target_full", {DEMOTION: "false"}, f"echo true > /{DEMOTION}", "demotion is off"),
    ("delay_target_full", {DEMOTION: "?"}, f"echo true > /{DEMOTION}", "Where demotion is on"),
    ("delay_rate_limit", {LIMIT: 65536}, None, "65536 MiB/s is in practice none"),
    ("delay_rate_limit", {LIMIT: 4194304}, None, "4194304 MiB/s is in practice none"),
    (
        "delay_rate_limit",
        {LIMIT: 2000},
        "sysctl -w kernel.numa_balancing_promote_rate_limit_MBps=65536",
        "raise it if memory bandwidth allows",
    ),
    ("skip_dirty", {DIRTY: 10}, "sysctl -w vm.dirty_background_ratio=5", "write back sooner"),
    ("skip_dirty", {DIRTY: 5}, None, "vm.dirty_background_ratio is 5"),
    ("skip_dirty", {DIRTY: 0}, None, "vm.dirty_background_bytes"),
    ("skip_disabled", {}, None, "Nothing to do"),
    ("skip_disabled", {f"{PGHOT}/enabled": 0}, f"echo 1 > /{PGHOT}/enabled", "Switch it on"),
    ("skip_disabled", {f"{PGHOT}/enabled": "?"}, f"echo 1 > /{PGHOT}/enabled", "Switch it on"),
    (
        "skip_disabled",
        {f"{PGHOT}/sources/hint_fault/enabled": 0},
        f"echo 1 > /{PGHOT}/sources/hint_fault/enabled",
        "Switch it on",
    ),
    ("skip_stale", {}, None, "raise window_ms, or raise freq_threshold"),
    ("skip_stale", {f"{PGHOT}/window_ms": 60000}, None, "window_ms is at its highest."),
    ("skip_stale", {f"{PGHOT}/freq_threshold": 3}, None, "highest. With pghot=precise"),
    (
        "skip_stale",
        {f"{PGHOT}/freq_threshold": 127, f"{PGHOT}/window_ms": 60000, f"{PGHOT}/layout": "precise"},
        None,
        "pages move; window_ms and freq_threshold are at their highest.",
    ),
    ("skip_gone", {f"{PGHOT}/freq_threshold": 2}, None, "raise freq_threshold"),
    ("skip_gone", {f"{PGHOT}/freq_threshold": 3}, None, "at its highest. With pghot=precise"),
    (
        "skip_gone",
        {f"{PGHOT}/freq_threshold": 3, f"{PGHOT}/layout": "precise"},
        None,
        "raise freq_threshold",
    ),
]


def advised(run, machine, name: str) -> tuple[str | None, str]:
    """Command and words that `status` has for a reason, in its JSON and in its text."""
    machine.counters(**{name: 5000})
    reasons = run("status", "--json", machine=machine).json["reasons"]
    (found,) = (reason for reason in reasons if reason["name"] == name)
    text = run("status", machine=machine).out.partition(f"    {name}: ")[2]
    shown = "".join(re.findall(r"\A.*\n(?:      .*\n)*", text))
    assert re.findall(r"run: (.*)", shown) == ([found["command"]] if found["command"] else [])
    words = " ".join(re.sub(r"run: .*", "", shown).split())
    assert words.endswith(f"{found['meaning']} {found['advice']}")
    return found["command"], found["advice"]


@pytest.mark.parametrize("name, files, command, words", CASES)
def test_status_advises_what_is_not_so_yet(run, cxl, name, files, command, words):
    for path, content in files.items():
        cxl.write(path, content)
    given, told = advised(run, cxl, f"pghot_{name}")
    assert given == command
    assert words in told and told.endswith(".")


def test_memory_tiering_that_is_off_is_switched_on(run, cxl):
    balance(cxl, 1)
    assert advised(run, cxl, "pghot_skip_disabled")[0] == "sysctl -w kernel.numa_balancing=3"


def test_what_cannot_be_read_gets_the_general_advice(run, cxl, deny):
    deny(LIMIT, f"{PGHOT}/{settings.RATE_LIMIT}", DIRTY, DEMOTION)
    for name in ("pghot_delay_rate_limit", "pghot_skip_dirty", "pghot_delay_target_full"):
        known = COUNTERS[name]
        assert advised(run, cxl, name) == (known.command, known.advice)


def test_pages_that_faults_promoted_are_not_short_lived(finding, cxl):
    cxl.counters(pghot_in_fault=200000, pghot_skip_gone=8000, pghot_moved=900)
    told = finding(cxl, "dropped-pages")["explanation"]
    assert "may be pages that a hint fault promoted" in told
    # Nobody knows whether they are.
    assert "pghot_in_fault is 200,000" in told and "raise freq_threshold" in told
    cxl.counters(pghot_in_fault=7000)
    assert "pghot_in_fault is" not in finding(cxl, "dropped-pages")["explanation"]


@pytest.mark.parametrize("node1, said", [(4000, "Node 1 is full now"), (90000, "buddyinfo")])
def test_a_full_node_is_named_where_others_have_room(run, finding, cxl, node1, said):
    """A page that node 1 uses does not go to node 0, which is further than where it is."""
    cxl.zones(node0=5000000, node1=node1, node2=800000).write(f"{PGHOT}/node2/ready", 5000)
    told = advised(run, cxl, "pghot_delay_target_full")[1]
    assert said in told and ("nearer to who uses it" in told) == (node1 == 4000)
    explained = finding(cxl, "delayed-pages")["explanation"]
    assert said in explained and "No top-tier node had room" not in explained


def test_large_folios_wait_beside_room(finding, cxl):
    cxl.write(f"{PGHOT}/node2/ready", 50000).counters(pghot_delay_target_full=90000)
    assert "/proc/buddyinfo" in finding(cxl, "delayed-pages")["explanation"]


def test_doctor_advises_the_same(finding, cxl):
    cxl.write(f"{PGHOT}/node2/ready", 5000).counters(
        pghot_delay_rate_limit=4000, pghot_delay_target_full=0
    )
    found = finding(cxl, "delayed-pages")
    assert found["command"] is None and "Raising the limit gains nothing" in found["explanation"]
    cxl.write(LIMIT, 100)
    assert finding(cxl, "delayed-pages")["command"].endswith("MBps=65536")


def test_room_and_its_reason_name_one_command(run, finding, tmp_path):
    machine = stuck(tmp_path)
    for demotion in ("true", "false"):
        machine.write(DEMOTION, demotion)
        command, words = advised(run, machine, "pghot_delay_target_full")
        found = finding(machine, "room")
        assert found["command"] == command and found["explanation"].endswith(words)


def sets(command: str) -> dict[str, str]:
    """The file that a command sets -> its value."""
    found = {}
    for part in command.split(" && "):
        if match := re.fullmatch(r"sysctl -w ([\w.]+)=(\d+)", part):
            found["proc/sys/" + match[1].replace(".", "/")] = match[2]
        elif match := re.fullmatch(r"echo (\w+) > /(\S+)", part):
            found[match[2]] = match[1]
    return found


def commands(run, machine) -> list[str]:
    """Whatever status and doctor offer."""
    status = run("status", "--json", machine=machine).json["reasons"]
    doctor = run("doctor", "--json", machine=machine).json["checks"]
    return [one["command"] for one in (*status, *doctor) if one["command"]]


@pytest.mark.parametrize("fault", [
    {},
    {DEMOTION: "false"},
    {f"{PGHOT}/enabled": 0},
    {f"{PGHOT}/sources/hint_fault/enabled": 0},
    {"proc/sys/kernel/numa_balancing": 0},
    {LIMIT: 0},
])  # fmt: skip
def test_what_is_followed_is_not_advised_again(run, cxl, fault):
    """Each command that sets something changes it, and is not offered once it has."""
    reasons = [name for name in PGHOT_COUNTERS if re.match("pghot_(skip|delay|refused)_", name)]
    cxl.zones(node0=4000, node1=4000, node2=800000).counters(**dict.fromkeys(reasons, 3000))
    cxl.write(f"{PGHOT}/node2/ready", 5000)
    for path, content in fault.items():
        cxl.write(path, content)
    for _ in range(10):
        wanted = {path: value for one in commands(run, cxl) for path, value in sets(one).items()}
        for path, value in wanted.items():
            assert (cxl.root / path).read_text().strip() != value, path
            cxl.write(path, value)
        if not wanted:
            return
    pytest.fail(f"always offered: {wanted}")


def test_the_highest_values_are_the_kernels(repo):
    guide = " ".join((repo / "linux/Documentation/admin-guide/mm/pghot.rst").read_text().split())
    low, high = (settings.FREQ_THRESHOLD_MAX[layout] for layout in ("default", "precise"))
    assert f"1 to {low}, with ``pghot=precise`` 1 to {high}; default 2." in guide
    assert f"100 to {settings.WINDOW_MS_MAX}; default 4000." in guide
    assert f"0 to 4194304; default {settings.DEFAULT_RATE_LIMIT}." in guide
