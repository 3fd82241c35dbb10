# SPDX-License-Identifier: GPL-2.0
"""A modelled machine as QEMU's options."""

from __future__ import annotations

from lab.machines.machine import MIB, Machine


def qemu_args(machine: Machine) -> list[str]:
    """QEMU options for CPUs, memory, SRAT, SLIT and HMAT."""
    return [
        *_cpu_args(machine),
        *_memory_args(machine),
        *_node_args(machine),
        *_distance_args(machine),
        *_hmat_args(machine),
    ]


def _cpu_args(machine: Machine) -> list[str]:
    counts = {machine.nodes[number].cpus for number in machine.initiators}
    smp = f"{machine.cpus}"
    if len(counts) == 1:
        smp += f",sockets={len(machine.initiators)},cores={counts.pop()},threads=1"
    return ["-machine", "q35,hmat=on", "-smp", smp]


def _memory_args(machine: Machine) -> list[str]:
    at_boot = sum(node.size for node in machine.nodes if not node.hotplug)
    size = f"{at_boot // MIB}M"
    devices = []
    plugged = [number for number, node in enumerate(machine.nodes) if node.hotplug]
    if plugged:
        # A slot of 1 GiB alignment per device, whatever its size.
        room = machine.memory + len(plugged) * 1024 * MIB
        size += f",slots={len(plugged)},maxmem={room // MIB}M"
        for number in plugged:
            devices += ["-device", f"pc-dimm,id=dimm{number},memdev=mem{number},node={number}"]
    backends = []
    for number, node in enumerate(machine.nodes):
        backends += ["-object", f"memory-backend-ram,id=mem{number},size={node.size // MIB}M"]
    return ["-m", size, *backends, *devices]


def _node_args(machine: Machine) -> list[str]:
    args, first = [], 0
    for number, node in enumerate(machine.nodes):
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


def _distance_args(machine: Machine) -> list[str]:
    args = []
    for source, row in enumerate(machine.distance):
        for target, value in enumerate(row):
            if source != target:
                args += ["-numa", f"dist,src={source},dst={target},val={value}"]
    return args


def _hmat_args(machine: Machine) -> list[str]:
    args = []
    for row, initiator in enumerate(machine.initiators):
        for target in range(len(machine.nodes)):
            where = f"hmat-lb,initiator={initiator},target={target},hierarchy=memory"
            args += [
                "-numa",
                f"{where},data-type=access-latency,latency={machine.latency_ns[row][target]}",
                "-numa",
                f"{where},data-type=access-bandwidth,"
                f"bandwidth={machine.bandwidth_mibps[row][target]}M",
            ]
    return args
