# SPDX-License-Identifier: GPL-2.0
"""The memory model: built from lab/memsim, and told about the machine."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lab import host, paths
from lab.errors import LabError
from lab.kernel.tree import locked
from lab.machine import Machine
from lab.measure.layout import ranges

SOURCE = paths.ROOT / "lab" / "memsim"
_WAYS = 8
_MIB = 1 << 20


@dataclass(frozen=True)
class Plugin:
    """The model, and what QEMU must have preloaded."""

    plugin: Path
    preload: Path


def compile_c(source: Path, out: Path, *targets: str) -> None:
    """Run ``make`` in ``source`` with results in ``out``; raise LabError with its error."""
    host.require("cc", "make", "stdlib.h")
    out.mkdir(parents=True, exist_ok=True)
    with locked(out.with_suffix(".lock")):
        done = subprocess.run(["make", "-s", "-C", str(source), f"OUT={out}", *targets],
                              capture_output=True, text=True, check=False)
    if done.returncode:
        said = [line for line in done.stderr.splitlines() if "error" in line.lower()]
        raise LabError(f"{source.relative_to(paths.ROOT)} does not compile: "
                       f"{(said or done.stderr.splitlines() or ['make said nothing'])[0]}")


@cache
def build() -> Plugin:
    """Compile the model where it is not current."""
    out = paths.CACHE / "memsim"
    compile_c(SOURCE, out)
    return Plugin(out / "memsim.so", out / "freeze.so")


def _mbps(mibps: int, share: int) -> int:
    """10^6 bytes a second that the model's memory carries."""
    return max(1, round(mibps * _MIB / share / 1e6))


def config(machine: Machine, output: Path, *, timeline_ms: int = 0,
           pages: Path | None = None, profile: Path | None = None) -> str:
    """The model's description of ``machine``: lab/memsim/config.h says what it is."""
    model = machine.model
    if model is None:
        raise LabError(f"machine {machine.name} has no model to measure time with: "
                       "give it one in lab/machines.toml or choose another machine")
    lines = [f"output {output}", f"timeline_ms {timeline_ms}",
             f"llc {model.llc} {_WAYS} {model.llc_hit_ns}"]
    if pages:
        lines.append(f"pages {pages}")
    if profile:
        lines.append(f"profile {profile}")
    cpu = 0
    for row, number in enumerate(machine.initiators):
        for _ in range(machine.nodes[number].cpus):
            lines.append(f"cpu {cpu} {row}")
            cpu += 1
    for number, node in enumerate(machine.nodes):
        best = max(row[number] for row in machine.bandwidth_mibps)
        lines.append(f"node {number} {_mbps(best, model.share)} "
                     f"{0 if node.memory == 'dram' else 1}")
    for row in range(len(machine.initiators)):
        for number in range(len(machine.nodes)):
            lines.append(f"path {row} {number} {machine.latency_ns[row][number]} "
                         f"{_mbps(machine.bandwidth_mibps[row][number], model.share)}")
    lines += [f"range {part.start:#x} {part.end:#x} {part.node}"
              for part in ranges(machine)]
    return "\n".join(lines) + "\n"
