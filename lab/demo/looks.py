# SPDX-License-Identifier: GPL-2.0
"""Where each page of Redis was, look by look, as the guest's program tells it."""

from __future__ import annotations

import base64
import zlib

import numpy

_MOVING = 128


def unpacked(text: str) -> numpy.ndarray:
    """Bytes that lab/demo/inside/memory.py packed."""
    return numpy.frombuffer(zlib.decompress(base64.b64decode(text)), numpy.uint8)


class Looks:
    """Pages in the order of their addresses, and the node of each at several times."""

    def __init__(self, hot: numpy.ndarray) -> None:
        self.hot = hot.astype(bool)
        """Whether each page is hot."""
        self.seconds: list[float] = []
        """When they were looked at, since tiering was switched on."""
        self._nodes: list[numpy.ndarray] = []

    def add(self, seconds: float, nodes: numpy.ndarray) -> None:
        """One more look: the node of each page; 128 or more is one on the move, which is
        taken to be where it was."""
        if len(nodes) != len(self.hot):
            raise ValueError(f"{len(nodes)} pages were looked at and not {len(self.hot)}")
        if self._nodes:
            nodes = numpy.where(nodes < _MOVING, nodes, self._nodes[-1])
        self.seconds.append(seconds)
        self._nodes.append(nodes)

    def on(self, nodes: list[int]) -> numpy.ndarray:
        """Looks by pages: whether it was on one of ``nodes``."""
        return numpy.isin(numpy.array(self._nodes), nodes)

    def share(self, nodes: list[int]) -> list[float]:
        """At each look, the share of the hot pages that were on ``nodes``."""
        return [float(look[self.hot].mean()) for look in self.on(nodes)]
