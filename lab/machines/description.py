# SPDX-License-Identifier: GPL-2.0
"""The machines of lab/machines/machines.toml: read and checked."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

from lab import paths, toml
from lab.errors import LabError
from lab.machines.guest_time import fits
from lab.machines.machine import (
    BLOCK,
    MIB,
    SNOOP_NS,
    Dma,
    Interrupts,
    Machine,
    Model,
    Node,
    Tlb,
    power_of_two,
)

DATA = Path(__file__).with_name("machines.toml")
KINDS = ("dram", "cxl", "pmem")

_MACHINE = ("about", "node", "distance", "latency_ns", "bandwidth_MiBps", "model")
_NODE = ("size", "cpus", "memory", "near", "hotplug")
_MODEL = ("llc", "llc_hit_ns", "share", "dma", "tlb", "snoop_ns", "interrupts", "clock")
_DMA = ("channels", "setup_ns", "MiBps", "on_request")
_INTERRUPTS = ("send_ns", "take_ns")
_TLB = ("first", "second", "ways", "hit_ns", "walk_ns")


def _size(table: toml.Table, field: str) -> int:
    """Bytes."""
    value = table.value(field)
    match = re.fullmatch(r"(\d+)([MG])", value) if isinstance(value, str) else None
    if match is None:
        table.fail(field, f'{value!r} is not a size like "512M" or "1G"')
    return int(match[1]) * MIB * (1024 if match[2] == "G" else 1)


def _node(table: toml.Table, count: int) -> Node:
    """One of ``count`` nodes."""
    size = _size(table, "size")
    if size == 0 or size % BLOCK:
        table.fail("size", f"{table.value('size')} is not a multiple of {BLOCK // MIB}M")
    cpus = table.integer("cpus", 0, 64)
    memory = table.choice("memory", KINDS)
    hotplug = table.value("hotplug", False)
    if type(hotplug) is not bool:
        table.fail("hotplug", f"{hotplug!r} is not true or false")
    if cpus and hotplug:
        table.fail("hotplug", "is for nodes without CPUs")
    if cpus and "near" in table:
        table.fail("near", "is for nodes without CPUs")
    if not cpus and "near" not in table:
        table.fail("near", "is missing: a node without CPUs is near one")
    near = None if cpus else table.integer("near", 0, count - 1)
    return Node(size, cpus, memory, near, hotplug)


def _nodes(machine: toml.Table) -> tuple[Node, ...]:
    tables = machine.tables("node", _NODE)
    if not tables:
        machine.fail("node", "is not a list of nodes")
    nodes = tuple(_node(table, len(tables)) for table in tables)
    for table, node in list(zip(tables, nodes))[:-1]:
        if node.hotplug:
            table.fail("hotplug", "is for the last node only")
    if not nodes[0].cpus:
        tables[0].fail("cpus", "the first node boots the kernel, it needs some")
    for table, node in zip(tables, nodes):
        if node.near is not None and not nodes[node.near].cpus:
            table.fail("near", f"node {node.near} has no CPUs")
    return nodes


def _dma(table: toml.Table) -> Dma:
    return Dma(
        table.integer("channels", 1, 16),
        table.integer("setup_ns", 0, 1000000),
        table.integer("MiBps", 1, 1 << 20),
        table.take("on_request", bool, False),
    )


def _interrupts(table: toml.Table) -> Interrupts:
    default = Interrupts()
    return Interrupts(
        table.integer("send_ns", 0, 1 << 20, default.send_ns),
        table.integer("take_ns", 0, 1 << 20, default.take_ns),
    )


def _tlb(table: toml.Table) -> Tlb:
    default = Tlb()
    tlb = Tlb(
        table.integer("first", 4, 1024, default.first),
        table.integer("second", 1, 1 << 20, default.second),
        table.integer("ways", 1, 64, default.ways),
        table.integer("hit_ns", 0, 1000, default.hit_ns),
        table.integer("walk_ns", 0, 1000, default.walk_ns),
    )
    if not power_of_two(tlb.first):
        table.fail("first", f"{tlb.first} is not a power of two")
    if not tlb.has_whole_sets():
        table.fail("second", f"{tlb.second} is not {tlb.ways} ways of a power of two")
    return tlb


def _model(table: toml.Table) -> Model:
    llc = _size(table, "llc")
    if not power_of_two(llc):
        table.fail("llc", f"{table.value('llc')} is not a power of two")
    return Model(
        llc,
        table.integer("llc_hit_ns", 1, 1000),
        table.integer("share", 1, 1024),
        _dma(table.table("dma", _DMA)) if "dma" in table else None,
        _tlb(table.table("tlb", _TLB)) if "tlb" in table else Tlb(),
        table.integer("snoop_ns", 0, 1000, SNOOP_NS),
        _interrupts(table.table("interrupts", _INTERRUPTS))
        if "interrupts" in table
        else Interrupts(),
        table.integer("clock", 1, 16, 1),
    )


def _check_clock(table: toml.Table, machine: Machine) -> None:
    if not fits(machine):
        table.fail("clock", f"{machine.clock} makes a time of the model too long for a guest")


def _check_distance(table: toml.Table, machine: Machine) -> None:
    for i, row in enumerate(machine.distance):
        for j, cell in enumerate(row):
            if (cell == 10) != (i == j):
                table.fail(
                    f"distance[{i}][{j}]", "10 is the distance of a node to itself, and only that"
                )


def _check_tiers(table: toml.Table, machine: Machine) -> None:
    """The kernel makes one tier of everything, silently, where these fail."""
    local = {}
    for number in range(len(machine.nodes)):
        row = machine.initiators.index(machine.initiator_of(number))
        local[number] = (machine.latency_ns[row][number], machine.bandwidth_mibps[row][number])
    if machine.nodes[0].memory != "dram":
        table.fail("node 0: memory", "the first node is the kernel's unit of DRAM")
    unit = local[0]
    for number, node in enumerate(machine.nodes):
        for field, have, want in zip(("latency_ns", "bandwidth_MiBps"), local[number], unit):
            if node.memory == "dram" and abs(have - want) * 10 > want:
                table.fail(
                    field,
                    f"DRAM of node {number} differs by more than a "
                    "tenth from node 0, which switches tiers off",
                )
        latency, bandwidth = local[number]
        if node.memory != "dram" and latency * unit[1] < 2 * unit[0] * bandwidth:
            table.fail(
                "latency_ns",
                f"node {number} is not slower enough than DRAM for a tier of its own",
            )


def _machine(name: str, table: toml.Table) -> Machine:
    about = table.value("about")
    if not isinstance(about, str) or not about:
        table.fail("about", f"{about!r} is not a line of text")
    nodes = _nodes(table)
    count, sources = len(nodes), sum(1 for node in nodes if node.cpus)
    machine = Machine(
        name,
        about,
        nodes,
        distance=table.matrix("distance", count, count, 10, 254),
        latency_ns=table.matrix("latency_ns", sources, count, 1, 65535),
        bandwidth_mibps=table.matrix("bandwidth_MiBps", sources, count, 1, 1 << 26),
        model=_model(table.table("model", _MODEL)) if "model" in table else None,
    )
    if "model" in table:
        _check_clock(table.table("model", _MODEL), machine)
    _check_distance(table, machine)
    _check_tiers(table, machine)
    return machine


def _machines(file: toml.Table) -> dict[str, Machine]:
    return {name: _machine(name, file.table(name, _MACHINE)) for name in file}


def parse(text: str, source: str = "machines.toml") -> dict[str, Machine]:
    """Read machines from TOML text; LabError names ``source`` and the field."""
    return _machines(toml.parse(text, source))


@cache
def _all() -> dict[str, Machine]:
    return _machines(toml.read(DATA, where=str(DATA.relative_to(paths.ROOT))))


def names() -> list[str]:
    """Names of the machines, in the file's order."""
    return list(_all())


def load(name: str, *, engine: bool = False) -> Machine:
    """Return the machine called ``name``, with ``engine`` with a copy engine that it has on
    request too; LabError lists the known ones."""
    try:
        machine = _all()[name]
    except KeyError:
        raise LabError(f"unknown machine {name!r}: choose one of {', '.join(names())}") from None
    model = machine.model
    if engine or model is None or model.dma is None or not model.dma.on_request:
        return machine
    return replace(machine, model=replace(model, dma=None))
