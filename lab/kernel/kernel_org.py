# SPDX-License-Identifier: GPL-2.0
"""Fetch a Linux release from kernel.org."""

from __future__ import annotations

import hashlib
import http.client
import re
import urllib.request
from pathlib import Path

from lab.errors import LabError
from lab.log import progress

_BASE = "https://cdn.kernel.org/pub/linux/kernel"


def _open(url: str) -> http.client.HTTPResponse:
    request = urllib.request.Request(url, headers={"User-Agent": "pghot-lab"})
    return urllib.request.urlopen(request, timeout=30)


def newest(version: str, sums: str) -> tuple[str, str]:
    """(file name, SHA-256) of the newest ``version``.y in ``sums``.

    Raises LabError when there is none.
    """
    found = re.findall(
        rf"^([0-9a-f]{{64}})  (linux-{re.escape(version)}"
        r"(?:\.(\d+))?\.tar\.xz)$",
        sums,
        re.MULTILINE,
    )
    if not found:
        raise LabError(
            f"kernel.org lists no Linux {version}: set "
            f"LINUX_TARBALL= to a local linux-{version}.tar.xz"
        )
    digest, name, _ = max(found, key=lambda entry: int(entry[2] or 0))
    return name, digest


def fetch(version: str, directory: Path) -> Path:
    """Download the newest ``version``.y; return the verified archive.

    Raises OSError without a network, LabError for a wrong checksum.
    """
    base = f"{_BASE}/v{version.partition('.')[0]}.x"
    with _open(f"{base}/sha256sums.asc") as answer:
        name, digest = newest(version, answer.read().decode())
    archive = directory / name
    seen = hashlib.sha256()
    with _open(f"{base}/{name}") as answer, open(archive, "wb") as out:
        total = int(answer.headers.get("Content-Length", 0)) or None
        with progress(f"Downloading {name}", total=total) as bar:
            while block := answer.read(1 << 20):
                seen.update(block)
                out.write(block)
                bar.advance(len(block))
    if seen.hexdigest() != digest:
        raise LabError(f"{name} does not match kernel.org's checksum: run the same command again")
    return archive
