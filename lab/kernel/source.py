# SPDX-License-Identifier: GPL-2.0
"""The pristine Linux source: fetched once, kept in the cache, never edited.

In this order: the file that LINUX_TARBALL= names; the Debian package from the
machine's own mirror, verified by the Debian keyring; kernel.org, verified by
its published checksums.
"""

from __future__ import annotations

import os
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import IO

from lab import paths
from lab.errors import LabError
from lab.files import locked, need_room, replace_directory, staging
from lab.host import apt, programs
from lab.kernel import kernel_org
from lab.log import note, progress

VERSION = "7.3"
PACKAGE = f"linux-source-{VERSION}"
SUITE = "trixie-backports"

PRISTINE = paths.SOURCES / "linux"
# In the tree, so that both are replaced as one.
ORIGIN = ".pghot-origin"

# Source twice (pristine and ours), objects of both kernels, compiler cache.
_ROOM_GIB = 8.0


def version(tree: Path) -> str:
    """The version in a kernel tree's Makefile, as ``7.3.4``; "" if none."""
    fields = {}
    try:
        lines = (tree / "Makefile").read_text(errors="replace").splitlines()
    except OSError:
        return ""
    for line in lines[:8]:
        key, _, value = line.partition("=")
        fields[key.strip()] = value.strip()
    parts = [fields.get(key, "") for key in ("VERSION", "PATCHLEVEL", "SUBLEVEL")]
    return ".".join(part for part in parts if part)


def _matches(found: str) -> bool:
    return found == VERSION or found.startswith(f"{VERSION}.")


def ensure() -> Path:
    """Return the pristine tree, fetching and unpacking it if needed.

    Raises LabError; the tree that was there before is then still there.
    """
    local = os.environ.get("LINUX_TARBALL")
    with locked(paths.SOURCES / "linux.lock"):
        if local:
            return _from_local(Path(local).expanduser().absolute())
        if _matches(version(PRISTINE)):
            return PRISTINE
        need_room(paths.CACHE, _ROOM_GIB, "building the kernel")
        programs.require("xz", "tar")
        with staging(paths.SOURCES / "download") as directory:
            archive = _download(directory)
            return unpack(archive, archive.name)


def identity() -> str:
    """A line that changes when another source takes the place of this one."""
    try:
        return (PRISTINE / ORIGIN).read_text()
    except FileNotFoundError:
        return ""


def _from_local(archive: Path) -> Path:
    try:
        facts = archive.stat()
    except OSError as error:
        raise LabError(
            f"LINUX_TARBALL={archive}: {error.strerror}: name a Linux {VERSION} .tar.xz or .deb"
        ) from error
    origin = f"{archive.name} {facts.st_size} {int(facts.st_mtime)}"
    if identity() == origin and _matches(version(PRISTINE)):
        return PRISTINE
    need_room(paths.CACHE, _ROOM_GIB, "building the kernel")
    programs.require("xz", "tar")
    return unpack(archive, origin)


def _download(directory: Path) -> Path:
    try:
        return _from_debian(directory)
    except apt.AptError as error:
        note(f"not from Debian ({error}); trying kernel.org")
    try:
        return kernel_org.fetch(VERSION, directory)
    except OSError as error:
        raise LabError(
            f"cannot fetch Linux {VERSION} from the Debian mirror or from "
            f"kernel.org ({error}): connect to the network, or set "
            f"LINUX_TARBALL= to a local linux-{VERSION}.tar.xz"
        ) from error


def _from_debian(directory: Path) -> Path:
    if not apt.available():
        raise apt.AptError("this machine has no APT")
    if not apt.KEYRING.exists():
        raise apt.AptError("the Debian archive keyring is not installed")
    options = apt.private_suites("source", SUITE)
    apt.run(f"Downloading {PACKAGE}", "download", *options, PACKAGE, cwd=directory)
    return next(directory.glob("*.deb"))


def unpack(archive: Path, origin: str) -> Path:
    """Unpack a .deb or tar archive to PRISTINE; raise LabError if it is not
    a Linux source of the right version."""
    wrong = (
        f"{archive} is not a Linux {VERSION} source: give a "
        f"linux-{VERSION}.tar.xz, or the Debian package {PACKAGE}"
    )
    with staging(PRISTINE) as directory:
        tree = directory / "linux"
        tree.mkdir()
        if not _extract(archive, tree):
            raise LabError(wrong)
        found = version(tree)
        if not found or not (tree / "mm").is_dir():
            raise LabError(wrong)
        if not _matches(found):
            raise LabError(
                f"{archive} holds Linux {found}, and {VERSION} is "
                f"needed: give a linux-{VERSION}.tar.xz"
            )
        (tree / ORIGIN).write_text(origin)
        replace_directory(tree, PRISTINE)
    return PRISTINE


def _extract(archive: Path, tree: Path) -> bool:
    """Unpack into ``tree`` with a progress bar; return whether it worked."""
    with open(archive, "rb") as stream:
        magic = stream.read(6)
        stream.seek(0)
        if magic == b"!<arch":
            return _extract_package(archive, tree)
        if magic == b"\xfd7zXZ\x00":
            return _untar(stream, archive, tree, "-J")
        if magic[:2] == b"\x1f\x8b":
            return _untar(stream, archive, tree, "-z")
        return _untar(stream, archive, tree)


def _extract_package(archive: Path, tree: Path) -> bool:
    """The same of the tar archive in a Debian package."""
    programs.require("dpkg-deb")
    with (
        subprocess.Popen(
            ["dpkg-deb", "--fsys-tarfile", str(archive)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as data,
        subprocess.Popen(
            ["tar", "-x", "-O", "--wildcards", "*/linux-source-*.tar.xz"],
            stdin=data.stdout,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as inner,
    ):
        assert data.stdout and inner.stdout
        # Only tar reads it: dpkg-deb ends if that does.
        data.stdout.close()
        done = _untar(inner.stdout, archive, tree, "-J")
    # They may still have written padding when the last tar ended.
    return done and inner.returncode == 0 and data.returncode == 0


def _untar(stream: IO[bytes], archive: Path, tree: Path, *options: str) -> bool:
    """Unpack the tar archive that ``stream`` gives, with a bar to the size of ``archive``."""
    command = [
        "tar",
        "-x",
        *options,
        "--strip-components=1",
        "--no-same-owner",
        "-C",
        str(tree),
    ]
    with (
        progress(f"Unpacking {archive.name}", total=archive.stat().st_size) as bar,
        subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL) as tar,
        suppress(BrokenPipeError),
    ):
        assert tar.stdin
        while block := stream.read(1 << 20):
            tar.stdin.write(block)
            bar.advance(len(block))
        tar.stdin.close()
    return tar.returncode == 0
