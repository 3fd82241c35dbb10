# SPDX-License-Identifier: GPL-2.0
"""lab/guest/session.py and booted.py: one end of the wire, with nothing booted at the other."""

import os
import sys
import time
from pathlib import Path

import pytest

from lab.guest import Guest, GuestError, booted, run, session, virtme
from lab.guest.errors import EmulatorError
from lab.tests import fake_qemu

LONG = 30
"""Seconds after which something waited that should not have."""


@pytest.fixture
def no_qemu(monkeypatch, tmp_path):
    """Has fake_qemu.py run for QEMU, with all temporary files in a directory of its own."""

    def virtme_run(*_, options, qemu_options, **__):
        (share,) = [word for word in options if word.startswith(virtme.SHARE)]
        nonce = options[-1].split()[-2]
        return [sys.executable, fake_qemu.__file__, nonce, share.partition("=")[2], *qemu_options]

    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    monkeypatch.setattr(session.qemu, "ensure", lambda: None)
    monkeypatch.setattr(virtme, "virtme_run", virtme_run)
    monkeypatch.setattr(virtme, "resolve", lambda command, scratch: command)
    monkeypatch.setattr(session, "_GRACE", 0.2)
    # Nothing is scanned for leaks: this host may have a kernel that could be.
    monkeypatch.setattr(session, "_LEAK_SCAN", "true")
    return temporary


@pytest.fixture
def guest(no_qemu):
    with Guest("small", __file__) as one:
        yield one


def gone(no_qemu, guest):
    """Whether a guest left neither process nor file."""
    return (
        not guest.alive and not Path(f"/proc/{guest.pid}").exists() and not any(no_qemu.iterdir())
    )


def test_a_command(guest):
    done = guest.sh(
        "echo out; echo err >&2; echo 1 >$PGHOT_OUT/file; exit 3".replace(
            "$PGHOT_OUT", str(guest.out)
        )
    )
    assert (done.status, done.stdout, done.stderr) == (3, "out\n", "err\n")
    assert (done.out / "file").read_text() == "1\n"
    assert guest.sh(["printf", "%s|", "a b", "$HOME"]).stdout == "a b|$HOME|"


def test_what_the_kernel_said(guest):
    assert guest.log == "[    0.000000] Linux version 7.3\n"
    assert guest.sh("true").warnings == ["a warning of the boot"]
    done = guest.sh("echo '6,2,1,-;quiet' >&$KMSG; echo '4,3,2,-;loud' >&$KMSG")
    assert done.warnings == ["loud"] and "quiet" in done.log
    again = guest.sh("true")
    assert again.warnings == [] and again.log == ""


def test_records_that_the_kernels_log_lost(guest):
    guest.sh("true")
    # Who reads the log starts over where it was overrun, and finds some a second time.
    script = "printf '6,%s,%s,-;%s\n' 5 1 a 9 3000000 b 5 1 a 9 3000000 b 10 9000000 '' >&$KMSG"
    done = guest.sh(script)
    assert [line[15:] for line in done.log.splitlines()] == [
        "3 records of the kernel's log were lost",
        "a",
        "3 records of the kernel's log were lost",
        "b",
        "",
    ]
    assert done.warnings == ["3 records of the kernel's log were lost"] * 2
    assert guest.sh("true").warnings == []


@pytest.fixture
def boots(monkeypatch):
    """A list that counts the boots."""
    tried: list[booted.Booted] = []

    class Counted(booted.Booted):
        def __init__(self, *words, **more):
            tried.append(self)
            super().__init__(*words, **more)

    monkeypatch.setattr(session, "Booted", Counted)
    monkeypatch.setattr(booted, "_SAY_LIMIT", 0.5)
    return tried


def test_a_cpu_that_cannot_be_heard_is_the_emulators_fault(no_qemu, monkeypatch, boots):
    monkeypatch.setenv("MUTE", "3")
    with pytest.raises(GuestError, match="CPU 3 cannot be heard"):
        Guest("small", __file__)
    assert len(boots) == 3 and not any(no_qemu.iterdir())


def test_only_cpus_that_are_online_are_heard(no_qemu, monkeypatch, boots):
    monkeypatch.setenv("MUTE", "1")
    Guest("small", __file__).close()
    assert len(boots) == 1


def test_lines_as_they_come(guest):
    seen: list[str] = []
    done = guest.sh("echo 1; sleep 0.2; echo; printf 3", on_line=seen.append)
    assert seen == ["1", "", "3"] and done.stdout == "1\n\n3"


def test_a_panic(no_qemu, guest):
    began = time.monotonic()
    with pytest.raises(GuestError) as caught:
        guest.sh("echo '[    1.000000] Kernel panic - not syncing: x' >&$CONSOLE; sleep 1000", 900)
    assert time.monotonic() - began < LONG
    assert caught.value.reason == "the guest's kernel reported: Kernel panic - not syncing: x"
    assert "Linux version 7.3" in caught.value.log
    assert gone(no_qemu, guest)
    with pytest.raises(GuestError, match="the guest is gone: the guest's kernel reported: Kernel"):
        guest.sh("true")


def test_a_command_beyond_its_limit(no_qemu, guest):
    with pytest.raises(GuestError, match=r"a command did not end within 0.2 s: sleep 1000;"):
        guest.sh("sleep 1000", 0.2)
    assert gone(no_qemu, guest)


@pytest.mark.parametrize(
    "script, reason",
    [
        ("kill -KILL $QEMU", "QEMU was killed by SIGKILL"),
        ("kill -TERM $QEMU", "QEMU was killed by SIGTERM"),
    ],
)
def test_a_killed_qemu(no_qemu, guest, script, reason):
    with pytest.raises(GuestError, match=reason):
        guest.sh(script, LONG)
    assert gone(no_qemu, guest)


def test_it_powers_off(no_qemu):
    with Guest("small", __file__) as one:
        one.sh("true")
    assert gone(no_qemu, one) and one.close() == []


def test_what_was_said_after_the_last_command_is_an_error(no_qemu):
    one = Guest("small", __file__)
    with pytest.raises(GuestError, match="between or after commands: a warning of the boot"), one:
        pass
    assert gone(no_qemu, one)


@pytest.mark.parametrize(
    "script, reports",
    [
        ("echo '[    9.000000] WARNING: late' >&$CONSOLE", ["WARNING: late"]),
        # Both have it where the reader of /dev/kmsg was still there.
        (
            "echo '4,3,9000000,-;WARNING: late' >&$KMSG;"
            "echo '[    9.000000][   T63] WARNING: late' >&$CONSOLE",
            ["WARNING: late"],
        ),
        # The console does not say at which level.
        ("echo '[    9.000000] reboot: Power down' >&$CONSOLE", []),
        ("echo 'WARNING: not of the kernel' >&$CONSOLE", []),
    ],
)
def test_what_the_kernel_said_while_it_powered_off(no_qemu, monkeypatch, script, reports):
    monkeypatch.setenv("AT_QUIT", script)
    one = Guest("small", __file__)
    one.sh("echo '[    8.000000] WARNING: earlier' >&$CONSOLE")
    assert one.close() == reports
    assert gone(no_qemu, one)


def test_a_panic_that_is_still_in_the_pipe_when_qemu_ended(no_qemu, monkeypatch):
    panic = "[    9.000000] Kernel panic - not syncing: x"
    monkeypatch.setenv("AT_QUIT", f"(sleep 2; echo '{panic}' >&$CONSOLE) &")
    one = Guest("small", __file__)
    one.sh("true")
    with pytest.raises(GuestError, match="the guest's kernel reported: Kernel panic"):
        one.close()
    assert gone(no_qemu, one)


def test_an_error_beside_it_ends_it(no_qemu):
    one = Guest("small", __file__)
    with pytest.raises(ZeroDivisionError), one:
        1 // 0  # noqa: B018
    assert gone(no_qemu, one)


def test_a_boot_beyond_its_limit(no_qemu, monkeypatch):
    monkeypatch.setattr(virtme, "resolve", lambda command, scratch: ["sleep", "1000"])
    with pytest.raises(GuestError, match=r"machine small did not boot within 0.2 s"):
        Guest("small", __file__, boot_timeout=0.2)
    assert not any(no_qemu.iterdir())


@pytest.mark.parametrize(
    ("said", "boots_seen", "reason"),
    [
        ("[    1.742468] software IO TLB", 3, "said nothing for 0.3 s of its boot"),
        ("[    2.607320] Run /bin/init as init process", 1, "did not boot within 2 s"),
    ],
)
def test_a_kernel_that_falls_silent(no_qemu, monkeypatch, boots, said, boots_seen, reason):
    command = ["bash", "-c", f"sleep 0.1; echo '{said}' >&2; exec sleep 1000"]
    monkeypatch.setattr(virtme, "resolve", lambda *_: command)
    monkeypatch.setattr(booted, "_SILENCE", 0.3)
    with pytest.raises(GuestError, match=reason) as caught:
        Guest("small", __file__, boot_timeout=2)
    assert said in caught.value.log
    assert len(boots) == boots_seen and not any(no_qemu.iterdir())


def test_a_command_line_that_cannot_be_made_leaves_nothing(no_qemu, monkeypatch):
    def resolve(command, scratch):
        raise GuestError("no such thing")

    monkeypatch.setattr(virtme, "resolve", resolve)
    open_files = len(os.listdir("/proc/self/fd"))
    with pytest.raises(GuestError, match="no such thing"):
        Guest("small", __file__)
    assert not any(no_qemu.iterdir()) and len(os.listdir("/proc/self/fd")) == open_files


def test_one_command(no_qemu, tmp_path):
    out = tmp_path / "out"
    done = run("small", __file__, "echo hello; kill -0 $QEMU", out=out)
    assert (done.status, done.stdout, done.out) == (0, "hello\n", out)
    assert done.warnings == ["a warning of the boot"]
    assert "Linux version 7.3" in done.log and not any(no_qemu.iterdir())


def test_a_boot_that_the_emulator_failed_takes_none_of_a_commands_time(no_qemu, monkeypatch):
    lost, tried, limits = 2, [], []

    class Fails(booted.Booted):
        def __init__(self, *words, **more):
            tried.append(self)
            if len(tried) == 1:
                time.sleep(lost)
                raise EmulatorError("gone")
            super().__init__(*words, **more)

    def sh(guest, script, timeout, **more):
        limits.append(timeout)
        return real(guest, script, timeout, **more)

    real = Guest.sh
    monkeypatch.setattr(session, "Booted", Fails)
    monkeypatch.setattr(Guest, "sh", sh)
    assert run("small", __file__, "true", timeout=200).status == 0
    assert len(tried) == 2 and 200 - lost < limits[0] < 200
