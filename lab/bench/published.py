# SPDX-License-Identifier: GPL-2.0
"""Rows behind the published tables, in docs/: renewed an experiment at a time.

All of them take hours, and more on a slow machine than one has at once. The model is
deterministic, so that rows of an experiment can be made anywhere, at any time. Each says of which
commit it is, and pages are written from all.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from lab import paths
from lab.bench import report
from lab.bench.origin import Origin
from lab.errors import LabError
from lab.files import write_text
from lab.log import note

BENCH = paths.ROOT / "docs" / "bench.json"
"""Of ``make bench``."""
SENSITIVITY = paths.ROOT / "docs" / "sensitivity.json"
"""Of ``make sensitivity``."""
SOURCES = paths.ROOT / "docs" / "sources.json"
"""Of ``make sources``."""
_SCHEMA = 1

Entry = dict
"""``command`` and ``commit`` that made it, its ``rows`` without timelines, and their digest."""


def read(file: Path) -> dict[str, Entry]:
    """Entries by the experiment's name; LabError where the file is none of ours."""
    try:
        whole = json.loads(file.read_text(encoding="utf-8"))
        if whole["schema"] != _SCHEMA:
            raise ValueError(f"schema {whole['schema']}")
        return dict(whole["experiments"])
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError) as error:
        raise LabError(
            f"{file} cannot be read ({error}): take it from git, or remove it and run all again"
        ) from error


def put(file: Path, rows: list[dict], origin: Origin) -> dict[str, Entry]:
    """Replace the entries of the experiments that these rows are of; return all entries."""
    entries = read(file)
    for name in dict.fromkeys(row["experiment"] for row in rows):
        own = [report.without_timeline(row) for row in rows if row["experiment"] == name]
        entries[name] = {**origin.facts(), "digest": report.digest(own), "rows": own}
    # One row a line: a change of one is a change of one line.
    said = [
        f'"{name}": {{"command": {json.dumps(entry["command"])}, '
        f'"commit": {json.dumps(entry["commit"])}, "digest": "{entry["digest"]}", "rows": [\n'
        + ",\n".join(json.dumps(row, sort_keys=True) for row in entry["rows"])
        + "\n]}"
        for name, entry in sorted(entries.items())
    ]
    body = ",\n".join(said)
    write_text(file, f'{{"schema": {_SCHEMA}, "experiments": {{\n{body}\n}}}}\n')
    return entries


def missing(entries: dict[str, Entry], names: Iterable[str]) -> list[str]:
    """Those of ``names`` that have no entry."""
    return [name for name in names if name not in entries]


def left(file: Path, entries: dict[str, Entry], names: list[str]) -> bool:
    """Whether some have no entry yet: what is written from all is not, and says which."""
    others = missing(entries, names)
    if others:
        note(
            f"docs/{file.name} has {len(names) - len(others)} of {len(names)} experiments; pages "
            f"are written once it has all. Left: EXPERIMENT={','.join(others)}"
        )
    return bool(others)


def rows_of(entries: dict[str, Entry], names: Iterable[str]) -> list[dict]:
    """Rows of these experiments, in their order."""
    return [row for name in names for row in entries[name]["rows"]]


def origin_of(entries: dict[str, Entry], names: Iterable[str], command: str) -> Origin:
    """Where these experiments' rows are from: the commit of most of them, and those of others."""
    by_commit: dict[str, list[str]] = {}
    for name in names:
        by_commit.setdefault(entries[name]["commit"], []).append(name)
    most, *others = sorted(by_commit, key=lambda commit: -len(by_commit[commit]))
    told = [f"{commit} ({', '.join(by_commit[commit])})" for commit in others]
    return Origin(command, "; ".join([most, *told]))
