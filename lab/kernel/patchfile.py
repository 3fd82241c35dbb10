# SPDX-License-Identifier: GPL-2.0
"""Hook patches: parse, apply to a file's contents, make anew, write."""

from __future__ import annotations

import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from lab.errors import LabError

_HUNK = re.compile(r"^@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")


@dataclass
class Patch:
    """One file of patches/: a text, then the change of each kernel file."""

    path: Path
    header: str = ""
    sections: dict[str, str] = field(default_factory=dict)
    """Kernel file -> its unified diff, from ``diff --git`` or ``---`` on."""

    @property
    def name(self) -> str:
        """File name without ``.patch``."""
        return self.path.name.removesuffix(".patch")

    @property
    def number(self) -> str:
        """The digits that the name starts with, or nothing."""
        found = re.match(r"\d+", self.name)
        return found[0] if found else ""

    def text(self) -> str:
        """The whole file."""
        return self.header + "".join(self.sections.values())

    def changed_lines(self) -> int:
        """Lines added plus lines removed."""
        return sum(
            line.startswith(("+", "-")) and not line.startswith(("+++ ", "--- "))
            for text in self.sections.values()
            for line in text.splitlines()
        )


def load(directory: Path) -> list[Patch]:
    """All hooks in number order; raises LabError for a malformed one."""
    patches = [parse(path) for path in sorted(directory.glob("*.patch"))]
    seen: dict[str, Patch] = {}
    for patch in patches:
        if not patch.number:
            raise LabError(f"patches/{patch.path.name}: name it NNNN-<concern>.patch")
        if patch.number in seen:
            raise LabError(
                f"patches/{patch.path.name}: the number is also "
                f"that of {seen[patch.number].path.name}"
            )
        seen[patch.number] = patch
    return patches


def _hunk_end(lines: list[str], at: int, match: re.Match) -> int:
    """Index after the hunk whose ``@@`` line is at ``at``."""
    old, new = (
        int(match[1] or 1) if match[1] is not None else 1,
        int(match[2] or 0) if match[2] is not None else 1,
    )
    at += 1
    while at < len(lines) and (old > 0 or new > 0):
        kind = lines[at][:1]
        old -= kind in (" ", "-", "\n")
        new -= kind in (" ", "+", "\n")
        at += 1
    if at < len(lines) and lines[at].startswith("\\"):
        at += 1
    return at


def parse(path: Path) -> Patch:
    """Read one patch file; raises LabError if it is not a plain -p1 diff of
    existing files."""
    lines = path.read_text().splitlines(keepends=True)
    patch = Patch(path)
    at = start = 0
    while at < len(lines):
        if not (
            lines[at].startswith("--- ")
            and at + 1 < len(lines)
            and lines[at + 1].startswith("+++ ")
        ):
            at += 1
            continue
        old = lines[at].split()[1]
        new = lines[at + 1].split()[1]
        if "/dev/null" in (old, new):
            which = new if old == "/dev/null" else old
            raise LabError(
                f"patches/{path.name}: hooks change existing files "
                f"only: {which[2:]} as a new file goes to linux/"
            )
        name = new.partition("/")[2]
        begin = at
        while begin > start and re.match(r"diff --git |index [0-9a-f]+\.\.", lines[begin - 1]):
            begin -= 1
        if not patch.sections:
            patch.header = "".join(lines[:begin])
        if name in patch.sections:
            raise LabError(f"patches/{path.name}: changes {name} twice: join the two parts")
        at += 2
        while at < len(lines) and (match := _HUNK.match(lines[at])):
            at = _hunk_end(lines, at, match)
        patch.sections[name] = "".join(lines[begin:at])
        start = at
    if not patch.sections:
        raise LabError(f"patches/{path.name}: holds no change: remove it")
    return patch


def apply(patch: Patch, name: str, before: bytes, what: str, reverse: bool = False) -> bytes:
    """Return file ``name`` after (or, reversed, before) the patch.

    Lines may have moved, but context must match. ``what`` names the source
    in the error, a LabError with patch, file and hunks.
    """
    with tempfile.TemporaryDirectory() as scratch:
        source, result = Path(scratch, "in"), Path(scratch, "out")
        source.write_bytes(before)
        command = [
            "patch",
            "-f",
            "-F0",
            "--no-backup-if-mismatch",
            "-r-",
            "-o",
            str(result),
            str(source),
        ]
        if reverse:
            command.insert(1, "-R")
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            input=patch.sections[name],
            env={"LC_ALL": "C", "PATH": "/usr/bin:/bin"},
        )
        if done.returncode == 0:
            return result.read_bytes()
    failed = re.findall(r"Hunk #(\d+) FAILED at (\d+)", done.stdout)
    where = ", ".join(f"hunk {hunk} (line {line})" for hunk, line in failed)
    raise LabError(
        f"patches/{patch.path.name} does not apply to {name} of "
        f"{what}: {where or 'malformed patch'}: mend the patch"
    )


def diff(name: str, before: bytes, after: bytes) -> str:
    """The unified diff of file ``name``; empty if nothing changed."""
    if before == after:
        return ""
    with tempfile.TemporaryDirectory() as scratch:
        old, new = Path(scratch, "old"), Path(scratch, "new")
        old.write_bytes(before)
        new.write_bytes(after)
        done = subprocess.run(
            ["diff", "-up", "--label", f"a/{name}", "--label", f"b/{name}", str(old), str(new)],
            check=False,
            capture_output=True,
            text=True,
        )
    if done.returncode != 1:
        raise LabError(f"cannot compare {name}: {done.stderr}")
    return f"diff --git a/{name} b/{name}\n{done.stdout}"
