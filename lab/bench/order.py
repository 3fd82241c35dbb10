# SPDX-License-Identifier: GPL-2.0
"""Whether another memory model puts contenders in another order, and by how much they are apart
with each."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import fmean

from lab.bench import figures, marks, resolution
from lab.bench.resolution import LEAST


@dataclass(frozen=True)
class Lead:
    """R of one contender less that of another: the mean, the lowest and the highest of the
    seeds, each with the same random numbers. Who differ by less than ``least`` look alike; so do
    those that have no more than one seed, as then nobody knows what chance makes."""

    mean: float
    low: float
    high: float
    least: float = LEAST
    seeds: int = 1

    @property
    def side(self) -> int:
        """Who is ahead: 1 or -1, or 0 where that is not told. It is where seeds
        do not agree, where there is but one, or both look alike."""
        if self.seeds < 2 or abs(self.mean) < self.least:
            return 0
        return 1 if self.low > 0 else -1 if self.high < 0 else 0

    def __str__(self) -> str:
        def signed(value: float) -> str:
            return figures.figure(value, "+.2f")

        return f"{signed(self.mean)} ({signed(self.low)}..{signed(self.high)})"


def lead(row: dict, other: dict, least: float = LEAST) -> Lead | None:
    """Of a row before another one of the same experiment and model, by the seeds that both have;
    None where either has no R."""
    if row["recovered"] is None or other["recovered"] is None:
        return None
    seeds = zip(row.get("recovered_by_seed") or [], other.get("recovered_by_seed") or [])
    known = [a - b for a, b in seeds if a is not None and b is not None]
    mean = fmean(known) if known else row["recovered"] - other["recovered"]
    return Lead(mean, min(known, default=mean), max(known, default=mean), least, len(known))


ALIKE = "alike"
UNKNOWN = "not known"
STANDINGS = ("ahead", ALIKE, "behind", UNKNOWN)
"""How one contender stands before another, as pghot before the stock kernel at its best."""


def standing(ahead: Lead, *, resolved: bool) -> str:
    """One of STANDINGS. Alike is also where seeds do not agree. Where no control says what chance
    makes, or one seed is further apart than the control, it is not known."""
    if not resolved:
        return UNKNOWN
    if ahead.side:
        return "ahead" if ahead.side > 0 else "behind"
    return UNKNOWN if ahead.seeds < 2 and abs(ahead.mean) >= ahead.least else ALIKE


def verdict(here: Lead, there: Lead) -> str:
    """Whether who is ahead in one model is so in the other: "same" or "turned"; "ahead" or
    "behind", as pghot is there, where nobody is in the first one; "open" where they are not told
    apart in the other one."""
    if not there.side:
        return "open"
    if not here.side:
        return "ahead" if there.side > 0 else "behind"
    return "same" if here.side == there.side else "turned"


@dataclass(frozen=True)
class Order:
    """pghot and the stock kernel in one experiment, by the name of the model; the first model
    is the one that others are held against."""

    experiment: str
    ours: str
    leads: dict[str, Lead]

    def verdicts(self) -> dict[str, str]:
        """For each other model."""
        (_, first), *others = self.leads.items()
        return {name: verdict(first, there) for name, there in others}

    def _named(self, what: str) -> str:
        """The models with this verdict, each with its lead; empty without any."""
        wanted = [name for name, said in self.verdicts().items() if said == what]
        return ", ".join(f"{name} ({self.leads[name]})" for name in wanted)

    def told(self) -> str:
        """A sentence. Each model in which the one that leads is another one is named."""
        ours, theirs = self.ours, "stock Linux"
        (_, first), *_ = self.leads.items()
        counted = Counter(self.verdicts().values())
        total = sum(counted.values())
        if first.side:
            parts = [f"{ours if first.side > 0 else theirs} is ahead as described"]
            parts.append(f"and with {counted['same']} of {total} other models")
            if counted["open"]:
                parts.append(f"they are not told apart with {counted['open']}")
            turned = self._named("turned")
            parts.append(f"the order turns with {turned}" if turned else "the order never turns")
        else:
            if first.seeds < 2:
                parts = [f"one seed does not say who of {ours} and {theirs} is ahead as described"]
                parts.append(f"nor with {counted['open']} of {total} other models")
            else:
                parts = [f"{ours} and {theirs} are not told apart as described"]
                parts.append(f"nor with {counted['open']} of {total} other models")
            for who, what in ((ours, "ahead"), (theirs, "behind")):
                if named := self._named(what):
                    parts.append(f"{who} is ahead with {named}")
        return f"{self.experiment}: " + ", ".join(parts) + "."


def leads(
    rows: list[dict], one: str | None = None, other: str | None = None
) -> dict[tuple[str, str], Lead]:
    """Of one contender before another, by figures.row_key(), where both have R. They are pghot and
    the stock kernel at its best where they are not named."""
    one = one or marks.headline([row["contender"] for row in rows])
    found = {}
    for key, own in figures.by_key(rows).items():
        least = resolution.of(rows, key) or LEAST
        known = {row["contender"]: row for row in own}
        row, beside = known.get(one or ""), known.get(other) if other else resolution.stock(own)
        ahead = lead(row, beside, least) if row and beside else None
        if ahead is not None:
            found[key] = ahead
    return found


def standings(
    rows: list[dict], one: str | None = None, other: str | None = None
) -> dict[tuple[str, str], str]:
    """How the first of them stands before the other, as in leads()."""
    return {
        key: standing(ahead, resolved=resolution.of(rows, key) is not None)
        for key, ahead in leads(rows, one, other).items()
    }


def orders(rows: list[dict]) -> list[Order]:
    """One for each experiment of these rows that has both pghot and the stock kernel with its
    first model."""
    ours = marks.headline([row["contender"] for row in rows]) or ""
    first: dict[str, str] = {}
    for row in rows:
        first.setdefault(*figures.row_key(row))
    found: dict[str, dict[str, Lead]] = {}
    for (experiment, model), ahead in leads(rows).items():
        found.setdefault(experiment, {})[model] = ahead
    return [
        Order(experiment, ours, own)
        for experiment, own in found.items()
        if first[experiment] in own
    ]
