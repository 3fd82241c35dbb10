# SPDX-License-Identifier: GPL-2.0
"""The page that ``make demo`` ends with: one file of HTML that needs nothing else."""

from __future__ import annotations

from pathlib import Path

from lab import page as pages
from lab.bench import description
from lab.demo import measured, picture
from lab.demo.looks import Looks
from lab.demo.narrator import people
from lab.demo.summary import SHARE
from lab.files import write_text
from lab.machines import load

_TEMPLATE = Path(__file__).with_name("memory.html")
STOCK = "NUMA balancing alone (pghot off)"
_SIDES = {"stock": STOCK, "pghot": "pghot"}

_COLUMNS = 480
_LINES = 240
_CLOSE_UP = 96
"""Pages of the close-up, a line each."""
_SETTLED = 0.99
_AFTERWARDS = 1.25
"""How much longer a time line is shown than anything moves."""


def ticks(until: float, most: int = 6) -> list[tuple[float, str]]:
    """(share of the way, text) of round numbers of seconds from 0 to ``until``."""
    steps = (0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200)
    step = next((step for step in steps if until / step < most), until)
    marks = [index * step for index in range(int(until / step + 1e-9) + 1)]
    return [(mark / until, f"{mark:g} s") for mark in marks]


def path(points: list[tuple[float, float]], until: float) -> str:
    """An SVG path through (seconds, share from 0 to 1), in a box of 1000 by 300.

    A curve that ends before ``until`` was followed for as long as it moved, and stays.
    """
    inside = [(x, y) for x, y in points if x <= until]
    inside.append((until, inside[-1][1]))
    return "M" + " L".join(f"{1000 * x / until:.1f} {300 * (1 - y):.1f}" for x, y in inside)


def _settled(points: list[tuple[float, float]]) -> float:
    """When a curve is for the first time nearly where it ends."""
    last = points[-1][1]
    return next(x for x, y in points if y >= _SETTLED * last)


def _end(curves: dict[str, list[tuple[float, float]]]) -> float:
    """How many seconds of them are shown: as long as anything moves, and a bit more."""
    return min(
        max(points[-1][0] for points in curves.values()),
        _AFTERWARDS * max(map(_settled, curves.values())),
    )


def _arrival(looks: Looks, fast: list[int]) -> float | None:
    shares = zip(looks.seconds, looks.share(fast))
    return next((seconds for seconds, share in shares if share >= SHARE), None)


def _panel(name: str, looks: Looks, result: dict, until: float) -> dict:
    """One contender's two boxes: DRAM above, slow memory below."""
    fast, slow = result["fast_nodes"], [result["slow_node"]]
    near = picture.close_up(looks.hot, _CLOSE_UP)
    whole = slice(0, len(looks.hot))

    def boxes(pages: slice, lines: int) -> list[str]:
        lines = min(lines, pages.stop - pages.start)
        return [
            picture.png(
                picture.rgba(looks, nodes, until, pages=pages, lines=lines, columns=_COLUMNS)
            )
            for nodes in (fast, slow)
        ]

    there = looks.on(fast)
    arrived = there[-1] & ~there[0]
    return {
        "name": name,
        "whole": boxes(whole, _LINES),
        "near": boxes(near, _CLOSE_UP),
        "near_pages": near.stop - near.start,
        "pages": len(looks.hot),
        "hot": int(looks.hot.sum()),
        "hot_arrived": int((arrived & looks.hot).sum()),
        "cold_arrived": int((arrived & ~looks.hot).sum()),
        "arrival": _arrival(looks, fast),
        "watched": looks.seconds[-1],
    }


def _in_dram(row: dict) -> list[tuple[float, float]]:
    """(seconds, share) of the pages accessed in each interval that are in DRAM."""
    top = load(row["machine"]).top_tier
    return [
        (entry["ms"] / 1000, sum(entry["pages"][node] for node in top) / sum(entry["pages"]))
        for entry in row["timeline"]
        if any(entry["pages"])
    ]


def _chart(curves: dict[str, list[tuple[float, float]]], until: float) -> dict:
    return {
        "curves": {name: path(points, until) for name, points in curves.items()},
        "ticks": ticks(until),
    }


def _bars(by: dict[str, dict]) -> list[dict]:
    names = (
        ("slow", "All in slow memory"),
        ("stock", STOCK),
        ("pghot", "pghot"),
        ("fast", "All in DRAM"),
    )
    most = max(row["score"] for row in by.values())
    return [
        {
            "side": side,
            "name": name,
            "share": by[side]["score"] / most,
            "score": people(by[side]["score"]),
            "recovered": f"{100 * by[side]['recovered']:.0f}%",
            "row": by[side],
        }
        for side, name in names
    ]


def write(result: dict, looks: dict[str, Looks], where: Path) -> None:
    """Write the page: ``result`` as in result.json, ``looks`` by "stock" and "pghot"."""
    experiment = description.experiments(measured.EXPERIMENT)[0]
    by = measured.by_side(result["measured"])
    fast = result["fast_nodes"]
    shares = {side: list(zip(looks[side].seconds, looks[side].share(fast))) for side in _SIDES}
    lasted = _end(shares)
    curves = {side: [(0.0, 0.0), *_in_dram(by[side])] for side in _SIDES}
    text = pages.render(
        _TEMPLATE,
        said=measured.told(result["measured"]),
        sides=_SIDES,
        panels=[_panel(name, looks[side], result, lasted) for side, name in _SIDES.items()],
        seconds=ticks(lasted),
        lines=_LINES,
        arrivals=_chart(shares, lasted),
        guest_time=_chart(curves, _end(curves)),
        bars=_bars(by),
        result=result,
        experiment={
            "about": experiment.about,
            "command": " ".join(experiment.workload).replace("{place}", experiment.start),
        },
        machines={
            "shown": load(result["machine"]),
            "measured": load(result["measured"]["machine"]),
        },
    )
    write_text(where, text)
