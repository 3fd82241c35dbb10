# SPDX-License-Identifier: GPL-2.0
"""All of a process's data, page by page, asked often which node each page is on."""

from __future__ import annotations

import base64
import zlib
from collections import Counter
from collections.abc import Collection, Iterable
from itertools import compress

from lab.demo.inside.pages import Watched

_NODE_MAX = 127
"""Above are the errors that the kernel answers with for a page that is on the move."""


def packed(data: bytes) -> str:
    """Bytes as text that is short where neighbours are alike."""
    return base64.b64encode(zlib.compress(data, 1)).decode()


class Memory(Watched):
    """Pages in the order of their addresses, some of them hot."""

    def __init__(self, pid: int, addresses: Iterable[int], hot: Collection[int]) -> None:
        ordered = sorted(addresses)
        super().__init__(pid, ordered)
        wanted = set(hot)
        self.hot = bytes(address in wanted for address in ordered)
        """1 for each page that is hot, 0 for the others."""
        self.hot_count = sum(self.hot)
        self._seen = b""

    def look(self) -> None:
        """Ask the kernel where they are now."""
        self._look()
        # Of each int the lowest byte: -ENOENT and the like become 128 and more.
        self._seen = bytes(self._status)[::4]

    def hot_nodes(self) -> dict[int, int]:
        """Node -> number of the hot pages that were there at the last look()."""
        counts = Counter(compress(self._seen, self.hot))
        return {node: pages for node, pages in counts.items() if node <= _NODE_MAX}

    def picture(self) -> str:
        """Each page's node at the last look(), packed: a byte per page."""
        return packed(self._seen)
