# SPDX-License-Identifier: GPL-2.0
"""The knobs of /sys/kernel/mm/pghot/ and what each one sets."""

from typing import NamedTuple

PGHOT = "sys/kernel/mm/pghot"
SYSCTL_RATE_LIMIT = "proc/sys/kernel/numa_balancing_promote_rate_limit_MBps"


class Setting(NamedTuple):
    """One knob; `world_readable` names another file with the same value that needs no root."""

    name: str
    unit: str
    meaning: str
    world_readable: str = ""


SETTINGS = (
    Setting("freq_threshold", "accesses", "accesses within the window that make a page ready"),
    Setting("window_ms", "ms", "accesses further apart than this do not add up"),
    Setting("batch_pages", "pages", "most pages handed to migration at once"),
    Setting("period_ms", "ms", "kmigrated's timer; a ready record wakes it earlier"),
    Setting(
        "promote_rate_limit_MBps",
        "MB/s",
        "most memory promoted to one target node a second",
        SYSCTL_RATE_LIMIT,
    ),
)

#: Knobs of one source, below sources/<name>/.
SOURCE_SETTINGS = (
    Setting(
        "hot_threshold_ms", "ms", "upper bound of the hint fault latency that makes a page ready at once"
    ),
)
