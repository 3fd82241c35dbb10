# SPDX-License-Identifier: GPL-2.0
"""lab/machines/: reading and checking machines, and QEMU's options for them."""

import dataclasses
import tomllib
from pathlib import Path

import pytest

from lab import machines
from lab.errors import LabError
from lab.guest import virtme
from lab.machines import qemu_args
from lab.machines.description import DATA

GOOD = """
[m]
about = "a test"
node = [
    { size = "512M", cpus = 2, memory = "dram" },
    { size = "256M", cpus = 1, memory = "dram" },
    { size = "1G", cpus = 0, memory = "cxl", near = 1, hotplug = true },
]
distance = [[10, 20, 30], [20, 10, 40], [30, 40, 10]]
latency_ns = [[90, 140, 250], [140, 90, 300]]
bandwidth_MiBps = [[1000, 500, 200], [500, 1000, 200]]
model = { llc = "2M", llc_hit_ns = 12, share = 16 }
"""


def parsed(text=GOOD):
    return machines.parse(text, "file")["m"]


def after(text, option):
    """All values that follow ``option`` in a list of QEMU options."""
    return [text[i + 1] for i, word in enumerate(text) if word == option]


def test_fields():
    m = parsed()
    assert [node.size >> 20 for node in m.nodes] == [512, 256, 1024]
    assert m.cpus == 3
    assert m.memory == 1792 << 20
    assert m.initiators == [0, 1]
    assert m.nodes[2] == machines.Node(1 << 30, 0, "cxl", 1, True)
    assert m.latency_ns == ((90, 140, 250), (140, 90, 300))
    assert m.model == machines.Model(2 << 20, 12, 16)
    assert [m.initiator_of(number) for number in range(3)] == [0, 1, 1]


def test_a_copy_engine():
    m = parsed(
        GOOD.replace("share = 16", "share = 16, dma = { channels = 4, setup_ns = 7, MiBps = 9 }")
    )
    assert m.model.dma == machines.Dma(4, 7, 9)


def test_an_engine_that_is_there_on_request():
    asked = machines.load("dram-cxl-tight", engine=True)
    plain = machines.load("dram-cxl-tight")
    known = machines.load("dram-cxl").model
    assert plain.model and asked.model and known and known.dma
    assert plain.model.dma is None
    assert asked.model.dma == dataclasses.replace(known.dma, on_request=True)
    assert dataclasses.replace(asked, model=plain.model) == plain
    # Others have what is described.
    for name in ("dram-cxl", "small"):
        assert machines.load(name, engine=True) == machines.load(name)


def test_translations():
    assert parsed().model.tlb == machines.Tlb()
    m = parsed(GOOD.replace("share = 16", "share = 16, tlb = { first = 8, second = 32, ways = 8 }"))
    assert m.model.tlb == machines.Tlb(8, 32, 8)


def test_what_cpus_ask_of_each_other():
    m = parsed(GOOD.replace("share = 16", "share = 16, snoop_ns = 9, interrupts = { take_ns = 7 }"))
    assert (m.model.snoop_ns, m.model.interrupts) == (9, machines.Interrupts(take_ns=7))


def test_a_model_is_optional():
    assert parsed(GOOD.replace(GOOD.splitlines()[-1], "")).model is None


@pytest.mark.parametrize(
    "old, new, where, what",
    [
        ('size = "512M"', 'size = "500M"', "node 0: size", "multiple of 128M"),
        ('size = "512M"', "size = 512", "node 0: size", "512 is not a size"),
        ('size = "512M"', 'size = "0M"', "node 0: size", "multiple"),
        ('size = "512M"', 'size = "1T"', "node 0: size", "not a size"),
        ('size = "512M", ', "", "node 0: size", "is missing"),
        ("cpus = 2", "cpus = -1", "node 0: cpus", "-1 is not an integer from 0"),
        ("cpus = 2", "cpus = true", "node 0: cpus", "True is not an integer"),
        ("cpus = 2", "cpus = 0, near = 1", "node 0: cpus", "boots the kernel"),
        ("cpus = 1", "cpus = 1, near = 0", "node 1: near", "without CPUs"),
        ('memory = "cxl"', 'memory = "ssd"', "node 2: memory", "none of dram, cxl"),
        ("near = 1, ", "", "node 2: near", "is missing"),
        ("near = 1", "near = 2", "node 2: near", "node 2 has no CPUs"),
        ("near = 1", "near = 7", "node 2: near", "7 is not an integer from 0 to 2"),
        ("hotplug = true", "hotplug = 1", "node 2: hotplug", "not true or false"),
        ("cpus = 1", "cpus = 1, hotplug = true", "node 1: hotplug", "without CPUs"),
        ("cpus = 1", "cpu = 1", "node 1: cpu", "unknown field"),
        ("cpus = 1,", "cpus = 0, near = 0, hotplug = true,", "node 1: hotplug", "last node"),
        ("about =", "abuot =", "abuot", "unknown field"),
        ('"a test"', '""', "about", "not a line of text"),
        ("[10, 20, 30]", "[10, 20]", "distance", "3 rows of 3 numbers"),
        ("[10, 20, 30]", "[11, 20, 30]", "distance[0][0]", "a node to itself"),
        ("[10, 20, 30]", "[10, 10, 30]", "distance[0][1]", "a node to itself"),
        ("[10, 20, 30]", "[10, 20, 255]", "distance[0][2]", "from 10 to 254"),
        ("[90, 140, 250], ", "", "latency_ns", "2 rows of 3 numbers"),
        ("[90, 140, 250]", "[90, 140, 0]", "latency_ns[0][2]", "from 1 to"),
        ("[1000, 500, 200]", '["1", 500, 200]', "bandwidth_MiBps[0][0]", "'1' is not"),
        ("[140, 90, 300]", "[140, 100, 300]", "latency_ns", "switches tiers off"),
        ("[500, 1000, 200]", "[500, 800, 200]", "bandwidth_MiBps", "switches tiers off"),
        ("[500, 1000, 200]", "[500, 1000, 4000]", "latency_ns", "not slower enough"),
        ('"dram" },', '"pmem" },', "node 0: memory", "unit of DRAM"),
        ('"2M"', '"3M"', "model: llc", "power of two"),
        ('"2M"', "2", "model: llc", "not a size"),
        ("llc_hit_ns = 12", "llc_hit_ns = 0", "model: llc_hit_ns", "from 1 to"),
        ("share = 16", "share = 16, tlb = { first = 48 }", "model: tlb: first", "power of two"),
        ("share = 16", "share = 16, tlb = { ways = 8 }", "model: tlb: second", "8 ways of a power"),
        ("share = 16", "shares = 16", "model: shares", "unknown field"),
        (", share = 16", "", "model: share", "is missing"),
        ("model = {", "model = 1 #", "model", "not a table"),
        ("share = 16", "share = 16, clock = 0", "model: clock", "0 is not an integer from 1 to 16"),
        ("share = 16", "share = 16, clock = 2.5", "model: clock", "2.5 is not an integer"),
        ("12, share", "101, clock = 10, share", "model: clock", "10 makes a time of the model"),
        ("share = 16", "share = 16, dma = 1", "model: dma", "not a table of MiBps, channels"),
        (
            "share = 16",
            "share = 16, dma = { channels = 17, setup_ns = 1, MiBps = 1 }",
            "model: dma: channels",
            "from 1 to 16",
        ),
    ],
)
def test_bad_field_is_named(old, new, where, what):
    assert old in GOOD
    with pytest.raises(LabError) as caught:
        parsed(GOOD.replace(old, new, 1))
    assert str(caught.value).startswith(f"file: m: {where}: ")
    assert what in str(caught.value)


def test_broken_toml_is_one_line():
    with pytest.raises(LabError) as caught:
        machines.parse("[m\nx", "file")
    assert str(caught.value).startswith("file: ")
    assert "\n" not in str(caught.value)


def test_unknown_name_lists_the_known():
    with pytest.raises(LabError) as caught:
        machines.load("eight-node")
    assert str(caught.value) == (
        f"unknown machine 'eight-node': choose one of {', '.join(machines.names())}"
    )


def test_qemu_cpus_and_nodes():
    args = qemu_args(parsed())
    assert after(args, "-machine") == ["q35,hmat=on"]
    # Nodes of 2 and 1 CPUs do not make equal sockets.
    assert after(args, "-smp") == ["3"]
    nodes = [word for word in after(args, "-numa") if word.startswith("node,")]
    assert nodes == [
        "node,nodeid=0,cpus=0-1,memdev=mem0",
        "node,nodeid=1,cpus=2-2,memdev=mem1",
        "node,nodeid=2,initiator=1",
    ]


def test_qemu_memory():
    args = qemu_args(parsed())
    size, slots, most = after(args, "-m")[0].split(",")
    assert size == "768M"
    assert slots == "slots=1"
    assert int(most.removeprefix("maxmem=").removesuffix("M")) >= 1792
    assert after(args, "-object") == [
        "memory-backend-ram,id=mem0,size=512M",
        "memory-backend-ram,id=mem1,size=256M",
        "memory-backend-ram,id=mem2,size=1024M",
    ]
    assert after(args, "-device") == ["pc-dimm,id=dimm2,memdev=mem2,node=2"]


def test_qemu_memory_at_boot_needs_no_slots():
    args = qemu_args(parsed(GOOD.replace(", hotplug = true", "")))
    assert after(args, "-m") == ["1792M"]
    assert after(args, "-device") == []
    assert "node,nodeid=2,initiator=1,memdev=mem2" in after(args, "-numa")


def test_qemu_distances_and_hmat():
    numa = after(qemu_args(parsed()), "-numa")
    distances = [word for word in numa if word.startswith("dist,")]
    assert len(distances) == 6
    assert "dist,src=1,dst=2,val=40" in distances
    rows = [word for word in numa if word.startswith("hmat-lb,")]
    assert len(rows) == 2 * 2 * 3
    assert (
        "hmat-lb,initiator=1,target=2,hierarchy=memory,data-type=access-latency,latency=300"
    ) in rows
    assert (
        "hmat-lb,initiator=0,target=1,hierarchy=memory,data-type=access-bandwidth,bandwidth=500M"
    ) in rows


def test_too_big_for_the_host():
    huge = dataclasses.replace(parsed(), nodes=(machines.Node(1 << 50, 1, "dram", None, False),))
    with pytest.raises(LabError, match="machine m needs .* MiB of memory, this host"):
        machines.check_host(huge)


def test_the_file_in_the_tree():
    with DATA.open("rb") as file:
        assert machines.names() == list(tomllib.load(file))
    three = machines.load("three-node")
    assert three.initiators == [0, 1]
    assert three.cpus == 4
    assert three.distance == ((10, 32, 50), (32, 10, 60), (50, 60, 10))
    assert machines.load("small").cpus == 2


def test_directories_the_guest_cannot_see():
    virtme.check_visible(Path("/root/pghot"), Path("/tmp/x"), Path("/var/lib/x"))
    for place in ("/run/x", "/var/tmp/pghot", "/var/cache/pghot/venv"):
        with pytest.raises(LabError, match=f"^{place} cannot be seen in a guest"):
            virtme.check_visible(Path("/root"), Path(place))
