# SPDX-License-Identifier: GPL-2.0
"""What an experiment follows: a document, the figures there, and how long memory was hot there."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

from lab import toml
from lab.bench import scale
from lab.bench.scale import Scale


@dataclass(frozen=True)
class Figure:
    """What a document reports of one contender."""

    contender: str
    text: str


@dataclass(frozen=True)
class Document:
    """Where an experiment comes from, and what was measured there."""

    title: str
    differs: str
    figures: tuple[Figure, ...]
    cold: bool = False

    def names(self, contender: str) -> bool:
        """Whether it says anything of this contender."""
        return any(figure.contender == contender for figure in self.figures)


@dataclass(frozen=True)
class Turn:
    """For how many ms each part of the memory is hot: here, from slow memory, and in the
    document, if there is one.

    What is accessed within the hot threshold after a scan is promoted. So it is the turn
    against that threshold which decides how much can be.
    """

    ms: int
    there_ms: int | None

    def here(self, by: Scale) -> float:
        """How many hot thresholds it takes with that scale."""
        return self.ms / by.hot_ms()

    def there(self) -> float:
        """How many it took in the document."""
        assert self.there_ms is not None
        return self.there_ms / scale.HOT_MS


def _fields(kind: type) -> list[str]:
    return [entry.name for entry in fields(kind)]


def document(table: toml.Table) -> Document:
    """The table of that name."""
    return Document(
        table.take("title", str),
        table.take("differs", str, ""),
        tuple(
            Figure(figure.take("contender", str), figure.take("text", str))
            for figure in table.tables("figures", _fields(Figure), 1)
        ),
        table.take("cold", bool, False),
    )


def turn(table: toml.Table) -> Turn:
    """The table of that name."""
    there = "there_ms" in table
    return Turn(
        table.integer("ms", 1, 1 << 20),
        table.integer("there_ms", 1, 1 << 20) if there else None,
    )


def with_turn(said: Document | None, hot: Turn | None, by: Scale) -> Document | None:
    """A document that also says how its turns differ."""
    if said is None or hot is None:
        return said
    told = f"A turn takes {hot.there():.1f} hot thresholds there and {hot.here(by):.1f} here."
    return replace(said, differs=f"{said.differs} {told}")
