# SPDX-License-Identifier: GPL-2.0
"""What the pages name, and whether it exists: files, links, targets, options, knobs, counters.

Names are looked for in code spans and code blocks, and in links.
"""

from __future__ import annotations

import ast
import fnmatch
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lab import paths
from lab.tests.names_commands import names_of, wrong_command, wrong_variable

WIDTH = 100

# What documents name of the stock kernel, of Git, Debian and other programs, and what is made
# while something runs: it is in no file here.
ELSEWHERE = {
    "samples/damon/mtier.c",
    "build/before",
    "effective_bytes",
    "scan_delay_ms",
    "should_numa_migrate_memory",
    "mpol_misplaced",
    "rcu_read_lock",
    "synchronize_rcu",
    "linux-source-7.3",
    "pipx",
    "grub-reboot",
    "grub-set-default",
}


def relative(path: Path) -> str:
    """Where it is in the work tree; "" for the top and for what is elsewhere."""
    inside = path.is_relative_to(paths.ROOT) and path != paths.ROOT
    return str(path.relative_to(paths.ROOT)) if inside else ""


@dataclass
class Page:
    """One Markdown file, taken apart. Lines count from 1."""

    path: Path
    lines: list[str] = field(default_factory=list)
    spans: list[tuple[int, str]] = field(default_factory=list)
    """Code spans."""
    blocks: list[list[tuple[int, str]]] = field(default_factory=list)
    """Code blocks, fenced or indented."""
    links: list[tuple[int, str]] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        return relative(self.path) or self.path.name


_FENCE = re.compile(r"^\s*(```|~~~)")
_SPAN = re.compile(r"`((?:[^`\n]|\n(?!\s*\n))+)`")
_LINK = re.compile(
    r"\]\(\s*([^()\s]+)\s*\)|(?:src|href|srcset)=\"([^\"]+)\"|(?:src|href|srcset)='([^']+)'"
    r"|^\[[^\]]+\]:\s+(\S+)",
    re.MULTILINE,
)
_REFERENCE = re.compile(r"\]\[([^\]]+)\]")


def parse(path: Path) -> Page:
    """Take a page apart."""
    page = Page(path, path.read_text().splitlines())
    block: list[tuple[int, str]] | None = None
    fenced = False
    before = ""
    prose = []
    for number, line in enumerate(page.lines, 1):
        code = True
        if _FENCE.match(line):
            fenced = not fenced
            block = [] if fenced else None
            if block is not None:
                page.blocks.append(block)
        elif fenced or (line.startswith("    ") and (block is not None or not before.strip())):
            if block is None:
                block = []
                page.blocks.append(block)
            block.append((number, line))
        else:
            code = False
            if line.strip():
                block = None
            if heading := re.match(r"#+ (.*)", line):
                page.headings.append(heading[1])
        prose.append("" if code else line)
        before = line
    _prose(page, "\n".join(prose))
    return page


def _prose(page: Page, text: str) -> None:
    """Spans and links, which may go on in the next line, though not in the next paragraph."""

    def found(pattern: re.Pattern[str], within: str) -> Iterator[tuple[int, str]]:
        for match in pattern.finditer(within):
            inner = next(group for group in match.groups() if group is not None)
            yield within.count("\n", 0, match.start()) + 1, " ".join(inner.split())

    page.spans += found(_SPAN, text)
    plain = _SPAN.sub(lambda match: "\n" * match[0].count("\n"), text)
    known = {name.lower() for name in re.findall(r"^\[([^\]]+)\]:", text, re.MULTILINE)}
    page.links += [
        (at, f"[{name}]") for at, name in found(_REFERENCE, plain) if name.lower() not in known
    ]
    page.links += found(_LINK, _SPAN.sub(lambda match: "\n" * match[0].count("\n"), text))


def markdown() -> list[Path]:
    """Every Markdown file of the work tree."""
    return sorted(
        path
        for path in paths.ROOT.rglob("*.md")
        if not any(
            part == "build" or part.startswith(".") for part in path.relative_to(paths.ROOT).parts
        )
    )


# What they name proves nothing.
_OWN = (Path(__file__).name, "names_commands.py", "test_docs.py")


@functools.cache
def files() -> tuple[str, ...]:
    """Every file and directory here, directories with a slash at the end."""
    found = []
    for path in paths.ROOT.rglob("*"):
        name = path.relative_to(paths.ROOT)
        if name.parts[0] in ("build", ".git") or "__pycache__" in name.parts:
            continue
        found.append(f"{name}/" if path.is_dir() else str(name))
    return tuple(found)


@functools.cache
def corpus() -> str:
    """All there is besides the pages and this file."""
    texts = []
    for name in files():
        path = paths.ROOT / name
        if not path.is_file() or path.name in _OWN or path.suffix == ".md":
            continue
        try:
            texts.append(path.read_text())
        except UnicodeDecodeError:
            continue
    return "\n".join([*texts, *files()])


@functools.cache
def words() -> frozenset[str]:
    """Every identifier of the corpus."""
    return frozenset(re.findall(r"\w+", corpus()))


@functools.cache
def kernel_files() -> frozenset[str]:
    """Files of the stock kernel that the hooks change."""
    found: set[str] = set()
    for patch in paths.PATCHES.glob("*.patch"):
        found |= set(re.findall(r"^--- a/(\S+)", patch.read_text(), re.MULTILINE))
    return frozenset(found)


# --- paths -------------------------------------------------------------------

_TOP = ("lab", "linux", "patches", "configs", "harness", "pghot", "docs", "bin", "build")
_SUFFIXES = (".py", ".c", ".h", ".md", ".toml", ".sh", ".rst", ".config", ".patch")
_PATH = re.compile(r"(?<![\w/.~$<>:*-])((?:[\w.*-]|<\w+>)+/(?:[\w./*-]|<\w+>)*)")


def _pattern(name: str) -> str:
    """Placeholders as globs: ``NAME``, ``NNNN``, ``<N>``."""
    return re.sub(r"<\w+>|\b(?:NAME|NNNN)\b", "*", name)


def _made(part: str) -> bool:
    """Is this a part of a path, or a whole string, in some code: what is made is named there."""
    return re.search(rf"[\"/]{re.escape(part)}(?=[\"/\s.)])", corpus()) is not None


def path_exists(name: str, directory: Path) -> bool:
    """Is there such a file or directory, seen from the top, a page's directory or the kernel."""
    name = name.rstrip(".")
    if name in ELSEWHERE or name in kernel_files():
        return True
    if name.startswith("build/"):  # what a command writes
        if name.startswith("build/series/") and name.endswith(".patch"):
            return True  # pghot/tests/test_docs.py holds the subjects
        return all(_made(part) for part in _pattern(name).split("/")[1:] if part.strip("*"))
    pattern = _pattern(name)
    here = f"{relative(directory)}/".lstrip("/")
    starts = ("", here, "linux/", "linux/mm/", "linux/mm/pghot/", "linux/include/trace/")
    for start in starts:
        wanted = (start + pattern).rstrip("/")
        if any(fnmatch.fnmatchcase(known.rstrip("/"), wanted) for known in files()):
            return True
    if any(known.startswith(f"{name.rstrip('/')}/") for known in kernel_files()):
        return True
    # Files of debugfs and tracefs have a path without a leading slash as well. A word is none.
    plain = name.rstrip("/")
    return ("/" in plain and plain in documentation()) or f"{plain}/" in documentation()


@functools.cache
def documentation() -> str:
    """What the kernel code documents."""
    return "\n".join(
        path.read_text() for path in (paths.OVERLAY / "Documentation").rglob("*") if path.is_file()
    )


def missing_paths(text: str, directory: Path, strict: bool) -> Iterator[str]:
    """Paths in a piece of code that are not there; ``strict``: whatever looks like one."""
    for name in _PATH.findall(text):
        top = name.split("/")[0]
        is_path = top in _TOP or (strict and name.endswith(("/", *_SUFFIXES)))
        if is_path and not path_exists(name, directory):
            yield f"no such file: {name}"
    if strict and re.fullmatch(r"[\w.*-]+", text) and text.endswith(_SUFFIXES):
        pattern = _pattern(text)
        known = {name.rsplit("/", 1)[-1] for name in (*files(), *kernel_files())}
        if not fnmatch.filter(known, pattern) and pattern not in corpus():
            yield f"no such file: {text}"


# --- names -------------------------------------------------------------------


@functools.cache
def knobs() -> tuple[str, ...]:
    """Files below /sys/kernel/mm/pghot/, which another test holds against the code."""
    abi = paths.OVERLAY / "Documentation/ABI/testing/sysfs-kernel-mm-pghot"
    return tuple(re.findall(r"^What:\s+(\S+)", abi.read_text(), re.MULTILINE))


@functools.cache
def events() -> frozenset[str]:
    """Tracepoints of pghot."""
    text = (paths.OVERLAY / "include/trace/events/pghot.h").read_text()
    return frozenset(
        re.findall(r"^(?:TRACE_EVENT|DEFINE_EVENT)\((?:\w+,\s*)?(\w+),", text, re.MULTILINE)
    )


# Sysctls of the stock kernel that the pages may name; pghot adds none.
SYSCTLS = {
    "kernel.numa_balancing",
    "kernel.numa_balancing_promote_rate_limit_MBps",
    "vm.dirty_background_ratio",
    "vm.min_free_kbytes",
    "vm.watermark_scale_factor",
}


def wrong_knobs(text: str) -> Iterator[str]:
    """Files of sysfs and /proc, sysctls, boot options and counters that are not documented."""
    for name in re.findall(r"/(?:sys|proc)/[\w./<>*-]+", text):
        name = name.rstrip("/.")
        if name.startswith("/sys/kernel/mm/pghot"):
            plain = re.sub(r"(node|target)\d+", r"\1<N>", name)
            if not any(plain == known.rstrip("/") for known in knobs()):
                yield f"no such file of sysfs: {name}"
        elif re.sub(r"[*<].*", "", name).strip("/") not in corpus():
            yield f"nothing here knows {name}"
    for name in re.findall(r"(?<![\w./-])((?:kernel|vm)\.\w+)(?![\w(/])", text):
        if name not in SYSCTLS and not name.endswith((".org", ".py", ".c")):
            yield f"no such sysctl: {name}"
    for values in re.findall(r"\bpghot=([\w|]+)", text):
        for value in values.split("|"):
            if value not in ("default", "precise", "off"):
                yield f"no such boot option: pghot={value}"
    for name in re.findall(r"\bpghot:(\w+)", text):
        if name not in events():
            yield f"no such event: pghot:{name}"
    for name in re.findall(r"\$\{?(PGHOT_\w+)", text):
        if name not in words():
            yield f"no such variable: {name}"
    for name in re.findall(r"\bCONFIG_\w+", text):
        if not {name, name.removeprefix("CONFIG_")} & words():
            yield f"no such kernel option: {name}"
    counters = r"(?<![\w/])((?:pghot_(?:skip|delay|refused|recorded)|pgpromote|pgdemote)\w*\*?)"
    for name in re.findall(counters, text):
        if not _known(name):
            yield f"no such counter: {name}"


def _known(name: str) -> bool:
    """Is this name, whose end may be a ``*``, in any file besides the pages."""
    if name.endswith(("*", "_")):
        return any(word.startswith(name.rstrip("*")) for word in words())
    if re.fullmatch(r"\w+", name):
        return name in words()
    return re.search(rf"(?<![\w-]){re.escape(name)}(?![\w])", corpus()) is not None


def dotted_exists(name: str) -> bool:
    """Is there a module of this name, or one that defines or imports its last part."""
    parts = name.split(".")
    place = paths.ROOT.joinpath(*parts)
    if place.is_dir() or place.with_suffix(".py").is_file():
        return True
    above = paths.ROOT.joinpath(*parts[:-1])
    module = above / "__init__.py" if above.is_dir() else above.with_suffix(".py")
    if not module.is_file():
        return False
    defined: set[str] = set()
    for node in ast.parse(module.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            defined |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            defined |= {target.id for target in targets if isinstance(target, ast.Name)}
    return parts[-1] in defined


def wrong_name(span: str) -> Iterator[str]:
    """A code span that is one name, of which nothing is known."""
    name = span.removesuffix("()").removesuffix("[]")
    if not re.fullmatch(r"[\w-]+(?:\.\w+)*\*?", name) or not re.search(r"[A-Za-z]{2}", name):
        return
    if name.endswith(_SUFFIXES) or name in ELSEWHERE or name in SYSCTLS:
        return
    if re.match(r"(?:lab|pghot)\.\w", name):
        if not dotted_exists(name):
            yield f"no such module or name: {name}"
        return
    known = _known(name) or _known(name.removeprefix("CONFIG_"))
    if not known and name not in (names_of("EXPERIMENT") or ()):
        yield f"nothing here is called {name}"


# --- links -------------------------------------------------------------------


def slug(heading: str) -> str:
    """The anchor of a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def wrong_link(target: str, page: Page) -> Iterator[str]:
    """A link to a file or heading that is not there."""
    if re.match(r"[a-z]+:", target):
        return
    name, _, anchor = target.partition("#")
    to = (page.path.parent / name).resolve() if name else page.path
    if not to.exists():
        yield f"link to nothing: {target}"
    elif to.suffix == ".md" and anchor not in {"", *map(slug, parse(to).headings)}:
        yield f"no such heading: {target}"


# --- all of it ---------------------------------------------------------------


def _wrong_block(block: list[tuple[int, str]], page: Page) -> Iterator[tuple[int, str]]:
    prompts = any(line.lstrip().startswith("$ ") for _, line in block)
    elsewhere = False
    for number, line in block:
        found = [*wrong_knobs(line), *missing_paths(line, page.path.parent, strict=False)]
        # After that what is called make is the kernel's.
        elsewhere = elsewhere or re.match(r"\s*(?:\$ )?cd \S*linux", line) is not None
        if not elsewhere and (not prompts or line.lstrip().startswith("$ ")):
            found += wrong_command(line)
        yield from ((number, text) for text in found)


def _printed(page: Page) -> set[int]:
    """Lines that a command printed, which nobody can wrap: those below a prompt."""
    return {
        number
        for block in page.blocks
        if any(line.startswith("$ ") for _, line in block)
        for number, line in block
        if not line.startswith("$ ")
    }


def complaints(page: Page) -> list[str]:
    """What a page names that does not exist, as ``file:line: what``."""
    found: list[tuple[int, str]] = []
    printed = _printed(page)
    for number, line in enumerate(page.lines, 1):
        if len(line) > WIDTH and not line.startswith("|") and number not in printed:
            found.append((number, f"{len(line)} columns, of at most {WIDTH}"))
    for number, span in page.spans:
        found += ((number, text) for text in wrong_knobs(span))
        found += ((number, text) for text in missing_paths(span, page.path.parent, strict=True))
        if re.fullmatch(r"[A-Z_]{3,}=\S*", span):
            found += ((number, text) for text in wrong_variable(span))
        else:
            found += ((number, text) for text in wrong_command(span))
            found += ((number, text) for text in wrong_name(span))
    for block in page.blocks:
        found += _wrong_block(block, page)
    for number, target in page.links:
        found += ((number, text) for text in wrong_link(target, page))
    return [f"{page.name}:{number}: {text}" for number, text in sorted(set(found))]
