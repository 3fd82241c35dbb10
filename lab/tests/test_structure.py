# SPDX-License-Identifier: GPL-2.0
"""Rooms of one idea: no file too long, no circle of imports or includes, nothing twice."""

from __future__ import annotations

import ast
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

from lab import paths

LONGEST = 500
"""Lines of a file of source code."""
RUN = 6
"""Lines that stand in two places at most, blank lines and comments aside."""

_CODE = (".py", ".c", ".h", ".sh")
# What says nothing by itself: comments, lone punctuation, what names the parts used.
_THIN = re.compile(r"(#|//|/\*|\*(\s|/|$)|import |from |@?[\W_]*$|\"\"\")")


def tracked(*suffixes: str) -> list[Path]:
    """Files of the work tree with these suffixes, also those not committed yet."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=paths.ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.splitlines()
    found = (paths.ROOT / name for name in sorted(set(listed)))
    return [path for path in found if path.suffix in suffixes and path.is_file()]


def shown(path: Path) -> str:
    """A path as the reader of a failure knows it."""
    return str(path.relative_to(paths.ROOT)) if path.is_relative_to(paths.ROOT) else path.name


def circle(graph: dict[str, set[str]]) -> list[str]:
    """Names of one circle of a graph, the first one twice; empty where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def module_of(path: Path, root: Path) -> str:
    """The name under which Python imports a file."""
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports(files: list[Path], root: Path) -> dict[str, set[str]]:
    """Module -> modules of ``files`` that it imports, at the top or within functions."""
    known = {module_of(path, root): path for path in files}
    graph: dict[str, set[str]] = {}
    for name, path in known.items():
        used = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                used |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.module and not node.level, f"{shown(path)}: relative import"
                inner = {f"{node.module}.{alias.name}" for alias in node.names}
                used |= {one if one in known else node.module for one in inner}
        # A package runs before what is in it.
        used |= {one.rpartition(".")[0] for one in used} - {name.rpartition(".")[0]}
        graph[name] = (used & known.keys()) - {name}
    return graph


def includes(files: list[Path]) -> dict[str, set[str]]:
    """C file -> files of ``files`` that it includes by a path in quotes."""
    graph = {}
    known = set(files)
    for path in files:
        named = re.findall(
            r'^\s*#\s*include\s+"([^"]+)"', path.read_text(encoding="utf-8"), re.MULTILINE
        )
        found = {(path.parent / name).resolve() for name in named} & known
        graph[shown(path)] = {shown(one) for one in found}
    return graph


def substance(path: Path) -> list[tuple[int, str]]:
    """Line numbers and lines that say something, white space folded."""
    lines = path.read_text(encoding="utf-8").splitlines()
    folded = ((number, " ".join(line.split())) for number, line in enumerate(lines, 1))
    return [(number, line) for number, line in folded if line and not _THIN.match(line)]


def twice(files: list[Path]) -> Iterator[str]:
    """Runs of RUN identical lines that stand in two places."""
    places: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for path in files:
        lines = substance(path)
        for at in range(len(lines) - RUN + 1):
            window = lines[at : at + RUN]
            places[tuple(text for _, text in window)].append(f"{shown(path)}:{window[0][0]}")
    for found in places.values():
        if len(found) > 1:
            yield " and ".join(found)


def test_no_file_holds_two_ideas():
    long = {
        shown(path): lines
        for path in tracked(*_CODE)
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > LONGEST
    }
    assert not long


def test_no_circle_of_imports():
    graph = imports(tracked(".py"), paths.ROOT)
    assert len(graph) > 100
    assert not circle(graph)


def test_no_circle_of_includes():
    graph = includes(tracked(".c", ".h"))
    assert graph["lab/memsim/memory.c"]
    assert not circle(graph)


def test_nothing_stands_twice():
    assert not list(twice(tracked(*_CODE, ".html")))


@pytest.fixture
def write(tmp_path):
    """Writes files of a made-up tree; returns their paths."""

    def make(**texts: str) -> list[Path]:
        found = []
        for name, text in texts.items():
            stem, _, suffix = name.rpartition("_")
            found.append(tmp_path / f"{stem}.{suffix}")
            found[-1].write_text(text)
        return found

    return make


def test_circles_of_imports_are_found(write, tmp_path):
    files = write(
        one_py="from two import x\n",
        two_py="def f():\n    import three\n",
        three_py="import os\nimport one\n",
    )
    found = circle(imports(files, tmp_path))
    assert set(found) == {"one", "two", "three"}
    graph = imports(files, tmp_path)
    assert all(
        second in graph[first] or first in graph[second] for first, second in pairwise(found)
    )


def test_circles_of_includes_are_found(write):
    files = write(a_h='#include "b.h"\n', b_h='# include "a.h"\n', c_c='#include "a.h"\n')
    assert set(circle(includes(files))) == {"a.h", "b.h"}


def test_what_stands_twice_is_found(write):
    body = "".join(f"value_{number} = {number}\n" for number in range(RUN))
    files = write(a_py="x = 1\n" + body, b_py="\n# other\n" + body.replace(" ", "  "))
    assert list(twice(files)) == ["a.py:2 and b.py:3"]
    files = write(a_py=body, b_py=body.replace("value_3", "other"))
    assert not list(twice(files))
