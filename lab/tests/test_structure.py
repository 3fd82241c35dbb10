# SPDX-License-Identifier: GPL-2.0
"""Rooms of one idea: no file too long, no circle of imports or includes, nothing twice."""

from __future__ import annotations

import argparse
import ast
import fnmatch
import importlib
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from pathlib import Path

import pytest

from lab import cli, paths
from lab.tree import tracked

LONGEST = 500
"""Lines of a file of source code."""
RUN = 6
"""So many lines in a row may not stand in two places."""

_CODE = (".py", ".c", ".h", ".sh")

# Lines that every file of a kind needs as they are: its licence, and what it uses.
_THIN = re.compile(r".*SPDX-License-Identifier|import |from \S+ import |#\s*include\b")

# Files that may repeat others, and why.
_ALIKE = {
    "LICENSE": "the licence is not ours to shorten",
    "pghot/tests/golden/*": "what the tool prints of machines that are mostly alike",
    "*.svg": "a picture, drawn by a program",
    "lab/experiments/*.toml": "data: each experiment can be read by itself",
    "lab/machines/*.toml": "data: each machine can be read by itself",
}


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


# Room -> directories in which its files' includes are looked for besides their own, as
# its Makefile says; the innermost room counts.
_INCLUDED_FROM = {
    "harness": (
        "harness/include",
        "linux/include",
        "linux/mm",
        "linux/mm/pghot",
        "harness/model",
    ),
    "harness/machine": ("harness/machine/include", "harness/include", "harness/unit"),
    "harness/unit": (
        "harness/include",
        "linux/include",
        "linux/mm",
        "linux/mm/pghot",
        "harness/model",
        "harness/machine",
    ),
    "lab/memsim": (),
    "lab/memsim/tests": ("lab/memsim",),
    "lab/workloads": (),
    "linux": ("linux/include",),
    "linux/tools": (),
}

# Includes of files that are elsewhere, and where.
_ELSEWHERE = {
    ("linux/mm/pghot", "../internal.h"): "mm/internal.h of the stock kernel",
    ("linux/mm/pghot/tests", "../../internal.h"): "mm/internal.h of the stock kernel",
    ("linux/mm/migrate_copy", "../internal.h"): "mm/internal.h of the stock kernel",
    ("linux/mm", "internal.h"): "the stock kernel's, for mm",
    ("linux/drivers/dma", "dmaengine.h"): "the stock kernel's, for drivers",
    ("linux/drivers/dma", "virt-dma.h"): "the stock kernel's, for drivers",
}

_INCLUDE = re.compile(r'^\s*#\s*include(?:_next)?\s+(?:"([^"]+)"|<([^>]+)>)', re.MULTILINE)


def included_from(name: str) -> tuple[str, ...]:
    """Directories of includes of the file ``name``."""
    rooms = [str(parent) for parent in Path(name).parents]
    return next((_INCLUDED_FROM[room] for room in rooms if room in _INCLUDED_FROM), ())


def includes(files: list[Path], root: Path) -> tuple[dict[str, set[str]], list[str]]:
    """C file -> files of ``files`` that it includes; what includes in quotes do not find.

    What stands in <> and is not here is the system's or the stock kernel's.
    """
    graph: dict[str, set[str]] = {}
    missing = []
    known = set(files)
    for path in files:
        name = str(path.relative_to(root))
        places = [root / directory for directory in included_from(name)]
        graph[name] = set()
        for quoted, angled in _INCLUDE.findall(path.read_text(encoding="utf-8")):
            beside = [path.parent] if quoted else []
            tried = [(place / (quoted or angled)).resolve() for place in beside + places]
            # A header of the harness that goes on with the system's is not its own.
            hit = next((one for one in tried if one in known and one != path), None)
            if hit:
                graph[name].add(str(hit.relative_to(root)))
            elif quoted and (str(Path(name).parent), quoted) not in _ELSEWHERE:
                missing.append(f'{name}: "{quoted}"')
    return graph, missing


def _names(text: str) -> set[int]:
    """Lines of import statements that take several; the first has ``import`` itself."""
    return {
        number
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for number in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    }


def _kernel_doc(text: str) -> set[int]:
    """Lines of comments that the kernel's tools read: each function has all of its own."""
    found = set()
    for comment in re.finditer(r"^/\*\*$.*?\*/", text, re.MULTILINE | re.DOTALL):
        first = text.count("\n", 0, comment.start()) + 1
        found |= set(range(first, first + comment[0].count("\n") + 1))
    return found


def _transcripts(text: str) -> set[int]:
    """Lines that a command printed: a test holds each page to what it prints. And what one writes
    below its tables, which commit they are of: each table says so."""
    found, printed = set(), False
    for made in re.finditer(r"^Made by `make .*?\n$", text, re.MULTILINE | re.DOTALL):
        first = text.count("\n", 0, made.start()) + 1
        found |= set(range(first, first + made[0].count("\n")))
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            printed = False
        elif line.startswith("$ "):
            printed = True
        if printed:
            found.add(number)
    return found


_APART = {".py": _names, ".c": _kernel_doc, ".h": _kernel_doc, ".md": _transcripts}


def substance(path: Path) -> list[tuple[int, str]]:
    """Line numbers and lines that count as repeated, white space folded."""
    text = path.read_text(encoding="utf-8")
    apart = _APART.get(path.suffix, lambda _: set())(text)
    folded = ((number, " ".join(line.split())) for number, line in enumerate(text.split("\n"), 1))
    return [
        (number, line)
        for number, line in folded
        if line and number not in apart and not _THIN.match(line)
    ]


def comparable() -> list[Path]:
    """Files of text that may not repeat each other."""
    found = []
    for path in tracked():
        if not any(fnmatch.fnmatchcase(shown(path), pattern) for pattern in _ALIKE):
            with suppress(UnicodeDecodeError):
                path.read_text(encoding="utf-8")
                found.append(path)
    return found


def twice(files: list[Path]) -> Iterator[tuple[str, ...]]:
    """Runs of RUN identical lines that stand in two places: those places, ``file:line``."""
    places: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for path in files:
        lines = substance(path)
        for at in range(len(lines) - RUN + 1):
            window = lines[at : at + RUN]
            places[tuple(text for _, text in window)].append(f"{shown(path)}:{window[0][0]}")
    for found in places.values():
        if len(found) > 1:
            yield tuple(found)


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
    graph, missing = includes(tracked(".c", ".h"), paths.ROOT)
    assert "lab/memsim/memory.h" in graph["lab/memsim/memory.c"]
    assert "linux/mm/pghot/hotmap.h" in graph["harness/unit/map.h"]
    assert "harness/include/linux/bitops.h" in graph["harness/include/linux/bitmap.h"]
    assert not missing
    assert not circle(graph)


def test_directories_of_includes_are_there():
    for room, places in _INCLUDED_FROM.items():
        assert all((paths.ROOT / place).is_dir() for place in (room, *places))
    for (place, name), _ in _ELSEWHERE.items():
        assert not (paths.ROOT / place / name).exists()
        sources = [path.read_text() for path in (paths.ROOT / place).glob("*.[ch]")]
        assert any(f'"{name}"' in text for text in sources)


def test_nothing_stands_twice():
    assert not [" and ".join(places) for places in twice(comparable())]


def _defined(body: list[ast.stmt]) -> Iterator[str]:
    """Names of functions, classes and constants that a module has, and of its own methods."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.decorator_list:
            yield node.name
        if isinstance(node, ast.ClassDef) and not node.bases:
            yield from _defined(node.body)
        elif isinstance(node, ast.Assign):
            yield from (name.id for name in node.targets if isinstance(name, ast.Name))


def _used(tree: ast.Module) -> Iterator[str]:
    """Names that a module reads, imports, or has in a string that may be a name of one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"\w+", node.value)


def unused(files: list[Path]) -> list[str]:
    """Names that no module of ``files`` uses; those with the same name cannot be told apart."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}
    used = {name for tree in trees.values() for name in _used(tree)}
    return [
        f"{shown(path)}: {name}"
        for path, tree in trees.items()
        for name in _defined(tree.body)
        if name not in used and not re.match(r"test_|pytest|__", name)
    ]


def test_nothing_is_defined_for_nobody():
    assert not unused([*tracked(".py"), paths.ROOT / "bin/pghot"])


def misplaced(module: str, verbs: list[str]) -> bool:
    """Is this module, with these verbs, neither a room's command.py nor a verb of lab/."""
    _, *room, name = module.split(".")
    return name != "command" if room else verbs != [name]


def test_verbs_are_where_one_looks_for_them():
    with_parsers = {
        module_of(path, paths.ROOT)
        for path in tracked(".py")
        if shown(path).startswith("lab/") and "\ndef add_parser(" in path.read_text()
    }
    assert with_parsers == set(cli.COMMANDS)
    strays = set()
    for module in cli.COMMANDS:
        verbs = argparse.ArgumentParser().add_subparsers()
        importlib.import_module(module).add_parser(verbs)
        if misplaced(module, list(verbs.choices)):
            strays.add(module)
    assert not strays


def test_misplaced_verbs_are_found():
    assert not misplaced("lab.clean", ["clean"])
    assert misplaced("lab.compare", ["compare-stock"])
    assert not misplaced("lab.kernel.command", ["hook", "series"])
    assert misplaced("lab.kernel.series", ["series"])


def test_what_may_be_alike_is_there():
    names = [shown(path) for path in tracked()]
    assert not [pattern for pattern in _ALIKE if not fnmatch.filter(names, pattern)]


def test_what_nobody_uses_is_found(write):
    files = write(
        a_py="OLD = NEW = 1\ndef f():\n    pass\ndef g():\n    return NEW\n"
        "class C:\n    def late(self):\n        self.f()\n",
        b_py="import a\na.g(a.C)\nOLD = a.C\n",
    )
    assert unused(files) == ["a.py: OLD", "a.py: late", "b.py: OLD"]


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


def test_circles_of_includes_are_found(write, tmp_path):
    files = write(a_h='#include "b.h"\n', b_h='# include "a.h"\n', c_c='#include "a.h"\n')
    assert set(circle(includes(files, tmp_path)[0])) == {"a.h", "b.h"}


def test_circles_of_includes_are_found_through_directories(tmp_path):
    texts = {
        "harness/unit/test.c": '#include "ops.h"\n#include <stdio.h>\n',
        "harness/model/ops.h": "#include <linux/bits.h>\n",
        "harness/include/linux/bits.h": '#include_next <linux/bits.h>\n#include "hotmap.h"\n',
        "linux/mm/pghot/hotmap.h": '#include "record.h"\n',
        "linux/mm/pghot/record.h": "#include <linux/pghot.h>\n",
        "linux/include/linux/pghot.h": "#include <linux/bits.h>\n",
    }
    files = [tmp_path / name for name in texts]
    for path in files:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts[str(path.relative_to(tmp_path))])
    graph, missing = includes(files, tmp_path)
    assert not missing
    assert graph["harness/unit/test.c"] == {"harness/model/ops.h"}
    assert graph["harness/include/linux/bits.h"] == {"linux/mm/pghot/hotmap.h"}
    # Which <linux/bits.h> a file of the kernel gets is decided where it is compiled.
    assert not circle(graph)
    (tmp_path / "linux/include/linux/pghot.h").write_text('#include "../../mm/pghot/hotmap.h"\n')
    assert set(circle(includes(files, tmp_path)[0])) == {
        "linux/include/linux/pghot.h",
        "linux/mm/pghot/hotmap.h",
        "linux/mm/pghot/record.h",
    }


def test_includes_of_nothing_are_found(tmp_path):
    (tmp_path / "lab/memsim/tests").mkdir(parents=True)
    header, test = tmp_path / "lab/memsim/dma.h", tmp_path / "lab/memsim/tests/dma.c"
    header.write_text('#include "none.h"\n#include <none.h>\n')
    test.write_text('#include "dma.h"\n#include "../none.h"\n')
    graph, missing = includes([header, test], tmp_path)
    assert graph["lab/memsim/tests/dma.c"] == {"lab/memsim/dma.h"}
    assert missing == ['lab/memsim/dma.h: "none.h"', 'lab/memsim/tests/dma.c: "../none.h"']


def test_what_stands_twice_is_found(write):
    body = "".join(f"value_{number} = {number}\n" for number in range(RUN))
    files = write(a_py="x = 1\n" + body, b_py="\n# other\n" + body.replace(" ", "  "))
    assert list(twice(files)) == [("a.py:2", "b.py:3")]
    files = write(a_py=body, b_py=body.replace("value_3", "other"))
    assert not list(twice(files))


def test_comments_and_braces_count(write):
    body = "{\n/* why */\n#define A 1\n}\n\n{\n}\n"
    assert list(twice(write(a_c=body, b_h="int x;\n" + body))) == [("a.c:1", "b.h:2")]
    rule = "all: a b\n\tcc $^\n\t@echo made\na:\n\ttouch a\nb:\n"
    assert list(twice(write(a_mk=rule, b_config=rule))) == [("a.mk:1", "b.config:1")]


@pytest.mark.parametrize(
    "name, text",
    [
        ("py", "# SPDX-License-Identifier: GPL-2.0\nimport a\nimport b\nfrom c import d\nx = 1\n"),
        ("py", "from a import (\n    b,\n    c,\n    d,\n    e,\n    f,\n    g,\n)\n"),
        ("c", "".join(f"#include <{letter}.h>\n" for letter in "abcdefg")),
        ("c", "/**\n * f - it\n * @a: one\n * @b: two\n *\n * Context: any.\n */\n"),
        ("md", "```\n$ pghot\n1\n2\n3\n4\n5\n6\n```\n"),
        ("toml", "a = 1\n\n" * (RUN - 1)),
    ],
)
def test_what_files_need_alike_does_not_count(write, name, text):
    assert not list(twice(write(**{f"a_{name}": text, f"b_{name}": text})))


def test_what_only_looks_alike_counts(write):
    comment = "/*\n * a\n * b\n * c\n * d\n */\n"
    assert list(twice(write(a_c=comment, b_c=comment)))
    block = "```\n1\n2\n3\n4\n5\n```\n"
    assert list(twice(write(a_md=block, b_md=block)))
