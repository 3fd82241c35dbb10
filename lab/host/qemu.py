# SPDX-License-Identifier: GPL-2.0
"""QEMU on this host: which version, and what makes its guests run."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lab.errors import LabError
from lab.host import programs

PROGRAM = "qemu-system-x86_64"
PACKAGE = "qemu-system-x86"
# What it is made of, and needs in the same version or about so.
_PARTS = ("qemu-system-common", "qemu-system-data", "seabios")
MINIMUM = (8, 2)
"""Older ones place several memory backends at wrong addresses in HMAT guests."""

MODES = ("auto", "kvm", "tcg", "icount")

_KVM_GET_API_VERSION = 0xAE00
_KVM_CREATE_VM = 0xAE01

# x86-64-v2, so that any distribution's user space runs. From the AMD-like
# model: no page table isolation to emulate, and no fast `rep movs`, which the
# memory model could not see element by element. QEMU could offer both, and
# x2APIC: the memory model goes by the registers in memory.
_TCG_CPU = "qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt"

MODEL_VERSION = (10, 0)
"""The memory model reads a structure of QEMU's own, which is this version's."""

# Guest time is instructions, and nothing of the host. Room for translated code, in MiB,
# would be an eighth of the host's memory: a CPU's turn ends where it is full.
MODEL_ARGS = (
    "-cpu",
    _TCG_CPU,
    "-accel",
    "tcg,thread=single,tb-size=256",
    "-icount",
    "shift=0,sleep=off",
)

# An emulated CPU may wait long for a host CPU. That is no fault of the kernel,
# and nothing it should measure its clocks against.
_PATIENCE = [
    "tsc=reliable",
    # At boot the kernel counts timer interrupts while it spins, and panics without any.
    "no_timer_check",
    "watchdog_thresh=60",
    "rcupdate.rcu_cpu_stall_timeout=120",
    "sysctl.kernel.hung_task_timeout_secs=240",
]


@dataclass(frozen=True)
class Accelerator:
    """How a guest's CPUs run: QEMU options and kernel parameters for it."""

    name: str
    args: tuple[str, ...]
    cmdline: tuple[str, ...]

    @property
    def emulated(self) -> bool:
        """Whether CPUs are emulated, so that a guest is 10 to 50 times slower."""
        return self.name != "kvm"


def _version_of(text: str) -> tuple[int, int] | None:
    match = re.search(r"version (\d+)\.(\d+)", text)
    return (int(match[1]), int(match[2])) if match else None


def version() -> tuple[int, int] | None:
    """Major and minor version of the QEMU on PATH; None where there is none."""
    if shutil.which(PROGRAM) is None:
        return None
    try:
        done = subprocess.run(
            [PROGRAM, "--version"], capture_output=True, text=True, timeout=30, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return _version_of(done.stdout)


def check(found: tuple[int, int] | None) -> None:
    """Raise LabError unless ``found`` is new enough; None means no QEMU."""
    need = ".".join(map(str, MINIMUM))
    names = " ".join(f"{name}/bookworm-backports" for name in (PACKAGE, *_PARTS))
    how = f"run 'apt-get install {names}' (Debian 12) or install QEMU {need} or newer"
    if found is None:
        raise LabError(f"{PROGRAM} is missing or does not start: {how}")
    if found < MINIMUM:
        raise LabError(
            f"{PROGRAM} is version {found[0]}.{found[1]}, {need} or newer is needed: {how}"
        )


def check_model() -> None:
    """Raise LabError unless the memory model works with the QEMU on PATH."""
    found = version()
    if found != MODEL_VERSION:
        have = "none" if found is None else ".".join(map(str, found))
        raise LabError(
            f"the memory model needs QEMU {'.'.join(map(str, MODEL_VERSION))}, "
            f"here is {have}: run 'apt-get install "
            f"{PACKAGE}/bookworm-backports' (Debian 12)"
        )


@cache
def ensure() -> None:
    """Make sure that a QEMU new enough is there; install it where that is possible.

    Raises LabError that says how to get it.
    """
    found = version()
    if found is not None and found >= MINIMUM:
        return
    programs.require_backport(PACKAGE, ".".join(map(str, MINIMUM)), *_PARTS)
    check(version())


def cpu_has_virtualization(cpuinfo: str) -> bool:
    """Whether /proc/cpuinfo's text shows a CPU that can run guests itself."""
    return re.search(r"^flags\s*:.*\b(svm|vmx)\b", cpuinfo, re.MULTILINE) is not None


@cache
def kvm_works() -> bool:
    """Whether this host can create a KVM guest.

    /dev/kvm alone says little: in a guest it can be there for paravirtual
    guests only, or refuse to create one.
    """
    try:
        cpuinfo = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        if not cpu_has_virtualization(cpuinfo):
            return False
        device = os.open("/dev/kvm", os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        if fcntl.ioctl(device, _KVM_GET_API_VERSION) != 12:
            return False
        os.close(fcntl.ioctl(device, _KVM_CREATE_VM, 0))
        return True
    except OSError:
        return False
    finally:
        os.close(device)


def accelerator(mode: str | None = None) -> Accelerator:
    """Choose what runs the guest's CPUs.

    ``mode`` is one of MODES, by default $PGHOT_ACCEL or "auto": KVM where it
    works, else TCG with a host thread per CPU. "icount" makes guest time follow
    executed instructions, on one thread: slow, and the same on every run.
    """
    if mode is None:
        mode = os.environ.get("PGHOT_ACCEL") or "auto"
    if mode not in MODES:
        raise LabError(f"unknown accelerator {mode!r}: choose one of {', '.join(MODES)}")
    if mode == "kvm" and not kvm_works():
        raise LabError("KVM does not work on this host: choose tcg or auto")
    if mode == "auto":
        mode = "kvm" if kvm_works() else "tcg"
    if mode == "kvm":
        # virtme-ng itself asks for KVM where /dev/kvm is there.
        return Accelerator("kvm", ("-cpu", "host"), ())
    if mode == "icount":
        return Accelerator("icount", MODEL_ARGS, tuple(_PATIENCE))
    return Accelerator("tcg", ("-cpu", _TCG_CPU, "-accel", "tcg,thread=multi"), tuple(_PATIENCE))
