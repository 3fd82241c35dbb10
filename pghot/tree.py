# SPDX-License-Identifier: GPL-2.0
"""Reads files of /proc and /sys, live or captured, and remembers what could not be read.

Nothing here raises for what a file holds or for a file that cannot be read: the caller gets None
and `unread` gets the path with the reason, so that a report can say what it does not know.
"""

import os
import re
from typing import TypeVar

#: A file of /proc or /sys that is longer than this is not one we know how to read.
LIMIT_BYTES = 16 << 20

#: Why a file that only root may read told nothing.
DENIED = "permission denied; root can read it"

#: The file of a copy that says what could not be read, and why: a line each, with a tab between.
REASONS = "unread"

_NUMBER = re.compile(r"-?[0-9]{1,20}\Z")


def clean(text: str, limit: int = 60) -> str:
    """One line of printable ASCII, of at most `limit` characters: files may hold anything."""
    line = "".join(c if " " <= c <= "~" else "?" for c in text.strip()[: limit + 1])
    return line if len(line) <= limit else line[: limit - 3] + "..."


def number(text: str) -> int | None:
    """The decimal integer that `text` is, or None."""
    text = text.strip()
    return int(text) if _NUMBER.match(text) else None


T = TypeVar("T")


class Tree:
    """The files below `root`; paths are given without the leading slash, as in "proc/vmstat"."""

    def __init__(self, root: str = "/") -> None:
        self.root = root
        self.unread: dict[str, str] = {}
        self._when_copied = {} if os.path.realpath(root) == "/" else self._reasons()

    def _path(self, path: str) -> str:
        return os.path.join(self.root, path)

    def note(self, path: str, why: str) -> None:
        """Record that `path` was there and told us nothing usable."""
        self.unread.setdefault("/" + path, why)

    def _failed(self, path: str, error: OSError) -> None:
        if isinstance(error, (FileNotFoundError, NotADirectoryError)):
            return
        if isinstance(error, PermissionError):
            self.note(path, DENIED)
        else:
            self.note(path, clean(error.strerror or type(error).__name__))

    def _reasons(self) -> dict[str, str]:
        """What could not be read when this copy was made, and why; nothing where it is none."""
        try:
            lines = self._read(REASONS).splitlines()
        except OSError:
            return {}
        pairs = (line.partition("\t") for line in lines)
        return {path: clean(why) for path, _, why in pairs if why}

    def _was_unread(self, path: str) -> bool:
        """Whether it could not be read when this copy was made, which is then noted."""
        if path not in self._when_copied:
            return False
        self.note(path, self._when_copied[path])
        return True

    def open(self, path: str) -> int:
        """A file descriptor; raises OSError. O_NONBLOCK: a captured tree may hold a FIFO."""
        return os.open(self._path(path), os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)

    def _read(self, path: str) -> str:
        """The whole file; raises OSError."""
        chunks = []
        left = LIMIT_BYTES
        fd = self.open(path)
        try:
            while left > 0 and (chunk := os.read(fd, min(left, 1 << 16))):
                chunks.append(chunk)
                left -= len(chunk)
        finally:
            os.close(fd)
        return b"".join(chunks).decode("utf-8", "replace")

    def text(self, path: str) -> str | None:
        """The whole file, or None when it is absent or unreadable."""
        if self._was_unread(path):
            return None
        try:
            return self._read(path)
        except OSError as error:
            self._failed(path, error)
            return None

    def integer(self, path: str) -> int | None:
        """The file's one decimal integer, or None."""
        text = self.text(path)
        if text is None:
            return None
        value = number(text)
        if value is None:
            self.note(path, f"not a number: '{clean(text)}'")
        return value

    def choice(self, path: str, known: dict[str, T]) -> T | None:
        """What `known` gives for the file's one word, or None."""
        text = self.text(path)
        if text is None:
            return None
        value = known.get(text.strip())
        if value is None:
            self.note(path, f"not one of {', '.join(known)}: '{clean(text)}'")
        return value

    def switch(self, path: str) -> bool | None:
        """True for 1, Y or true, False for 0, N or false, else None."""
        return self.choice(
            path, {"0": False, "1": True, "N": False, "Y": True, "false": False, "true": True}
        )

    def names(self, path: str) -> list[str]:
        """Names in a directory, sorted; empty when it is absent or unreadable."""
        self._was_unread(path)
        try:
            return sorted(os.listdir(self._path(path)))
        except OSError as error:
            self._failed(path, error)
            return []

    def numbered(self, path: str, prefix: str) -> list[int]:
        """Each N for which the directory holds `prefix`N, rising."""
        pattern = re.compile(re.escape(prefix) + r"(0|[1-9][0-9]{0,4})\Z")
        matches = (pattern.match(name) for name in self.names(path))
        return sorted(int(m[1]) for m in matches if m)

    def exists(self, path: str) -> bool | None:
        """Whether the file is there; None when a directory above it cannot be searched."""
        try:
            os.stat(self._path(path))
        except (FileNotFoundError, NotADirectoryError):
            return None if self._was_unread(path) else False
        except OSError as error:
            self._failed(path, error)
            return None
        return True
