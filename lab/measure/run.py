# SPDX-License-Identifier: GPL-2.0
"""A measured run: what is to be measured, and what came of it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields

from lab.machines.variation import Variation

_LIMIT = 900.0
"""Seconds of the host."""

SCHEMA = 2
"""Of what is kept of a Result: results of another one are made again."""


@dataclass(frozen=True)
class Run:
    """What to measure.

    ``kernel`` is a flavour of lab.kernel.build or the path of a bzImage. ``setup`` is shell
    text, run as root before the workload; ``workload`` the words of a command, whose first
    is a program of lab/workloads/ or of ``files`` and ``packages``. ``programs`` names
    further ones of lab/workloads/ to take along: those that ``setup`` or scripts use.
    ``files`` maps paths in the guest to content; ``packages`` names programs of the host to
    take along. ``variation`` is of the machine's model. ``samples``: the machine's CPUs sample
    instructions, as AMD's do. ``engine``: it has a copy engine, on request too. ``timeline_ms``
    is the interval of the model's time line. ``count_pages``: return how often each page was
    missed; ``profile``: how long each piece of code took. ``limit_s`` is in seconds of the host.
    """

    machine: str
    kernel: str
    workload: tuple[str, ...]
    cmdline: tuple[str, ...] = ()
    setup: str = ""
    programs: tuple[str, ...] = ()
    files: Mapping[str, bytes] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    variation: Variation = field(default_factory=Variation)
    samples: bool = False
    engine: bool = False
    timeline_ms: int = 50
    count_pages: bool = False
    profile: bool = False
    limit_s: float = _LIMIT

    @property
    def key(self) -> str:
        """A digest of this description: runs with the same one are the same run.

        Not of what it names: what a kernel's file holds, say, is in the digest that
        results are kept by (boot.Prepared).
        """
        described = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        described["files"] = {
            path: hashlib.sha256(data).hexdigest() for path, data in self.files.items()
        }
        described["variation"] = asdict(self.variation)
        return hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True)
class Result:
    """What came of it.

    ``seconds`` is the machine's time of the measured part, as all times are but those of ``hog``,
    which are the guest's; ``kernel_seconds`` what all CPUs spent of theirs in the kernel.
    ``hog``, where other CPUs were kept busy, is what they were done with: instructions, seconds (of
    its own, not of the measured part), cpus; and of those on the workload's own CPUs, which
    give way to it, idle_instructions and idle_cpus. ``workload`` is what the workload printed,
    ``model`` what the memory model counted (lab/memsim/results.c), ``vmstat`` how much each
    counter grew, ``pages`` lines of page number and misses from each socket, ``profile``
    lines of address and nanoseconds. Where ``error`` is not None it says what went wrong,
    and the rest may be missing. ``host_seconds`` is the only value that differs between
    runs.
    """

    seconds: float | None = None
    workload: dict = field(default_factory=dict)
    model: dict = field(default_factory=dict)
    vmstat: dict[str, int] = field(default_factory=dict)
    kernel_seconds: float | None = None
    hog: dict = field(default_factory=dict)
    pages: str | None = None
    profile: str | None = None
    error: str | None = None
    host_seconds: float = 0.0

    @property
    def hog_rate(self) -> float | None:
        """Instructions per second that all others were done with beside the workload, on
        CPUs that it has not; None without such CPUs."""
        return self._rate("cpus", "instructions")

    @property
    def hog_idle_rate(self) -> float | None:
        """The same of those that have what the workload leaves of its CPUs."""
        return self._rate("idle_cpus", "idle_instructions")

    def _rate(self, cpus: str, instructions: str) -> float | None:
        """By the guest's time of the measured part. The hog's own ends with its last look, which
        was seen to come up to 55 ms later by a clock that went on while hardly anything ran."""
        if not (self.seconds and self.hog.get("seconds") and self.hog.get(cpus)):
            return None
        return self.hog[instructions] * self.model.get("instruction_ns", 1) / self.seconds

    @property
    def score(self) -> float | None:
        """The workload's own figure."""
        return self.workload.get("score")
