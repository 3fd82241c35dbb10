# SPDX-License-Identifier: GPL-2.0
"""Charts as SVG text that takes its colours from the page around it."""

from __future__ import annotations

import io
import re

import matplotlib
from matplotlib.figure import Figure

from lab.bench.figures import figure as shown

matplotlib.use("svg")
# The same file from the same data, and text that stays text.
matplotlib.rcParams.update(
    {"svg.hashsalt": "pghot", "svg.fonttype": "none", "font.size": 10, "font.family": "sans-serif"}
)

# Stands for the colour of text in the page, whichever that is.
_INK = "#123456"
# Okabe and Ito's palette, which people who see colours differently can tell apart.
COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#8c8c8c", "#b8a800")


def _figure(width: float, height: float):
    figure = Figure(figsize=(width, height), layout="constrained")
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
    figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    text = text[text.index("<svg") :]
    text = (
        re.sub(r'width="[^"]*" height="[^"]*"', "", text, count=1)
        if 'width="' in text[:400]
        else text
    )
    text = text.replace(_INK, "currentColor")
    return text.replace("<svg", f'<svg role="img" aria-label="{title}"', 1)


def bars(names: list[str], values: list[float | None], title: str) -> str:
    """Recovered shares, one bar each; bounds at 0 and 1 as lines."""
    figure, axes = _figure(7, 0.42 * len(names) + 0.7)
    at = range(len(names))
    axes.barh(
        at,
        [value or 0 for value in values],
        color=[COLOURS[0] if name.startswith("pghot") else COLOURS[6] for name in names],
        height=0.62,
    )
    for y, value in enumerate(values):
        axes.text(
            max(value or 0, 0) + 0.01,
            y,
            "no figure" if value is None else shown(value, ".2f"),
            va="center",
            color=_INK,
            fontsize=9,
        )
    axes.set_yticks(list(at), names)
    axes.invert_yaxis()
    low = min([0.0, *(value for value in values if value is not None)])
    axes.set_xlim(low * 1.1, max([1.0, *(v for v in values if v is not None)]) * 1.12)
    axes.axvline(0, color=_INK, linewidth=0.8)
    axes.axvline(1, color=_INK, linewidth=0.8, linestyle=":")
    return _svg(figure, title)


def lines(
    series: dict[str, list[tuple[float, float | None]]],
    title: str,
    y_label: str,
    bounds: tuple[str, ...] = (),
) -> str:
    """One line each over seconds; ``bounds`` are those to compare with."""
    figure, axes = _figure(7, 2.6)
    number = 0
    for name, points in series.items():
        x = [point[0] for point in points if point[1] is not None]
        y = [point[1] for point in points if point[1] is not None]
        if name in bounds:
            axes.plot(
                x,
                y,
                label=name,
                color=_INK,
                linewidth=0.9,
                linestyle=("--", ":")[bounds.index(name) % 2],
            )
            continue
        axes.plot(x, y, label=name, color=COLOURS[number % len(COLOURS)], linewidth=1.6)
        number += 1
    axes.set_xlabel("seconds of guest time", color=_INK)
    axes.set_ylabel(y_label, color=_INK)
    axes.set_ylim(bottom=0)
    axes.legend(
        frameon=False, labelcolor=_INK, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5)
    )
    return _svg(figure, title)
