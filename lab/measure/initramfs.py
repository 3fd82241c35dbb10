# SPDX-License-Identifier: GPL-2.0
"""Root file systems in memory: the same bytes from the same files.

A measured guest has no device whose answers depend on the host's time, so all it
needs comes with it.
"""

from __future__ import annotations

import re
import shutil
import stat
import subprocess
from pathlib import Path

from lab.errors import LabError

_LIBRARY = re.compile(r"(/\S+) \(0x[0-9a-f]+\)$", re.MULTILINE)


class Initramfs:
    """A cpio archive (newc) in the making. Paths are absolute, as in the guest."""

    def __init__(self) -> None:
        self._entries: dict[str, tuple[int, bytes, tuple[int, int]]] = {}

    def _add(
        self, path: str, mode: int, data: bytes = b"", device: tuple[int, int] = (0, 0)
    ) -> None:
        name = path.strip("/")
        parent = name.rpartition("/")[0]
        if parent and parent not in self._entries:
            self.directory(parent)
        self._entries[name] = (mode, data, device)

    def directory(self, path: str) -> None:
        """An empty directory, and those above it."""
        self._add(path, stat.S_IFDIR | 0o755)

    def file(self, path: str, data: bytes | str, *, program: bool = False) -> None:
        """A file with this content."""
        data = data.encode() if isinstance(data, str) else data
        self._add(path, stat.S_IFREG | (0o755 if program else 0o644), data)

    def link(self, path: str, target: str) -> None:
        """A symbolic link."""
        self._add(path, stat.S_IFLNK | 0o777, target.encode())

    def character_device(self, path: str, major: int, minor: int) -> None:
        """A device node."""
        self._add(path, stat.S_IFCHR | 0o600, device=(major, minor))

    def program(self, source: Path | str, path: str | None = None) -> None:
        """A program of the host and the libraries it is linked with.

        ``source`` is a path, or a name to be found on PATH. Raises LabError
        where it is not there.
        """
        found = shutil.which(str(source))
        if found is None:
            raise LabError(f"program {source} is missing on this host: install it")
        self.file(path or f"/bin/{Path(found).name}", Path(found).read_bytes(), program=True)
        listed = subprocess.run(["ldd", found], capture_output=True, text=True, check=False).stdout
        for library in _LIBRARY.findall(listed):
            self.file(library, Path(library).read_bytes(), program=True)

    def bytes(self) -> bytes:
        """The archive."""
        parts = []
        for number, name in enumerate(sorted(self._entries), 1):
            parts.append(_entry(number, name, *self._entries[name]))
        parts.append(_entry(0, "TRAILER!!!", 0, b"", (0, 0)))
        return b"".join(parts)


def _entry(inode: int, name: str, mode: int, data: bytes, device: tuple[int, int]) -> bytes:
    """One file: header, name and content, each padded to four bytes.

    Field order: Documentation/driver-api/early-userspace/buffer-format.rst.
    """
    fields = (inode, mode, 0, 0, 1, 0, len(data), 0, 0, *device, len(name) + 1, 0)
    head = b"070701" + b"".join(b"%08x" % field for field in fields)
    named = head + name.encode() + b"\0"
    return named + bytes(-len(named) % 4) + data + bytes(-len(data) % 4)
