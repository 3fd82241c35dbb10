# SPDX-License-Identifier: GPL-2.0
"""lab/bench/scale.py: constants of time and size in proportion to machine and run."""

import functools
import re
import subprocess
from itertools import pairwise

import pytest

from lab import machines, paths, toml
from lab.bench import description
from lab.bench.matrix import cell
from lab.bench.runner import Matrix
from lab.bench.scale import COMMON, Scale
from lab.bench.scale import read as read_scale
from lab.errors import LabError
from lab.measure import Result, Run
from lab.tests import bench_fakes

CONTENDERS = {read.name: read for read in description.contenders()}
SCALED = [read for read in description.experiments() if not read.unbounded]


def values(scale, cold=False):
    return {path.rpartition("/")[2]: value for path, value in scale.settings(cold=cold)}


def test_as_large_and_long_as_there_it_is_as_shipped():
    """Of a process that the kernel scans within its limit of speed."""
    assert values(Scale(memory=1, time=1, data=2048), cold=True) == {
        "scan_size_mb": 256,
        "scan_delay_ms": 1000,
        "scan_period_min_ms": 1000,
        "scan_period_max_ms": 60000,
        "hot_threshold_ms": 1000,
        "numa_balancing_promote_rate_limit_MBps": 65536,
        "window_ms": 4000,
        "period_ms": 100,
        "cpu_permille": 10,
    }


# Of pghot's constants of time those that the page has no line for.
SCALED_ALONG = {"PGHOT_WINDOW_MS", "PGHOT_PERIOD_MS", "HOTNESS_UNIT_EPOCH_MS"}
NO_DIFFERENCE = {
    "SKEW_MS": "bounds how far clocks of CPUs are apart, and comes into play where they are",
    "HW_SAMPLE_ENTRY_NS": "what a sample's interrupt takes, which is as long here",
    "PACE_PERMILLE_NS": "a thousandth of a second, to reckon with",
    "IDLE_NS": "how soon it is looked whether a unit is there that interrupts by itself",
    "RETRY_NS": "how soon a unit that does not count is tried again: none does not count",
    "SAMPLE_ROUND_NS": "some twenty samples, which cost as much here",
    "OPERATION_POLL_US": "how often a register is asked, which takes as long here",
    "OPERATION_LIMIT_US": "by when a device that is broken is given up",
}


@functools.cache
def defined():
    """Macros of the sources of pghot, but for those of its tests."""
    sources = "\n".join(
        path.read_text(encoding="utf-8")
        for path in paths.OVERLAY.glob("mm/pghot/**/*.[ch]")
        if path.parent.name != "tests"
    )
    return dict(re.findall(r"^#define\s+(\w+)\s+(\S.*?)(?:\s*/\*.*)?$", sources, re.MULTILINE))


def value(name):
    """One that is a number."""
    return int(defined()[name].rstrip("UL"))


def test_the_page_has_the_constants_of_pghot_that_no_scale_reaches():
    """As they are in the sources, and how far they are from a common scale's."""
    text = (paths.ROOT / "docs/bench.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| (`[A-Z].*?`) \| (.*?) \|", text, re.MULTILINE))
    is_now = defined()
    # Whoever adds a constant of time says what it is here, or why that makes no difference.
    of_time = {name for name in is_now if re.search(r"_[MUN]S$", name)}
    told = set(re.findall(r"`(\w+)`", " ".join(rows)))
    assert not told & (SCALED_ALONG | NO_DIFFERENCE.keys())
    assert of_time == (told | SCALED_ALONG | NO_DIFFERENCE.keys()) & of_time
    assert SCALED_ALONG | NO_DIFFERENCE.keys() <= of_time and told <= is_now.keys()
    burst = int(is_now["PGHOT_BURST_MS"])
    assert is_now["PGHOT_CLOSED_MS"] == "(PGHOT_BURST_MS / 2U)"
    assert is_now["PGHOT_SPEED_BYTES"] == "(256U << 10)"
    room = value("ROOM_MS")
    area = (4 << value("PGHOT_YIELD_ORDER")) >> 10
    shift = int(is_now["CHMU_BUDGET_SHIFT"])
    assert rows == {
        "`PGHOT_BURST_MS`": f"{burst} ms",
        "`PGHOT_CLOSED_MS`": f"{burst // 2} ms",
        "`PT_WAIT_MS`": f"{value('PT_WAIT_MS')} ms",
        "`ROOM_MS`": f"{room} ms",
        "`PGHOT_SPEED_BYTES`": "256 KiB",
        "`LOOKS_PER_MS`, `CHMU_BUDGET_SHIFT`": f"{value('LOOKS_PER_MS')}, 1/{1 << shift}",
        "`PT_FOCUS_MAX`": f"{value('PT_FOCUS_MAX')}",
        "`PGHOT_SITES`": f"{value('PGHOT_SITES')}",
        "`CHMU_BUDGET_BURST_NS`": f"{value('CHMU_BUDGET_BURST_NS') // 1000000} ms",
        "`PGHOT_PACE_LEAST_MS`": f"{value('PGHOT_PACE_LEAST_MS')} ms",
        "`GATHER_US`, `GATHERED_MS`": f"{value('GATHER_US') // 1000} ms, {value('GATHERED_MS')} ms",
        "`CROWDED_US`, `CROWDED_FULL_US`": (
            f"{value('CROWDED_US') // 1000} ms, {value('CROWDED_FULL_US') // 1000} ms"
        ),
        "`PGHOT_YIELD_ORDER`": f"{area} MiB",
        "`SAMPLES_A_TICK`": f"{value('SAMPLES_A_TICK')}",
        "`SLICE_APART_MS`": f"{value('SLICE_APART_MS')} ms",
    }
    memory, time = COMMON
    assert (round(memory, -2), time, memory // time) == (500, 20, 25)
    assert f"one scan takes {256 // area} of them at once" in text and 64 // area == 8
    assert f"the {64 * memory >> 10} GiB that it stands for have {64 * memory // area}" in text
    ticks = value("PGHOT_GAIN_FOLIOS") // value("SAMPLES_A_TICK")
    assert f"{value('PGHOT_GAIN_FOLIOS')} of each take {ticks} ticks, {4 * ticks} ms" in text
    permille = int(is_now["PGHOT_CPU_PERMILLE"])
    assert values(Scale(1, 1, 64))["cpu_permille"] == permille
    assert f"where the rule would have {permille * time / memory:.1f}." in text
    parts = 64 * memory // (2 * value("PT_FOCUS_MAX"))
    assert f"{parts} such parts in the {64 * memory >> 10} GiB that 64 MiB stand for" in text
    hot, rounds = 32 * memory, {8: "eight"}
    assert f"the hot {hot >> 10} GiB that 32 MiB stand for take" in text
    assert f"{rounds[hot // (2 * value('PGHOT_SITES'))]} rounds" in text
    # A run of 2.4 s, and what it stands for.
    at_once = value("CHMU_BUDGET_BURST_NS") / 1e9
    shares = [(at_once + run / (1 << shift)) / run for run in (2.4, 2.4 * time)]
    told_shares = f"200 + {2400 >> shift} ms, {shares[0]:.0%} of a CPU. In the {2.4 * time:.0f} s"
    assert told_shares in text and f"stands for it would be {shares[1]:.0%} |" in text
    window, part = value("PGHOT_WINDOW_MS"), value("PGHOT_PACE_PART")
    assert f"is {window // part} ms there and would be {window // time // part} ms here" in text
    apart = value("SLICE_APART_MS")
    assert f"A window has {window // time // apart} of them with the common scale, and" in text
    assert f"and {window // apart} there |" in text


def test_an_epoch_is_scaled_by_the_contenders_script():
    text = (paths.ROOT / "docs/bench.md").read_text(encoding="utf-8")
    script = (description.CONTENDERS / "hotness_unit.sh").read_text(encoding="ascii")
    assert 'epoch_ms") / ${scale_time:-1}' in script and "-ge 4 ] || epoch=4" in script
    assert f"| `epoch_ms` of its hotness unit | {value('HOTNESS_UNIT_EPOCH_MS')} | by time." in text


def test_the_constants_of_the_sources_are_those_that_are_scaled():
    """Of pghot; the kernel's own are no files of this repository."""
    text = (paths.ROOT / "linux/mm/pghot/policy.h").read_text(encoding="ascii")
    known = dict(re.findall(r"#define PGHOT_(\w+_MS(?:_MIN)?)\s+(\d+)", text))
    large, small = values(Scale(1, 1, 64)), values(Scale(1, 10000, 64))
    for name, stem in (("window_ms", "WINDOW_MS"), ("period_ms", "PERIOD_MS")):
        assert large[name] == int(known[stem])
        assert small[name] == int(known[f"{stem}_MIN"])
    # A tick is taken to be of 4 ms: what no configuration file changes.
    for path in (paths.ROOT / "configs").glob("*.config"):
        assert "CONFIG_HZ" not in path.read_text(encoding="utf-8").replace("CONFIG_NO_HZ", "")


def test_a_pass_takes_as_much_of_the_run_as_there():
    """160 GiB at 2560 MB a second are 64 s of a run of 63 s: the run of 1/9 the length that
    has 1/379 of the memory spends 7.1 s of its 6.8 s likewise."""
    scale = next(read.scale for read in SCALED if read.name == "regions")
    assert scale.data * scale.memory == pytest.approx(160 << 10, rel=0.001)
    assert scale.scan_ms() == pytest.approx(64000 / 9, rel=0.001)
    # As one process of 128: each is scanned by itself.
    assert Scale(1024, 41, 102).scan_ms() > 40 * Scale(1024, 41, 102, 128).scan_ms()


@pytest.mark.parametrize("read", SCALED, ids=lambda read: read.name)
def test_the_kernel_can_scan_so_often(read):
    """A period that is rounded to 0 would never grow, and one below a tick is not kept."""
    scale = read.scale
    scans = -(-scale.data // scale.scan_mb())
    assert scale.scan_mb() % 2 == 0
    assert scale.scan_ms() // scans >= 4
    assert values(scale)["scan_period_max_ms"] >= scale.scan_ms()
    assert values(scale)["hot_threshold_ms"] >= 4


def test_all_that_moves_has_the_same_scale():
    read = next(read for read in SCALED if read.name == "random-anon")
    script = read.scale.script(cold=False)
    for name, contender in CONTENDERS.items():
        (run,) = cell(read, contender, quick=True).runs or (None,)
        if run is not None:
            assert (script in run.setup) == (contender.placement == "start"), name
    assert "echo 0 >/sys/kernel/debug/sched/numa_balancing/scan_delay_ms" in script


RECLAIM = {
    "watermarks": "echo 512 >/proc/sys/vm/min_free_kbytes",
    "apart": "echo 100 >/proc/sys/vm/watermark_scale_factor",
    "lru": "echo n >/sys/kernel/mm/lru_gen/enabled",
}
"""What bounds have too: of what fills DRAM at the start, the kernel has made room in that way."""


def test_variants_that_are_not_scaled_or_not_old():
    read = next(read for read in SCALED if read.name == "regions")
    setups = {
        kind: cell(description.variant(read, kind), CONTENDERS["stock-2"]).runs[0].setup
        for kind in ("busy", "cold", "unscaled", "limited", *RECLAIM)
    }
    limit = "/proc/sys/kernel/numa_balancing_promote_rate_limit_MBps"
    assert f"echo {65536 * read.scale.time // read.scale.memory} >{limit}" in setups["busy"]
    assert f"echo {64 * read.scale.time // read.scale.memory} >{limit}" in setups["limited"]
    for name, setting in RECLAIM.items():
        assert [kind for kind, setup in setups.items() if setting in setup] == [name]
        (slow, *_) = cell(description.variant(read, name), CONTENDERS["slow"]).runs
        assert setting in slow.setup
    assert "scan_delay_ms" not in setups["unscaled"] and "scale_time" not in setups["unscaled"]
    assert f"echo {read.scale.delay_ms()} >" in setups["cold"] and read.scale.delay_ms() > 0
    assert "echo 0 >/sys/kernel/debug/sched/numa_balancing/scan_delay_ms" in setups["busy"]


def test_the_script_writes_only_where_there_is_a_file(tmp_path):
    there = tmp_path / "window_ms"
    there.touch()
    script = Scale(512, 20, 64).script(cold=False)
    script = script.replace("/sys/kernel/mm/pghot", str(tmp_path)).replace("/proc/sys", "/none")
    script = script.replace("/sys/kernel/debug", "/none")
    subprocess.run(["sh", "-e", "-c", script], check=True)
    assert there.read_text() == "200\n"
    assert [path.name for path in tmp_path.iterdir()] == ["window_ms"]


def test_how_room_is_made_is_asked_where_dram_is_full():
    """Of stock Linux and of pghot, and with the generations that are as shipped elsewhere."""
    names = {read.name: read for read in description.experiments()}
    for kind in ("apart", "lru"):
        read = names[f"hostile-alternate-{kind}"]
        part = {n for n, one in CONTENDERS.items() if description.take_part(read, one, quick=False)}
        assert read.decides == "full" and part == {"fast", "slow", "stock-2", "pghot-default"}
    config = (paths.ROOT / "configs/base.config").read_text(encoding="utf-8")
    assert "CONFIG_LRU_GEN_ENABLED=y" in config


def test_damon_takes_its_scale_from_the_experiment():
    read = next(read for read in SCALED if read.name == "redis")
    setup = cell(read, CONTENDERS["damon"]).runs[0].setup
    assert setup.index("scale_memory=512 scale_time=20") < setup.index("${scale_time:-1}")
    for name in re.findall(r'put "\S*/(\w+_us|\w+_ms|bytes)" (.*)', setup):
        assert "time" in name[1] or "memory" in name[1], name


def test_a_scale_says_where_it_comes_from():
    for path in description.EXPERIMENTS.glob("*.toml"):
        _, said, scale = path.read_text(encoding="utf-8").partition("[scale]\n")
        assert not said or scale.startswith("# "), path.name


def test_without_a_scale_it_is_the_common_one():
    words = ("gups", "--mib", "256", "--hot-mib", "32", "--cold-mib", "272")
    assert read_scale(None, words) == Scale(512, 20, 528)
    known = {"memory", "time", "data", "processes"}
    table = toml.Table("x", {"memory": 128}, known)
    assert read_scale(table, words) == Scale(128, 20, 528)


@pytest.mark.parametrize(
    "words", [("redis_load", "--keys", "9"), ("readers", "--mib", "48"), ("sockets", "--mib", "16")]
)
def test_what_words_do_not_say_has_to_be_stated(words):
    """Redis has no word for it, and of others --mib is a file's or each thread's."""
    known = {"memory", "time", "data", "processes"}
    problem = f"data.*missing: the words of {words[0]} do not say .* write the MiB there"
    with pytest.raises(LabError, match=problem):
        read_scale(None, words)
    with pytest.raises(LabError, match=f"x: {problem}"):
        read_scale(toml.Table("x", {"memory": 128}, known), words)
    assert read_scale(toml.Table("x", {"data": 40}, known), words) == Scale(512, 20, 40)


def test_one_document_one_scale():
    """What follows the same document stands for as much memory and as long a run."""
    read = {one.name: one.scale for one in SCALED}
    for name in ("sockets", "sockets-mixed"):
        assert read[name].processes == read["graph500"].processes
        assert read[name].data * read[name].memory == pytest.approx(
            read["graph500"].data * read["graph500"].memory, rel=0.01
        )


def test_variants_are_there_by_name_and_where_they_are_asked_for():
    names = {read.name: read for read in description.experiments()}
    assert names["redis-2cpu"].quick and not names["random-anon-cold"].quick
    assert "movepages-4k-busy" not in names
    (read,) = description.experiments("graph500-busy")
    assert read.quick and read.about.endswith("; all CPUs are busy")
    with pytest.raises(LabError, match="unknown experiment 'redis-idle': choose from .*-busy"):
        description.experiments("redis-idle")


def test_where_there_are_no_cpus_but_the_workloads_the_kernel_knows_no_others():
    (read,) = description.experiments("redis-2cpu")
    assert read.variant and not read.variant.hogs and read.about.endswith("no CPUs but its two")
    (run, *_) = cell(read, CONTENDERS["pghot-default"]).runs
    assert "maxcpus=2" in run.cmdline
    (whole,) = description.experiments("redis")
    (run, *_) = cell(whole, CONTENDERS["stock-2"]).runs
    assert not [word for word in run.cmdline if word.startswith("maxcpus")]
    with pytest.raises(LabError, match="graph500 has no variant on two CPUs"):
        description.experiments("graph500-2cpu")


def test_variants_at_full_length_alone_have_one_seed():
    seeds = {read.name: read.seeds for read in description.experiments()}
    assert seeds["redis"] == seeds["redis-2cpu"] == 3
    assert seeds["hostile-alternate"] == 3 and seeds["hostile-alternate-busy"] == 1


def test_a_long_run_stands_for_more_time():
    (short,), (long,) = description.experiments("gups"), description.experiments("gups-long")
    assert long.workload == short.long and long.is_long and not short.is_long
    assert long.scale == short.scale and not long.quick
    known = {read.name for read in description.experiments()}
    names = {read.name for read in description.long_ones()}
    assert "gups-long" in names and not names & known
    (made,) = cell(long, CONTENDERS["stock-2"]).runs
    assert made.limit_s == short.long_times * Run.limit_s
    with pytest.raises(LabError, match="idle has no long form"):
        description.experiments("idle-long")


def test_not_every_contender_is_everywhere():
    whole, (busy,) = description.experiments("redis"), description.experiments("redis-busy")
    narrow = description.experiments("sqlite")
    single = description.experiments("hostile-stride")

    def part(read, *, quick):
        return {n for n, one in CONTENDERS.items() if description.take_part(read, one, quick=quick)}

    few = {"fast", "slow", "stock-2", "pghot-default"}
    asked = {"pghot-default-hint_fault"}
    assert asked == set(whole[0].named) and not narrow[0].named
    # Of these, one source alone is not looked at where no CPU is idle.
    beside = {name for name in asked if CONTENDERS[name].part == "named"}
    assert beside == {"pghot-default-hint_fault"}
    assert part(busy, quick=True) == few | {"off-2"}
    assert part(busy, quick=False) == few | {"off-2"} | beside
    assert part(narrow[0], quick=False) == few | {"best", "off-2"}
    assert not part(single[0], quick=False) & {"off", "off-2", "damon"}
    assert part(whole[0], quick=True) == few | {"best", "off-2"}
    field = {name for name, one in CONTENDERS.items() if one.part not in ("named", "alone")}
    # Redis has a machine with one socket.
    (mixed,) = description.experiments("sockets-mixed")
    assert part(mixed, quick=False) == field
    between = {name for name, one in CONTENDERS.items() if one.balancing == 3}
    assert between == {"stock-3", "pghot-default-3"}
    assert part(whole[0], quick=False) == field - between | asked

    def names(**more):
        made = Matrix([busy], list(CONTENDERS.values()), lambda _: Result(error="no"), **more)
        return {row["contender"] for row in made.run()}

    by_file = functools.partial(description.take_part, quick=False)
    assert names(taking=by_file) == few | {"off-2"} | beside and names() == set(CONTENDERS)


def turning(words):
    """MiB that are hot at a time, and accesses of a thread until others are; None where the
    hot set stays what it is."""
    said = dict(pairwise(words))
    if "--regions" in said:
        return int(said["--region-mib"]), int(said["--accesses"])
    if "--moves" in said:
        return int(said["--hot-mib"]), int(said["--updates"])
    if said.get("--shape") == "alternate":
        return int(said["--hot-mib"]), int(said["--accesses"])
    return None


@pytest.mark.parametrize("read", SCALED, ids=lambda read: read.name)
def test_a_turn_takes_as_long_as_it_says(read):
    """By what the model charges for a miss, and some 40 ns beside. What is hot for how long
    against the hot threshold decides what can be promoted at all."""
    turn = turning(read.workload)
    assert bool(turn) == bool(read.turn)
    if not turn:
        return
    hot, accesses = turn
    machine = machines.load(read.machine)
    assert machine.model and read.turn
    hits = min(1, machine.model.llc / (hot << 20))
    slow = machine.latency_ns[0][int(read.slow)]
    each = 40 + hits * machine.model.llc_hit_ns + (1 - hits) * slow
    assert read.turn.ms == pytest.approx(accesses * each / 1e6, rel=0.15)
    if read.document:
        assert 0.8 < read.turn.here(read.scale) / read.turn.there() < 1.25
        told = f"takes {read.turn.there():.1f} hot thresholds there and "
        assert f"{told}{read.turn.here(read.scale):.1f} here." in read.document.differs
        # In short runs there are fewer of them, and no shorter ones.
        assert not read.quick or turning(read.quick) == turn


def test_turns_are_of_documents_and_grow_with_the_run(tmp_path):
    path = bench_fakes.altered(tmp_path, "regions", "there_ms = 1575\n", "")
    with pytest.raises(LabError, match="regions.toml: turn: has there_ms where there is a doc"):
        description.experiment(path)
    (short,), (long,) = description.experiments("gups"), description.experiments("gups-long")
    assert long.turn and short.turn
    assert long.turn.here(long.scale) == short.long_times * short.turn.here(short.scale)
