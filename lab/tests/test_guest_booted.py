# SPDX-License-Identifier: GPL-2.0
"""A boot that fails: whose fault it is decides whether it is tried again."""

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from lab.guest import Guest, GuestError, session
from lab.guest.errors import EmulatorError
from lab.tests import guests

# CPUs that trap at a breakpoint, with the bytes in memory up to it and from there on.
TRAP = """\
[    2.229300] Oops: int3: 0000 [#1] SMP
[    2.229310] CPU: 1 UID: 0 PID: 0 Comm: swapper/1 Not tainted 7.3.4 #1 PREEMPTLAZY
[    2.229320] RIP: 0010:sched_clock_cpu+{2}/0x1a0
[    2.229330] Code: 84 00 00 1f 44 00 00 55 48 89 e5 41 55 41 54 53 {0} <{1}> e8 20 35 f7 ff
[    2.229895] Call Trace:
[    2.229973] Code: 65 48 8b 3d d7 a0 4b 00 07 0f 00 2d e9 0a 07 00 fb f4 <c3> cc cc cc cc"""

# A nop, as the kernel had left it; the breakpoint of a next change, of a nop and of a jump.
CHANGED = tuple(
    TRAP.format(*bytes_, "0xa") for bytes_ in (("66", "90"), ("cc", "90"), ("cc", "46"))
)
# Between functions, and after a return; before a function after a call that does not return.
PADDING = (
    TRAP.format("cc", "cc", "0x1a1"),
    TRAP.format("cc cc", "55", "0x0"),
    TRAP.format("c3 cc", "90", "0x19f"),
    TRAP.format("cc", "55", "0x0"),
)

# As printed: outcomes of one race.
RACES = (
    "qemu-system-x86_64: ../../accel/tcg/cputlb.c:1220: iotlb_to_section: Assertion "
    "`section_index < d->map.sections_nb' failed.",
    "qemu-system-x86_64: hw/pci/msix.c:228: msix_table_mmio_write: Assertion `addr + "
    "size <= dev->msix_entries_nr * PCI_MSIX_ENTRY_SIZE' failed.",
    # It is in the middle of what the guest was saying.
    "[    1.241qemu-system-x86_64: system/physmem.c:2678: iotlb_to_section: Assertion "
    "`section_index < d->map.sections_nb' failed.\n18] pci 0000:00:07.0: BAR 0 [io  0xc140-0xc17f]",
    "[  121.290936] rcu: \tPossible timer handling issue on cpu=0 timer-softirq=63",
    *CHANGED,
)


def boots(monkeypatch, *logs):
    """Have one boot after the other fail with these logs, then succeed."""
    failures = [GuestError("QEMU was killed by SIGABRT", f"[ 0.7] pci\n{log}\n") for log in logs]

    class Booted:
        def __init__(self, *_, **__):
            if failures:
                raise failures.pop(0)

        def kill(self):
            pass

    monkeypatch.setattr(session, "Booted", Booted)
    return failures


@pytest.mark.parametrize("log", RACES)
def test_the_emulators_fault_is_tried_again(monkeypatch, log):
    left = boots(monkeypatch, log)
    Guest("small", __file__).kill()
    assert not left


def test_but_not_for_ever(monkeypatch):
    left = boots(monkeypatch, *RACES[:3], RACES[0])
    with pytest.raises(GuestError):
        Guest("small", __file__)
    assert len(left) == 1


@pytest.mark.parametrize(
    "log",
    [
        "[    0.700000] Kernel panic - not syncing: VFS: Unable to mount root fs",
        "qemu-system-x86_64: cannot set up guest memory 'mem0': Cannot allocate memory",
        "[    0.700000] lab: Assertion `a' failed.",
        "[  121.271127] rcu: INFO: rcu_sched detected stalls on CPUs/tasks:",
        *PADDING,
    ],
)
def test_the_guests_own_is_not(monkeypatch, log):
    left = boots(monkeypatch, log, log)
    with pytest.raises(GuestError):
        Guest("small", __file__)
    assert len(left) == 1


def runs(monkeypatch, tmp_path, *logs):
    """Have one guest after the other boot, and die of its first command with these logs."""
    failures = list(logs)
    (tmp_path / ".lab").mkdir()
    vm = SimpleNamespace(changed=nullcontext(), text={"control": b""}, send=lambda _: None)

    class Booted:
        def __init__(self, *_, **__):
            self.dead, self.vm, self.out = None, vm, tmp_path

        def wait(self, *_):
            self.dead = "Oops"
            raise GuestError("the guest's kernel reported: Oops", failures.pop(0))

        def kill(self):
            pass

    monkeypatch.setattr(session, "Booted", Booted)
    return failures


@pytest.mark.parametrize(
    ("log", "kind"),
    [(log, EmulatorError) for log in CHANGED] + [(log, GuestError) for log in PADDING],
)
def test_who_is_to_blame_for_a_command_that_kills_a_guest(monkeypatch, tmp_path, log, kind):
    runs(monkeypatch, tmp_path, log)
    guest = Guest("small", __file__)
    with pytest.raises(GuestError) as error:
        guest.sh("true")
    assert error.type is kind


@pytest.mark.parametrize(
    ("ends", "left"),
    [([EmulatorError] * 4, 1), ([GuestError] * 2, 1), ([EmulatorError, GuestError] * 2, 2)],
)
def test_a_test_runs_again_where_the_emulator_failed(monkeypatch, ends, left):
    ends = list(ends)

    class Dies:
        def __init__(self, *_):
            self.alive = True

        def sh(self, script, *_, **__):
            if script == "true":
                self.alive = False
                raise ends.pop(0)("gone")
            return SimpleNamespace(status=0)

    monkeypatch.setattr(guests, "Guest", Dies)
    with pytest.raises(pytest.fail.Exception, match="gone"):
        guests.Machine("small", SimpleNamespace(flavour="pghot"), []).sh("true")
    assert len(ends) == left


@pytest.mark.parametrize(
    ("ends", "left"),
    [([EmulatorError] * 4, 1), ([GuestError] * 2, 1), ([EmulatorError, GuestError] * 2, 2)],
)
def test_so_does_one_with_a_guest_of_its_own(ends, left):
    ends = list(ends)

    @guests.again
    def one(kernel):
        raise ends.pop(0)("gone")

    with pytest.raises(GuestError, match="gone"):
        one(kernel="bzImage")
    assert len(ends) == left
