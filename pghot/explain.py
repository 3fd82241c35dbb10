# SPDX-License-Identifier: GPL-2.0
"""`pghot explain`: the tables of counters and settings as text, JSON and markdown."""

from typing import NamedTuple

from pghot.columns import wrap
from pghot.counters import COUNTERS, FLOW, Counter
from pghot.settings import KNOBS


class Explained(NamedTuple):
    """A setting, or what a source or an engine tells of itself, and the files that have it."""

    name: str
    unit: str
    meaning: str
    files: list[str]


class Explanation(NamedTuple):
    """What `pghot explain --json` prints."""

    counters: list[Counter]
    settings: list[Explained]


FILES = {
    knob.name: Explained(
        knob.name, knob.unit, knob.meaning, [f"/{place}/{knob.name}" for place in knob.places]
    )
    for knob in KNOBS
}


def chosen(names: list[str]) -> Explanation:
    """What has these names, all for none; raises KeyError with the unknown name."""
    for name in names:
        if name not in COUNTERS and name not in FILES:
            raise KeyError(name)
    return Explanation(
        [COUNTERS[name] for name in names or COUNTERS if name in COUNTERS],
        [FILES[name] for name in names or FILES if name in FILES],
    )


def like(name: str) -> list[str]:
    """Names that somebody may have meant, the nearest first, three at most."""
    import difflib

    known = [*COUNTERS, *FILES]
    near = difflib.get_close_matches(name, known)
    return (near or [other for other in known if name in other])[:3]


def as_text(explanation: Explanation, width: int) -> str:
    """One paragraph per name."""
    lines = []
    for c in explanation.counters:
        lines.append(c.name if c.kind == FLOW else f"{c.name} ({c.kind})")
        lines += wrap(c.meaning, width, "    ")
        lines += wrap(c.advice, width, "    ")
        lines += [f"    run: {c.command}"] if c.command else []
    for s in explanation.settings:
        lines.append(f"{s.name} ({s.unit})")
        lines += wrap(s.meaning, width, "    ")
        lines += [f"    file: {file}" for file in s.files]
    return "\n".join(lines)


def as_markdown(explanation: Explanation) -> str:
    """A list with one item per name, in lines of at most 100 columns."""
    lines = []
    for c in explanation.counters:
        kind = "" if c.kind == FLOW else f" ({c.kind})"
        lines += wrap(f"`{c.name}`{kind}: {c.meaning}", 100, "  ", "- ")
        lines += wrap(f"*{c.advice}*", 100, "  ") if c.advice else []
        lines += [f"  `{c.command}`"] if c.command else []
    for s in explanation.settings:
        lines += wrap(f"`{s.name}` ({s.unit}): {s.meaning}", 100, "  ", "- ")
        lines += [f"  `{file}`" for file in s.files]
    return "\n".join(lines)
