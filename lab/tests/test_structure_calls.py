# SPDX-License-Identifier: GPL-2.0
"""Calls between files of pghot's kernel code go one way, and a backtrace says whose they are."""

from __future__ import annotations

import re
from pathlib import Path

from lab import paths
from lab.tests.test_structure import circle
from lab.tree import tracked

PGHOT = paths.ROOT / "linux/mm/pghot"

# Comments, strings, characters and tags: what stands there is not called.
_TEXT = re.compile(
    r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\b(?:struct|enum|union)\s+\w+""",
    re.DOTALL,
)

# A function as the kernel's style has it: its body begins on a line of its own.
_FUNCTION = re.compile(r"^(\w[\w \t*]*?[ \t*])(\w+)\([^;{}]*\)\n\{", re.MULTILINE)

# Files whose statics begin with something else than the file's name.
_PREFIX = {
    "core.c": "pghot",
    "fault_yield.c": "yield",
    "source/hotness_unit_pci.c": "hmu_pci",
    "source/hotness_unit_read.c": "hotness_unit",
    "sysfs.c": "pghot_sysfs",
}


def functions(text: str) -> dict[str, bool]:
    """Functions that a C file defines, and whether they are static."""
    return {name: "static" in kind.split() for kind, name in _FUNCTION.findall(text)}


def traced(text: str) -> set[str]:
    """Statics of a C file that a backtrace may show, but those that an attribute names."""
    named = "|".join(re.findall(r"\b__ATTR_R[OW]\w*\((\w+)", text))
    return {
        name
        for kind, name in _FUNCTION.findall(text)
        if "static" in kind.split() and not {"inline", "__always_inline"} & set(kind.split())
        if not re.fullmatch(rf"(?:{named})_(?:show|store)", name)
    }


def strays(texts: dict[str, str]) -> set[str]:
    """Statics, as ``file: function``, that do not say in which file they are."""
    return {
        f"{name}: {function}"
        for name, text in texts.items()
        for function in traced(text)
        if not f"{function}_".startswith(_PREFIX.get(name, Path(name).stem) + "_")
    }


def calls(texts: dict[str, str]) -> dict[str, set[str]]:
    """File -> files with functions of which it has the names, as an object file would.

    Names of functions only: data are anybody's.
    """
    bare = {name: _TEXT.sub("it", text) for name, text in texts.items()}
    owner = {
        function: name
        for name, text in bare.items()
        for function, static in functions(text).items()
        if not static
    }
    return {
        name: {owner[word] for word in re.findall(r"\w+", text) if word in owner} - {name}
        for name, text in bare.items()
    }


def kernel_texts() -> dict[str, str]:
    """pghot's files of kernel code but its tests: name within the directory -> text."""
    files: list[Path] = [
        path
        for path in tracked(".c")
        if path.is_relative_to(PGHOT) and not path.is_relative_to(PGHOT / "tests")
    ]
    return {str(path.relative_to(PGHOT)): path.read_text(encoding="utf-8") for path in files}


def test_no_circle_of_calls():
    graph = calls(kernel_texts())
    assert len(graph) > 25
    assert {"pass.c", "sweep.c", "ready.c", "promote.c"} <= graph.keys()
    assert {"ready.c", "sweep.c", "batch.c"} <= graph["pass.c"]
    assert {"accessed.c", "hotmap_walk.c"} <= graph["sweep.c"]
    assert "nodes.c" in graph["sysfs.c"]
    assert "report.c" in graph["source/hint_fault.c"]
    assert not circle(graph)


def test_a_backtrace_says_whose_a_function_is():
    texts = kernel_texts()
    assert texts.keys() >= _PREFIX.keys()
    assert not strays(texts)


def test_statics_that_do_not_say_whose_they_are_are_found():
    begin = "(void)\n{\n}\n"
    text = f"static int gate{begin}static bool gate_is_open{begin}static noinline int *gates{begin}"
    text += f"static inline int one{begin}int two{begin}static void __init gate_init{begin}"
    text += f"static ssize_t rate_show{begin}static ssize_t rate_set{begin}"
    assert strays({"in/gate.c": text}) == {
        "in/gate.c: gates",
        "in/gate.c: rate_show",
        "in/gate.c: rate_set",
    }
    text += "static struct kobj_attribute rate_attr = __ATTR_RO_MODE(rate, 0400);\n"
    assert strays({"in/gate.c": text}) == {"in/gate.c: gates", "in/gate.c: rate_set"}
    assert strays({"core.c": f"static int core_init{begin}static int pghot_init{begin}"}) == {
        "core.c: core_init"
    }


def test_circles_of_calls_are_found():
    texts = {
        "a.c": "static int help(void)\n{\n}\n\nint a(void)\n{\n\treturn b(help());\n}\n",
        "b.c": "int *b(int x,\n\t int y)\n{\n\tops.call = c;\n}\n",
        "c.c": "bool c(void)\n{\n\t/* a() */\n\tstruct a x;\n\treturn help() == 'a';\n}\n",
    }
    graph = calls(texts)
    assert graph == {"a.c": {"b.c"}, "b.c": {"c.c"}, "c.c": set()}
    assert not circle(graph)
    texts["c.c"] += "void __init late(void)\n{\n\ta();\n}\n"
    assert set(circle(calls(texts))) == {"a.c", "b.c", "c.c"}
