# SPDX-License-Identifier: GPL-2.0
"""lab/measure: what a measured run is made of, without running one."""

import shutil
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import pytest

import lab.measure
from lab import machines
from lab.errors import LabError
from lab.host import memory, programs, qemu
from lab.machines import addresses
from lab.measure import Guests, Run, boot, measure, outcome, plugin, profile, transcript, workloads
from lab.measure.initramfs import Initramfs
from lab.tests.test_machines import GOOD

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


def test_the_model_is_told_of_every_path(tmp_path):
    text = plugin.config(machines.parse(GOOD)["m"], tmp_path / "out", timeline_ms=5)
    lines = text.splitlines()
    assert f"output {tmp_path / 'out'}" in lines
    assert "timeline_ms 5" in lines
    assert "llc 2097152 8 12" in lines
    assert [line for line in lines if line.startswith("cpu ")] == ["cpu 0 0", "cpu 1 0", "cpu 2 1"]
    # 1000 MiB/s for 16 CPUs are 66 * 10^6 bytes a second for one.
    assert "node 0 66 0" in lines and "node 2 13 1" in lines
    assert "path 0 1 140 33" in lines and "path 1 2 300 13" in lines
    assert "range 0x100000000 0x140000000 2" in lines


def test_a_machine_without_a_model(tmp_path):
    with pytest.raises(LabError, match="machine three-node has no model"):
        plugin.config(machines.load("three-node"), tmp_path)


def example():
    root = Initramfs()
    root.directory("/proc")
    root.file("/a/b/text", "content")
    root.file("/bin/run", b"#!/bin/sh\n", program=True)
    root.link("/bin/sh", "run")
    root.character_device("/dev/console", 5, 1)
    return root.bytes()


def test_an_initramfs_is_the_same_each_time():
    assert example() == example()


def test_an_initramfs_is_what_cpio_reads(tmp_path):
    if shutil.which("cpio") is None:
        pytest.fail("cpio is missing: it is needed to build kernels")
    listed = (
        subprocess.run(["cpio", "-t", "--quiet"], input=example(), check=True, capture_output=True)
        .stdout.decode()
        .split()
    )
    assert listed == [
        "a",
        "a/b",
        "a/b/text",
        "bin",
        "bin/run",
        "bin/sh",
        "dev",
        "dev/console",
        "proc",
    ]
    subprocess.run(
        ["cpio", "-id", "--quiet", "a/b/text"], input=example(), check=True, cwd=tmp_path
    )
    assert (tmp_path / "a/b/text").read_text() == "content"


def test_a_program_brings_its_libraries():
    root = Initramfs()
    root.program("cat")
    assert b"libc.so.6" in root.bytes()
    with pytest.raises(LabError, match="program no-such-program is missing"):
        root.program("no-such-program")


def test_redis_comes_from_the_package_that_starts_no_service(tmp_path, monkeypatch):
    server = tmp_path / "redis-check-rdb"
    server.write_text("#!/bin/sh\n", encoding="utf-8")
    server.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert programs.find("redis-server") == server
    monkeypatch.setattr(programs, "require", lambda tool: wanted.append(tool))
    monkeypatch.setenv("PATH", "/nowhere")
    wanted = []
    with pytest.raises(AssertionError):
        programs.find("redis-server")
    assert wanted == ["redis-check-rdb"]


ANSWER = """@@blocks
0 0
0 1
1 32
@@status
0
@@out
{"a": 1}
@@vmstat.begin
pgpromote_success 5
nr_free 7
@@vmstat.end
pgpromote_success 9
nr_free 3
pghot_new 2
@@end
"""


def test_sections():
    found = transcript.sections(ANSWER)
    assert list(found) == ["blocks", "status", "out", "vmstat.begin", "vmstat.end", "end"]
    assert transcript.blocks(found["blocks"]) == {0: {0, 1}, 1: {32}}
    assert transcript.growth(found) == {"pgpromote_success": 4, "nr_free": -4, "pghot_new": 2}


def test_an_answer_that_was_cut_off():
    found = transcript.sections(ANSWER[: ANSWER.index("pgpromote_success 9")])
    assert "end" not in found
    assert transcript.growth(found) == {}
    assert transcript.sections("") == {}


@pytest.mark.parametrize(
    "line, reported",
    [
        ("[    0.5] pci_bus 0000:00: Unknown NUMA node; performance will be reduced", False),
        ("[    0.510189] pci_bus 0000:00: Unknown NUMA node; performance will be reduced", False),
        ("[    1.954685] reboot: Power down", False),
        ("[    1.954685] page_alloc: something new", True),
        ("what a program said", False),
    ],
)
def test_warnings(line, reported):
    assert bool(transcript.warnings(f"{line}\n")) is reported


def test_fatal_messages():
    assert (
        transcript.fatal("[    1.000000] Kernel panic - not syncing: x\n")
        == "Kernel panic - not syncing: x"
    )
    assert transcript.fatal("[    1.000000] reboot: Power down\n") is None


@pytest.mark.parametrize(
    "guest, model, agree",
    [
        (2.0, 2.0, True),
        (2.00004, 2.0, True),
        (2.00006, 2.0, False),
        # An interrupt came between the mark and the reading of the clock.
        (2.318026, 2.318081, True),
        (2.0, 2.0009, True),
        (2.0, 2.0011, False),
    ],
)
def test_clocks(guest, model, agree):
    assert outcome.clocks_agree(guest, model) == agree


def test_words_of_the_workload_reach_it_as_they_are():
    script = boot._quoted("it's $HOME")
    done = subprocess.run(
        ["sh", "-c", f"printf %s {script}"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "it's $HOME"


def test_only_programs_that_are_named_come_along():
    # The name of a directory is no program.
    setup = "ls /sys/kernel/mm/damon/regions; mark begin"
    run = Run("small", "stock", ("random", "--file", "/mnt/readers"), setup=setup)
    assert boot._programs(run) == {"random"}
    assert boot._programs(replace(run, programs=("mark", "random"))) == {"random", "mark"}
    script = replace(run, workload=("sh", "-c", "mark begin"), files={"/x": b"#!/bin/sh\ngups"})
    assert boot._programs(script) == set()
    root = boot._root(replace(script, programs=("mark",))).bytes()
    assert b"bin/mark\0" in root and b"bin/random\0" not in root


@pytest.mark.parametrize(
    "run, error",
    [
        (Run("none", "stock", ("random",)), "unknown machine 'none': choose one of"),
        (Run("three-node", "stock", ("random",)), "has no model"),
        (
            Run("small", __file__, ("random",), programs=("none",)),
            "unknown workload 'none': choose one of",
        ),
        (Run("small", "/no/kernel", ("random",)), "no kernel at /no/kernel: name a file"),
    ],
)
def test_what_cannot_start_is_an_error_in_the_result(run, error):
    result = measure(run)
    assert result.error is not None and error in result.error
    assert "\n" not in result.error


def test_unknown_workload():
    with pytest.raises(LabError, match="unknown workload 'none': choose one of"):
        workloads.path("none")


def test_profile_by_function():
    functions = profile.symbols(
        "ffffffff81000000 T first\nffffffff81000010 t second\nffffffff82000000 D data\n"
    )
    assert profile.by_function(
        "401000 5\nffffffff81000004 7\nffffffff8100000f 1\nffffffff81000010 2\n", functions
    ) == {"user space": 5, "first": 8, "second": 2}


@pytest.mark.parametrize(
    "found, said",
    [
        ((9, 2), "the memory model needs QEMU 10.0, here is 9.2: run 'apt-get"),
        ((10, 1), "the memory model needs QEMU 10.0, here is 10.1: run 'apt-get"),
        (None, "the memory model needs QEMU 10.0, here is none: run 'apt-get"),
    ],
)
def test_another_qemu_is_refused_in_one_line(monkeypatch, found, said):
    monkeypatch.setattr(qemu, "ensure", lambda: None)
    monkeypatch.setattr(qemu, "version", lambda: found)
    result = measure(Run("small", "stock", ("random",)))
    assert result.error.startswith(said) and "\n" not in result.error


def test_a_machine_that_is_too_big_is_refused_in_one_line(monkeypatch, tmp_path):
    def prepared(self, run):
        self.machine = machines.load("two-socket-cxl")

    monkeypatch.setattr(boot.Prepared, "__init__", prepared)
    monkeypatch.setattr(memory, "available", lambda: 1 << 30)
    result = measure(Run("two-socket-cxl", "stock", ("random",)))
    assert result.error.startswith("machine two-socket-cxl needs") and "\n" not in result.error


_NOT_QEMU = r"""
#include <dlfcn.h>
#include <stdio.h>
#include "api.h"

__thread void *current_cpu;

int main(int argc, char **argv)
{
	struct plugin_info info = { .target = "x86_64", .version = { 4, 4 } };
	void *model = dlopen(argv[1], RTLD_LAZY);
	int (*install)(plugin_id, const struct plugin_info *, int, char **);

	if (!model)
		return puts(dlerror()), 2;
	*(void **)&install = dlsym(model, "qemu_plugin_install");
	return install(1, &info, argc - 2, argv + 2);
}
"""


def test_the_model_refuses_a_program_that_is_not_its_qemu(tmp_path):
    source, program = tmp_path / "other.c", tmp_path / "other"
    source.write_text(_NOT_QEMU, encoding="utf-8")
    subprocess.run(
        ["cc", f"-I{plugin.SOURCE}", "-rdynamic", "-o", program, source, "-ldl"], check=True
    )
    config = tmp_path / "config"
    config.write_text(plugin.config(machines.load("small"), tmp_path / "out"), encoding="utf-8")

    def said(*options):
        done = subprocess.run(
            [program, plugin.build().plugin, *options], capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        return done.stderr

    assert said(f"config={config}") == (
        "memsim: QEMU 10.0 is needed, with its symbols exported as Debian builds it "
        "(plugin API 4; this one has 4)\n"
    )
    assert said() == "memsim: needs one argument, config=FILE\n"
    assert said("config=/no/file") == "memsim: /no/file: No such file or directory\n"


class Sleeping(boot.Prepared):
    """A run whose guest only sleeps."""

    def __init__(self, run):
        self.run, self.machine = run, machines.load("small")
        self.process = None

    def digest(self):
        return "none"

    @contextmanager
    def started(self, work, guests):
        with guests.started(["sleep", "1000"], subprocess.DEVNULL) as self.process:
            yield self.process


@pytest.fixture
def sleeping(monkeypatch):
    """The runs that were prepared."""
    runs = []

    def prepared(run):
        runs.append(Sleeping(run))
        return runs[-1]

    monkeypatch.setattr(lab.measure, "Prepared", prepared)
    return runs


def test_no_guest_starts_after_the_end(sleeping):
    guests = Guests()
    guests.stop()
    assert measure(Run("small", "stock", ("random",)), guests=guests).error == "interrupted"
    assert sleeping[0].process is None


def test_the_end_comes_to_guests_of_other_threads(sleeping):
    guests, others = Guests(), Guests()
    run = Run("small", "stock", ("random",), limit_s=60)
    with ThreadPoolExecutor(3) as pool:
        ours = [pool.submit(measure, run, guests=guests) for _ in range(2)]
        theirs = pool.submit(measure, run, guests=others)
        while not (len(sleeping) == 3 and all(made.process for made in sleeping)):
            time.sleep(0.01)
        guests.stop()
        for ended in ours:
            assert ended.result(30).error == "QEMU ended with status -9: it said nothing"
        # What another owner has goes on.
        assert sum(made.process.status is None for made in sleeping) == 1
        others.stop()
        assert theirs.result(30).error is not None


def test_programs_are_the_same_wherever_they_are_compiled(tmp_path):
    """Sizes of files in the guest's memory decide where its pages lie."""
    outs = []
    for name in ("here", "elsewhere"):
        tree = tmp_path / name
        shutil.copytree(workloads.SOURCE, tree / "lab" / "workloads")
        shutil.copytree(plugin.SOURCE, tree / "lab" / "memsim")
        outs.append(tmp_path / f"out-{name}")
        for part in ("lab/workloads", "lab/memsim"):
            subprocess.run(
                ["make", "-s", "-j4", "-C", tree / part, f"OUT={outs[-1]}"],
                check=True,
                capture_output=True,
            )
    made = [
        path.name for path in outs[0].iterdir() if path.is_file() and path.suffix in ("", ".so")
    ]
    assert {"random", "hmu", "memsim.so", "freeze.so"} <= set(made)
    for name in made:
        assert (outs[0] / name).read_bytes() == (outs[1] / name).read_bytes(), name
