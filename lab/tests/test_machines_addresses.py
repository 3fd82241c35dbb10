# SPDX-License-Identifier: GPL-2.0
"""lab/machines/addresses.py: where a guest's memory lies."""

import pytest

from lab import machines
from lab.machines import addresses

GIB = 1 << 30


MIB = 1 << 20


def machine_of(*sizes, hotplug=()):
    """A machine with nodes of these sizes; those in ``hotplug`` come later."""
    nodes = [
        f'{{ size = "{size}", cpus = 1, memory = "dram" }}'
        if i not in hotplug
        else f'{{ size = "{size}", cpus = 0, memory = "cxl", near = 0, hotplug = true }}'
        for i, size in enumerate(sizes)
    ]
    n, rows = len(sizes), len(sizes) - len(hotplug)
    distance = [[10 if i == j else 20 for j in range(n)] for i in range(n)]
    latency = [[250 if j in hotplug else 90 for j in range(n)] for _ in range(rows)]
    bandwidth = [[200 if j in hotplug else 1600 for j in range(n)] for _ in range(rows)]
    return machines.parse(
        f'[m]\nabout = "a test"\nnode = [{", ".join(nodes)}]\ndistance = {distance}\n'
        f"latency_ns = {latency}\nbandwidth_MiBps = {bandwidth}\n"
        'model = { llc = "1M", llc_hit_ns = 12, share = 16 }\n'
    )["m"]


@pytest.mark.parametrize(
    "sizes, hotplug, want",
    [
        (("512M", "1G"), (), [(0, 512 * MIB, 0), (512 * MIB, 1536 * MIB, 1)]),
        (("2G", "512M"), (1,), [(0, 2 * GIB, 0), (4 * GIB, 4 * GIB + 512 * MIB, 1)]),
        # From 2816 MiB on only 2 GiB stay below the PCI window.
        (("2G", "2G", "1G"), (2,), [(0, 2 * GIB, 0), (4 * GIB, 6 * GIB, 1), (6 * GIB, 7 * GIB, 2)]),
        (("3G", "1G"), (), [(0, 2 * GIB, 0), (4 * GIB, 5 * GIB, 0), (5 * GIB, 6 * GIB, 1)]),
        (
            ("2G", "2688M", "512M"),
            (2,),
            [
                (0, 2 * GIB, 0),
                (4 * GIB, 4 * GIB + 2688 * MIB, 1),
                (7 * GIB, 7 * GIB + 512 * MIB, 2),
            ],
        ),
    ],
)
def test_ranges(sizes, hotplug, want):
    assert [
        (part.start, part.end, part.node)
        for part in addresses.ranges(machine_of(*sizes, hotplug=hotplug))
    ] == want


def test_blocks_are_numbered_as_in_sysfs():
    assert addresses.blocks(addresses.ranges(machine_of("256M", "128M", hotplug=(1,)))) == {
        0: {0, 1},
        1: {32},
    }
