# SPDX-License-Identifier: GPL-2.0
"""Pictures of memory over time: a line per page or group of pages, a column per moment.

A picture is one node's, or that of several: what is elsewhere is transparent, so that it
suits light and dark pages.
"""

from __future__ import annotations

import base64
import io

import numpy
from matplotlib import image

from lab.demo.looks import Looks

HOT = (0xE6, 0x5C, 0x00)
COLD = (0x80, 0x8A, 0x94)
_COLD_ALPHA = 0.35


def _groups(pages: numpy.ndarray, edges: numpy.ndarray) -> numpy.ndarray:
    """Looks by pages -> looks by groups of pages, added up."""
    return numpy.add.reduceat(pages.astype(numpy.int64), edges, axis=1)


def _share(here: numpy.ndarray, of: numpy.ndarray, edges: numpy.ndarray) -> numpy.ndarray:
    """Of each group's pages in ``of``, the share that is ``here``, at each look."""
    whole = _groups(of[None, :], edges)
    return _groups(here & of, edges) / numpy.maximum(whole, 1)


def _columns(looks: Looks, until: float, columns: int) -> numpy.ndarray:
    """Which look each column shows: the last one before it."""
    moments = numpy.linspace(0, until, columns)
    at = numpy.searchsorted(numpy.array(looks.seconds), moments, side="right") - 1
    return numpy.maximum(at, 0)


def rgba(
    looks: Looks, nodes: list[int], until: float, *, pages: slice, lines: int, columns: int
) -> numpy.ndarray:
    """The picture of ``nodes`` from 0 to ``until`` seconds: lines x columns x RGBA.

    ``pages`` says which of them are shown, in ``lines`` groups of about as many each.
    """
    here = looks.on(nodes)[:, pages]
    hot = looks.hot[pages]
    edges = numpy.linspace(0, len(hot), lines + 1).astype(int)[:-1]
    at = _columns(looks, until, columns)
    warm = _share(here, hot, edges)[at].T
    cold = _share(here, ~hot, edges)[at].T * _COLD_ALPHA
    alpha = warm + cold * (1 - warm)
    weight = (warm / numpy.maximum(alpha, 1e-9))[..., None]
    colour = weight * numpy.array(HOT) + (1 - weight) * numpy.array(COLD)
    return numpy.dstack([colour, alpha * 255]).round().astype(numpy.uint8)


def png(pixels: numpy.ndarray) -> str:
    """The picture as a data: address."""
    out = io.BytesIO()
    image.imsave(out, pixels, format="png", metadata={"Software": "pghot"})
    return "data:image/png;base64," + base64.b64encode(out.getvalue()).decode()


def close_up(hot: numpy.ndarray, lines: int) -> slice:
    """The first run of ``lines`` neighbours, of those with the usual share of hot pages."""
    lines = min(lines, len(hot))
    steps = range(0, len(hot) - lines + 1, max(1, lines // 4))
    wanted = hot.mean() * lines
    best = min(steps, key=lambda at: abs(hot[at : at + lines].sum() - wanted))
    return slice(best, best + lines)
