# SPDX-License-Identifier: GPL-2.0
"""What the pages show of measured runs: the tables that commands wrote, and the prose beside."""

from __future__ import annotations

import functools
import json
import re
import subprocess
from collections.abc import Iterator
from typing import Any

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


def _written(text: str) -> str:
    return "\n\n".join(block.partition(_HAND)[0] for block in _BLOCK.findall(text))


def written(name: str) -> str:
    """What commands wrote to a page."""
    return _written(page(name))


def by_hand(name: str) -> list[str]:
    """Paragraphs, items and headings of a page that no command has written, white space folded,
    without tables and code."""
    text = re.sub(r"^```.*?^```", "", _BLOCK.sub("", page(name)), flags=re.DOTALL | re.MULTILINE)
    text = re.sub(r"^(?: {4}.*|\|.*)$", "", text, flags=re.MULTILINE)
    parts = [" ".join(part.split()) for part in re.split(r"\n\n|\n(?=#|- |\d+\. )", text)]
    return [part for part in parts if part]


def _tables_of(text: str) -> Iterator[list[list[str]]]:
    for lines in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        yield [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines.splitlines()]


def _tables(name: str) -> Iterator[list[list[str]]]:
    yield from _tables_of(written(name))


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


def _contenders() -> dict[str, frozenset[str]]:
    """Patterns of the words that a sentence may have for a contender, and what tables call it."""
    said = {rf"(?<![\w-]){re.escape(name)}(?![\w-])": frozenset([name]) for name in _COLUMNS}
    # Words of everyday are names where they are code.
    said |= {rf"`{name}`": frozenset([name]) for name in _PLAIN}
    own = {
        r"(?<![\w-])(?:pghot|pghot-default)(?![\w-])": frozenset(["pghot", "pghot-default"]),
        r"(?i:\bstock (?:Linux|kernel))|\bstock-2\b": frozenset(
            ["stock Linux", "stock-2", "off-2"]
        ),
        r"\bDAMON\b": frozenset(["damon"]),
        r"\bslow bound\b": frozenset(["slow"]),
    }
    return said | own


_PLAIN = ("fast", "slow", "best", "off")
_COLUMNS = {one.name for one in description.contenders()} - {*_PLAIN, "stock-2"}
_CONTENDERS = _contenders()


def named(text: str) -> frozenset[str]:
    """Contenders that it names, as tables call them."""
    return frozenset().union(*(own for said, own in _CONTENDERS.items() if re.search(said, text)))


def _line(head: list[str], line: list[str], wanted: frozenset[str]) -> str:
    """What a line of a table has of these contenders, and of none; all of it without any."""
    told = named(" | ".join(line[1:3])) if "contender" in head else frozenset()
    if not wanted or told & wanted:
        return "|".join(line)
    return "|".join(
        cell
        for title, cell in zip(head, line)
        if not told and (title in wanted or title not in _CALLED)
    )


_CALLED = frozenset().union(*_CONTENDERS.values())


@functools.cache
def shown(
    experiment: str, wanted: frozenset[str] = frozenset(), text: str | None = None
) -> frozenset[str]:
    """Figures that commands wrote of an experiment: those of its lines, of tables that have its
    name as their title, and of sentences that name it. With ``wanted`` they are no other
    contender's; ``text`` is another one than that of the pages."""
    name = re.compile(rf"(?<![\w-]){re.escape(experiment)}(?![\w-])")
    found = []
    for one in [written(other) for other in PAGES] if text is None else [text]:
        for head, *lines in _tables_of(one):
            own = head[0] == experiment
            found += [_line(head, line, wanted) for line in lines if own or name.search(line[0])]
        prose = re.sub(r"^\|.*$", "", one, flags=re.MULTILINE)
        parts = re.split(r"(?<=\.)\s+|\n\n|\n(?=- )|,\s+(?=\d|R of)", prose)
        found += [
            part
            for part in parts
            if name.search(part) and (not wanted or not named(part) or named(part) & wanted)
        ]
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


def _git(*words: str) -> str:
    done = subprocess.run(["git", *words], cwd=paths.ROOT, capture_output=True, text=True)
    return done.stdout


@functools.cache
def earlier(commit: str) -> str | None:
    """What commands wrote to bench.md of the runs of an earlier commit; None where there is no
    history to look at."""
    if _git("rev-parse", "--is-shallow-repository").strip() != "false":
        return None
    for command in ("make bench DOCS=1", "make bench"):
        made = f"Made by `{command}`, commit {commit}."
        for one in _git("log", "--format=%H", f"-S{made}", "--", _EARLIER).split():
            text = _git("show", f"{one}:{_EARLIER}")
            if made in text:
                return _written(text)
    return ""


def commits_since(commit: str) -> int | None:
    """To the kernel, since an earlier commit; None where there is no history to look at."""
    if _git("rev-parse", "--is-shallow-repository").strip() != "false":
        return None
    commits = _git("rev-list", f"{commit.rstrip(',')}..HEAD", "--", "linux/mm", "patches")
    return len(commits.split())


_EARLIER = "docs/bench.md"


def _known(experiment: str, sentence: str) -> frozenset[str]:
    """Figures of it that a sentence may have: of the contenders that it names, if any, and of the
    table of an earlier commit where it names one."""
    commits = re.findall(r"table of commit ([0-9a-f]{12})", sentence)
    own = shown(experiment, named(sentence))
    texts = [earlier(commit) for commit in commits]
    if None in texts:
        return own | frozenset(_SHARE.findall(sentence))
    return own.union(*(shown(experiment, named(sentence), text) for text in texts))


def unfounded(part: str) -> list[str]:
    """Figures in a paragraph that are said of an experiment and that nothing shows of it.

    R has to be one of its figures, a percentage one of them or of its file. A sentence that names
    none goes by all that the paragraph names, as to R. One that names contenders has theirs only.
    """
    whole = set(_NAME.findall(part)) & experiments()
    complaints = [] if whole else [f"R {value}" for value in _NAMELESS.findall(part)]
    for sentence in re.split(r"(?<=[.:;!?])\s+", part):
        own = set(_NAME.findall(sentence)) & experiments()
        known = {figure for name in own or whole for figure in _known(name, sentence)}
        if own or whole:
            complaints += [value for value in _SHARE.findall(sentence) if value not in known]
        if own:
            stated = {f"{figure}%" for name in own for figure in _stated(name)}
            said = [value for value in _PERCENT.findall(sentence) if value not in known | stated]
            timed = [value for value in _SECONDS.findall(sentence) if value.split()[0] not in known]
            complaints += said + timed
    return complaints


def made(experiment: str, contender: str) -> dict[str, Any]:
    """The row that the tables are made of."""
    results = json.loads((paths.ROOT / "docs/bench.json").read_text(encoding="utf-8"))
    rows = results["experiments"][experiment]["rows"]
    return next(row for row in rows if row["contender"] == contender)
