# SPDX-License-Identifier: GPL-2.0
"""lab/host/process.py: starting and ending what could be a QEMU."""

import contextlib
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from lab import paths
from lab.errors import LabError
from lab.host import process, programs
from lab.host.process import Guests, Process

LONG = 20
"""Seconds within which all that is waited for here has happened."""


def sleeping():
    return Process(["sleep", "1000"], subprocess.DEVNULL)


def text_of(*words, env=None):
    """What a command says, and its status."""
    ours, theirs = os.pipe()
    started = Process(list(words), theirs, env=env)
    os.close(theirs)
    with os.fdopen(ours, encoding="utf-8") as said:
        return said.read(), started.wait(LONG)


def within(happened):
    """Whether it happens in time."""
    ends = time.monotonic() + LONG
    while not happened() and time.monotonic() < ends:
        time.sleep(0.02)
    return happened()


def gone(pid):
    """Whether the process ends in time."""

    def ended():
        try:
            state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2]
        except FileNotFoundError:
            return True
        return state.split()[0] == "Z"

    return within(ended)


def test_what_it_says_and_how_it_ends():
    assert text_of("sh", "-c", "echo out; echo err >&2; exit 7") == ("out\nerr\n", 7)


def test_the_environment_is_ours_and_what_is_added(monkeypatch):
    monkeypatch.setenv("OURS", "1")
    said, status = text_of("sh", "-c", "echo $OURS $ADDED", env={"ADDED": "2"})
    assert (said, status) == ("1 2\n", 0)


def test_descriptors_are_passed():
    ours, theirs = os.pipe()
    started = Process(
        ["sh", "-c", f"echo passed >/proc/self/fd/{theirs}"], subprocess.DEVNULL, pass_fds=[theirs]
    )
    os.close(theirs)
    with os.fdopen(ours, encoding="utf-8") as said:
        assert said.read() == "passed\n"
    assert started.wait(LONG) == 0


def test_a_wait_has_its_limit():
    started = sleeping()
    began = time.monotonic()
    assert started.wait(0.1) is None and started.status is None
    assert time.monotonic() - began < LONG
    started.kill()
    assert started.status == -signal.SIGKILL


def test_ctrl_c_does_not_come_to_it():
    started = sleeping()
    assert os.getsid(started.pid) == os.getpgid(started.pid) == started.pid
    started.kill()


def test_its_children_end_with_it():
    ours, theirs = os.pipe()
    started = Process(["sh", "-c", "sleep 1000 & echo $!; wait"], theirs)
    os.close(theirs)
    with os.fdopen(ours, encoding="utf-8") as said:
        child = int(said.readline())
        started.kill()
    assert gone(child)


def test_it_ignores_what_it_is_asked():
    ours, theirs = os.pipe()
    started = Process(["sh", "-c", "trap '' TERM; echo; while :; do sleep 1; done"], theirs)
    os.close(theirs)
    with os.fdopen(ours, encoding="utf-8") as said:
        said.readline()
        os.kill(started.pid, signal.SIGTERM)
        assert started.wait(0.2) is None
        started.kill()
    assert started.status == -signal.SIGKILL


@pytest.fixture
def signals(monkeypatch):
    """The groups that are sent one."""
    sent, real = [], os.killpg

    def killpg(group, number):
        sent.append(group)
        real(group, number)

    monkeypatch.setattr(process.os, "killpg", killpg)
    return sent


def test_many_threads_end_it_once(signals):
    started = sleeping()
    threads = [threading.Thread(target=started.kill) for _ in range(8)]
    threads += [threading.Thread(target=started.wait) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONG)
    assert signals == [started.pid] and started.status == -signal.SIGKILL


def test_an_end_that_is_interrupted_can_be_asked_for_again(monkeypatch):
    real = os.killpg

    def interrupted(group, number):
        monkeypatch.setattr(process.os, "killpg", real)
        raise KeyboardInterrupt

    started = sleeping()
    monkeypatch.setattr(process.os, "killpg", interrupted)
    with pytest.raises(KeyboardInterrupt):
        started.kill()
    again = threading.Thread(target=started.kill, daemon=True)
    again.start()
    again.join(LONG)
    status = started.status
    if status is None:
        real(started.pid, signal.SIGKILL)
    assert status == -signal.SIGKILL


def test_a_number_that_may_be_anothers_gets_no_signal(signals):
    started = Process(["true"], subprocess.DEVNULL)
    assert started.wait(LONG) == 0
    started.kill()
    assert signals == [] and started.status == 0


_OWNERS = {
    "in a session of its own": (
        "import subprocess, time\nfrom lab.host.process import Process\n"
        "print(Process(['sleep', '1000'], subprocess.DEVNULL).pid, flush=True)\n"
        "time.sleep(1000)"
    ),
    "in a terminal": (
        "from pathlib import Path\nfrom lab.host.process import run_in_terminal\n"
        "run_in_terminal(['sh', '-c', 'echo $$; exec sleep 1000'], Path('/'))"
    ),
}


@pytest.mark.parametrize("script", _OWNERS.values(), ids=_OWNERS)
def test_it_dies_with_its_owner(script):
    owner = subprocess.Popen(
        [sys.executable, "-c", script],
        cwd=paths.ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )
    with owner:
        assert owner.stdout is not None
        pid = int(owner.stdout.readline())
        # Until then the guard is not set.
        assert within(lambda: Path(f"/proc/{pid}/comm").read_text(encoding="utf-8") == "sleep\n")
        owner.kill()
    assert gone(pid)


def test_nothing_starts_that_would_not_die_with_its_owner(monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(programs.apt, "available", lambda: False)
    with pytest.raises(LabError, match="^missing setpriv: install it"):
        sleeping()


def test_it_owns_the_terminal_and_leaves_it_as_it_was():
    """In a terminal of its own, whose echo a machine switches off."""
    script = (
        "import sys, termios\nfrom pathlib import Path\n"
        "from lab.host.process import run_in_terminal\n"
        "before = termios.tcgetattr(0)\n"
        "status = run_in_terminal(['sh', '-c', 'stty -echo; read said </dev/tty; "
        "echo got $said; stty -a; exit 3'], Path('/'))\n"
        "assert before == termios.tcgetattr(0)\n"
        "sys.exit(status)\n"
    )
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(paths.ROOT)
        os.execv(sys.executable, [sys.executable, "-c", script])
    os.write(terminal, b"words\n")
    shown = b""
    with contextlib.suppress(OSError):  # the terminal's end
        while data := os.read(terminal, 4096):
            shown += data
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 3, shown
    assert b"got words" in shown and b"-echo " in shown


def test_a_guest_ends_with_its_block():
    with Guests().started(["sleep", "1000"], subprocess.DEVNULL) as guest:
        assert guest.status is None
    assert guest.status == -signal.SIGKILL
    with (
        pytest.raises(ZeroDivisionError),
        Guests().started(["sleep", "1000"], subprocess.DEVNULL) as guest,
    ):
        1 // 0  # noqa: B018
    assert guest.status == -signal.SIGKILL


def test_their_owner_ends_all_and_for_good():
    guests, others = Guests(), Guests()
    sleep = (["sleep", "1000"], subprocess.DEVNULL)
    with (
        guests.started(*sleep) as one,
        guests.started(*sleep) as another,
        others.started(*sleep) as foreign,
    ):
        guests.stop()
        assert one.status == another.status == -signal.SIGKILL
        assert foreign.status is None
        with pytest.raises(LabError, match="^interrupted$"), guests.started(*sleep):
            pytest.fail("a guest starts after the end")
        guests.stop()
