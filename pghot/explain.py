# SPDX-License-Identifier: GPL-2.0
"""`pghot explain`: the table of counters as text, JSON and markdown."""

from typing import NamedTuple

from pghot.columns import wrap
from pghot.counters import COUNTERS, FLOW, Counter


class Explanation(NamedTuple):
    """What `pghot explain --json` prints."""

    counters: list[Counter]


def chosen(names: list[str]) -> list[Counter]:
    """The counters with these names, all for none; raises KeyError with the unknown name."""
    return [COUNTERS[name] for name in names] or list(COUNTERS.values())


def as_text(counters: list[Counter], width: int) -> str:
    """One paragraph per counter."""
    lines = []
    for c in counters:
        lines.append(c.name if c.kind == FLOW else f"{c.name} ({c.kind})")
        lines += wrap(c.meaning, width, "    ")
        lines += wrap(c.advice, width, "    ")
        lines += [f"    run: {c.command}"] if c.command else []
    return "\n".join(lines)


def as_markdown(counters: list[Counter]) -> str:
    """A list with one item per counter, in lines of at most 100 columns."""
    lines = []
    for c in counters:
        kind = "" if c.kind == FLOW else f" ({c.kind})"
        lines += wrap(f"`{c.name}`{kind}: {c.meaning}", 100, "  ", "- ")
        lines += wrap(f"*{c.advice}*", 100, "  ") if c.advice else []
        lines += [f"  `{c.command}`"] if c.command else []
    return "\n".join(lines)
