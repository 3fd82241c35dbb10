# SPDX-License-Identifier: GPL-2.0
"""Pages of a process: where they are, moving them, which of them are touched."""

from __future__ import annotations

import ctypes
import os
from array import array
from collections.abc import Iterable
from pathlib import Path

from lab.demo.inside import process

PAGE = os.sysconf("SC_PAGE_SIZE")

# System calls of x86-64 that the C library does not wrap.
_MIGRATE_PAGES, _MOVE_PAGES = 256, 279
_PIDFD_OPEN, _PROCESS_MADVISE = 434, 440
_MADV_COLD = 20

_PRESENT = 1 << 63
_PFN = (1 << 55) - 1
# The idle page bitmap is read and written in words of 64 pages.
_WORD = 64

_libc = ctypes.CDLL(None, use_errno=True)


def _call(name: str, number: int, *args: object) -> int:
    result = _libc.syscall(ctypes.c_long(number), *args)
    if result < 0:
        code = ctypes.get_errno()
        raise OSError(code, f"{name}: {os.strerror(code)}")
    return result


def _mask(nodes: Iterable[int]) -> ctypes.c_ulong:
    return ctypes.c_ulong(sum(1 << node for node in nodes))


def anonymous_areas(pid: int) -> list[tuple[int, int]]:
    """(start, end) of the anonymous memory areas: heap, stacks, mappings.

    This is where a process keeps its data. Code and libraries are files, and
    NUMA balancing does not scan read-only file mappings.
    """
    return process.anonymous_areas(Path(f"/proc/{pid}/maps").read_text())


def frames(pid: int) -> dict[int, int]:
    """Address -> page frame number of the anonymous pages that are present."""
    found = {}
    with open(f"/proc/{pid}/pagemap", "rb", buffering=0) as pagemap:
        for start, end in anonymous_areas(pid):
            pagemap.seek(start // PAGE * 8)
            entries = array("Q", pagemap.read((end - start) // PAGE * 8))
            for index, entry in enumerate(entries):
                if entry & _PRESENT:
                    found[start + index * PAGE] = entry & _PFN
    return found


def nodes_of_all(pid: int) -> dict[int, int]:
    """Node -> number of anonymous pages there, by /proc/PID/numa_maps."""
    starts = {start for start, _ in anonymous_areas(pid)}
    return process.pages_by_node(Path(f"/proc/{pid}/numa_maps").read_text(), starts)


class Watched:
    """Chosen pages of a process, asked often where they are."""

    def __init__(self, pid: int, addresses: Iterable[int]) -> None:
        addresses = list(addresses)
        self.count = len(addresses)
        self._pid = pid
        self._addresses = (ctypes.c_ulong * self.count)(*addresses)
        self._status = (ctypes.c_int * self.count)()

    def _look(self) -> None:
        _call(
            "move_pages",
            _MOVE_PAGES,
            self._pid,
            ctypes.c_ulong(self.count),
            self._addresses,
            None,
            self._status,
            0,
        )

    def on(self, node: int) -> list[int]:
        """Addresses of those that are on one node."""
        self._look()
        return [address for address, where in zip(self._addresses, self._status) if where == node]


def migrate(pid: int, source: Iterable[int], target: int) -> int:
    """Move all pages of a process to one node; return how many stayed.

    As migratepages(8) does. The process's memory policy stays the default:
    pages that a policy binds get no hint faults.
    """
    bits = ctypes.c_ulong(ctypes.sizeof(ctypes.c_ulong) * 8)
    return _call(
        "migrate_pages",
        _MIGRATE_PAGES,
        pid,
        bits,
        ctypes.byref(_mask(source)),
        ctypes.byref(_mask([target])),
    )


class _Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_ulong), ("length", ctypes.c_ulong)]


def forget_accesses(pid: int) -> None:
    """Clear the accessed bits of the process's page tables, and its TLBs.

    Idle page tracking clears the bits too, but leaves the TLBs alone: a page
    that has an entry there could be used on and on and still look idle.
    """
    areas = anonymous_areas(pid)
    vectors = [_Vector(start, end - start) for start, end in areas]
    handle = _call("pidfd_open", _PIDFD_OPEN, pid, 0)
    try:
        for vector in vectors:
            _call(
                "process_madvise",
                _PROCESS_MADVISE,
                handle,
                ctypes.byref(vector),
                ctypes.c_ulong(1),
                _MADV_COLD,
                0,
            )
    finally:
        os.close(handle)


class IdleTracking:
    """Finds which page frames are touched, by /sys/kernel/mm/page_idle/bitmap."""

    BITMAP = "/sys/kernel/mm/page_idle/bitmap"

    def __init__(self, pfns: Iterable[int]) -> None:
        pfns = list(pfns)
        self._first = min(pfns) // _WORD
        self._bytes = (max(pfns) // _WORD + 1 - self._first) * 8

    def start(self) -> None:
        """Mark every frame idle."""
        with open(self.BITMAP, "wb", buffering=0) as bitmap:
            bitmap.seek(self._first * 8)
            left = self._bytes
            while left:
                # The kernel takes at most a page at once.
                left -= bitmap.write(b"\xff" * min(PAGE, left))

    def touched(self, pfns: Iterable[int]) -> set[int]:
        """Those of ``pfns`` that were touched since start()."""
        words = array("Q")
        with open(self.BITMAP, "rb", buffering=0) as bitmap:
            bitmap.seek(self._first * 8)
            data = b""
            while len(data) < self._bytes:
                part = bitmap.read(min(PAGE, self._bytes - len(data)))
                if not part:
                    raise OSError(f"{self.BITMAP} ends early")
                data += part
        words.frombytes(data)
        return {pfn for pfn in pfns if not words[pfn // _WORD - self._first] >> pfn % _WORD & 1}
