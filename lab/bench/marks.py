# SPDX-License-Identifier: GPL-2.0
"""How each contender looks, the same in every picture: pghot first, the stock kernel's own
tiering beside it, all others behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

BOUNDS = ("slow", "fast")
REFERENCE = "stock-2"
"""What Linux does today: pghot is held against it."""
MAIN = (REFERENCE, "off-2", "pghot-default")
"""Contenders that stand for all, beside the bounds, and a control: the second one is like
the first."""

LIGHT = ("#0072b2", "#3f9fd8", "#6a5acd", "#d98200", "#757d86", "#b3589a", "#8f7f00", "#009e73")
DARK = ("#4db2f5", "#9fd4fb", "#b0a4ff", "#ffb340", "#9aa4ae", "#e594cc", "#d8c94a", "#45cfa4")
"""Colours on white and on black, in one order: after Okabe and Ito's palette, which people
who see colours differently can tell apart. Three for pghot, one for REFERENCE, the rest."""

_OURS, _REFERENCE, _OTHERS = range(3), 3, range(4, len(LIGHT))
_SHAPES = ("circle", "diamond", "square", "triangle")


@dataclass(frozen=True)
class Mark:
    """``label`` is the name; ``colour`` counts in LIGHT and DARK; ``rank`` is 0 for pghot, 1 for
    REFERENCE, 2 for others."""

    label: str
    colour: int
    shape: str
    rank: int


def of(names: Sequence[str]) -> dict[str, Mark]:
    """The marks of these contenders; the bounds have none."""
    marks: dict[str, Mark] = {}
    ours = others = 0
    for name in names:
        if name in BOUNDS:
            continue
        if name.startswith("pghot"):
            colour, shape, rank = _OURS[ours % len(_OURS)], _SHAPES[ours % len(_SHAPES)], 0
            ours += 1
        elif name == REFERENCE:
            colour, shape, rank = _REFERENCE, "circle", 1
        else:
            colour = _OTHERS[others % len(_OTHERS)]
            # A colour that comes again has another shape.
            shape, rank = _SHAPES[(others + others // len(_OTHERS)) % len(_SHAPES)], 2
            others += 1
        marks[name] = Mark(name, colour, shape, rank)
    return marks


def headline(names: Sequence[str]) -> str | None:
    """The contender that stands for pghot: the first of them."""
    return next((name for name in names if name.startswith("pghot")), None)
