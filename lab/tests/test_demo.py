# SPDX-License-Identifier: GPL-2.0
"""The demonstration: its arithmetic, its files, and a small run of it."""

from __future__ import annotations

import argparse
import json
import os
from array import array
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from lab import cli
from lab.bench import description
from lab.demo import command, measured, page, picture, report, run, summary
from lab.demo.inside import pages, redis
from lab.demo.inside.memory import Memory, packed
from lab.demo.looks import Looks, unpacked
from lab.demo.narrator import Narrator, people
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


@pytest.fixture
def earlier(tmp_path, monkeypatch):
    """What an earlier run left."""
    left = [tmp_path / "result.json", tmp_path / "index.html"]
    for name, path in zip(("RESULT", "PAGE"), left):
        path.write_text("{}")
        monkeypatch.setattr(command, name, path)
    return left


def refuse(*_, **__):
    raise LabError("no")


def equip(monkeypatch):
    """All that the demonstration needs is there, but for what a test takes away."""
    for module, name in (
        (run.programs, "require"),
        (run.programs, "find"),
        (run.qemu, "ensure"),
        (run.qemu, "check_model"),
        (run.build, "ensure"),
    ):
        monkeypatch.setattr(module, name, lambda *_: None)
    monkeypatch.setattr(run.qemu, "accelerator", lambda: argparse.Namespace(name="tcg"))


def test_failed_run_leaves_no_result_of_an_earlier_one(earlier, monkeypatch):
    equip(monkeypatch)
    monkeypatch.setattr(run, "Guest", refuse)
    with pytest.raises(LabError):
        command.run(argparse.Namespace(layout="default"))
    assert not any(path.exists() for path in earlier)


@pytest.mark.parametrize(
    "module, name",
    [
        (run, "load"),
        (run.programs, "require"),
        (run.qemu, "ensure"),
        (run.qemu, "check_model"),
        (run.build, "ensure"),
        (run.qemu, "accelerator"),
    ],
)
def test_a_run_that_cannot_begin_leaves_an_earlier_one_its_result(
    earlier, monkeypatch, module, name
):
    equip(monkeypatch)
    monkeypatch.setattr(run, "Guest", lambda *_: pytest.fail("it booted"))
    monkeypatch.setattr(module, name, refuse)
    with pytest.raises(LabError, match="^no$"):
        command.run(argparse.Namespace(layout="default"))
    assert all(path.exists() for path in earlier)


def test_an_unknown_layout_is_refused_before_anything_is_removed(earlier, capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["demo", "--layout", "foo"])
    assert end.value.code == 2
    assert "choose from 'default', 'precise'" in capsys.readouterr().err
    assert all(path.exists() for path in earlier)
    with pytest.raises(LabError, match="choose default or precise"):
        command.run(argparse.Namespace(layout="foo"))
    assert all(path.exists() for path in earlier)


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
                row("fast", 410_980.4, 1.0),
                row("slow", 3e5, 0.0),
                row("stock-2", 3.8e5, 0.72),
                row("pghot-precise", 3.9e5, 0.9),
            ],
        }
    )
    assert said == (
        "pghot brings Redis from 300,000 to 390,000 keys/s. DRAM alone would give 411,000: "
        "90% of what slow memory costs is recovered, 72% by NUMA balancing alone, "
        "with pghot off."
    )


def test_contenders_run_one_kernel_and_the_stock_way_has_pghot_off():
    field = {contender.name: contender for contender in measured.contenders("precise")}
    assert set(field) == {"fast", "slow", measured.STOCK, "pghot-precise"}
    assert {contender.kernel for contender in field.values()} == {"demo"}
    assert field[measured.STOCK].cmdline == ("pghot=off",)
    assert field[measured.STOCK].balancing == field["pghot-precise"].balancing == 2


@pytest.mark.parametrize(
    "number, text",
    [(0, "0"), (7, "7"), (96.4, "96"), (412.6, "413"), (4121, "4,120"), (503_317, "503,000")],
)
def test_numbers_as_people_write_them(number, text):
    assert people(number) == text


def looks(*seen: tuple[float, list[int]], hot: list[int]) -> Looks:
    """Looks as the guest's program sends them."""
    made = Looks(unpacked(packed(bytes(hot))))
    for seconds, nodes in seen:
        made.add(seconds, unpacked(packed(bytes(nodes))))
    return made


def test_a_page_on_the_move_is_where_it_was():
    made = looks((0, [2, 2, 2, 0]), (0.2, [254, 1, 2, 0]), (0.4, [1, 1, 254, 0]), hot=[1, 1, 0, 0])
    assert made.on([0, 1]).tolist() == [
        [False, False, False, True],
        [False, True, False, True],
        [True, True, False, True],
    ]
    assert made.share([0, 1]) == [0, 0.5, 1]
    with pytest.raises(ValueError, match="3 pages were looked at and not 4"):
        made.add(0.6, unpacked(packed(bytes(3))))


def test_memory_tells_nodes_of_hot_pages(monkeypatch):
    memory = Memory(1, [30, 10, 20, 40], hot=[10, 40])
    assert (memory.hot, memory.hot_count) == (bytes([1, 0, 0, 1]), 2)

    def look(self):
        # As move_pages answers: the page at 40 is on its way.
        self._status[:] = [1, 2, 2, -2]

    monkeypatch.setattr(pages.Watched, "_look", look)
    memory.look()
    assert memory.hot_nodes() == {1: 1}
    assert unpacked(memory.picture()).tolist() == [1, 2, 2, 254]


def test_picture_shows_lines_by_address_and_columns_by_time():
    made = looks(
        (0, [2] * 4), (1, [1, 2, 2, 2]), (2, [1, 2, 1, 2]), (3, [1, 2, 1, 2]), hot=[1, 0, 1, 0]
    )
    whole = slice(0, 4)
    near = picture.rgba(made, [1], 3, pages=whole, lines=4, columns=4)
    # Opaque where a hot page is on the node, transparent where none is.
    assert near[..., 3].tolist() == [[0, 255, 255, 255], [0] * 4, [0, 0, 255, 255], [0] * 4]
    assert tuple(near[0, 1, :3]) == picture.HOT
    far = picture.rgba(made, [2], 3, pages=whole, lines=4, columns=4)
    assert 0 < far[1, 0, 3] < 255 and tuple(far[1, 0, :3]) == picture.COLD
    # Two pages in a line: the share of the hot ones.
    both = picture.rgba(made, [1], 3, pages=whole, lines=1, columns=4)
    assert both[0, :, 3].tolist() == [0, 128, 255, 255]
    assert picture.rgba(made, [1], 9, pages=whole, lines=1, columns=9)[0, -1, 3] == 255
    assert picture.png(near).startswith("data:image/png;base64,")


def test_close_up_has_the_usual_share_of_hot_pages():
    hot = looks(hot=[0] * 40 + [1, 0, 0, 0] * 10 + [0] * 80).hot
    assert picture.close_up(hot, 40).start % 10 == 0
    assert 1 <= hot[picture.close_up(hot, 40)].sum() <= 3
    assert picture.close_up(hot[:3], 40) == slice(0, 3)


@pytest.mark.parametrize(
    "until, texts",
    [
        (3, ["0 s", "1 s", "2 s", "3 s"]),
        (0.4, ["0 s", "0.1 s", "0.2 s", "0.3 s", "0.4 s"]),
        (14.2, ["0 s", "5 s", "10 s"]),
    ],
)
def test_axis_has_round_numbers(until, texts):
    marks = page.ticks(until)
    assert [text for _, text in marks] == texts
    assert all(0 <= at <= 1 for at, _ in marks)


def test_curve_is_held_to_the_end():
    short = page.path([(0, 0), (1, 0.5), (2, 1)], 4)
    assert short == "M0.0 300.0 L250.0 150.0 L500.0 0.0 L1000.0 0.0"
    long = page.path([(0, 0), (1, 0.5), (8, 1)], 2)
    assert long == "M0.0 300.0 L500.0 150.0 L1000.0 150.0"


class _Outline(HTMLParser):
    """Tags that are open, and all that the page takes from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.sources: list[str] = []
        self.images = 0

    def handle_starttag(self, tag, attrs):
        if tag not in ("meta", "img"):
            self.open.append(tag)
        self.images += tag == "img"
        self.sources += [value for name, value in attrs if name in ("src", "href")]

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_page_needs_nothing_else_and_says_what_was_gained(tmp_path):
    names = ("fast", "slow", measured.STOCK, "pghot-default")
    timeline = [{"ms": ms, "pages": [ms, 200 - ms], "miss_ns": 100} for ms in (50, 100, 150, 200)]
    rows = [
        row(name, score, recovered)
        | {"machine": "dram-cxl", "seconds": 3.8, "promoted": 9000, "demoted": 0}
        | {"kernel_seconds": 0.2, "timeline": timeline}
        for name, score, recovered in zip(names, (5.1e5, 4.3e5, 4.9e5, 5e5), (1, 0, 0.84, 0.92))
    ]
    result = {
        "machine": "three-node",
        "kernel": "7.3.4",
        "redis": "7.0",
        "keys": 24000,
        "hot_keys": 2400,
        "settings": {"limit": 120.0},
        "fast_nodes": [0, 1],
        "slow_node": 2,
        "measured": {"machine": "dram-cxl", "rows": rows},
    }
    hot = [1, 0, 0, 0] * 500
    begin, end = [2] * 2000, [1 if one else 2 for one in hot]
    sides = {
        "stock": looks((0, begin), (0.2, begin), (0.4, end), hot=hot),
        "pghot": looks((0, begin), (0.2, end), hot=hot),
    }
    where = tmp_path / "demo" / "index.html"
    page.write(result, sides, where)
    text = where.read_text(encoding="utf-8")
    outline = _Outline()
    outline.feed(text)
    assert not outline.open and outline.images == 8
    assert all(source.startswith("data:") for source in outline.sources)
    assert "<h1>pghot brings Redis from 430,000 to 500,000 keys/s." in text
    assert page.STOCK in text and "e+05" not in text
    assert "at the last look, after 0.4 s" in text and "at the last look, after 0.2 s" in text
    assert "after <b>0.4 s</b>" in text and "after <b>0.2 s</b>" in text
    assert "prefers-color-scheme: dark" in text


@pytest.mark.vm
def test_redis_in_guest_time():
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
    result = measured.perform("default", build.ensure("demo").bzimage, Narrator(1), small)
    fast, slow, stock, ours = result["rows"]
    assert fast["seconds"] < slow["seconds"]
    assert fast["recovered"] == 1 and slow["recovered"] == 0
    assert ours["contender"] == "pghot-default" and ours["error"] is None
    assert stock["contender"] == measured.STOCK and stock["error"] is None
    bad = replace(small, packages=())
    with pytest.raises(
        LabError,
        match="Redis could not be measured: fast: the workload "
        "failed with status 1: redis-server did not start",
    ):
        measured.perform("default", build.ensure("demo").bzimage, Narrator(1), bad)
