# SPDX-License-Identifier: GPL-2.0
"""What a user without privileges, and a reader of garbage, gets to see."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pghot.cli import main
from pghot.tests import fakes
from pghot.tests.fakes import PGHOT

ROOT_ONLY = (
    f"{PGHOT}/enabled",
    f"{PGHOT}/freq_threshold",
    f"{PGHOT}/window_ms",
    f"{PGHOT}/batch_pages",
    f"{PGHOT}/period_ms",
    f"{PGHOT}/promote_rate_limit_MBps",
    f"{PGHOT}/sources/hint_fault/enabled",
    f"{PGHOT}/sources/hint_fault/hot_threshold_ms",
)


def test_unprivileged_status_says_what_it_could_not_read(run, cxl, deny):
    deny(*ROOT_ONLY)
    result = run("status", machine=cxl)
    assert (result.status, result.err) == (0, "")
    assert "unknown: This kernel has pghot; whether it is on cannot be read." in result.out
    status = run("status", "--json", machine=cxl).json
    why = "permission denied; root can read it"
    # The rate limit has a second, world-readable name.
    assert status["unread"] == [
        {"path": f"/{p}", "why": why} for p in sorted(ROOT_ONLY) if "rate_limit" not in p
    ]
    assert {s["name"]: s["value"] for s in status["pghot"]["settings"]}[
        "promote_rate_limit_MBps"
    ] == 65536
    assert status["sources"][0]["enabled"] is None and status["sources"][0]["accesses"] == 100000
    assert status["lower_nodes"][0]["ready"] == 200


def test_unprivileged_doctor(verdicts, cxl, deny):
    deny(*ROOT_ONLY)
    found = verdicts(cxl)
    assert {check for check, verdict in found.items() if verdict == "unknown"} == {
        "enabled",
        "hint-faults",
    }
    assert found["exit"] == 2


#: A check, and the file without which it is unknown.
NEEDED = {
    "enabled": f"{PGHOT}/enabled",
    "hint-faults": f"{PGHOT}/sources/hint_fault/enabled",
    "rate-limit": f"{PGHOT}/promote_rate_limit_MBps",
    "numa-balancing": "proc/sys/kernel/numa_balancing",
    "demotion": "sys/kernel/mm/numa/demotion_enabled",
}


@pytest.mark.parametrize("check", NEEDED)
def test_to_run_it_as_root_is_said_to_others_only(finding, cxl, deny, check):
    path = NEEDED[check]
    cxl.remove("proc/sys/kernel/numa_balancing_promote_rate_limit_MBps").write(path, "x")
    found = finding(cxl, check)
    assert found["verdict"] == "unknown" and found["summary"].endswith(" cannot be read.")
    assert found["explanation"].startswith(f"/{path}: not ")
    deny(path)
    found = finding(cxl, check)
    assert (found["verdict"], found["explanation"]) == ("unknown", "Run pghot doctor as root.")


def test_a_file_that_is_missing_is_named(finding, cxl):
    cxl.remove(NEEDED["demotion"])
    assert finding(cxl, "demotion")["explanation"] == f"/{NEEDED['demotion']}: it is missing."


@pytest.mark.parametrize(
    "path, content, field",
    [
        (f"{PGHOT}/freq_threshold", "two", lambda s: s["pghot"]["settings"][0]["value"]),
        (f"{PGHOT}/layout", "mystery", lambda s: s["pghot"]["layout"]),
        (f"{PGHOT}/enabled", "9", lambda s: {"unknown": None}[s["pghot"]["state"]]),
        (f"{PGHOT}/node2/ready", "", lambda s: s["records"]["waiting"]),
        (
            f"{PGHOT}/node2/kmigrated",
            b"\xff\xfe",
            lambda s: s["lower_nodes"][0]["kmigrated"]["pid"],
        ),
        ("proc/sys/kernel/numa_balancing", "7", lambda s: s["numa_balancing"]["tiering"]),
        ("sys/kernel/mm/numa/demotion_enabled", "maybe", lambda s: s["demotion"]),
        ("sys/devices/system/node/node0/meminfo", "x", lambda s: s["nodes"][0]["total_bytes"]),
        (
            "sys/devices/system/node/node0/distance",
            "10 20",
            lambda s: s["nodes"][0]["distances"] or None,
        ),
        ("sys/devices/system/node/has_cpu", "zero", lambda s: s["tiers"][0]["top"]),
        ("proc/zoneinfo", "garbage", lambda s: s["nodes"][0]["room"]),
    ],
)
def test_garbled_value_is_none_and_named(run, cxl, path, content, field):
    cxl.write(path, content)
    status = run("status", "--json", machine=cxl).json
    assert field(status) is None
    assert [u["path"] for u in status["unread"]] == [f"/{path}"]


def test_bad_lines_in_vmstat_cost_only_themselves(run, cxl):
    path = cxl.root / "proc/vmstat"
    path.write_text(path.read_text().replace("pghot_moved 9000", "pghot_moved nine"))
    status = run("status", "--json", machine=cxl).json
    assert status["records"]["moved"] is None and status["records"]["ready"] == 10000
    assert status["unread"] == [{"path": "/proc/vmstat", "why": "1 lines not understood"}]
    assert "? moved" in run("status", machine=cxl).out


def test_control_characters_do_not_reach_the_terminal(run, cxl):
    cxl.write(f"{PGHOT}/layout", "\x1b[2Jhi").write("proc/sys/kernel/osrelease", "7\x1b[31m")
    out = run("status", machine=cxl).out
    assert "\x1b" not in out and "?[2Jhi" in out


def test_directory_in_place_of_a_file(run, cxl):
    cxl.remove("proc/vmstat").write("proc/vmstat/x", "1")
    result = run("status", "--json", machine=cxl)
    assert (result.status, result.json["pages"]["promoted"]) == (0, None)
    assert result.json["unread"] == [{"path": "/proc/vmstat", "why": "Is a directory"}]


@pytest.mark.parametrize("command", ["status", "doctor"])
def test_root_without_anything_is_one_line_and_status_2(run, tmp_path, command):
    result = run(command, "--root", tmp_path)
    assert (result.status, result.out) == (2, "")
    assert result.err.count("\n") == 1 and "--root" in result.err


def test_missing_root(run, tmp_path):
    assert run("status", "--root", tmp_path / "nowhere").status == 2


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")
def test_a_real_user_without_privileges(repo):
    """The whole command as nobody on this very machine: no traceback, whatever it may not read."""
    with tempfile.TemporaryDirectory() as copy:
        os.chmod(copy, 0o755)
        for part in ("bin", "pghot"):
            shutil.copytree(
                repo / part, Path(copy) / part, ignore=shutil.ignore_patterns("__pycache__")
            )
        for command, allowed in (("status", {0}), ("doctor", {0, 1, 2})):
            done = subprocess.run(
                ["/usr/bin/python3", "-I", f"{copy}/bin/pghot", command],
                capture_output=True,
                text=True,
                user=65534,
                group=65534,
                extra_groups=[],
                env={},
                cwd="/",
            )
            assert done.returncode in allowed and done.stderr == ""
            assert done.stdout


NUMBER = st.integers(-(10**22), 10**22).map(lambda n: str(n).encode())
GARBAGE = st.one_of(
    st.binary(max_size=200),
    NUMBER,
    st.sampled_from(
        [b"", b"\n", b"0-4095", b"1,,", b"nan", b"1e9", b"pghot_skip_x -5\npghot_ready -1", b"-1"]
    ),
)


@settings(
    max_examples=80,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_garbage_never_gives_a_traceback(data, capsys):
    with tempfile.TemporaryDirectory() as root:
        machine = fakes.with_engines(fakes.cxl(Path(root)))
        paths = machine.files()
        for path in data.draw(st.lists(st.sampled_from(paths), max_size=6, unique=True)):
            if data.draw(st.booleans()):
                machine.write(path, data.draw(GARBAGE))
            else:
                old = (machine.root / path).read_bytes()
                at = data.draw(st.integers(0, len(old)))
                machine.write(path, old[:at] + data.draw(GARBAGE) + old[at + 1 :])
        for path in data.draw(st.lists(st.sampled_from(paths), max_size=4, unique=True)):
            (machine.root / path).unlink()
        for args, allowed in (
            (["status"], {0}),
            (["status", "--json"], {0}),
            (["doctor"], {0, 1, 2}),
            (["doctor", "--json"], {0, 1, 2}),
        ):
            assert main([*args, "--root", root]) in allowed
            captured = capsys.readouterr()
            assert captured.err == "" and captured.out.isascii()
