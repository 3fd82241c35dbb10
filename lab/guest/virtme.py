# SPDX-License-Identifier: GPL-2.0
"""The command line that boots a kernel on a machine, by way of virtme-ng."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

from lab.errors import LabError
from lab.host import qemu
from lab.machines import Machine, qemu_args

HERE = Path(__file__).resolve().parent

SHARE = "/run/lab/share"
"""Where the guest sees the directory it shares with the host."""

# Cached, unlike virtme-ng's own: with a program on 9p this makes its start
# three times as fast under emulation. The root is the host's as it was when the
# guest first looked; what must be seen at once goes through SHARE.
_ROOT = "rootflags=version=9p2000.L,trans=virtio,access=any,msize=512000,cache=loose"


# Where virtme-ng's init mounts file systems of the guest's own.
_HIDDEN = (
    "/dev",
    "/proc",
    "/run",
    "/sys",
    "/var/cache",
    "/var/lib/apt",
    "/var/lib/private",
    "/var/log",
    "/var/tmp",
)


def check_visible(*places: Path) -> None:
    """Raise LabError where the guest could not see one of the host's directories."""
    for place in places:
        for hidden in map(Path, _HIDDEN):
            if place.resolve().is_relative_to(hidden):
                raise LabError(
                    f"{place} cannot be seen in a guest, which has a {hidden} "
                    "of its own: move it, or set PGHOT_CACHE, elsewhere"
                )


def virtme_run(
    machine: Machine,
    kernel: Path,
    accelerator: qemu.Accelerator,
    *,
    cmdline: list[str],
    rw: bool,
    options: list[str],
    qemu_options: list[str],
) -> list[str]:
    """Return the `virtme-run` command; ``options`` are its own further ones."""
    check_visible(HERE, Path(sys.prefix))
    for word in cmdline:
        if not word or "\n" in word or '"' in word:
            raise LabError(f"kernel parameter {word!r} is not one word without quotes")
    parameters = [_ROOT, *machine.cmdline, *accelerator.cmdline, *cmdline]
    # As a module: there need be no virtme-run on PATH.
    command = [
        sys.executable,
        "-m",
        "virtme.commands.run",
        "--kimg",
        str(kernel),
        "--mods",
        "none",
        # One root file system on every host, virtiofsd or not.
        "--force-9p",
        "--disable-microvm",
        "--name",
        f"pghot-{machine.name}",
    ]
    if accelerator.emulated:
        command.append("--disable-kvm")
    if rw:
        command.append("--rw")
    for word in parameters:
        command += ["--kopt", word]
    return [
        *command,
        *options,
        "--qemu-opts",
        *qemu_args(machine),
        *accelerator.args,
        *qemu_options,
    ]


def agent(nonce: str) -> str:
    """The shell command virtme-ng's init is to run in the guest."""
    return shlex.join(["bash", str(HERE / "agent.sh"), nonce, SHARE])


def resolve(command: list[str], scratch: Path) -> list[str]:
    """Ask virtme-ng for the QEMU command line that ``command`` stands for.

    To start QEMU oneself is to be its parent: to know how it ended, and to end
    it for certain. ``scratch`` takes virtme-ng's temporary files.
    """
    environment = dict(os.environ, TMPDIR=str(scratch))
    at = command.index("--qemu-opts")
    command = [*command[:at], "--dry-run", "--show-command", *command[at:]]
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise LabError("virtme-ng did not answer within 120 s: is this host overloaded?") from error
    lines = done.stdout.splitlines()
    if done.returncode or not lines:
        said = done.stderr.strip().splitlines()
        raise LabError(
            f"virtme-ng cannot start this guest: {said[-1] if said else 'it said nothing'}"
        )
    return shlex.split(lines[-1])
