# SPDX-License-Identifier: GPL-2.0
"""lab/host/qemu.py: QEMU's version, and the choice of what runs the CPUs."""

import stat

import pytest

from lab.errors import LabError
from lab.host import apt, qemu


@pytest.fixture
def fake_qemu(tmp_path, monkeypatch):
    """Returns a function that makes a QEMU of some version the one on PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def make(text, status=0):
        program = tmp_path / qemu.PROGRAM
        program.write_text(f"#!/bin/sh\necho '{text}'\nexit {status}\n")
        program.chmod(program.stat().st_mode | stat.S_IXUSR)

    return make


def test_version(fake_qemu):
    fake_qemu("QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2)")
    assert qemu.version() == (10, 0)
    qemu.check(qemu.version())


def test_old_version_says_how_to_get_a_newer(fake_qemu):
    fake_qemu("QEMU emulator version 7.2.13 (Debian 1:7.2+dfsg-7)")
    with pytest.raises(LabError) as caught:
        qemu.check(qemu.version())
    assert "version 7.2, 8.2 or newer is needed" in str(caught.value)
    assert "apt-get install qemu-system-x86/bookworm-backports" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing(fake_qemu):
    assert qemu.version() is None
    with pytest.raises(LabError, match="is missing or does not start: run 'apt-get"):
        qemu.check(None)


def test_broken(fake_qemu):
    fake_qemu("error while loading shared libraries", 127)
    assert qemu.version() is None


@pytest.mark.parametrize(
    "flags, expected",
    [
        ("flags\t\t: fpu vme vmx sse", True),
        ("flags\t\t: fpu svm", True),
        ("flags\t\t: fpu svmx xvmx", False),
        ("bugs\t\t: svm vmx\nflags\t\t: fpu", False),
        ("", False),
    ],
)
def test_cpu_flags(flags, expected):
    assert qemu.cpu_has_virtualization(flags) is expected


def test_accelerators(monkeypatch):
    monkeypatch.delenv("PGHOT_ACCEL", raising=False)
    monkeypatch.setattr(qemu, "kvm_works", lambda: False)
    assert qemu.accelerator().name == "tcg"
    assert "tcg,thread=multi" in qemu.accelerator().args
    # A host that is busy at boot would end it: "IO-APIC + timer doesn't work!"
    assert "no_timer_check" in qemu.accelerator().cmdline
    monkeypatch.setattr(qemu, "kvm_works", lambda: True)
    assert qemu.accelerator().name == "kvm"
    assert not qemu.accelerator().emulated
    assert qemu.accelerator("tcg").emulated
    icount = qemu.accelerator("icount")
    assert {"tcg,thread=single,tb-size=256", "shift=0,sleep=off"} <= set(icount.args)


def test_accelerator_from_the_environment(monkeypatch):
    monkeypatch.setenv("PGHOT_ACCEL", "icount")
    assert qemu.accelerator().name == "icount"
    monkeypatch.setenv("PGHOT_ACCEL", "xen")
    with pytest.raises(LabError, match="unknown accelerator 'xen': choose one of auto"):
        qemu.accelerator()


def test_kvm_where_there_is_none(monkeypatch):
    monkeypatch.setattr(qemu, "kvm_works", lambda: False)
    with pytest.raises(LabError, match="KVM does not work on this host"):
        qemu.accelerator("kvm")


def test_the_version_asked_of_debian_is_one_that_debian_has(monkeypatch):
    asked = []
    monkeypatch.setattr(qemu, "version", lambda: None)
    monkeypatch.setattr(qemu, "check", lambda found: None)
    monkeypatch.setattr(
        qemu.programs, "require_backport", lambda package, minimum, *also: asked.append(minimum)
    )
    qemu.ensure.__wrapped__()
    # With an epoch, that the package has and QEMU has not.
    assert apt.at_least("1:10.0.2+ds-2+deb13u1~bpo12+1", *asked)
    assert not apt.at_least("1:7.2+dfsg-7+deb12u18", *asked)
