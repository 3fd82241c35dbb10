# SPDX-License-Identifier: GPL-2.0
"""The workloads of lab/workloads/, run on the host with little work."""

import json
import math
import os
import subprocess
import time
from pathlib import Path

import pytest

from lab.host import programs
from lab.measure import workloads

SMALL = {
    "random": ["--mib", "4", "--accesses", "10000"],
    "regions": ["--cold-mib", "2", "--region-mib", "1", "--accesses", "5000"],
    "graph500": ["--scale", "10"],
    "pmbench": ["--mib", "4", "--accesses", "10000", "--shape", "pareto"],
    "gups": ["--mib", "4", "--hot-mib", "1", "--updates", "10000"],
    "idle": ["--mib", "2", "--cold-mib", "2", "--rare-mib", "1", "--accesses", "10000"],
    "patterns": ["--mib", "8", "--hot-mib", "2", "--accesses", "10000"],
    "readers": ["--mib", "2", "--loops", "3", "--readers", "3"],
    "sockets": ["--mib", "2", "--accesses", "10000"],
    "sqlite": ["--customers", "200", "--orders", "500"],
    "tenants": [
        *("--cgroups", "none", "--server-mib", "4", "--hot-mib", "1"),
        *("--requests", "3000", "--file-mib", "4"),
    ],
}
# These change how the kernel hands out memory, or move it between nodes.
GUEST_ONLY = {"hog", "movepages", "compaction", "redis_load", "probe", "mark", "hmu", "dma", "ibs"}


def run(name, *options, env=None):
    return subprocess.run(
        [workloads.build() / name, *options],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **(env or {})},
    )


def options_of(name, tmp_path):
    reads = name in ("readers", "tenants")
    return [*SMALL[name], *(["--file", str(tmp_path / "f")] if reads else [])]


def test_every_workload_is_tested():
    assert set(workloads.names()) == set(SMALL) | GUEST_ONLY


@pytest.mark.parametrize("name", SMALL)
def test_it_runs_and_verifies(name, tmp_path):
    done = run(name, *options_of(name, tmp_path))
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["workload"] == name and said["verified"] is True
    assert said["compared"] > 0
    assert said["seconds"] > 0 and said["score"] > 0 and said["unit"]


@pytest.mark.parametrize(
    "name, words",
    [
        ("regions", ["--cold-mib", "1", "--region-mib", "1", "--accesses", "10", "--regions"]),
        ("gups", ["--mib", "4", "--hot-mib", "1", "--updates", "10", "--moves"]),
    ],
)
def test_turns_come_in_an_order_by_chance(name, words):
    """By address they would run beside NUMA balancing's scan, which goes by address too."""

    def turns(seed, number):
        detail = json.loads(run(name, *words, str(number), "--seed", str(seed)).stdout)["detail"]
        return detail["first"], detail["last"]

    assert {turns(seed, 2) for seed in range(12)} == {(0, 1), (1, 0)}
    assert len({turns(seed, 40) for seed in range(12)}) > 6
    assert turns(3, 40) == turns(3, 40)


@pytest.mark.parametrize("name", ["gups", "patterns", "pmbench"])
def test_what_is_hot_begins_anywhere(name, tmp_path):
    """A scan begins at the lowest address in each run: what is hot must not always lie at the
    same distance from there."""

    def begins(seed, *words):
        done = run(name, *options_of(name, tmp_path), *words, "--seed", str(seed))
        assert json.loads(done.stdout)["verified"] is True
        return json.loads(done.stdout)["detail"]["first_page"]

    found = [begins(seed, "--mib", "64") for seed in range(8)]
    assert len(set(found)) > 4 and max(found) < 64 * 256
    assert min(found) < 32 * 256 < max(found)
    assert begins(3) == begins(3)


def test_places():
    def place(nodes):
        return run("random", *SMALL["random"], "--place", nodes)

    assert place("0").returncode == 0 and place("0+").returncode == 0
    for wrong in ("0+,1", "x", "64"):
        done = place(wrong)
        assert done.returncode != 0 and "is not a number from 0 to 63" in done.stderr
    # Of whoever uses it; a list has no such word in it.
    assert place("local").returncode == 0
    assert place("0,local").returncode != 0
    # More than this host has: not anywhere else, unless that will do.
    assert "cannot place memory" in place("63").stderr


@pytest.mark.parametrize("name", SMALL)
def test_wrong_data_is_found(name, tmp_path):
    done = run(name, *options_of(name, tmp_path), env={"BENCH_CORRUPT": "1"})
    assert done.returncode == 1
    assert "error" in json.loads(done.stdout)


@pytest.mark.parametrize("name", sorted(set(SMALL) | GUEST_ONLY - {"mark"}))
def test_options(name):
    assert "Usage:" in run(name, "--help").stdout
    wrong = run(name, "--seed", "x")
    assert wrong.returncode != 0
    assert "--seed: 'x' is not a number from 0 to" in wrong.stderr
    assert run(name, "--place", "99").returncode != 0


@pytest.mark.parametrize(
    "name, options, error",
    [
        ("sockets", ["--mib", "1", "--grain-kib", "3"], "--grain-kib: 3 is not a part of 1 MiB"),
        ("sockets", ["--remote", "101"], "--remote: '101' is not a number from 0 to 100"),
        ("graph500", ["--again", "65"], "--again: '65' is not a number from 0 to 64"),
        ("readers", ["--phases", "1,0"], "--phases: 1 to 16 readers"),
        ("readers", ["--phases", "1,7", "--phase-loops", "1"], "as many numbers as --phases"),
        ("pmbench", ["--mib", "4", "--cold-mib", "5"], "--cold-mib: more than the area"),
        ("pmbench", ["--buckets", "65"], "--buckets: '65' is not a number from 0 to 64"),
        ("patterns", ["--shape", "x"], "--shape: 'x' is none of stride, triad, uniform, alternate"),
        (
            "patterns",
            ["--shape", "alternate", "--mib", "8", "--hot-mib", "5"],
            "do not fit into 8 MiB",
        ),
        ("tenants", ["--server-mib", "1", "--hot-mib", "2"], "hot set is larger than the server's"),
        ("random", ["--kind", "x"], "--kind: 'x' is none of anon, file, thp"),
        ("random", ["--mib", "1"], "--mib: '1' is not a number from 2 to 1048576"),
        ("pmbench", ["--writes", "101"], "--writes: '101' is not a number from 0 to 100"),
        ("idle", ["--rare-mib", "3", "--cold-mib", "2"], "more than the 2 MiB of --cold-mib"),
        ("idle", ["--cold-place", "0,y"], "--cold-place: 'y' is not a number from 0 to 63"),
        ("gups", ["--threads", "-1"], "--threads: '-1' is not a number from 1 to 16"),
        ("gups", ["--hot"], "option '--hot-mib' requires an argument"),
    ],
)
def test_a_bad_option_says_what_it_takes(name, options, error):
    done = run(name, *options)
    assert done.returncode != 0
    assert error in done.stderr


@pytest.mark.parametrize("shape, share", [("pareto", 0.8), ("uniform", 0.2)])
def test_where_pmbench_goes(shape, share):
    said = json.loads(run("pmbench", "--shape", shape, "--mib", "4", "--accesses", "10").stdout)
    assert said["detail"]["first_fifth"] == pytest.approx(share, abs=0.005)


QUANTILES = [0.5 * (1 + math.erf((i / 8 - 0.5) * 8 / math.sqrt(2))) for i in range(9)]


@pytest.mark.parametrize(
    "shape, ends", [("normal", QUANTILES), ("uniform", [i / 8 for i in range(9)])]
)
def test_what_pmbench_accesses(shape, ends):
    """What the threads really do, part by part, against the distribution's own function:
    four standard deviations of the normal one each way span the area."""
    done = run("pmbench", "--shape", shape, "--mib", "4", "--accesses", "100000", "--buckets", "8")
    counts = json.loads(done.stdout)["detail"]["counts"]
    assert sum(counts) == 4 * 100000
    for got, low, high in zip(counts, ends, ends[1:]):
        want = (high - low) * 4 * 100000
        # What lies beyond four deviations is put at the ends.
        assert got == pytest.approx(want, rel=0.03, abs=60), (shape, counts)


def test_a_result_that_nothing_was_compared_for_is_not_verified(tmp_path):
    source = tmp_path / "none.c"
    source.write_text(
        '#include "workload.h"\n'
        "int main(int argc, char **argv)\n{\n"
        "\tif (argc > 1)\n\t\tworkload_verified(3);\n"
        '\tworkload_result(1, 1, *argv ? "s" : "", "%s", "");\n\treturn 0;\n}\n',
        encoding="utf-8",
    )
    program = tmp_path / "none"
    library = workloads.SOURCE / "lib"
    subprocess.run(
        ["cc", "-D_GNU_SOURCE", f"-I{library}", "-o", program, source, library / "result.c"],
        check=True,
    )
    for words, verified in (([], False), (["x"], True)):
        done = subprocess.run([program, *words], capture_output=True, text=True, check=True)
        assert json.loads(done.stdout)["verified"] is verified


def test_no_workload_says_of_itself_that_it_is_verified():
    """It is a result of comparing: of at least one place in each program."""
    for path in workloads.SOURCE.glob("*.c"):
        text = path.read_text(encoding="utf-8")
        if "workload_result(" in text:
            assert "workload_verified(" in text or "lines_verify(" in text, path.name
        assert '"verified' not in text.replace("\\", ""), path.name


def test_huge_pages_are_there_or_it_fails():
    done = run("random", "--kind", "thp", "--mib", "8", "--accesses", "1000")
    said = json.loads(done.stdout)
    if done.returncode:
        # A host that has none to give.
        assert "huge pages" in said["error"]
    else:
        assert said["detail"]["huge_mib"] == 8


@pytest.mark.parametrize("threads", ["1", "3", "4"])
def test_searches_reach_the_same_however_the_graph_is_divided(threads):
    small = ["--scale", "9", "--searches", "8", "--again", "8", "--threads", threads]
    said = json.loads(run("graph500", *small).stdout)
    assert said["verified"] and said["detail"]["edges"] == 16 << 9
    # Both ends of each edge, once for each search that reaches it.
    assert said["compared"] > 8 * (16 << 9)


def test_phases_of_readers(tmp_path):
    words = ["--mib", "2", "--phases", "1,7,1", "--phase-loops", "3,1,2", "--keep"]
    done = run("readers", *words, "--file", str(tmp_path / "f"))
    phases = json.loads(done.stdout)["detail"]["phases"]
    assert [(p["readers"], p["loops"]) for p in phases] == [(1, 3), (7, 1), (1, 2)]
    assert all(p["seconds_a_loop"] > 0 for p in phases)


@pytest.mark.parametrize("shape", ["stride", "triad", "uniform", "alternate"])
def test_patterns(shape):
    words = [*SMALL["patterns"], "--shape", shape]
    said = json.loads(run("patterns", *words).stdout)
    assert said["verified"] and said["detail"]["shape"] == shape
    hot = {"stride": 8 // 2 * 32, "alternate": 2 * 2 * 256}
    assert said["detail"]["hot_pages"] == hot.get(shape, 0)
    assert "error" in json.loads(run("patterns", *words, env={"BENCH_CORRUPT": "1"}).stdout)


def test_requests_to_redis(tmp_path):
    """Each value that is asked for is compared, whatever the batches."""
    (tmp_path / "redis-server").symlink_to(programs.find("redis-server"))
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    for batch in ("1", "4", "7"):
        words = ["--keys", "1000", "--requests", "50", "--sets", "0", "--batch", batch]
        done = run("redis_load", *words, env=env)
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["compared"] == 50 * 32


def test_each_tenant_has_its_figure(tmp_path):
    done = run("tenants", *options_of("tenants", tmp_path))
    server, scan = json.loads(done.stdout)["detail"]["tenants"]
    assert server["name"] == "server" and scan["name"] == "scan"
    assert 0 < server["p50_us"] <= server["p99_us"] <= server["p999_us"]
    # The median is about what the mean says.
    assert server["p50_us"] < 2e6 / server["score"]
    assert scan["score"] > 0 and scan["unit"] == "MB/s"
    alone = json.loads(run("tenants", *options_of("tenants", tmp_path), "--alone").stdout)
    assert [tenant["name"] for tenant in alone["detail"]["tenants"]] == ["server"]


def test_help_shows_the_defaults():
    shown = " ".join(run("random", "--help").stdout.split())
    assert "what is accessed: one of anon, file, thp (default: anon)" in shown
    assert "of each thread (default: 8000000)" in shown
    assert "of --kind file (default: /mnt/random)" in shown


def user_seconds(pid):
    """CPU time that a process had."""
    after_name = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2]
    return int(after_name.split()[11]) / os.sysconf("SC_CLK_TCK")


def hogged(tmp_path, *words):
    """What the hog says of its measured part, in which it had some CPU time."""
    begin, end = tmp_path / "begin", tmp_path / "end"
    begin.write_text("0", encoding="ascii")
    end.unlink(missing_ok=True)
    command = [workloads.build() / "hog", "--begin", begin, "--end", end, *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as hog:
        with pytest.raises(subprocess.TimeoutExpired):
            hog.wait(0.2)
        assert user_seconds(hog.pid) < 0.1
        begin.write_text("1", encoding="ascii")
        deadline = time.monotonic() + 60
        while user_seconds(hog.pid) < 0.5 and time.monotonic() < deadline:
            with pytest.raises(subprocess.TimeoutExpired):
                hog.wait(0.1)
        end.touch()
        said = json.loads(hog.communicate(timeout=30)[0])["hog"]
    assert hog.returncode == 0 and 0 < said["seconds"] < 90
    return said


def test_the_hog_counts_what_it_does_until_the_end(tmp_path):
    said = hogged(tmp_path, "--cpus", "0")
    assert said["cpus"] == 1 and said["instructions"] > 0
    assert said["idle_cpus"] == said["idle_instructions"] == 0
    done = run("hog", "--begin", str(tmp_path / "none"))
    assert done.returncode == 1 and "cannot read" in done.stderr


def test_a_hog_that_gives_way_has_what_others_leave(tmp_path):
    """And is counted by itself, beside others and alone."""
    said = hogged(tmp_path, "--cpus", "0", "--idle-cpus", "0")
    assert said["cpus"] == said["idle_cpus"] == 1
    # A fifth of what others get if these are as nice as they can be, and far less if not.
    assert said["idle_instructions"] < said["instructions"] / 2
    alone = hogged(tmp_path, "--idle-cpus", "0")
    assert alone["cpus"] == alone["instructions"] == 0
    assert alone["idle_cpus"] == 1 and alone["idle_instructions"] > 0


def test_a_hog_that_gives_way_lets_others_begin_at_once():
    """With lazy preemption, what wakes waits until the hog is in the kernel: at most as long
    as a few thousand instructions take, and not for a tick."""
    text = (workloads.SOURCE / "hog.c").read_text(encoding="utf-8")
    gives_way = text.partition("static void work_idle(")[2].partition("\n}\n")[0]
    assert "SCHED_IDLE" in gives_way and "syscall(" in gives_way.partition("for (;;)")[2]
