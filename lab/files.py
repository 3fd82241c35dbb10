# SPDX-License-Identifier: GPL-2.0
"""Helpers for files and directories that must never be half-written."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.errors import LabError
from lab.log import note


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold an exclusive lock on file ``path`` for the ``with`` block."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            note(f"waiting for another run to finish with {path.stem}")
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield


@contextmanager
def staging(beside: Path) -> Iterator[Path]:
    """A new directory on the file system of ``beside``, removed at the end.

    Leftovers of killed runs are removed first, and what one was about to replace is put
    back; hold a lock.
    """
    beside.parent.mkdir(parents=True, exist_ok=True)
    if (aside := _aside(beside)).exists() and not beside.exists():
        aside.rename(beside)
    prefix = f".{beside.name}."
    for old in beside.parent.glob(f"{prefix}*"):
        shutil.rmtree(old, ignore_errors=True)
    directory = Path(tempfile.mkdtemp(prefix=prefix, dir=beside.parent))
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _aside(path: Path) -> Path:
    """Where replace_directory() has the old one for a moment, if it must be anywhere."""
    return path.with_name(f"{path.name}.replaced")


def replace_directory(new: Path, path: Path) -> None:
    """Put the directory ``new`` where ``path`` is, or was not yet; what was there is removed.

    ``new`` comes from staging(path). Whenever this process is killed, the old one or the new
    one is there, or the next staging() puts the old one back.
    """
    if path.exists():
        if not _exchange(new, path):
            aside = _aside(path)
            shutil.rmtree(aside, ignore_errors=True)
            path.rename(aside)
            new.rename(path)
            new = aside
        shutil.rmtree(new)
    else:
        new.rename(path)


def _exchange(one: Path, other: Path) -> bool:
    """Let two directories change places at once; False where their file system cannot."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if call is None:
        return False
    at_cwd, exchange = -100, 2  # AT_FDCWD, RENAME_EXCHANGE of <fcntl.h> and <stdio.h>
    if call(at_cwd, os.fsencode(one), at_cwd, os.fsencode(other), exchange) == 0:
        return True
    error = ctypes.get_errno()
    if error in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
        return False
    raise OSError(error, os.strerror(error), str(other))


def symlink(link: Path, target: Path) -> None:
    """Make ``link`` point at ``target``, whatever link or file it was; it is never missing."""
    if link.is_symlink() and link.readlink() == target:
        return
    link.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{link.name}.", dir=link.parent) as directory:
        made = Path(directory) / link.name
        made.symlink_to(target)
        os.replace(made, link)


def write(path: Path, data: bytes) -> bool:
    """Replace ``path`` by ``data`` if it differs; return whether it did.

    The file is renamed into place: a hard link to the old one keeps its
    contents, and an equal file keeps its time stamp.
    """
    if path.is_file() and path.read_bytes() == data:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
        if data.startswith(b"#!"):
            mode |= 0o111
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return True


def write_text(path: Path, text: str) -> bool:
    """Replace ``path`` by ``text`` in UTF-8, as write() does."""
    return write(path, text.encode())


def write_json(path: Path, value: object) -> bool:
    """Replace ``path`` by ``value`` as JSON that people can read, as write() does."""
    return write_text(path, json.dumps(value, indent=1) + "\n")


def need_room(directory: Path, gib: float, what: str) -> None:
    """Raise LabError unless ``directory`` has ``gib`` GiB free."""
    existing = directory
    while not existing.exists():
        existing = existing.parent
    free = shutil.disk_usage(existing).free / 2**30
    if free < gib:
        raise LabError(
            f"{what} needs {gib:.1f} GiB at {directory}, and "
            f"{free:.1f} GiB are free: free some, or set "
            "PGHOT_CACHE to a directory elsewhere"
        )
