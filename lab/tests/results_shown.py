# SPDX-License-Identifier: GPL-2.0
"""What the pages show of measured runs: the tables that commands wrote, and the prose beside."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

from lab import paths
from lab.bench import description

PAGES = ("README.md", "docs/bench.md", "docs/model.md")
"""Those with tables."""
_BLOCK = re.compile(r"<!-- begin: .*?<!-- end -->", re.DOTALL)
_HAND = "Why they differ:"
"""What follows in a block is written by hand, in experiments' files."""

Table = dict[str, dict[str, str]]


def page(name: str) -> str:
    """Its text."""
    return (paths.ROOT / name).read_text(encoding="utf-8")


def written(name: str) -> str:
    """What commands wrote to a page."""
    return "\n\n".join(block.partition(_HAND)[0] for block in _BLOCK.findall(page(name)))


def by_hand(name: str) -> list[str]:
    """Paragraphs, items and headings of a page that no command has written, white space folded,
    without tables and code."""
    text = re.sub(r"^```.*?^```", "", _BLOCK.sub("", page(name)), flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^(?: {4}.*|\|.*)$", "", text, flags=re.MULTILINE)
    parts = [" ".join(part.split()) for part in re.split(r"\n\n|\n(?=#|- |\d+\. )", text)]
    return [part for part in parts if part]


def _tables(name: str) -> Iterator[list[list[str]]]:
    for text in re.findall(r"(?:^\|.*\n)+", written(name), re.MULTILINE):
        yield [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]


def table(title: str, name: str = "docs/bench.md", keys: int = 1) -> Table:
    """Lines of the table that begins with this title, by the first word of their first cell, or
    by those of so many; each by the title of its column."""
    for head, _, *lines in _tables(name):
        if head[0] == title:
            return {
                " ".join(re.findall(r"[\w-]+", cell)[0] for cell in line[:keys]): dict(
                    zip(head, line)
                )
                for line in lines
            }
    raise AssertionError(f"{name} has no table of {title}")


def number(cell: str) -> float | None:
    """The first figure of a cell; None for a dash."""
    found = re.search(r"-?\d[\d,]*(?:\.\d+)?", cell)
    return float(found[0].replace(",", "")) if found else None


def values(title: str) -> dict[str, dict[str, float]]:
    """The figures of a table of bench.md, without dashes."""
    return {
        experiment: {
            column: value
            for column, cell in line.items()
            if column != title and (value := number(cell)) is not None
        }
        for experiment, line in table(title).items()
    }


@functools.cache
def experiments() -> frozenset[str]:
    """Names that a page may say something of."""
    every = [*description.experiments(), *description.long_ones()]
    return frozenset(read.name for read in every)


@functools.cache
def shown(experiment: str) -> frozenset[str]:
    """Figures that commands wrote of an experiment: those of its lines, of tables that have its
    name as their title, and of sentences that name it."""
    name = re.compile(rf"(?<![\w-]){re.escape(experiment)}(?![\w-])")
    found = []
    for one in PAGES:
        for head, *lines in _tables(one):
            own = head[0] == experiment
            found += ["|".join(line) for line in lines if own or name.search(line[0])]
        prose = re.sub(r"^\|.*$", "", written(one), flags=re.MULTILINE)
        parts = re.split(r"(?<=\.)\s+|\n\n|\n(?=- )|,\s+(?=\d)", prose)
        found += [part for part in parts if name.search(part)]
    return frozenset(re.findall(r"-?\d+(?:\.\d+)?%?", "\n".join(found)))


_SHARE = re.compile(r"(?<![\d.,])-?[01]\.\d\d(?!\d|%|[- ]?(?:[smnµu]s|s|[KMG]i?B|M)\b)")
"""R, or a difference of two: two digits and no unit."""
_PERCENT = re.compile(r"(?<![\d.,])\d+(?:\.\d+)?%")
_SECONDS = re.compile(r"(?<![\d.,])\d+\.\d+ ?s\b")
_NAMELESS = re.compile(r"\bR (?:of|is|was|from|above|below|falls from) (-?[01]\.\d\d)")
_NAME = re.compile(r"`(?:make bench EXPERIMENT=)?([\w-]+)`")


def _stated(experiment: str) -> set[str]:
    """Figures of the experiment's own file, which says what the workload does."""
    whole = experiment
    while whole and not (description.EXPERIMENTS / f"{whole}.toml").exists():
        whole = whole.rpartition("-")[0]
    text = (description.EXPERIMENTS / f"{whole}.toml").read_text(encoding="utf-8")
    return set(re.findall(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]|\.\d)", text))


def unfounded(part: str) -> list[str]:
    """Figures in a paragraph that are said of an experiment and that nothing shows of it.

    R has to be one of its figures, a percentage one of them or of its file. A sentence that names
    none goes by all that the paragraph names, as to R.
    """
    named = set(_NAME.findall(part)) & experiments()
    complaints = [] if named else [f"R {value}" for value in _NAMELESS.findall(part)]
    for sentence in re.split(r"(?<=[.:;!?])\s+", part):
        own = set(_NAME.findall(sentence)) & experiments()
        known = {figure for name in own or named for figure in shown(name)}
        if own or named:
            complaints += [value for value in _SHARE.findall(sentence) if value not in known]
        if own:
            stated = {f"{figure}%" for name in own for figure in _stated(name)}
            said = [value for value in _PERCENT.findall(sentence) if value not in known | stated]
            timed = [value for value in _SECONDS.findall(sentence) if value.split()[0] not in known]
            complaints += said + timed
    return complaints
