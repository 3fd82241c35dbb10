# SPDX-License-Identifier: GPL-2.0
"""``make check``: checkpatch --strict, sparse, and the size of the hooks."""

from __future__ import annotations

import fnmatch
import re
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from lab import paths
from lab.errors import LabError
from lab.files import locked
from lab.host import programs
from lab.kernel import apply, build, make, patchfile, series, source
from lab.log import progress

# checkpatch message type -> why it does not apply here.
IGNORED = {
    "FILE_PATH_CHANGES": "asks for MAINTAINERS entries of an upstream tree",
}

# (files, type, part of the message, why it does not apply there)
EXCEPTIONS = (
    (
        "include/trace/events/*",
        "OPEN_ENDED_LINE",
        "",
        "TRACE_EVENT() is laid out as in all of include/trace",
    ),
    (
        "include/trace/events/*",
        "PARENTHESIS_ALIGNMENT",
        "",
        "TRACE_EVENT() is laid out as in all of include/trace",
    ),
    (
        "include/trace/events/pghot.h",
        "TRAILING_SEMICOLON",
        "",
        "names of an enum are told to tracing one by one, as in other headers of include/trace",
    ),
    (
        "include/trace/events/pghot.h",
        "COMPLEX_MACRO",
        "",
        "a list that stands within braces where it is used, as in other headers of include/trace",
    ),
    ("*", "CAMELCASE", "MBps", "a unit in the name of a stock sysctl, kept for those who know it"),
    (
        "mm/pghot/*",
        "UNDOCUMENTED_SETUP",
        "",
        "checkpatch looks into the same patch only; a test of ours looks further",
    ),
    (
        "mm/pghot/stat.h",
        "COMPLEX_MACRO",
        "",
        "one list of the counters makes their enum and their names",
    ),
    (
        "mm/pghot/stat.h",
        "MACRO_ARG_REUSE",
        "'X'",
        "applying its argument to each counter is what the list is for",
    ),
)

MAX_HOOK_LINES = 600

# The checker of Debian 12 is older than this keyword. It differs from the
# other in qualifiers only, which are no concern of a sparse message.
SPARSE = "sparse -D__typeof_unqual__=__typeof__"

_CHECKPATCH = re.compile(r"^(\S*):\d*: (?:ERROR|WARNING|CHECK):(\w+): (.*)$")
_SPARSE = re.compile(r"^(\S+?):\d+:\d+: ((?:warning|error): .*)$", re.MULTILINE)


def hook_lines(patches: Path = paths.PATCHES) -> dict[str, int]:
    """Patch -> lines it adds plus lines it removes."""
    return {patch.path.name: patch.changed_lines() for patch in patchfile.load(patches)}


def _counts(name: str, kind: str, text: str) -> bool:
    return not any(
        fnmatch.fnmatchcase(name, files) and kind == other and part in text
        for files, other, part, _ in EXCEPTIONS
    )


def checkpatch(tree: Path, mail: list[Path]) -> list[str]:
    """Complaints of checkpatch --strict about patches to ``tree``, one line each."""
    programs.require("perl", "prove")
    command = [
        "perl",
        "scripts/checkpatch.pl",
        "--strict",
        "--terse",
        "--showfile",
        "--show-types",
        "--no-summary",
        "--color=never",
        f"--ignore={','.join(IGNORED)}",
    ]
    found: list[str] = []
    with progress("checkpatch --strict", total=len(mail)) as bar:
        for path in mail:
            done = subprocess.run(
                [*command, path], cwd=tree, check=False, capture_output=True, text=True
            )
            seen = [match for match in map(_CHECKPATCH.match, done.stdout.splitlines()) if match]
            if done.returncode and not seen:
                raise LabError(f"checkpatch failed: {done.stdout}{done.stderr}")
            found += [
                match[0] if match[1] else f"{path.name}{match[0]}"
                for match in seen
                if _counts(*match.groups())
            ]
            bar.advance()
    return found


def _sparse_messages(
    tree: Path, out: Path, targets: list[str], name: str
) -> Counter[tuple[str, str]]:
    """(file, message) -> how often, of sparse over the objects ``targets``."""
    log = paths.LOGS / f"sparse-{name}.log"
    make.run(tree, out, "C=2", f"CHECK={SPARSE}", *targets, log=log, text=f"sparse ({name})")
    text = log.read_text(errors="replace")
    for target in targets:
        if f"CHECK   {target.removesuffix('.o')}.c\n" not in text:
            raise LabError(f"sparse did not check {target}: see {log}")
    return Counter(
        (match[1].removeprefix(f"{tree}/"), match[2]) for match in _SPARSE.finditer(text)
    )


def new_messages(
    ours: Counter[tuple[str, str]], stock: Counter[tuple[str, str]], own: set[str]
) -> list[str]:
    """What sparse says of our code only.

    In a file of our own every message counts; in a kernel file those that
    the stock kernel does not have (as often, where it is a C file: a header
    is read by more files than before).
    """
    found = []
    for (name, text), count in sorted(ours.items()):
        before = stock[name, text]
        fresh = name in own or not before or (name.endswith(".c") and count > before)
        if fresh:
            found.append(f"{name}: {text}")
    return found


def sparse() -> list[str]:
    """New messages of sparse about overlay and hooked C files."""
    programs.require("sparse")
    kernel, stock = build.ensure("pghot"), build.ensure("stock")
    own = set(apply.overlay_files(paths.OVERLAY))
    hooked = {name for patch in patchfile.load(paths.PATCHES) for name in patch.sections}

    # Of both those that ours has: where a check is killed, make removes the object that it
    # was about, and makes it again only when it is asked for.
    def objects(names: set[str]) -> list[str]:
        built = (re.sub(r"\.c$", ".o", name) for name in sorted(names) if name.endswith(".c"))
        return [name for name in built if (kernel.out / name).exists()]

    ours, theirs = objects(own | hooked), objects(hooked)
    with locked(build.lock_of("pghot")):
        messages = _sparse_messages(kernel.source, kernel.out, ours, "pghot") if ours else Counter()
    with locked(build.lock_of("stock")):
        # Any C file of the kernel shows what the common headers give.
        baseline = _sparse_messages(stock.source, stock.out, theirs or ["mm/migrate.o"], "stock")
    return new_messages(messages, baseline, own)


def checkpatch_all() -> list[str]:
    """Checkpatch over every step of the series, in which each overlay file is once, and whole."""
    programs.require("patch", "git")
    pristine = source.ensure()
    tree = build.ensure("pghot").source
    with tempfile.TemporaryDirectory() as directory:
        # A machine that only checks need not have an author.
        who = series.Author("pghot", "pghot@localhost")
        mail = series.emit(pristine, series.steps(pristine), Path(directory, "series"), who)
        return checkpatch(tree, mail)
