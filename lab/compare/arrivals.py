# SPDX-License-Identifier: GPL-2.0
"""When pages arrived in one run, and how that compares with another run."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Arrivals:
    """One run. ``look`` maps a page to the number of the look that first saw it
    in the top tier; ``at`` gives each look's time since the first access in ms."""

    look: dict[int, int]
    at: list[float]

    def ms_until(self, part: float) -> float:
        """Milliseconds until ``part`` (0 to 1) of the promoted pages were there."""
        looks = sorted(self.look.values())
        return self.at[looks[max(0, round(part * len(looks)) - 1)]]


@dataclass(frozen=True)
class Comparison:
    """One side next to the reference.

    ``promoted``, ``missing`` and ``extra`` count pages; of the reference's
    pages, the share ``no_later`` was there at the same look or before, and
    ``one_later`` and ``two_later`` so many looks later at most.
    """

    side: str
    promoted: int
    missing: int
    extra: int
    no_later: float
    one_later: float
    two_later: float
    ms_half: float
    ms_90_percent: float
    ms_all: float


def parse(text: str) -> Arrivals:
    """Read what promote_times prints."""
    at = [int(us) / 1000 for us in re.findall(r"^look \d+ at (\d+)$", text, re.MULTILINE)]
    look = {
        int(page): int(number)
        for page, number in re.findall(r"^page (\d+) look (\d+)$", text, re.MULTILINE)
    }
    return Arrivals(look, at)


def compare(side: str, ours: Arrivals, reference: Arrivals) -> Comparison:
    """Put one run next to the reference."""
    both = reference.look.keys() & ours.look.keys()

    def share(looks: int) -> float:
        within = sum(ours.look[page] <= reference.look[page] + looks for page in both)
        return within / len(reference.look)

    return Comparison(
        side,
        len(ours.look),
        len(reference.look) - len(both),
        len(ours.look) - len(both),
        share(0),
        share(1),
        share(2),
        ours.ms_until(0.5),
        ours.ms_until(0.9),
        ours.ms_until(1),
    )
