# SPDX-License-Identifier: GPL-2.0
"""What a guest looks like from the host, with the host's own shell in it.

It stands for QEMU, its kernel and lab/guest/agent.sh where nothing is to be booted.
Arguments: the nonce, the shared directory, and QEMU's options for the agent's ports.
Scripts find the kernel's log at $KMSG, its console at $CONSOLE and QEMU at $QEMU. So does
$AT_QUIT, a script for when the machine powers off.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path


def main() -> None:
    nonce, share, *options = sys.argv[1:]
    found = [re.match(r"socket,id=lab-(\w+),fd=(\d+)$", word) for word in options]
    ports = {match[1]: int(match[2]) for match in found if match}
    console = os.dup(2)
    own = {"KMSG": ports["kmsg"], "CONSOLE": console, "QEMU": os.getpid()}

    def bash(*words: str | Path, stdout: int | None = None, stderr: int | None = None) -> int:
        return subprocess.run(
            ["bash", *words],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            env={**os.environ, **{name: str(value) for name, value in own.items()}},
            pass_fds=[ports["kmsg"], console],
            check=False,
        ).returncode

    os.write(console, b"[    0.000000] Linux version 7.3\r\n")
    os.write(ports["kmsg"], b"4,1,0,-;a warning of the boot\n")
    os.write(ports["control"], b"ready 0,2-3\n")
    for line in os.fdopen(ports["control"], encoding="utf-8", closefd=False):
        verb, *number = line.split()
        if verb == "say":
            if number[0] not in os.environ.get("MUTE", "").split():
                os.write(console, f"[    0.000001] lab: {nonce} cpu {number[0]}\r\n".encode())
            continue
        if verb != "run":
            bash("-c", os.environ.get("AT_QUIT", ""))
            break
        script = Path(share) / ".lab" / f"{number[0]}.sh"
        status = bash(script, stdout=ports["stdout"], stderr=ports["stderr"])
        mark = f"{nonce} {number[0]}"
        os.write(ports["stdout"], f"\x01{mark}\n".encode())
        os.write(ports["stderr"], f"\x01{mark}\n".encode())
        os.write(ports["kmsg"], f"12,{1000 * int(number[0])},9,-;lab: {mark}\n".encode())
        os.write(ports["control"], f"exit {number[0]} {status}\n".encode())


if __name__ == "__main__":
    main()
