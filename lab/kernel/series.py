# SPDX-License-Identifier: GPL-2.0
"""``make series``: overlay and hooks as a ``git format-patch`` series.

patches/series.toml lists the steps in order:

    [[step]]
    subject = "mm/pghot: add hotness records"
    body = "Why, for the commit message."
    files = ["mm/pghot/record.h", "Documentation/mm/**"]    # under linux/
    patches = ["0001"]                                      # of patches/

Every overlay file and every hook belongs to exactly one step.
"""

from __future__ import annotations

import fnmatch
import os
import subprocess
import textwrap
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from lab import paths, toml
from lab.errors import LabError
from lab.files import replace_directory, staging
from lab.host import programs
from lab.kernel import apply, patchfile, source

_T = TypeVar("_T")

_LIST = "patches/series.toml"
_FIELDS = ("subject", "body", "files", "patches")
# A fixed date: the same work tree gives the same series.
_EPOCH = 1767225600


@dataclass
class Step:
    """One commit of the series."""

    subject: str
    body: str
    files: dict[str, bytes]
    """Every file it adds or changes -> contents after it."""
    patches: list[str]
    """Names of the hooks in it."""


@dataclass(frozen=True)
class _Entry:
    """A step as the list has it. ``where`` begins errors about it."""

    where: str
    subject: str
    body: str
    files: tuple[str, ...]
    """Patterns of files under linux/."""
    patches: tuple[str, ...]
    """Names or numbers of hooks."""


def _text(table: toml.Table, field: str) -> str:
    text = table.take(field, str).strip()
    if not text:
        table.fail(field, "is empty: add one")
    return text


def _read(path: Path) -> list[_Entry]:
    if not path.exists():
        raise LabError(f"{_LIST} is missing: list the steps of the series in it")
    file = toml.read(path, ("step",), _LIST)
    entries = [
        _Entry(
            table.where,
            _text(table, "subject"),
            _text(table, "body"),
            table.words("files", ()),
            table.words("patches", ()),
        )
        for table in file.tables("step", _FIELDS, 1)
    ]
    if not entries:
        raise LabError(f"{_LIST} lists no step: add one")
    return entries


def _claim(
    pool: dict[str, _T],
    wanted: Iterable[str],
    matches: Callable[[str, str], bool],
    where: str,
    what: str,
) -> list[tuple[str, _T]]:
    """Take what ``wanted`` selects out of ``pool``."""
    taken = []
    for pattern in wanted:
        found = [name for name in pool if matches(name, pattern)]
        if not found:
            raise LabError(f"{where}: '{pattern}' names no {what} that is not in a step already")
        taken += [(name, pool.pop(name)) for name in found]
    return taken


def steps(
    pristine: Path, overlay: Path = paths.OVERLAY, patches: Path = paths.PATCHES
) -> list[Step]:
    """Read the steps; raises LabError for a file or hook in none or two."""
    entries = _read(patches / "series.toml")
    files = apply.overlay_files(overlay)
    hooks = {patch.name: patch for patch in patchfile.load(patches)}
    results = {
        (patch.name, name): after
        for name, changes in apply.hooked_files(pristine, list(hooks.values())).items()
        for patch, _, after in changes
    }
    order = list(hooks)
    found = []
    last = -1
    for entry in entries:
        own = dict(_claim(files, entry.files, fnmatch.fnmatchcase, entry.where, "file of linux/"))
        names = _claim(
            hooks,
            entry.patches,
            lambda name, wanted: wanted in (name, name.partition("-")[0]),
            entry.where,
            "patch",
        )
        for name, patch in names:
            if order.index(name) < last:
                raise LabError(
                    f"{entry.where}: {name} comes before a patch of an earlier step: "
                    "renumber it, or move the step"
                )
            last = order.index(name)
            own.update({section: results[name, section] for section in patch.sections})
        if not own:
            raise LabError(f"{entry.where} is empty: remove it")
        found.append(Step(entry.subject, entry.body, own, [name for name, _ in names]))
    left = [f"linux/{name}" for name in files] + [f"patches/{name}.patch" for name in hooks]
    if left:
        raise LabError(f"{_LIST}: in no step: {', '.join(left)}")
    return found


@dataclass(frozen=True)
class Author:
    """Whom the commits come from and who signs them off."""

    name: str
    email: str


def author() -> Author:
    """The person git knows; raises LabError if it knows none."""
    values = []
    for key in ("user.name", "user.email"):
        value = subprocess.run(
            ["git", "config", key], cwd=paths.ROOT, check=False, capture_output=True, text=True
        ).stdout.strip()
        if not value:
            raise LabError(
                f"git does not know {key}: run 'git config --global {key} ...'"
                " (the series carries it)"
            )
        values.append(value)
    return Author(*values)


class Repository:
    """A scratch git repository holding only the files the series changes."""

    def __init__(self, directory: Path, who: Author) -> None:
        self._directory = directory
        self._who = who
        self._commits = 0
        self.git("init", "-q", "-b", "series")

    def git(self, *args: str, text: str | None = None) -> str:
        """Run git there, blind to the user's and the system's settings."""
        date = f"{_EPOCH + 60 * self._commits} +0000"
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self._directory),
            "GIT_CONFIG_NOSYSTEM": "1",
            "LC_ALL": "C",
            "GIT_CEILING_DIRECTORIES": str(self._directory.parent),
            "GIT_AUTHOR_NAME": self._who.name,
            "GIT_AUTHOR_EMAIL": self._who.email,
            "GIT_COMMITTER_NAME": self._who.name,
            "GIT_COMMITTER_EMAIL": self._who.email,
            "GIT_AUTHOR_DATE": date,
            "GIT_COMMITTER_DATE": date,
        }
        done = subprocess.run(
            ["git", *args],
            cwd=self._directory,
            env=env,
            check=False,
            capture_output=True,
            text=True,
            input=text,
        )
        if done.returncode:
            raise LabError(f"git {args[0]} failed: {done.stderr}")
        return done.stdout

    def commit(self, files: dict[str, bytes], message: str) -> None:
        """Commit the contents of ``files``."""
        for name, data in files.items():
            path = self._directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
            if data.startswith(b"#!"):
                path.chmod(0o755)
        self.git("add", "--force", "--", *files)
        self._commits += 1
        self.git("commit", "-q", "-F", "-", text=message)

    def sign_off(self) -> str:
        """The trailer of the person the commits come from."""
        return f"Signed-off-by: {self._who.name} <{self._who.email}>"


def base(pristine: Path, found: list[Step]) -> dict[str, bytes]:
    """The pristine contents of every existing file the series changes."""
    return {
        name: (pristine / name).read_bytes()
        for step in found
        for name in step.files
        if (pristine / name).exists()
    }


def _message(step: Step, sign_off: str) -> str:
    body = "\n\n".join(
        block
        if block.startswith((" ", "\t"))
        else textwrap.fill(
            " ".join(block.split()), 72, break_long_words=False, break_on_hyphens=False
        )
        for block in step.body.split("\n\n")
    )
    return f"{step.subject}\n\n{body}\n\n{sign_off}\n"


def emit(pristine: Path, found: list[Step], output: Path, who: Author) -> list[Path]:
    """Write the series to ``output``, replacing what was there."""
    programs.require("git")
    with staging(output) as directory:
        (directory / "repository").mkdir()
        repository = Repository(directory / "repository", who)
        repository.commit(
            base(pristine, found) or {"Makefile": b""}, f"Linux {source.version(pristine)}"
        )
        for step in found:
            repository.commit(step.files, _message(step, repository.sign_off()))
        repository.git(
            "format-patch",
            "-q",
            "--numbered",
            "--zero-commit",
            "--no-signature",
            "-o",
            str(directory / "series"),
            f"-{len(found)}",
        )
        replace_directory(directory / "series", output)
    return sorted(output.glob("*.patch"))
