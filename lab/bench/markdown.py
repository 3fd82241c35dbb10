# SPDX-License-Identifier: GPL-2.0
"""Markdown of documents: paragraphs, items and tables of results, and their place in a document.

A document takes them between ``<!-- begin: make bench -->`` and ``<!-- end -->``, so that
no table in it is older than it says.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path

from lab.bench import report
from lab.bench.origin import Origin
from lab.errors import LabError
from lab.files import write_text
from lab.log import note

END = "<!-- end -->"
_WIDTH = 100
"""Columns of a line of a document."""


def _begin(verb: str) -> str:
    return f"<!-- begin: make {verb} -->"


def wrapped(said: str) -> str:
    """A paragraph."""
    return textwrap.fill(said, _WIDTH, break_long_words=False, break_on_hyphens=False)


def item(said: str) -> str:
    """An item of a list."""
    return textwrap.fill(
        said, _WIDTH, break_long_words=False, break_on_hyphens=False, subsequent_indent="  "
    )


def made(origin: Origin, rows: list[dict], more: str = "") -> str:
    """A paragraph that says which command made these rows, and of which commit, whose kernel need
    not be the one of whoever reads it; then ``more``."""
    return wrapped(
        f"Made by `{origin.command}`, {origin.commit}. Digest of all rows: {report.digest(rows)}. "
        "Rows are of the kernel of their commit, and not of a later one: `git log COMMIT.. -- "
        f"linux/mm patches` lists what came since. {more}"
    )


def table(
    head: Iterable[str], lines: Iterable[Sequence[str]], texts: int = 0, names: int = 1
) -> str:
    """Lines below their titles. The first ``names`` columns are on the left, figures on the right;
    the last ``texts`` columns are prose."""
    titles = list(head)
    rule = [*["---"] * names, *["---:"] * (len(titles) - names - texts), *["---"] * texts]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in (titles, rule, *lines))


def put(path: Path, verb: str, text: str) -> bool:
    """Put the text between the document's marks for ``make VERB``; false where it has
    none. LabError where they do not end."""
    old = path.read_text(encoding="utf-8")
    begin = _begin(verb)
    if begin not in old:
        note(f"{path.name} has no {begin}: left as it is")
        return False
    place = re.compile(re.escape(begin) + r".*?" + re.escape(END), re.DOTALL)
    if not place.search(old):
        raise LabError(f"{path.name}: {begin} has no {END} after it")
    write_text(path, place.sub(lambda _: f"{begin}\n{text}{END}", old))
    return True
