# SPDX-License-Identifier: GPL-2.0
"""What the constants of kernel policies are on a machine that is smaller and a run that is shorter.

Experiments follow benchmarks of large machines, with less memory and for less time. What a
policy finds depends on how long it takes to look at all memory once, against how long the run
is: so constants with a unit of size or time are scaled along, by one rule for all contenders.

A constant of time is divided by ``time``, one of size by ``memory``, and a rate is multiplied by
the one and divided by the other. What cannot be scaled: pages are no smaller, so what counts
pages (pghot's ``batch_pages``, the regions of DAMON) is as it is; nor are ticks (_TICK_MS). The
kernel's rule for "plenty of free memory" (1 GiB), the second over which it counts against its
rate limit and a few of its delays have no knob: lab/machines/machines.toml says how machines
make up for the first one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from lab import toml
from lab.errors import LabError

_BALANCING = "/sys/kernel/debug/sched/numa_balancing"
_PGHOT = "/sys/kernel/mm/pghot"

# As shipped: sysctl_numa_balancing_* of kernel/sched/fair.c, and its MAX_SCAN_WINDOW, which is
# in MB a second and cannot be set.
_SCAN_MB = 256
SCAN_DELAY_MS = 1000
_PASS_MS = 1000
_SLOW_PASS_MS = 60000
HOT_MS = 1000
_SCAN_MBPS = 2560
_RATE_MBPS = 65536
LIMITED_MBPS = 64
"""What an administrator might set, who has seen that more is promoted and gains nothing."""
CLOSE = "echo 512 >/proc/sys/vm/min_free_kbytes"
"""Where watermarks are to lie close together, as shell: so little that the distance of two is what
vm.watermark_scale_factor makes it, 0.1% of a zone, as on a large machine (mm/page_alloc.c,
__setup_per_zone_wmarks())."""
# linux/mm/pghot/policy.h: as shipped, and the least it takes.
_WINDOW_MS, _WINDOW_MIN_MS = 4000, 100
_PERIOD_MS, _PERIOD_MIN_MS = 100, 10
# linux/mm/pghot/source/pace.h: so much of a CPU looks at page tables, for all memory.
_CPU_PERMILLE = 10

COMMON = 512, 20
"""Memory and time where there is no document: about the middle of what documents have, which
is 128 to 1930 and 7 to 105."""
_NOT_OF_A_PROCESS = ("readers", "sockets")
"""Programs whose --mib is each thread's, or a file's that nobody maps."""

_TICK_MS = 4
"""CONFIG_HZ is 250: the kernel's policies know time in such steps."""
_SCAN_TICKS = 3
"""After a scan the thread makes no other for two ticks, and begins one on a tick."""
_HUGE_MB = 2
"""The kernel rounds what it scans at a time up to whole huge pages."""


@dataclass(frozen=True)
class Scale:
    """How much larger the machine is and how much longer the run that an experiment stands
    for.

    ``data`` are the MiB of the process here that has most, and ``processes`` how many it
    stands for there: the kernel scans each process by itself.
    """

    memory: int
    time: int
    data: int
    processes: int = 1

    def in_guest_time(self, clock: int) -> Scale:
        """By which constants are set where ``clock`` guest nanoseconds are one of the machine's:
        what takes a guest so many times as long stands for so much less time."""
        return replace(self, time=max(1, round(self.time / clock)))

    def scan_ms(self) -> int:
        """scan_period_min_ms: how long scanning all memory of the process takes at the
        fastest.

        There it is a second, or what the kernel's limit of 2560 MB a second makes of it.
        That has no knob, and would let small processes here be scanned too fast.
        """
        there = max(_PASS_MS, self.data * self.memory * 1000 // (self.processes * _SCAN_MBPS))
        return max(there // self.time, _TICK_MS * _SCAN_TICKS)

    def scan_mb(self) -> int:
        """scan_size_mb: how much is scanned at a time. It says how evenly scans are spread,
        and not how long they take for all memory: that is scan_ms(), which has to hold as
        many as this makes of them."""
        at_most = max(1, self.scan_ms() // (_TICK_MS * _SCAN_TICKS))
        wanted = max(_SCAN_MB // self.memory, -(-self.data // at_most))
        return -(-wanted // _HUGE_MB) * _HUGE_MB

    def delay_ms(self) -> int:
        """scan_delay_ms, for what has just begun. A new thread waits for so long before each
        of its first scans, which are larger here than 256 MB would be."""
        delay = SCAN_DELAY_MS // self.time
        larger = self.scan_mb() * self.memory / (_SCAN_MB * self.processes)
        return max(1, delay, round(delay * larger))

    def hot_ms(self) -> int:
        """hot_threshold_ms: who is accessed sooner after a scan is hot."""
        return max(_TICK_MS, HOT_MS // self.time)

    def settings(self, *, cold: bool, limited: bool = False) -> list[tuple[str, int]]:
        """Files and what to write to them. ``limited``: the rate limit is one that is met.

        Unless ``cold``, all threads are older than the delay, as on a server: without a
        delay they scan from their first tick on, in the period that the kernel computes for
        them. A new thread of a process that is there already would go by the delay for its
        first scans, and is what most workloads begin with. Without a delay the kernel also
        forgets which threads used a mapping with each scan, and not after four times the
        delay: docs/model.md says what that is worth.
        """
        return [
            (f"{_BALANCING}/scan_size_mb", self.scan_mb()),
            (f"{_BALANCING}/scan_delay_ms", self.delay_ms() if cold else 0),
            (f"{_BALANCING}/scan_period_min_ms", self.scan_ms()),
            (f"{_BALANCING}/scan_period_max_ms", max(_SLOW_PASS_MS // self.time, self.scan_ms())),
            (f"{_BALANCING}/hot_threshold_ms", self.hot_ms()),
            (
                "/proc/sys/kernel/numa_balancing_promote_rate_limit_MBps",
                max(1, (LIMITED_MBPS if limited else _RATE_MBPS) * self.time // self.memory),
            ),
            (f"{_PGHOT}/window_ms", max(_WINDOW_MIN_MS, _WINDOW_MS // self.time)),
            (f"{_PGHOT}/period_ms", max(_PERIOD_MIN_MS, _PERIOD_MS // self.time)),
            (
                f"{_PGHOT}/sources/page_table/cpu_permille",
                max(1, _CPU_PERMILLE * self.time // self.memory),
            ),
        ]

    def script(self, *, cold: bool, limited: bool = False) -> str:
        """The settings as shell, for any kernel: each where its file is. What contenders
        scale themselves goes by $scale_memory and $scale_time."""
        lines = [f"scale_memory={self.memory} scale_time={self.time}"]
        lines += [
            f"[ ! -e {path} ] || echo {value} >{path}"
            for path, value in self.settings(cold=cold, limited=limited)
        ]
        return "\n".join(lines)


def _data(workload: Sequence[str]) -> int | None:
    """MiB that a workload says its process has; None where its words do not say."""
    if workload[0] in _NOT_OF_A_PROCESS:
        return None
    said = [int(value) for option, value in pairwise(workload) if option in ("--mib", "--cold-mib")]
    return sum(said) or None


def read(table: toml.Table | None, workload: Sequence[str]) -> Scale:
    """The scale in an experiment's file. Without it there the common one, and the memory
    that the words of its workload say; LabError where neither says how much it is."""
    data = _data(workload)
    if table is not None and "data" in table:
        data = table.integer("data", 1, 1 << 20)
    if data is None:
        problem = (
            f"is missing: the words of {workload[0]} do not say how much memory its largest "
            "process has: measure it (VmRSS in /proc/PID/status) and write the MiB there"
        )
        if table is None:
            raise LabError(f"data in the table scale of an experiment: {problem}")
        table.fail("data", problem)
    if table is None:
        return Scale(*COMMON, data)
    return Scale(
        memory=table.integer("memory", 1, 1 << 20, COMMON[0]),
        time=table.integer("time", 1, 10000, COMMON[1]),
        data=data,
        processes=table.integer("processes", 1, 1 << 16, 1),
    )
