# SPDX-License-Identifier: GPL-2.0
import pytest

from pghot import parse
from pghot.tree import clean, number


@pytest.mark.parametrize(
    "text, nodes",
    [
        ("0\n", [0]),
        ("0-2,5\n", [0, 1, 2, 5]),
        ("\n", []),
        ("", []),
        ("2-2", [2]),
        ("3,1", [1, 3]),
        ("0-99999999999", None),
        ("0-5000", None),
        ("2-1", None),
        ("x", None),
        ("1,,2", None),
        ("-1", None),
    ],
)
def test_number_list(text, nodes):
    assert parse.number_list(text) == nodes


def test_counters_counts_bad_lines():
    text = "a 1\nb\nc x\n\nd 2 3\ne 4\n\u0661 5\n"
    assert parse.counters(text) == ({"a": 1, "e": 4}, 4)


def test_node_meminfo():
    text = "Node 0 MemTotal:  10 kB\nNode 0 MemFree: x kB\nNode 0 HugePages_Free: 3\n"
    assert parse.node_meminfo(text) == {"MemTotal": 10240}


def zone_text(free, high, protection="(0, 0)", managed=100):
    return (
        f"Node 0, zone   Normal\n  pages free     {free}\n        high     {high}\n"
        f"        managed  {managed}\n"
        f"        protection: {protection}\n  pagesets\n    cpu: 0\n              high:     9\n"
    )


@pytest.mark.parametrize(
    "free, high, protection, managed, room",
    [
        (11, 10, "(0, 0)", 100, True),
        (10, 10, "(0, 0)", 100, False),
        (20, 10, "(0, 5, 10, 10)", 100, False),
        (21, 10, "(0, 5, 10, 10)", 100, True),
        (21, 10, "(0, 0)", 0, False),
    ],
)
def test_zone_room(free, high, protection, managed, room):
    (zone,) = parse.zones(zone_text(free, high, protection, managed))
    assert (zone.free, zone.high, zone.managed, zone.room()) == (free, high, managed, room)


def test_zones_leaves_out_what_it_cannot_read():
    text = "Node 0, zone DMA\n  pages free x\n" + zone_text(3, 2)
    assert [z.name for z in parse.zones(text)] == ["Normal"]


def test_zones_of_several_nodes_with_many_cpus():
    pagesets = "".join(f"    cpu: {n}\n              high:     9\n" for n in range(300))
    text = "".join(
        f"Node {n}, zone DMA\n  pages free 1\n" + zone_text(n + 20, 2) + pagesets for n in (0, 1)
    )
    text = text.replace("Node 0, zone   Normal", "Node 7, zone   Normal", 1)
    assert [(z.node, z.name, z.free, z.high) for z in parse.zones(text)] == [
        (7, "Normal", 20, 2),
        (0, "Normal", 21, 2),
    ]


@pytest.mark.parametrize(
    "cmdline, value",
    [
        ("quiet pghot=off", ["off"]),
        ("pghot=off pghot=precise", ["off", "precise"]),
        ("quiet -- pghot=off", []),
        ("xpghot=off", []),
        ("", []),
    ],
)
def test_boot_options(cmdline, value):
    assert parse.boot_options(cmdline, "pghot") == value


@pytest.mark.parametrize(
    "stat, state",
    [("7 (a b) S 2", "S"), ("7 (a) R) P 2", "P"), ("", None), ("7 (a)", None), ("garbage", None)],
)
def test_task_state(stat, state):
    assert parse.task_state(stat) == state


@pytest.mark.parametrize(
    "text, value",
    [("12\n", 12), ("-1", -1), ("1_0", None), ("\u0661", None), ("9" * 21, None), ("", None)],
)
def test_number(text, value):
    assert number(text) == value


def test_clean_is_one_short_printable_line():
    assert clean("a\x1b[31m\nb") == "a?[31m?b"
    assert clean("x" * 100) == "x" * 57 + "..."
