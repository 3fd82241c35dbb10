# SPDX-License-Identifier: GPL-2.0
"""Where things live. Nothing is created on import."""

import os
import re
from pathlib import Path

from lab.errors import LabError

ROOT = Path(__file__).resolve().parent.parent
"""The work tree."""

OUT = ROOT / "build"
"""The only directory of the work tree that commands write to."""

OVERLAY = ROOT / "linux"
PATCHES = ROOT / "patches"
CONFIGS = ROOT / "configs"


def _cache() -> Path:
    explicit = os.environ.get("PGHOT_CACHE")
    if explicit:
        return Path(explicit).expanduser().resolve()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache").resolve() / "pghot"


CACHE = _cache()
"""Everything kept outside the work tree: venv, sources, builds, ccache."""

SOURCES = CACHE / "src"
BUILDS = CACHE / "build"
CCACHE = CACHE / "ccache"
APT = CACHE / "apt"
LOGS = CACHE / "log"


def check() -> None:
    """Raise LabError where a directory has a name that cannot be told to all that is run.

    QEMU ends words of its options at commas, LD_PRELOAD and make theirs at blanks and colons,
    and make what it reads at a #.
    """
    for path, remedy in (
        (str(ROOT), "move this work tree"),
        (str(CACHE), "set PGHOT_CACHE"),
        (os.environ.get("TMPDIR", ""), "set TMPDIR"),
    ):
        if re.search(r"[\s,:#]", path):
            raise LabError(
                f"{path!r} has a blank, comma, colon or '#' in its name: "
                f"{remedy} to a directory that has none"
            )
