# SPDX-License-Identifier: GPL-2.0
"""lab.guest: what comes back from a guest, also from one that dies."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lab import machines, paths
from lab.errors import LabError
from lab.guest import Guest, GuestError, run
from lab.machines.description import DATA

pytestmark = pytest.mark.vm

PROVOKE = "/sys/kernel/debug/provoke-crash/DIRECT"
"""LKDTM: the kernel does to itself what is written there."""

LONG = 120
"""Seconds after which a run that should have been cut was not."""


@pytest.fixture(scope="module")
def small(stock_kernel):
    """A guest for tests that leave it as it was."""
    with Guest("small", stock_kernel) as guest:
        assert guest.sh("true").warnings == []
        yield guest


@pytest.fixture
def doomed(stock_kernel):
    """A guest of one's own."""
    guest = Guest("small", stock_kernel)
    yield guest
    guest.kill()


@pytest.fixture(scope="module")
def three(stock_kernel):
    """The machine with two sockets."""
    with Guest("three-node", stock_kernel) as guest:
        assert guest.sh("true").warnings == []
        yield guest


@pytest.mark.parametrize(
    "script, status",
    [
        ("true", 0),
        ("exit 1", 1),
        ("exit 42", 42),
        ("exit 255", 255),
        ("kill -TERM $$", 128 + signal.SIGTERM),
        ("no-such-command", 127),
    ],
)
def test_status(small, script, status):
    assert small.sh(script).status == status


def test_output(small):
    result = small.sh("echo out; echo err >&2; printf 'no newline'")
    assert (result.stdout, result.stderr) == ("out\nno newline", "err\n")
    assert small.sh("seq 100000").stdout == "".join(f"{n}\n" for n in range(1, 100001))
    assert small.sh("printf '\\036\\014\\r\\n'").stdout == "\x1e\x0c\r\n"


def test_words_are_not_shell(small):
    assert small.sh(["printf", "%s|", "a b", "$HOME"]).stdout == "a b|$HOME|"


def test_lines_as_they_come(small):
    seen: list[str] = []
    result = small.sh("echo 1; sleep 1; echo; printf 3", on_line=seen.append)
    assert seen == ["1", "", "3"]
    assert result.stdout == "1\n\n3"


def test_root_with_the_host_read_only(small):
    assert small.sh("id -u").stdout == "0\n"
    assert small.sh("cat lab/machines/machines.toml").stdout == DATA.read_text()
    assert small.sh("touch lab/x").status != 0
    assert small.sh("echo x >$TMPDIR/x && cat $TMPDIR/x").stdout == "x\n"


def test_shared_directory(small):
    result = small.sh("echo '{}' >$PGHOT_OUT/result.json")
    assert (result.out / "result.json").read_text() == "{}\n"
    (result.out / "input").write_text("from the host")
    assert small.sh("cat $PGHOT_OUT/input").stdout == "from the host"


def test_log_of_a_command(small):
    assert "drop_caches: 1" in small.sh("echo 1 >/proc/sys/vm/drop_caches").log
    assert "drop_caches" not in small.sh("true").log


def test_words_of_user_space_are_no_warning(small):
    result = small.sh("echo '<4>WARNING: mine' >/dev/kmsg")
    assert "WARNING: mine" in result.log
    assert result.warnings == []


def test_kernel_warning(doomed):
    result = doomed.sh(f"echo WARNING >{PROVOKE}")
    assert result.status == 0
    assert len(result.warnings) == 1
    assert result.warnings[0].startswith("------------[ cut here ]")
    assert "lkdtm_WARNING+" in result.warnings[0]
    assert "Call Trace:" in result.warnings[0]
    # Each is reported once.
    assert doomed.sh("true").warnings == []


def test_error_message_of_the_kernel(doomed):
    # The old mount(2), since the new one answers the caller.
    result = doomed.sh(
        "perl -e '($n, $d, $t, $o) = qw(none /mnt tmpfs size=bogus);"
        " exit(syscall(165, $n, $d, $t, 0, $o) == 0)'"
    )
    assert result.status == 0
    assert result.warnings == ["tmpfs: Bad value for 'size'"]


def test_warning_between_commands(doomed):
    doomed.sh(f"(sleep 1; echo WARNING >{PROVOKE}) >/dev/null 2>&1 &")
    with pytest.raises(GuestError, match="reported between or after commands.*cut here"), doomed:
        time.sleep(3)


@pytest.mark.parametrize(
    "action, reason",
    [
        (f"echo BUG >{PROVOKE}", "kernel BUG at "),
        (f"echo EXCEPTION >{PROVOKE}", "BUG: kernel NULL pointer dereference"),
        ("echo c >/proc/sysrq-trigger", "Kernel panic - not syncing: sysrq triggered crash"),
    ],
)
def test_crash(doomed, action, reason):
    began = time.monotonic()
    with pytest.raises(GuestError) as caught:
        doomed.sh(f"sleep 1; {action}; sleep 1000", timeout=900)
    assert time.monotonic() - began < LONG
    assert caught.value.reason.startswith(f"the guest's kernel reported: {reason}")
    assert "Call Trace:" in caught.value.log
    assert len(str(caught.value).splitlines()) > 10
    assert not doomed.alive


def test_crash_while_idle(doomed):
    doomed.sh("(sleep 1; echo c >/proc/sysrq-trigger) >/dev/null 2>&1 &")
    time.sleep(3)
    with pytest.raises(GuestError, match="Kernel panic"):
        doomed.sh("true")


def test_command_beyond_its_limit(doomed):
    began = time.monotonic()
    with pytest.raises(GuestError) as caught:
        doomed.sh("sleep 1000", timeout=2)
    assert time.monotonic() - began < LONG
    assert caught.value.reason == "a command did not end within 2 s: sleep 1000"
    assert "sysrq: Show Blocked State" in caught.value.log
    with pytest.raises(GuestError, match="the guest is gone: a command did not end"):
        doomed.sh("true")


def test_guest_that_does_nothing_any_more(doomed):
    began = time.monotonic()
    with pytest.raises(GuestError, match="a command did not end within 3 s"):
        # All CPUs spin with interrupts off.
        doomed.sh(
            f"for cpu in 0 1; do taskset -c $cpu bash -c 'echo HARDLOCKUP >{PROVOKE}' & done; wait",
            timeout=3,
        )
    assert time.monotonic() - began < LONG


def test_limit_holds_for_the_boot(stock_kernel):
    began = time.monotonic()
    with pytest.raises(GuestError, match="machine small did not boot within 0.5 s"):
        Guest("small", stock_kernel, boot_timeout=0.5)
    assert time.monotonic() - began < LONG


def test_kernel_that_does_not_boot(stock_kernel):
    with pytest.raises(GuestError, match="Kernel panic - not syncing"):
        run("small", stock_kernel, "true", cmdline=["init=/no/such/file", "mem=20M"])


def test_no_kernel(tmp_path):
    with pytest.raises(GuestError, match="no kernel at .*: build it with 'make kernel'"):
        run("small", tmp_path / "bzImage", "true")
    (tmp_path / "bzImage").write_text("not one")
    with pytest.raises(GuestError, match="QEMU ended with status 1"):
        run("small", tmp_path / "bzImage", "true")


def test_killed_qemu(doomed):
    os.kill(doomed.pid, signal.SIGKILL)
    with pytest.raises(GuestError, match="QEMU was killed by SIGKILL"):
        doomed.sh("sleep 1000")


def test_power_off_inside(doomed):
    with pytest.raises(GuestError, match="powered off before the command ended"):
        doomed.sh("poweroff -f; sleep 1000")


def test_nothing_is_left_behind(stock_kernel, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    out = tmp_path / "out"
    result = run("small", stock_kernel, "echo 1 >$PGHOT_OUT/file; exit 3", out=out)
    assert (result.status, result.warnings) == (3, [])
    assert "Linux version 7.3" in result.log
    assert (out / "file").read_text() == "1\n"
    assert list(tmp_path.iterdir()) == [out]


def test_guest_dies_with_its_owner(stock_kernel, tmp_path):
    owner = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys, time\nfrom lab.guest import Guest\n"
            "print(Guest('small', sys.argv[1]).pid, flush=True)\ntime.sleep(1000)",
            stock_kernel.bzimage,
        ],
        cwd=paths.ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    with owner:
        assert owner.stdout is not None
        process = Path(f"/proc/{int(owner.stdout.readline())}")
        assert process.exists()
        owner.kill()
    ends = time.monotonic() + LONG
    while process.exists() and time.monotonic() < ends:
        time.sleep(0.1)
    assert not process.exists()


def test_unknown_machine(stock_kernel):
    with pytest.raises(LabError, match="choose one of three-node, "):
        run("none", stock_kernel, "true")


def test_bad_kernel_parameter(stock_kernel):
    with pytest.raises(LabError, match="is not one word without quotes"):
        run("small", stock_kernel, "true", cmdline=['a="b'])


def test_kernel_parameters(stock_kernel):
    result = run("small", stock_kernel, "cat /proc/cmdline", cmdline=["pghot=off", "one=two"])
    assert " pghot=off one=two " in result.stdout


@pytest.mark.parametrize("name", ["three-node", "small"])
def test_machine_as_described(name, request):
    guest = request.getfixturevalue(name.partition("-")[0])
    described = machines.load(name)
    nodes = "/sys/devices/system/node/node"
    seen = guest.sh(f"""
        cat {nodes}*/distance
        for node in {nodes}*; do
            n=${{node#{nodes}}}
            read -r kb <<<"$(awk '/MemTotal/ {{ print $4 }}' $node/meminfo)"
            echo "$n $kb $(ls -d $node/cpu[0-9]* 2>/dev/null | wc -l)" \\
                "$(cat $node/access0/initiators/read_latency)" \\
                "$(cat $node/access0/initiators/read_bandwidth)"
        done""").stdout.splitlines()
    count = len(described.nodes)
    assert [tuple(map(int, line.split())) for line in seen[:count]] == list(described.distance)
    for line, node, number in zip(seen[count:], described.nodes, range(count), strict=True):
        index, kib, cpus, latency, bandwidth = map(int, line.split())
        row = described.initiators.index(described.initiator_of(number))
        assert index == number
        # The kernel keeps some for itself before it counts.
        assert 0.8 * node.size < kib * 1024 <= node.size
        assert cpus == node.cpus
        assert latency == described.latency_ns[row][number]
        assert bandwidth == described.bandwidth_mibps[row][number]


@pytest.mark.parametrize("name, tiers", [("three-node", {"0-1", "2"}), ("small", {"0", "1"})])
def test_two_tiers(name, tiers, request):
    guest = request.getfixturevalue(name.partition("-")[0])
    seen = guest.sh("cat /sys/devices/virtual/memory_tiering/memory_tier*/nodelist").stdout
    assert set(seen.split()) == tiers
    assert len(seen.split()) == 2


def test_slow_memory_can_go_and_come_back(three):
    result = three.sh("""
        cd /sys/devices/system/node/node2
        for block in memory*; do
            [ "$(cat $block/valid_zones)" = Movable ] || exit 2
            echo offline >$block/state || exit 3
            # Its node goes with the last one.
            block=/sys/devices/system/memory/$block
            blocks="$blocks $block"
        done
        cat /sys/devices/system/node/has_memory
        for block in $blocks; do echo online_movable >$block/state || exit 4; done
        cat /sys/devices/system/node/has_memory
        cat /sys/devices/virtual/memory_tiering/memory_tier*/nodelist | sort""")
    assert result.status == 0, result.stderr
    assert result.stdout.split() == ["0-1", "0-2", "0-1", "2"]
    assert result.warnings == []


def test_command_line(stock_kernel):
    """`lab shell` without a terminal: one command, its output and its status."""

    def lab(*words):
        return subprocess.run(
            [sys.executable, "-m", "lab", "shell", "--flavour", "stock", "--machine", *words],
            cwd=paths.ROOT,
            text=True,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
        )

    done = lab("small", "--run", "echo out; echo err >&2; exit 7")
    assert (done.returncode, done.stdout) == (7, "out\n")
    assert done.stderr.endswith("err\n")
    refused = lab("small")
    assert refused.returncode == 1
    assert refused.stderr.splitlines() == [
        "lab: a shell needs a terminal: run 'make shell' from one, or give it a command by RUN="
    ]
    assert lab("none").stderr.splitlines() == [
        "lab: unknown machine 'none': choose one of " + ", ".join(machines.names())
    ]
