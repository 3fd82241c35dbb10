# SPDX-License-Identifier: GPL-2.0
"""Charts as SVG text that takes its colours from the page around it."""

from __future__ import annotations

import io
import re
from html import escape

import matplotlib
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.bench import marks
from lab.bench.marks import Mark

matplotlib.use("svg")
# The same file from the same data, and text that stays text.
matplotlib.rcParams.update(
    {"svg.hashsalt": "pghot", "svg.fonttype": "none", "font.size": 10, "font.family": "sans-serif"}
)

# Stands for the colour of text in the page, whichever that is.
_INK = "#123456"
_WIDTH, _HEIGHT = 5.2, 3.1
"""In inches: about as wide as a telephone, so that text is not made smaller there."""


def colours(dark: bool) -> str:
    """What a page has to say in its style, of each of its two colour schemes."""
    return " ".join(
        f"--mark-{number}: {colour};"
        for number, colour in enumerate(marks.DARK if dark else marks.LIGHT)
    )


def _figure() -> tuple[Figure, Axes]:
    figure = Figure(figsize=(_WIDTH, _HEIGHT), layout="constrained")
    axes = figure.add_subplot()
    axes.patch.set_alpha(0)
    figure.patch.set_alpha(0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axes.spines[side].set_color(_INK)
    axes.tick_params(colors=_INK, which="both")
    return figure, axes


def _svg(figure: Figure, title: str) -> str:
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    text = out.getvalue()
    text = text[text.index("<svg") :]
    # As wide as the page lets it be.
    text = re.sub(r'<svg([^>]*?) width="[^"]*" height="[^"]*"', r"<svg\1", text, count=1)
    text = text.replace(_INK, "currentColor")
    for number, colour in enumerate(marks.LIGHT):
        text = text.replace(colour, f"var(--mark-{number}, {colour})")
    return text.replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1)


def lines(
    series: dict[str, list[tuple[float, float | None]]],
    known: dict[str, Mark],
    title: str,
    y_label: str,
) -> str:
    """One line per contender over seconds, in the colours of these marks. The bounds have
    none, and are dashed and dotted; pghot and the stock kernel are before all others."""
    figure, axes = _figure()
    for name, points in series.items():
        x = [point[0] for point in points if point[1] is not None]
        y = [point[1] for point in points if point[1] is not None]
        mark = known.get(name)
        if mark is None:
            dashes = (":", "--")[marks.BOUNDS.index(name)]
            axes.plot(x, y, label=name, color=_INK, linewidth=1, linestyle=dashes)
        else:
            axes.plot(
                x,
                y,
                label=mark.label,
                color=marks.LIGHT[mark.colour],
                linewidth=(2, 1.6, 1.1)[mark.rank],
                zorder=5 - mark.rank,
            )
    axes.set_xlabel("seconds of guest time", color=_INK)
    axes.set_ylabel(y_label, color=_INK)
    axes.set_ylim(bottom=0)
    figure.legend(frameon=False, labelcolor=_INK, fontsize=9, loc="outside lower center", ncols=4)
    return _svg(figure, title)
