# SPDX-License-Identifier: GPL-2.0
"""The memory model against the machine's description, in a guest."""

import pytest

from lab.host.compiler import compile_c
from lab.machines import load
from lab.machines.variation import Variation
from lab.measure import Run, measure, plugin

pytestmark = pytest.mark.vm


def test_units(tmp_path):
    """Its parts, under sanitizers, against plain reference models."""
    from lab.host import programs

    programs.require("cmocka.h", packages={"cmocka.h": "libcmocka-dev"})
    compile_c(plugin.SOURCE, tmp_path, f"OUT={tmp_path}", "check")


def probe(machine, cpus, kernel="stock"):
    """What the program ``probe`` measures, and what the model counted meanwhile."""
    nodes = ",".join(map(str, range(len(load(machine).nodes))))
    result = measure(Run(machine, kernel, ("probe", "--nodes", nodes, "--cpus", cpus)))
    assert result.error is None
    return result


@pytest.fixture(scope="module")
def one_socket(stock_kernel):
    return probe("dram-cxl", "0,1,2,3")


@pytest.fixture(scope="module")
def two_sockets(stock_kernel):
    return probe("two-socket-cxl", "0,4")


def test_latency(one_socket, two_sockets):
    for machine, result in (("dram-cxl", one_socket), ("two-socket-cxl", two_sockets)):
        described = load(machine).latency_ns
        for cpu, row in enumerate(result.workload["detail"]["latency"]):
            want = described[cpu if machine == "two-socket-cxl" else 0]
            assert row == pytest.approx(list(want), rel=0.02), (machine, cpu)


def test_a_clock_of_its_own(stock_kernel):
    """What is described is in the machine's time, of which the guest's is a multiple, and so is
    what comes out."""
    machine = load("two-socket-full")
    assert machine.model is not None and machine.clock > 1
    detail = probe(machine.name, "0,4").workload["detail"]
    for row, described in zip(detail["latency"], machine.latency_ns):
        assert row == pytest.approx(list(described), rel=0.02)
    model = machine.model
    assert detail["write_ns"] == pytest.approx(
        [140 - 90 + 2 * model.llc_hit_ns + model.snoop_ns], rel=0.05
    )


def test_bandwidth_by_a_clock_of_its_own(stock_kernel):
    """With a share that two CPUs use up of the slow node."""
    machine = load("small-full")
    assert machine.model is not None and machine.clock > 1
    words = ("probe", "--nodes", "0,1", "--cpus", "0,1")
    result = measure(Run(machine.name, "stock", words, variation=Variation(bandwidth=1 / 16)))
    assert result.error is None
    fast, slow = (mibps * 1.048576 / 16 for mibps in machine.bandwidth_mibps[0])
    found = result.workload["detail"]["bandwidth"]
    assert found[1] == pytest.approx(slow, rel=0.05)
    assert 0.8 * fast < found[0] < 1.05 * fast


def test_small_pages(one_socket):
    """A chase through 4096 small pages: how many are known, and what a walk costs."""
    machine = load("dram-cxl")
    assert machine.model is not None
    tlb = machine.model.tlb
    known = tlb.second / 4096
    # An entry of the page tables is read again after some 1300 other lines, of which 20 are of
    # its set of the CPU's own cache, which keeps the last 16: one of seven entries stays.
    entry = 0.86 * machine.model.llc_hit_ns
    more = known * tlb.hit_ns + (1 - known) * (tlb.walk_ns + entry)
    detail = one_socket.workload["detail"]
    assert detail["small_ns"] == pytest.approx(machine.latency_ns[0][0] + more, rel=0.03)
    assert detail["small_ns"] > detail["latency"][0][0] + 0.8 * more


def test_what_another_cpu_wrote(one_socket, two_sockets):
    model = load("two-socket-cxl").model
    assert model is not None
    same = model.llc_hit_ns + model.snoop_ns
    for what in ("read_ns", "write_ns"):
        assert one_socket.workload["detail"][what] == pytest.approx([same] * 3, rel=0.05)
        # There and back between the sockets, and the caches of both.
        assert two_sockets.workload["detail"][what] == pytest.approx(
            [140 - 90 + 2 * model.llc_hit_ns + model.snoop_ns], rel=0.05
        )


def test_bandwidth(one_socket):
    machine = load("dram-cxl")
    assert machine.model is not None
    for node, mbps in enumerate(one_socket.workload["detail"]["bandwidth"]):
        want = machine.bandwidth_mibps[0][node] * 1.048576 / machine.model.share
        assert mbps == pytest.approx(want, rel=0.03)


@pytest.mark.parametrize("node", [0, 1])
def test_a_saturated_node_is_slower(one_socket, node):
    """DRAM as well as CXL memory."""
    chase, stream = one_socket.model["phases"][:2]
    idle = chase["nodes"][node]
    both = stream["nodes"][node]
    assert idle["wait_ns"] < 0.02 * idle["ns"]
    assert both["wait_ns"] - idle["wait_ns"] > 10 * idle["wait_ns"] + 1e6


def test_counters_against_a_known_number_of_accesses(one_socket):
    chase = one_socket.model["phases"][0]["nodes"]
    # 200,000 steps by each of four CPUs on each node, of which none is in a cache.
    for node in chase:
        assert node["loads"] == pytest.approx(800000, rel=0.02)


def test_a_moved_page_changes_its_cost_at_once(one_socket):
    detail = one_socket.workload["detail"]
    assert detail["before_ns"] == pytest.approx(250, rel=0.02)
    assert detail["after_ns"] == pytest.approx(90, rel=0.03)


def test_a_copied_page_costs_both_tiers(one_socket):
    stream, move = one_socket.model["phases"][1:3]
    lines = 16 * 1024 * 1024 // 64
    slow = move["nodes"][1]["loads"] - stream["nodes"][1]["loads"]
    # Read once by the copy, and half as often by the chase before it.
    assert slow == pytest.approx(lines + 200000, rel=0.05)
    fast = move["nodes"][0]["stores"] - stream["nodes"][0]["stores"]
    assert fast > lines


def test_faults_and_shootdowns_take_time(one_socket):
    detail = one_socket.workload["detail"]
    assert detail["fault_ns"] > 500
    # Three CPUs are interrupted, and answer.
    assert detail["flush_ns"] > 1.15 * detail["quiet_ns"]
    machine = load("dram-cxl")
    assert machine.model is not None
    assert detail["flush_ns"] > detail["quiet_ns"] + machine.model.interrupts.send_ns
    kernel = [cpu["kernel"] for cpu in one_socket.model["cpus"]]
    # At most one request for all three, for each of 100 changes that take something away.
    assert kernel[0]["sent"] >= 100
    assert all(cpu["interrupts"] >= 100 for cpu in kernel[1:])


def device(name, *options, machine="dram-cxl"):
    result = measure(Run(machine, "stock", (name, *options)))
    assert result.error is None
    return result.workload["detail"], result.model["nodes"]


def test_accessed_bits_go_by_the_translations_that_are_modelled(one_socket):
    """Some 50 accesses to each of 4096 pages, of which a CPU knows 1536 at a time."""
    detail = one_socket.workload["detail"]
    assert detail["pages"] == 4096
    # A few wait for their place on an LRU list: these are nobody's to look at.
    assert detail["seen"] > 0.98 * detail["pages"]


def test_the_hotness_monitoring_unit(stock_kernel):
    said, _ = device("hmu", "--node", "1")
    # Each hot page once, with its number of accesses, and no other.
    assert said["found"] == said["hot"] == 256
    assert said["others"] == 0
    assert said["count"] == 256 * 48
    assert said["interrupts"] == 1
    # More hot pages than there is room for.
    assert said["listed"] == 16383
    assert said["overflow"] is True


def copied_by_the_cpu(machine, *nodes):
    """ns for 4 KiB where the bandwidth has room: 8 bytes per instruction, and the first line
    of both pages. Pages are small ones, whose translations come on top."""
    return 4096 / 8 + sum(load(machine).latency_ns[0][node] for node in nodes)


def copied_by_a_channel(machine):
    """ns for 4 KiB."""
    model = load(machine).model
    assert model is not None and model.dma is not None
    return model.dma.setup_ns + 4096 / (model.dma.mibps * 1.048576) * 1000


@pytest.mark.parametrize("to", [0, 1])
def test_the_copy_engine(stock_kernel, to):
    said, nodes = device("dma", "--from", "0", "--to", str(to))
    machine = load("dram-cxl")
    assert machine.model is not None and machine.model.dma is not None
    engine = machine.model.dma
    own = copied_by_a_channel("dram-cxl")
    carried = 4096 / (machine.bandwidth_mibps[0][to] / machine.model.share * 1.048576) * 1000
    # One channel: its own time, or what the slow node carries (a batch in the middle may
    # have less to wait for, as one before it took longer); and, each 32 jobs,
    # the CPU's time to write new descriptors and to see that the last ones are done.
    alone = max(own, carried)
    assert 0.99 * alone < said["one_ns"] < 1.04 * alone
    # All of them: the DRAM node carries each page twice. The CPU has as much to do for each job.
    together = max(own / engine.channels, carried * (2 if to == 0 else 1))
    cpu = max(said["one_ns"] - alone, 0)
    assert 0.99 * together < said["all_ns"] < 1.04 * (together + cpu)
    if to == 0:
        # As a document says of 4 KiB: one channel is slower than the CPU, all are faster.
        by_cpu = copied_by_the_cpu("dram-cxl", 0, to)
        assert said["all_ns"] < by_cpu < said["cpu_ns"] < 1.1 * by_cpu < said["one_ns"]
    else:
        # The link is the limit of all, and the CPU reads what it overwrites too.
        assert carried < said["cpu_ns"] < 2 * carried
    assert said["failed"] == 3
    # Each channel has an interrupt of its own, and says why it came.
    assert said["vectors"] == said["channels"] == engine.channels
    assert said["interrupts"] > 128
    # Eight batches of 32 jobs and as many of up to 128, and two of five jobs that may be done.
    assert nodes[to]["dma"] >= 8 * (32 + 128) * 64


def test_channels_add_up_where_the_link_has_room(stock_kernel):
    said, _ = device("dma", "--from", "1", "--to", "0", machine="dram-cxl-full")
    own = copied_by_a_channel("dram-cxl-full")
    assert own < said["one_ns"] < 1.08 * own
    # Channels wait for the link, and the CPU serves 16 of them eight jobs at a time.
    carried = 4096 / (load("dram-cxl-full").bandwidth_mibps[0][1] * 1.048576) * 1000
    assert carried < said["all_ns"] < own / 4
    # What a document says of 4 KiB, from the slow tier to the fast one.
    alone = copied_by_the_cpu("dram-cxl-full", 1, 0)
    assert said["all_ns"] < alone < said["cpu_ns"] < 1.1 * alone < said["one_ns"]
    assert said["vectors"] == said["channels"] == 16


def test_the_copy_engine_by_a_clock_of_its_own(stock_kernel):
    said, _ = device("dma", "--from", "1", "--to", "0", machine="two-socket-full")
    own = copied_by_a_channel("two-socket-full")
    assert own < said["one_ns"] < 1.08 * own
    assert said["vectors"] == said["channels"] == 16


@pytest.mark.parametrize("cpus", ["0", "0,1"])
def test_the_same_to_the_nanosecond(stock_kernel, cpus):
    first, second = probe("small", cpus), probe("small", cpus)
    assert first.workload == second.workload
    assert first.model == second.model


def test_a_model_that_cannot_be_read(monkeypatch, stock_kernel):
    good = plugin.config
    monkeypatch.setattr(plugin, "config", lambda *args, **more: good(*args, **more) + "colour 1\n")
    result = measure(Run("small", "stock", ("random", "--mib", "2")))
    assert result.error is not None
    assert result.error.startswith("QEMU ended with status 1: memsim: ")
    assert result.error.endswith("unknown key 'colour'")
