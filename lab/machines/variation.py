# SPDX-License-Identifier: GPL-2.0
"""Other models of a machine: how far results depend on what the model leaves out, and on what it
stands for."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from lab import toml
from lab.errors import LabError
from lab.machines.guest_time import fits, slower
from lab.machines.machine import Machine, power_of_two

DATA = Path(__file__).with_name("variations.toml")
_FIELDS = ("about", "llc", "latency", "bandwidth", "tlb", "clock", "memory")


@dataclass(frozen=True)
class Variation:
    """A name, and factors of the last-level cache's size, of all latencies (the cache's
    too), of bandwidth, of the pages that the second level of translations holds, of the
    guest's nanoseconds in one of the machine's, and of the memory that the machine's
    stands for, by which constants are scaled (lab/bench/scale.py).

    What the guest's kernel is told of latencies changes along; of bandwidth it does
    not, as with ``share`` of lab/machines/machines.toml.
    """

    name: str = ""
    about: str = ""
    llc: float = 1.0
    latency: float = 1.0
    bandwidth: float = 1.0
    tlb: float = 1.0
    clock: int = 1
    memory: float = 1.0

    def of_machine(self) -> Variation:
        """As far as it is about machines. Those that are alike in that make the same runs,
        whatever their names are."""
        return replace(self, name="", about="", memory=1.0)

    def of(self, machine: Machine) -> Machine:
        """The machine with that model; LabError where it cannot have one."""
        model = machine.model
        if model is None:
            return machine
        share = model.share / self.bandwidth
        if share < 1 or share != int(share):
            raise LabError(
                f"machine {machine.name}: {self.bandwidth:g} times the bandwidth "
                f"needs a share of {share:g}, which is not a whole number"
            )
        llc = round(model.llc * self.llc)
        if not power_of_two(llc) or llc < 1 << 16:
            raise LabError(
                f"machine {machine.name}: a last-level cache of {llc} bytes "
                "is not a power of two from 64 KiB on"
            )
        tlb = replace(model.tlb, second=round(model.tlb.second * self.tlb))
        if not tlb.has_whole_sets():
            raise LabError(
                f"machine {machine.name}: translations of {tlb.second} pages are not "
                f"{tlb.ways} ways of a power of two"
            )
        varied = slower(machine, self.latency, int(share))
        assert varied.model is not None
        clock = model.clock * self.clock
        varied = replace(varied, model=replace(varied.model, llc=llc, tlb=tlb, clock=clock))
        if not fits(varied):
            raise LabError(
                f"machine {machine.name}: {clock} guest nanoseconds for one of the machine's and "
                f"{self.latency:g} times the latency make a time of the model too long for a guest"
            )
        return varied


def _variation(name: str, table: toml.Table) -> Variation:
    return Variation(
        name=name,
        about=table.take("about", str),
        llc=table.number("llc", 0.1, 10, 1.0),
        latency=table.number("latency", 0.1, 10, 1.0),
        bandwidth=table.number("bandwidth", 0.1, 10, 1.0),
        tlb=table.number("tlb", 0.1, 64, 1.0),
        clock=table.integer("clock", 1, 16, 1),
        memory=table.number("memory", 0.1, 10, 1.0),
    )


def variations(path: Path = DATA) -> list[Variation]:
    """All of lab/machines/variations.toml, in the file's order."""
    file = toml.read(path)
    return [_variation(name, file.table(name, _FIELDS)) for name in file]
