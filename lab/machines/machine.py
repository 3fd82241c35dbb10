# SPDX-License-Identifier: GPL-2.0
"""The machines of lab/machines/machines.toml: read, checked, turned into QEMU options."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lab import paths
from lab.errors import LabError

DATA = Path(__file__).with_name("machines.toml")

MIB = 1 << 20
BLOCK = 128 * MIB
"""Bytes in one memory block, what x86 takes offline at once up to 64 GiB."""

KINDS = ("dram", "cxl", "pmem")
_NODE_FIELDS = {"size", "cpus", "memory", "near", "hotplug"}
_MACHINE_FIELDS = {"about", "node", "distance", "latency_ns", "bandwidth_MiBps", "model"}
_MODEL_FIELDS = {"llc", "llc_hit_ns", "share"}
_DMA_FIELDS = {"channels", "setup_ns", "MiBps"}
_HOST_RESERVE = 512 * MIB
"""Left to the host beside a guest: QEMU itself and the file cache under 9p."""


@dataclass(frozen=True)
class Node:
    """One NUMA node. ``size`` is in bytes; ``near`` is None where it has CPUs."""

    size: int
    cpus: int
    memory: str
    near: int | None
    hotplug: bool


@dataclass(frozen=True)
class Dma:
    """A copy engine: each job of a channel takes ``setup_ns`` and then its bytes at
    ``mibps``."""

    channels: int
    setup_ns: int
    mibps: int


@dataclass(frozen=True)
class Model:
    """What the memory model adds to a machine's description.

    ``llc`` is the size of each socket's last-level cache in bytes, ``llc_hit_ns``
    what a hit costs. Each CPU stands for ``share`` of those of the machine that is
    modelled, and the memory carries so much less.
    """

    llc: int
    llc_hit_ns: int
    share: int
    dma: Dma | None = None


@dataclass(frozen=True)
class Machine:
    """A machine that passed every check.

    ``distance[i][j]`` is SLIT's; ``latency_ns[i][j]`` and
    ``bandwidth_mibps[i][j]`` go from the i-th node with CPUs to node j.
    """

    name: str
    about: str
    nodes: tuple[Node, ...]
    distance: tuple[tuple[int, ...], ...]
    latency_ns: tuple[tuple[int, ...], ...]
    bandwidth_mibps: tuple[tuple[int, ...], ...]
    model: Model | None = None

    @property
    def cpus(self) -> int:
        """CPUs of all nodes."""
        return sum(node.cpus for node in self.nodes)

    @property
    def memory(self) -> int:
        """Bytes of all nodes."""
        return sum(node.size for node in self.nodes)

    @property
    def initiators(self) -> list[int]:
        """Numbers of the nodes with CPUs."""
        return [number for number, node in enumerate(self.nodes) if node.cpus]

    @property
    def cmdline(self) -> list[str]:
        """Kernel parameters the machine needs."""
        if any(node.hotplug for node in self.nodes):
            # The guest brings it online itself: lab/guest/online.sh says why.
            return ["memhp_default_state=offline"]
        return []

    def qemu_args(self) -> list[str]:
        """QEMU options for CPUs, memory, SRAT, SLIT and HMAT."""
        return [
            *self._cpu_args(),
            *self._memory_args(),
            *self._node_args(),
            *self._distance_args(),
            *self._hmat_args(),
        ]

    def _cpu_args(self) -> list[str]:
        counts = {self.nodes[number].cpus for number in self.initiators}
        smp = f"{self.cpus}"
        if len(counts) == 1:
            smp += f",sockets={len(self.initiators)},cores={counts.pop()},threads=1"
        return ["-machine", "q35,hmat=on", "-smp", smp]

    def _memory_args(self) -> list[str]:
        at_boot = sum(node.size for node in self.nodes if not node.hotplug)
        size = f"{at_boot // MIB}M"
        devices = []
        plugged = [number for number, node in enumerate(self.nodes) if node.hotplug]
        if plugged:
            # A slot of 1 GiB alignment a device, whatever its size.
            room = self.memory + len(plugged) * 1024 * MIB
            size += f",slots={len(plugged)},maxmem={room // MIB}M"
            for number in plugged:
                devices += ["-device", f"pc-dimm,id=dimm{number},memdev=mem{number},node={number}"]
        backends = []
        for number, node in enumerate(self.nodes):
            backends += ["-object", f"memory-backend-ram,id=mem{number},size={node.size // MIB}M"]
        return ["-m", size, *backends, *devices]

    def _node_args(self) -> list[str]:
        args, first = [], 0
        for number, node in enumerate(self.nodes):
            text = f"node,nodeid={number}"
            if node.cpus:
                text += f",cpus={first}-{first + node.cpus - 1}"
                first += node.cpus
            else:
                text += f",initiator={node.near}"
            if not node.hotplug:
                text += f",memdev=mem{number}"
            args += ["-numa", text]
        return args

    def _distance_args(self) -> list[str]:
        args = []
        for source, row in enumerate(self.distance):
            for target, value in enumerate(row):
                if source != target:
                    args += ["-numa", f"dist,src={source},dst={target},val={value}"]
        return args

    def _hmat_args(self) -> list[str]:
        args = []
        for row, initiator in enumerate(self.initiators):
            for target in range(len(self.nodes)):
                where = f"hmat-lb,initiator={initiator},target={target},hierarchy=memory"
                args += [
                    "-numa",
                    f"{where},data-type=access-latency,latency={self.latency_ns[row][target]}",
                    "-numa",
                    f"{where},data-type=access-bandwidth,"
                    f"bandwidth={self.bandwidth_mibps[row][target]}M",
                ]
        return args

    def check_host(self) -> None:
        """Raise LabError where the host has not the memory to run this machine."""
        have = _available_memory()
        if have is not None and self.memory + _HOST_RESERVE > have:
            raise LabError(
                f"machine {self.name} needs {(self.memory + _HOST_RESERVE) // MIB} MiB "
                f"of memory, this host has {have // MIB} MiB free: choose another of "
                f"{', '.join(names())} or free some"
            )


def _available_memory() -> int | None:
    """Bytes the host can give away, or None where it does not say."""
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
    except OSError:
        return None
    found = re.search(r"^MemAvailable:\s+(\d+) kB", text, re.MULTILINE)
    return int(found[1]) * 1024 if found else None


class _Checker:
    """Turns one table of the data file into a Machine; errors name the field."""

    def __init__(self, name: str, table: object, source: str) -> None:
        self._name = name
        self._source = source
        if not isinstance(table, dict):
            self._fail("", "is not a table")
        self._table = table

    def _fail(self, field: str, problem: str):
        where = f"{self._source}: {self._name}" + (f": {field}" if field else "")
        raise LabError(f"{where}: {problem}")

    def _known(self, table: dict, fields: set[str], where: str) -> None:
        for field in table:
            if field not in fields:
                self._fail(
                    f"{where}{field}", f"unknown field, known are {', '.join(sorted(fields))}"
                )

    def _integer(self, value: object, field: str, low: int, high: int) -> int:
        if type(value) is not int or not low <= value <= high:
            self._fail(field, f"{value!r} is not an integer from {low} to {high}")
        return value

    def _size(self, value: object, field: str) -> int:
        match = re.fullmatch(r"(\d+)([MG])", value) if isinstance(value, str) else None
        if match is None:
            self._fail(field, f'{value!r} is not a size like "512M" or "1G"')
        return int(match[1]) * MIB * (1024 if match[2] == "G" else 1)

    def _node_size(self, value: object, field: str) -> int:
        size = self._size(value, field)
        if size == 0 or size % BLOCK:
            self._fail(field, f"{value} is not a multiple of {BLOCK // MIB}M")
        return size

    def _node(self, number: int, table: object) -> Node:
        where = f"node {number}: "
        if not isinstance(table, dict):
            self._fail(f"node {number}", "is not a table")
        self._known(table, _NODE_FIELDS, where)
        for field in ("size", "cpus", "memory"):
            if field not in table:
                self._fail(f"{where}{field}", "is missing")
        memory, hotplug = table["memory"], table.get("hotplug", False)
        if memory not in KINDS:
            self._fail(f"{where}memory", f"{memory!r} is none of {', '.join(KINDS)}")
        if type(hotplug) is not bool:
            self._fail(f"{where}hotplug", f"{hotplug!r} is not true or false")
        cpus = self._integer(table["cpus"], f"{where}cpus", 0, 64)
        if cpus and "near" in table:
            self._fail(f"{where}near", "is for nodes without CPUs")
        if not cpus and "near" not in table:
            self._fail(f"{where}near", "is missing: a node without CPUs is near one")
        if hotplug and cpus:
            self._fail(f"{where}hotplug", "is for nodes without CPUs")
        return Node(
            self._node_size(table["size"], f"{where}size"), cpus, memory, table.get("near"), hotplug
        )

    def _nodes(self) -> tuple[Node, ...]:
        tables = self._table.get("node")
        if not isinstance(tables, list) or not tables:
            self._fail("node", "is not a list of nodes")
        nodes = tuple(self._node(*item) for item in enumerate(tables))
        for number, node in enumerate(nodes[:-1]):
            if node.hotplug:
                self._fail(f"node {number}: hotplug", "is for the last node only")
        if not nodes[0].cpus:
            self._fail("node 0: cpus", "the first node boots the kernel, it needs some")
        for number, node in enumerate(nodes):
            if node.cpus:
                continue
            self._integer(node.near, f"node {number}: near", 0, len(nodes) - 1)
            if not nodes[node.near].cpus:
                self._fail(f"node {number}: near", f"node {node.near} has no CPUs")
        return nodes

    def _matrix(
        self, field: str, rows: int, columns: int, low: int, high: int
    ) -> tuple[tuple[int, ...], ...]:
        value = self._table.get(field)
        if (
            not isinstance(value, list)
            or len(value) != rows
            or not all(isinstance(row, list) and len(row) == columns for row in value)
        ):
            self._fail(field, f"is not {rows} rows of {columns} numbers")
        return tuple(
            tuple(
                self._integer(cell, f"{field}[{i}][{j}]", low, high) for j, cell in enumerate(row)
            )
            for i, row in enumerate(value)
        )

    def _model(self) -> Model | None:
        table = self._table.get("model")
        if table is None:
            return None
        if not isinstance(table, dict):
            self._fail("model", "is not a table")
        self._known(table, _MODEL_FIELDS | {"dma"}, "model: ")
        for field in sorted(_MODEL_FIELDS):
            if field not in table:
                self._fail(f"model: {field}", "is missing")
        llc = self._size(table["llc"], "model: llc")
        if llc == 0 or llc & (llc - 1):
            self._fail("model: llc", f"{table['llc']} is not a power of two")
        return Model(
            llc,
            self._integer(table["llc_hit_ns"], "model: llc_hit_ns", 1, 1000),
            self._integer(table["share"], "model: share", 1, 1024),
            self._dma(table.get("dma")),
        )

    def _dma(self, table: object) -> Dma | None:
        if table is None:
            return None
        if not isinstance(table, dict) or set(table) != _DMA_FIELDS:
            self._fail("model: dma", f"is not a table of {', '.join(sorted(_DMA_FIELDS))}")
        return Dma(
            self._integer(table["channels"], "model: dma: channels", 1, 16),
            self._integer(table["setup_ns"], "model: dma: setup_ns", 0, 1000000),
            self._integer(table["MiBps"], "model: dma: MiBps", 1, 1 << 20),
        )

    def _check_distance(self, distance: tuple[tuple[int, ...], ...]) -> None:
        for i, row in enumerate(distance):
            for j, cell in enumerate(row):
                if (cell == 10) != (i == j):
                    self._fail(
                        f"distance[{i}][{j}]",
                        "10 is the distance of a node to itself, and only that",
                    )

    def _check_tiers(self, machine: Machine) -> None:
        """The kernel makes one tier of everything, silently, where these fail."""
        local = {}
        for number, node in enumerate(machine.nodes):
            row = machine.initiators.index(number if node.cpus else node.near)
            local[number] = (machine.latency_ns[row][number], machine.bandwidth_mibps[row][number])
        if machine.nodes[0].memory != "dram":
            self._fail("node 0: memory", "the first node is the kernel's unit of DRAM")
        unit = local[0]
        for number, node in enumerate(machine.nodes):
            for field, have, want in zip(("latency_ns", "bandwidth_MiBps"), local[number], unit):
                if node.memory == "dram" and abs(have - want) * 10 > want:
                    self._fail(
                        field,
                        f"DRAM of node {number} differs by more than a "
                        "tenth from node 0, which switches tiers off",
                    )
            latency, bandwidth = local[number]
            if node.memory != "dram" and latency * unit[1] < 2 * unit[0] * bandwidth:
                self._fail(
                    "latency_ns",
                    f"node {number} is not slower enough than DRAM for a tier of its own",
                )

    def machine(self) -> Machine:
        """The checked machine."""
        self._known(self._table, _MACHINE_FIELDS, "")
        about = self._table.get("about")
        if not isinstance(about, str) or not about:
            self._fail("about", "is not a line of text")
        nodes = self._nodes()
        count, sources = len(nodes), sum(1 for node in nodes if node.cpus)
        machine = Machine(
            self._name,
            about,
            nodes,
            distance=self._matrix("distance", count, count, 10, 254),
            latency_ns=self._matrix("latency_ns", sources, count, 1, 65535),
            bandwidth_mibps=self._matrix("bandwidth_MiBps", sources, count, 1, 1 << 26),
            model=self._model(),
        )
        self._check_distance(machine.distance)
        self._check_tiers(machine)
        return machine


def parse(text: str, source: str = "machines.toml") -> dict[str, Machine]:
    """Read machines from TOML text; LabError names ``source`` and the field."""
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LabError(f"{source}: {error}") from error
    return {name: _Checker(name, table, source).machine() for name, table in tables.items()}


@cache
def _all() -> dict[str, Machine]:
    try:
        text = DATA.read_text(encoding="utf-8")
    except OSError as error:
        raise LabError(f"cannot read {DATA}: {error.strerror}") from error
    return parse(text, str(DATA.relative_to(paths.ROOT)))


def names() -> list[str]:
    """Names of the machines, in the file's order."""
    return list(_all())


def load(name: str) -> Machine:
    """Return the machine called ``name``; LabError lists the known ones."""
    try:
        return _all()[name]
    except KeyError:
        raise LabError(f"unknown machine {name!r}: choose one of {', '.join(names())}") from None
