# SPDX-License-Identifier: GPL-2.0
"""Run the kernel's own make: quietly, niced, cached, with progress."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

from lab import paths
from lab.errors import LabError
from lab.host import capacity
from lab.log import progress

_STEP = re.compile(r"^\s+(CC|AS|LD|AR|HOSTCC|HOSTLD|GEN|OBJCOPY|UPD)\s")
_ERROR = re.compile(
    r"(\berror: |fatal error|\bError \d+$|^make.*\*\*\* |"
    r"undefined reference|No space left)"
)


def environment(shared: bool = True) -> dict[str, str]:
    """The environment of a reproducible, cached kernel build.

    ``shared``: with the compiler's output kept so that other configurations find it.
    """
    env = {
        key: value
        for key, value in os.environ.items()
        if key
        not in {
            "MAKEFLAGS",
            "MFLAGS",
            "MAKELEVEL",
            "ARCH",
            "CC",
            "CROSS_COMPILE",
            "KCFLAGS",
            "LOCALVERSION",
        }
    }
    env.update(
        PATH=f"/usr/lib/ccache:{env['PATH']}",
        LC_ALL="C",
        # Sources and objects lie the same way from each other in every
        # flavour, so relative names let the flavours share compiler output.
        CCACHE_DIR=str(paths.CCACHE),
        CCACHE_BASEDIR=str(paths.CACHE),
        CCACHE_NOHASHDIR="1",
        CCACHE_MAXSIZE="4G",
        KBUILD_BUILD_TIMESTAMP="Thu Jan  1 00:00:00 UTC 1970",
        KBUILD_BUILD_USER="pghot",
        KBUILD_BUILD_HOST="lab",
        KBUILD_BUILD_VERSION="1",
    )
    if not shared:
        # To know a file by its headers and not by what the preprocessor makes of it saves
        # a fifth of compiling it for the first time, but is of use to one .config alone.
        env["CCACHE_DEPEND"] = "1"
    return env


def first_errors(log: Path, limit: int = 3) -> str:
    """The first error lines of a build log, joined."""
    lines = log.read_text(errors="replace").splitlines()
    compiler = [line for line in lines if _ERROR.search(line)]
    found = compiler or lines[-limit:]
    return " | ".join(line.strip() for line in found[:limit])


def run(
    tree: Path,
    out: Path,
    *targets: str,
    log: Path,
    text: str | None = None,
    total: int | None = None,
    append: bool = False,
    shared: bool = True,
) -> int:
    """Run ``make targets`` in ``tree`` with objects in ``out``.

    All output goes to ``log``. With ``text``, it is shown how many steps are made, and
    of how many where ``total`` is given. ``shared`` is that of environment().
    Returns the number of steps made; raises LabError with the first errors.
    """
    # Who gives way already need not do so twice.
    nice = [] if os.nice(0) else ["nice"]
    command = [*nice, "make", "-C", str(tree), f"O={out}", f"-j{capacity.jobs()}", *targets]
    log.parent.mkdir(parents=True, exist_ok=True)
    out.mkdir(parents=True, exist_ok=True)
    steps = 0
    with (
        open(log, "a" if append else "w", encoding="utf-8") as stream,
        subprocess.Popen(
            command,
            env=environment(shared),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as process,
    ):
        assert process.stdout is not None
        if text:
            with progress(text, total=total, unit="steps") as bar:
                for line in process.stdout:
                    stream.write(line)
                    if _STEP.match(line):
                        steps += 1
                        bar.update(steps)
        else:
            for line in process.stdout:
                stream.write(line)
                steps += bool(_STEP.match(line))
    if process.returncode:
        raise LabError(f"make {' '.join(targets)} failed: {first_errors(log)} (all of it: {log})")
    return steps
