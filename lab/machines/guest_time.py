# SPDX-License-Identifier: GPL-2.0
"""Machines whose memory is slower: in a variation of the model, and as the guest has them whose
clock is not the machine's."""

from __future__ import annotations

from dataclasses import replace

from lab.machines.machine import Interrupts, Machine


def slower(machine: Machine, times: float, share: int) -> Machine:
    """The machine with caches and memory that take so many ``times`` as long, and whose memory
    carries what ``share`` says. What it has no model of is left."""
    model = machine.model
    if model is None:
        return machine
    return replace(
        machine,
        latency_ns=tuple(tuple(round(cell * times) for cell in row) for row in machine.latency_ns),
        model=replace(
            model,
            llc_hit_ns=max(1, round(model.llc_hit_ns * times)),
            snoop_ns=round(model.snoop_ns * times),
            share=share,
        ),
    )


def in_guest_time(machine: Machine) -> Machine:
    """The machine with all its times in guest nanoseconds, of which its ``clock`` are one of its
    own, and all its bandwidths by these."""
    model = machine.model
    if model is None or model.clock == 1:
        return machine
    clock = model.clock
    guest = slower(machine, clock, model.share * clock)
    assert guest.model is not None
    tlb, engine = model.tlb, model.dma
    return replace(
        guest,
        model=replace(
            guest.model,
            clock=1,
            tlb=replace(tlb, hit_ns=tlb.hit_ns * clock, walk_ns=tlb.walk_ns * clock),
            interrupts=Interrupts(
                model.interrupts.send_ns * clock, model.interrupts.take_ns * clock
            ),
            dma=engine
            and replace(
                engine,
                setup_ns=engine.setup_ns * clock,
                mibps=max(1, round(engine.mibps / clock)),
            ),
        ),
    )


def fits(machine: Machine) -> bool:
    """Whether what the guest has of the machine is within what lab/memsim/config.c takes."""
    guest = in_guest_time(machine)
    model = guest.model
    if model is None:
        return True
    cache = (model.llc_hit_ns, model.snoop_ns, model.tlb.hit_ns, model.tlb.walk_ns)
    device = (
        model.interrupts.send_ns,
        model.interrupts.take_ns,
        model.dma.setup_ns if model.dma else 0,
    )
    memory = [cell for row in guest.latency_ns for cell in row]
    return max(cache) <= 1000 and max(*device, *memory) <= 1 << 20
