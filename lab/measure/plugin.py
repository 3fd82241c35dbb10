# SPDX-License-Identifier: GPL-2.0
"""The memory model: built from lab/memsim, and told about the machine."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lab import paths
from lab.errors import LabError
from lab.machines import Machine
from lab.machines.addresses import ranges
from lab.machines.guest_time import in_guest_time
from lab.measure.compile import compiled

SOURCE = paths.ROOT / "lab" / "memsim"
DRIVERS = paths.OVERLAY / "mm" / "pghot" / "source"
"""What the kernel's drivers say of devices that the model has."""
_WAYS = 8
_MIB = 1 << 20
_MMIO_NS = (800, 100)
"""What reading and writing a device's register costs: a read waits for the way to the
device and back, a write is posted. Neugebauer et al., "Understanding PCIe performance
for end host networking" (SIGCOMM 2018), figure 5, has 500 ns to 1 us for small reads."""
_IBS_NS = 100
"""What reading or writing a register of instruction based sampling costs. Chosen, some 300 cycles
at 3 GHz: nobody publishes it."""


@dataclass(frozen=True)
class Plugin:
    """The model, and what QEMU must have preloaded, in this order."""

    plugin: Path
    preload: tuple[Path, ...]


@cache
def build() -> Plugin:
    """Compile the model where it is not current."""
    out = compiled(SOURCE, DRIVERS)
    return Plugin(out / "memsim.so", (out / "freeze.so",))


def _mbps(mibps: int, share: int) -> int:
    """10^6 bytes a second that the model's memory carries."""
    return max(1, round(mibps * _MIB / share / 1e6))


def monitored(machine: Machine) -> list[int]:
    """Nodes whose memory has a hotness monitoring unit: all of CXL."""
    return [number for number, node in enumerate(machine.nodes) if node.memory == "cxl"]


def devices(machine: Machine) -> list[str]:
    """QEMU's options for the modelled devices (lab/memsim/devices.h)."""
    words = []
    for number in monitored(machine):
        words += ["-device", f"memsim-hmu,id=hmu{number}"]
    if machine.model and machine.model.dma:
        words += ["-device", "memsim-dma,id=dma"]
    return words


def config(
    machine: Machine,
    output: Path,
    *,
    samples: bool = False,
    timeline_ms: int = 0,
    pages: Path | None = None,
    profile: Path | None = None,
) -> str:
    """The model's description of ``machine``, all in guest time: lab/memsim/config.h says what
    it is. ``samples``: its CPUs sample instructions. ``timeline_ms`` is in the machine's."""
    clock = machine.clock
    machine = in_guest_time(machine)
    model = machine.model
    if model is None:
        raise LabError(
            f"machine {machine.name} has no model to measure time with: "
            "give it one in lab/machines/machines.toml or choose another machine"
        )
    tlb = model.tlb
    lines = [
        f"output {output}",
        f"timeline_ms {timeline_ms * clock}",
        f"llc {model.llc} {_WAYS} {model.llc_hit_ns} {model.snoop_ns}",
        f"tlb {tlb.first} {tlb.second} {tlb.ways} {tlb.hit_ns} {tlb.walk_ns}",
    ]
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
        lines.append(
            f"node {number} {_mbps(best, model.share)} {0 if node.memory == 'dram' else 1}"
        )
    for row in range(len(machine.initiators)):
        for number in range(len(machine.nodes)):
            lines.append(
                f"path {row} {number} {machine.latency_ns[row][number]} "
                f"{_mbps(machine.bandwidth_mibps[row][number], model.share)}"
            )
    for number in monitored(machine):
        lines.append(f"hmu {number}")
    if model.dma:
        lines.append(f"dma {model.dma.channels} {model.dma.setup_ns} {_mbps(model.dma.mibps, 1)}")
    lines.append("mmio {} {}".format(*(ns * clock for ns in _MMIO_NS)))
    lines.append(f"ipi {model.interrupts.send_ns} {model.interrupts.take_ns}")
    if samples:
        lines.append(f"ibs {_IBS_NS * clock}")
    lines += [f"range {part.start:#x} {part.end:#x} {part.node}" for part in ranges(machine)]
    return "\n".join(lines) + "\n"
