# SPDX-License-Identifier: GPL-2.0
"""What the guest's kernel tells and takes, in /proc and /sys.

The operator's command reads the same files, so its parsers do it here too.
"""

from __future__ import annotations

from pathlib import Path

from pghot import parse
from pghot.tree import Tree

DEMOTION = "/sys/kernel/mm/numa/demotion_enabled"
ENABLED = "/sys/kernel/mm/pghot/enabled"
MODE = "/proc/sys/kernel/numa_balancing"
_REFRESH = "/proc/sys/vm/stat_refresh"

_COUNTERS = (
    "pghot_",
    "pgpromote_",
    "pgdemote_",
    "numa_hint_faults",
    "numa_pte_updates",
    "pgmigrate_",
)


def write(path: str, value: object) -> None:
    """Set a knob."""
    Path(path).write_text(f"{value}\n")


def counters(exact: bool = False) -> dict[str, int]:
    """Counters of tiering in /proc/vmstat.

    Some lag behind by what CPUs keep for themselves for a second. Where they are to be
    ``exact``, each CPU is interrupted to give that up.
    """
    if exact:
        Path(_REFRESH).read_bytes()
    values, _ = parse.counters(Tree().text("proc/vmstat") or "")
    return {name: value for name, value in values.items() if name.startswith(_COUNTERS)}
