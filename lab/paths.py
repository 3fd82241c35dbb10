# SPDX-License-Identifier: GPL-2.0
"""Where things live. Nothing is created on import."""

import os
from pathlib import Path

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
