# SPDX-License-Identifier: GPL-2.0
"""The demonstration: its arithmetic, its files, and a small run of it."""

from __future__ import annotations

import json
import os
from array import array
from dataclasses import replace

import pytest

from lab.bench import description
from lab.demo import command, measured, report, summary
from lab.demo.inside import pages, redis
from lab.demo.narrator import Narrator
from lab.demo.run import Settings, perform
from lab.errors import LabError
from lab.kernel import build


def samples(*counts: int) -> list[dict]:
    """Samples 0.2 s apart with so many hot pages in DRAM."""
    return [
        {"seconds": round(0.2 * (i + 1), 1), "hot_fast": count} for i, count in enumerate(counts)
    ]


def guest_result(**changes) -> dict:
    """What the guest's program says of a run that went well."""
    return {
        "hot_pages": 100,
        "promoted_pages": 98,
        "residency": {"before": {"2": 1000}, "after": {"1": 100, "2": 900}},
        "hot_residency": {"before": {"2": 100}, "after": {"1": 97, "2": 3}},
        "speeds": {"before": [10, 30, 20], "after": [5, 40]},
        "fast_nodes": [0, 1],
        "slow_node": 2,
        "redis_node": 1,
    } | changes


@pytest.mark.parametrize(
    "counts, hot, expected",
    [
        ((10, 89, 90, 100), 100, 0.6),
        ((90,), 100, 0.2),
        ((89, 89), 100, None),
        ((95, 10), 100, 0.2),
        ((), 100, None),
        ((0,), 0, None),
        ((9, 10), 11, 0.4),
    ],
)
def test_seconds_to_is_the_first_sample_that_reaches_the_share(counts, hot, expected):
    assert summary.seconds_to(samples(*counts), hot) == expected


def test_summary_lists_every_node_and_the_median():
    result = summary.summarise(guest_result(), samples(50, 95), [0, 1, 2])
    assert result["residency"] == {
        "before": {"0": 0, "1": 0, "2": 1000},
        "after": {"0": 0, "1": 100, "2": 900},
    }
    assert result["hot_residency"]["after"] == {"0": 0, "1": 97, "2": 3}
    assert result["throughput"] == {"before": 20, "after": 22}
    assert result["seconds_to_90_percent"] == 0.4
    assert summary.problems(result) == []


@pytest.mark.parametrize(
    "changes, counts, said",
    [
        ({"promoted_pages": 0}, (95,), "promoted no page"),
        ({"promoted_pages": 50}, (95,), "promoted only 50"),
        (
            {"hot_residency": {"before": {"2": 100}, "after": {"0": 40, "2": 60}}},
            (95,),
            "only 40 of 100",
        ),
        ({}, (80,), "only 97 of 100"),
        ({"hot_pages": 0}, (), "touched no page"),
    ],
)
def test_a_run_that_shows_nothing_is_a_problem(changes, counts, said):
    result = summary.summarise(guest_result(**changes), samples(*counts), [0, 1, 2])
    assert any(said in problem for problem in summary.problems(result))


def test_result_is_written_whole_or_not_at_all(tmp_path):
    path = tmp_path / "demo" / "result.json"
    report.write({"hot_pages": 3}, path)
    assert json.loads(path.read_text()) == {"hot_pages": 3}
    with pytest.raises(TypeError):
        report.write({"hot_pages": object()}, path)
    assert json.loads(path.read_text()) == {"hot_pages": 3}
    assert os.listdir(path.parent) == ["result.json"]


def test_failed_run_leaves_no_result_of_an_earlier_one(tmp_path, monkeypatch):
    def fail(settings, page):
        raise LabError("no")

    path = tmp_path / "result.json"
    path.write_text("{}")
    monkeypatch.setattr(command, "RESULT", path)
    monkeypatch.setattr(command, "PAGE", tmp_path / "index.html")
    monkeypatch.setattr(command, "perform", fail)
    with pytest.raises(LabError):
        command.run(type("Args", (), {"layout": "default"}))
    assert not path.exists()


@pytest.mark.parametrize("settings", [Settings(machine="nowhere"), Settings(layout="coarse")])
def test_unknown_names_end_before_anything_starts(settings):
    with pytest.raises(LabError, match="choose"):
        perform(settings)


def test_requests_are_in_the_protocol_of_redis():
    assert redis.encode(b"GET", redis.key(7)) == (b"*2\r\n$3\r\nGET\r\n$16\r\nkey:000000000007\r\n")


def test_idle_bitmap_is_set_and_read_whole(tmp_path, monkeypatch):
    bitmap = tmp_path / "bitmap"
    bitmap.write_bytes(bytes(1 << 15))
    monkeypatch.setattr(pages.IdleTracking, "BITMAP", str(bitmap))
    # More than the one page of bitmap that the kernel takes at once.
    pfns = [70, 71, 64 * 1000 + 5]
    idle = pages.IdleTracking(pfns)
    with pytest.MonkeyPatch.context() as patch:
        # A plain file is not to be cut off.
        patch.setattr(
            "builtins.open",
            lambda path, mode, buffering: os.fdopen(os.open(path, os.O_RDWR), "r+b", buffering=0),
        )
        idle.start()
    assert idle.touched(pfns) == set()
    words = array("Q", bitmap.read_bytes())
    assert words[0] == 0 and words[1] == 2**64 - 1 == words[1000] and words[1001] == 0
    words[1] &= ~(1 << 70 - 64)
    bitmap.write_bytes(words.tobytes())
    assert idle.touched(pfns) == {70}


def test_pages_of_this_process_are_found():
    areas = pages.anonymous_areas(os.getpid())
    block = bytearray(b"x" * (8 << 20))
    assert block and areas and all(start < end for start, end in areas)
    assert len(pages.frames(os.getpid())) > 2048


@pytest.mark.vm
@pytest.mark.parametrize("layout", ["default", "precise"])
def test_small_demonstration(layout):
    flavour = "debug" if os.environ.get("PGHOT_DEBUG") else "demo"
    # The load must come round to each key within the hot threshold.
    result = perform(Settings(layout=layout, flavour=flavour, keys=4000, hot_keys=400, seconds=3))
    # More pages than hot keys: each value fills one.
    assert 400 <= result["hot_pages"] < 1500
    assert result["promoted_pages"] >= 0.9 * result["hot_pages"]
    assert 0 < result["seconds_to_90_percent"] <= result["timeline"][-1]["seconds"]
    assert result["layout"] == layout
    # Redis runs on the socket that the slow node is not attached to.
    arrived = result["hot_residency"]["after"]
    assert arrived["1"] > 0.9 * result["hot_pages"] and arrived["0"] == 0
    counters = result["counters"]
    assert counters["pgpromote_success"] == counters["pghot_promoted_pages"]


def row(contender, score, recovered):
    return {"contender": contender, "score": score, "recovered": recovered}


def test_what_was_measured_is_told_in_a_sentence():
    said = measured.told(
        {
            "machine": "dram-cxl",
            "rows": [
                row("fast", 4e5, 1.0),
                row("slow", 3e5, 0.0),
                row("pghot-precise-hint_fault", 3.9e5, 0.9),
            ],
        }
    )
    assert "300,000 keys/s from the slow node, 390,000 with pghot" in said
    assert "90% of what" in said


@pytest.mark.vm
def test_redis_in_guest_time(tmp_path):
    if os.environ.get("PGHOT_DEBUG"):
        pytest.skip("a debug kernel's times say nothing")
    (redis_load,) = description.experiments(measured.EXPERIMENT)
    small = replace(
        redis_load,
        workload=(
            "redis_load",
            "--keys",
            "40000",
            "--requests",
            "6000",
            "--cpus",
            "0,1",
            "--place",
            "{place}",
        ),
    )
    page = tmp_path / "index.html"
    result = measured.perform("default", build.ensure("demo").bzimage, Narrator(1), page, small)
    fast, slow, ours = result["rows"]
    assert fast["seconds"] < slow["seconds"]
    assert fast["recovered"] == 1 and slow["recovered"] == 0
    assert ours["contender"] == "pghot-default-hint_fault" and ours["error"] is None
    assert "<svg" in page.read_text(encoding="utf-8")
    bad = replace(small, packages=())
    with pytest.raises(
        LabError,
        match="Redis could not be measured: fast: the workload "
        "failed with status 1: redis-server did not start",
    ):
        measured.perform("default", build.ensure("demo").bzimage, Narrator(1), page, bad)
