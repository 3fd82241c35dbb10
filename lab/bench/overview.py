# SPDX-License-Identifier: GPL-2.0
"""One picture of where each contender stands: a row per experiment, between the bounds.

It is drawn by hand and not by matplotlib, as its text has to stay readable at the width
of a telephone, and its colours have to follow the reader's: it carries its own style.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from lab.bench import marks, resolution
from lab.bench.compared import by_experiment
from lab.bench.figures import share
from lab.bench.marks import Mark

TITLE = "How much of the slow memory's cost is recovered"

MAIN = (
    "redis", "redis-2cpu", "graph500", "graph500-busy", "sockets-mixed", "random-anon",
    "random-anon-busy", "regions", "pmbench-normal", "gups-full",
    "gups-full-busy", "hostile-alternate", "tenants", "readers-1", "readers-7", "idle",
)  # fmt: skip
"""Experiments that stand for all in the README: of each class in which other code decides (the
document has the table), some without an idle CPU, and one that has all it needs. Of the others
the README names those in which pghot is behind stock Linux, or slower than where nothing moves."""

_WIDTH = 680
_LEFT, _RIGHT = 204, 524
"""Where the scale begins and ends."""
_COLUMNS = (592, 664)
"""Where the figures of pghot and of the stock kernel, at its best, end."""
_ROW, _LEGEND_ROW, _LEGEND_COLUMNS = 32, 24, 3
_WORST, _BEST = -0.35, 1.15
"""What is beyond is drawn at the edge, with an arrow; the figure beside it is true."""

_STYLE = """
.pg { font: 15px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1b1f24; }
.pg .card { fill: #fff; stroke: #d4d8dd; } .pg .dim { fill: #5b6570; }
.pg .small { font-size: 13px; } .pg .title { font-size: 17px; font-weight: 600; }
.pg .num { text-anchor: end; font-variant-numeric: tabular-nums; } .pg .ours { font-weight: 700; }
.pg .grid { stroke: #d4d8dd; stroke-width: 1; } .pg .bound { stroke: #5b6570; stroke-width: 1.2; }
.pg .harm { fill: #c62828; fill-opacity: .09; } .pg .bad { fill: #b3261e; }
.pg .mid { text-anchor: middle; } .pg .open { fill: #fff; stroke-width: 1.8; }
.pg a { text-decoration: none; } .pg a:hover .name { text-decoration: underline; }
%(light)s
@media (prefers-color-scheme: dark) {
.pg { fill: #e6e8ea; } .pg .card { fill: #14171a; stroke: #363c42; } .pg .dim { fill: #9aa4ae; }
.pg .grid { stroke: #363c42; } .pg .bound { stroke: #9aa4ae; } .pg .open { fill: #14171a; }
.pg .harm { fill: #ff6b60; fill-opacity: .14; } .pg .bad { fill: #ff8a80; }
%(dark)s
}
@media (max-width: 520px) {
.pg { font-size: 20px; } .pg .small { font-size: 18px; } .pg .title { font-size: 22px; }
.pg .mark { transform: scale(1.4); }
}
"""


def _colours(colours: Sequence[str]) -> str:
    return "\n".join(
        f".pg .f{n} {{ fill: {colour}; }} .pg .s{n} {{ stroke: {colour}; }}"
        for n, colour in enumerate(colours)
    )


STYLE = _STYLE % {"light": _colours(marks.LIGHT), "dark": _colours(marks.DARK)}


@dataclass(frozen=True)
class _Scale:
    """From shares to places."""

    low: float
    high: float

    def x(self, value: float) -> float:
        """The place of a share; of one off the scale, the edge."""
        inside = min(max(value, self.low), self.high)
        return _LEFT + (_RIGHT - _LEFT) * (inside - self.low) / (self.high - self.low)


def _shape(mark: Mark) -> str:
    """Around 0, 0: filled where it is what one looks for, hollow where it is what else is there."""
    size = (6.5, 5.5, 4)[mark.rank]
    style = f'class="{f"f{mark.colour}" if mark.rank < 2 else f"open s{mark.colour}"}"'
    if mark.shape == "circle":
        return f'<circle r="{size}" {style}/>'
    if mark.shape == "square":
        return f'<rect x="{-size}" y="{-size}" width="{2 * size}" height="{2 * size}" {style}/>'
    wide = 1.25 * size
    points = {
        "diamond": f"0,{-wide} {wide},0 0,{wide} {-wide},0",
        "triangle": f"0,{-wide} {wide},{size} {-wide},{size}",
    }[mark.shape]
    return f'<polygon points="{points}" {style}/>'


def _placed(mark: Mark, x: float, y: float, told: str) -> str:
    return (
        f'<g transform="translate({x:.1f} {y:.1f})"><g class="mark">'
        f"<title>{escape(told)}</title>{_shape(mark)}</g></g>"
    )


def _text(x: float, y: float, text: str, style: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{style}">{escape(text)}</text>'


def _legend(known: dict[str, Mark], top: float) -> list[str]:
    step = (_WIDTH - 24) / _LEGEND_COLUMNS
    parts = []
    for number, mark in enumerate(sorted(known.values(), key=lambda mark: mark.rank)):
        x = 24 + step * (number % _LEGEND_COLUMNS)
        y = top + _LEGEND_ROW * (number // _LEGEND_COLUMNS)
        style = "small ours" if mark.rank == 0 else "small" if mark.rank == 1 else "small dim"
        parts += [_placed(mark, x, y, mark.label), _text(x + 13, y + 5, mark.label, style)]
    return parts


def _row(
    experiment: str,
    shares: dict[str, float],
    stock: float | None,
    known: dict[str, Mark],
    scale: _Scale,
    y: float,
    links: bool,
) -> str:
    zero, one = scale.x(0), scale.x(1)
    parts = [
        _text(16, y + 5, experiment, "name"),
        f'<path class="grid" d="M{zero:.1f} {y}H{one:.1f}"/>',
    ]
    # pghot above the line and the others on or below it: what is equal hides nothing.
    for name in sorted(shares, key=lambda name: -known[name].rank):
        mark, value = known[name], shares[name]
        lift = (-6, 6, 1)[mark.rank]
        told = f"{experiment}, {mark.label}: {share(value)}"
        parts.append(_placed(mark, scale.x(value), y + lift, told))
        if not scale.low <= value <= scale.high:
            edge, arrow = (_LEFT - 14, "◂") if value < 0 else (_RIGHT + 14, "▸")
            parts.append(
                _text(edge, y + lift + 5, arrow, "small mid bad" if value < 0 else "small mid")
            )
    ours = shares.get(marks.headline(list(known)) or "")
    for x, figure, style in zip(_COLUMNS, (ours, stock), ("num ours", "num")):
        parts.append(_text(x, y + 5, share(figure), style))
    row = "".join(parts)
    return f'<a href="#{escape(experiment)}">{row}</a>' if links else row


def draw(
    rows: list[dict],
    caption: str = "",
    only: Sequence[str] = (),
    title: str = TITLE,
    links: bool = False,
) -> str | None:
    """The picture as SVG; None where no row has a share. It shows those of ``only`` that are
    there, in that order, or all where none of them is. With ``links`` each row is one to
    the part of the page that has the experiment's name as its id."""
    shares: dict[str, dict[str, float]] = {}
    for row in rows:
        if row["recovered"] is not None and row["contender"] not in marks.BOUNDS:
            shares.setdefault(row["experiment"], {})[row["contender"]] = row["recovered"]
    if not shares:
        return None
    stock = {name: resolution.stock(own.values()) for name, own in by_experiment(rows).items()}
    best = {name: row["recovered"] for name, row in stock.items() if row}
    experiments = [name for name in only if name in shares] or list(shares)
    order = dict.fromkeys(row["contender"] for row in rows)
    known = {
        name: mark
        for name, mark in marks.of(list(order)).items()
        if any(name in shares[experiment] for experiment in experiments)
    }
    values = [value for name in experiments for value in shares[name].values()]
    scale = _Scale(max(min(-0.15, *values, 0), _WORST), min(max(1.05, *values, 0), _BEST))

    legend = 60
    head = legend + _LEGEND_ROW * (-(-len(known) // _LEGEND_COLUMNS)) + 14
    first = head + 28
    bottom = first + _ROW * (len(experiments) - 1) + 20
    height = bottom + (26 if caption else 0) + 10
    zero, one = scale.x(0), scale.x(1)
    parts = [
        f'<rect class="card" x=".5" y=".5" width="{_WIDTH - 1}" height="{height - 1}" rx="8"/>',
        _text(16, 32, title, "title"),
        *_legend(known, legend),
        f'<path class="harm" d="M{_LEFT} {head + 8}H{zero:.1f}V{bottom}H{_LEFT}z"/>',
        _text(_LEFT, head, "harm", "small bad") if zero - _LEFT > 60 else "",
        _text(zero, head, "slow", "small dim mid"),
        _text(one, head, "fast", "small dim mid"),
        f'<path class="grid" d="M{scale.x(0.5):.1f} {head + 8}V{bottom}"/>',
        *(f'<path class="bound" d="M{x:.1f} {head + 8}V{bottom}"/>' for x in (zero, one)),
    ]
    for x, name, style in zip(_COLUMNS, ("pghot", "stock"), ("small num ours", "small num dim")):
        parts.append(_text(x, head, name, style))
    parts += [
        _row(name, shares[name], best.get(name), known, scale, first + _ROW * number, links)
        for number, name in enumerate(experiments)
    ]
    if caption:
        parts.append(_text(16, height - 14, caption, "small dim"))
    body = "\n".join(part for part in parts if part)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="pg" viewBox="0 0 {_WIDTH} {height}"'
        f' role="img" aria-label="{escape(title)}">\n<style>{STYLE}</style>\n{body}\n</svg>\n'
    )


def standalone(rows: list[dict], caption: str) -> str | None:
    """The picture as a file of its own: for a document, in which nothing can be clicked. It
    says how many experiments are not in it."""
    bounded = dict.fromkeys(row["experiment"] for row in rows if row["recovered"] is not None)
    shown = sum(name in MAIN for name in bounded)
    if 0 < shown < len(bounded):
        caption = f"{shown} of {len(bounded)} experiments. {caption}"
    picture = draw(rows, caption, MAIN)
    return picture and "<!-- SPDX-License-Identifier: GPL-2.0 -->\n" + picture
