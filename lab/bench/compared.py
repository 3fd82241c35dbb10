# SPDX-License-Identifier: GPL-2.0
"""In how many experiments pghot is ahead of the stock kernel, and in which of them that is asked:
those whose data begin in slow memory.

Nothing is summed up over all of them. They are easy and hard ones, and a median goes by which
there are more of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import median

from lab import machines
from lab.bench import description, figures, marks, order, resolution
from lab.bench.description import Experiment


def by_contender(own: Iterable[dict]) -> dict[str, dict]:
    """The rows of one experiment."""
    return {row["contender"]: row for row in own}


def by_experiment(rows: Iterable[dict]) -> dict[str, dict[str, dict]]:
    """The rows of each experiment by their contender."""
    found: dict[str, list[dict]] = {}
    for row in rows:
        found.setdefault(row["experiment"], []).append(row)
    return {experiment: by_contender(own) for experiment, own in found.items()}


def pair(own: dict[str, dict], ours: str | None) -> tuple[dict | None, dict | None]:
    """Of one experiment's rows the stock kernel's, at its best, and pghot's."""
    return resolution.stock(own.values()), own.get(ours or "")


def _begins_slow(experiment: Experiment) -> bool:
    """Whether all its data start where the slow bound has them, off the top tier. "0+" is
    DRAM first, and the rest where there is room."""
    machine = machines.load(experiment.machine)
    slower = {str(node) for node in range(len(machine.nodes)) if node not in machine.top_tier}
    return experiment.start == experiment.slow and set(experiment.start.split(",")) <= slower


def _harms(share: float) -> bool:
    """Beyond what is printed as nothing."""
    return share < -0.005


@dataclass(frozen=True)
class Compared:
    """R of the stock kernel and of pghot in experiments that begin in slow memory, of the so many
    that there are."""

    total: int
    stock: tuple[float, ...] = ()
    ours: tuple[float, ...] = ()
    standings: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    unmoved: tuple[str, ...] = ()
    """Experiments that are not counted, as promotion did not make R of one of both."""
    beside: tuple[str, ...] = ()
    """Those that are not counted, variants among them, in which pghot does harm."""

    def told(self, form: Callable[[float], str]) -> list[str]:
        """The median of each, and from lowest to highest: of experiments of one class."""
        known = [own for own in (self.stock, self.ours) if own]
        told = [f"{form(median(own))}% ({form(min(own))} to {form(max(own))})" for own in known]
        return told or [figures.NONE] * 2

    def part(self) -> str:
        """How many are counted."""
        return f"{len(self.stock)} of {self.total}"

    def counts(self) -> list[str]:
        """In how many of them pghot stands how, in the order of order.STANDINGS."""
        return [str(self.standings.count(name)) for name in order.STANDINGS]

    def stands(self) -> str:
        """The same as a sentence."""
        ahead, alike, behind, unknown = self.counts()
        return (
            f"Of these {len(self.standings)} pghot is ahead of stock Linux at its best in {ahead} "
            f"and behind in {behind}. In {alike} they are not told apart: seeds do not agree, or "
            f"they differ by less than {100 * resolution.LEAST:g} points ({resolution.LEAST} in R) "
            f"or than two builds that do the same. In {unknown} that is not known: they were run "
            "once only, or without a control."
            f"{self._left_out()}"
        )

    def harmed(self) -> str:
        """Where pghot is slower than moving nothing, whoever is ahead; empty if nowhere."""
        own = [name for name, r in zip(self.names, self.ours) if _harms(r)]
        counted, others = (", ".join(f"`{name}`" for name in of) for of in (own, self.beside))
        told = [counted] if counted else []
        if others:
            told.append(f"of those that are not counted, variants among them, {others}")
        return f"Slower with pghot than where nothing moves: {'; '.join(told)}. " if told else ""

    def _left_out(self) -> str:
        """Which are not counted, and why, for who has not heard of R."""
        names = ", ".join(f"`{name}`" for name in self.unmoved)
        why = "where time was won or lost without a page promoted"
        return f" Not counted: {names}, {why}." if names else ""


def compared(
    rows: list[dict], experiments: Sequence[Experiment], decides: str = "", busy: bool = False
) -> Compared:
    """Of all experiments, or of those where that decides (description.DECIDES), or of their
    variants where no CPU is idle."""

    def counts(one: Experiment) -> bool:
        # Variants are no further experiments.
        kind = one.variant.name if one.variant else ""
        wanted = kind in description.NO_SPARE if busy else not kind
        return _begins_slow(one) and wanted and decides in ("", one.decides)

    begin_slow = {one.name for one in experiments if counts(one)}
    known = begin_slow | {one.name for one in description.experiments() if counts(one)}
    ours = marks.headline([row["contender"] for row in rows])
    standings, unmoved = order.standings(rows), resolution.unmoved(rows)
    found, left_out, beside = [], [], []
    for experiment, own in by_experiment(rows).items():
        both = pair(own, ours)
        stock, pghot = (row["recovered"] if row else None for row in both)
        if experiment not in begin_slow or stock is None or pghot is None:
            if pghot is not None and _harms(pghot):
                beside.append(experiment)
            continue
        if all(row in unmoved for row in both):
            left_out.append(experiment)
        else:
            stands = standings.get((experiment, ""), order.UNKNOWN)
            found.append((stock, pghot, stands, experiment))
    told = Compared(len(known), *zip(*found)) if found else Compared(len(known))
    return replace(told, unmoved=tuple(left_out), beside=tuple(beside))
