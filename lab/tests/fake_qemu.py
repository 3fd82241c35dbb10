# SPDX-License-Identifier: GPL-2.0
"""What a guest looks like from the host, with the host's own shell in it.

It stands for QEMU, its kernel and lab/guest/agent.sh where nothing is to be booted.
Arguments: the nonce, the shared directory, and QEMU's options for the agent's ports.
Scripts find the kernel's log at $KMSG, its console at $CONSOLE and QEMU at $QEMU, and give
records their numbers: 0 is the boot's, and each command's mark is the next one. $AT_QUIT is
a script for when the machine powers off.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from contextlib import suppress
from pathlib import Path


def main() -> None:
    nonce, share, *options = sys.argv[1:]
    found = [re.match(r"socket,id=lab-(\w+),fd=(\d+)$", word) for word in options]
    ports = {match[1]: int(match[2]) for match in found if match}
    console = os.dup(2)
    kmsg, written = os.pipe()
    os.set_blocking(kmsg, False)
    own = {"KMSG": written, "CONSOLE": console, "QEMU": os.getpid()}
    number = 0

    def log(records: bytes) -> None:
        nonlocal number
        os.write(ports["kmsg"], records)
        number = int(re.findall(rb"^\d+,(\d+),", records, re.MULTILINE)[-1]) + 1

    def bash(*words: str | Path, stdout: int | None = None, stderr: int | None = None) -> int:
        status = subprocess.run(
            ["bash", *words],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env={**os.environ, **{name: str(value) for name, value in own.items()}},
            pass_fds=[written, console],
            check=False,
        ).returncode
        with suppress(BlockingIOError):
            log(os.read(kmsg, 1 << 16))
        return status

    os.write(console, b"[    0.000000] Linux version 7.3\r\n")
    log(b"4,0,0,-;a warning of the boot\n")
    os.write(ports["control"], b"ready 0,2-3\n")
    for line in os.fdopen(ports["control"], encoding="utf-8", closefd=False):
        verb, *words = line.split()
        if verb == "say":
            if words[0] not in os.environ.get("MUTE", "").split():
                os.write(console, f"[    0.000001] lab: {nonce} cpu {words[0]}\r\n".encode())
            continue
        if verb != "run":
            bash("-c", os.environ.get("AT_QUIT", ""))
            break
        script = Path(share) / ".lab" / f"{words[0]}.sh"
        status = bash(script, stdout=ports["stdout"], stderr=ports["stderr"])
        mark = f"{nonce} {words[0]}"
        os.write(ports["stdout"], f"\x01{mark}\n".encode())
        os.write(ports["stderr"], f"\x01{mark}\n".encode())
        log(f"12,{number},9,-;lab: {mark}\n".encode())
        os.write(ports["control"], f"exit {words[0]} {status}\n".encode())


if __name__ == "__main__":
    main()
