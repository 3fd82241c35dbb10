# SPDX-License-Identifier: GPL-2.0
"""What the host must have: programs and headers, and how to get them."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from lab import paths
from lab.errors import LabError
from lab.files import locked
from lab.host import apt

# Program or header -> Debian package, where the names differ.
PACKAGES = {
    "bc": "bc",
    "cc": "gcc",
    "clang": "clang",
    "dpkg-deb": "dpkg",
    "git": "git",
    "gpgv": "gpgv",
    "gelf.h": "libelf-dev",
    "ld": "binutils",
    "openssl/ssl.h": "libssl-dev",
    "perl": "perl",
    "pahole": "dwarves",
    # Comes with perl and not with perl-base, as do modules of checkpatch.
    "prove": "perl",
    "ps": "procps",
    "qemu-system-x86_64": "qemu-system-x86",
    "redis-benchmark": "redis-tools",
    "redis-check-rdb": "redis-tools",
    "setpriv": "util-linux",
    "sqlite3.h": "libsqlite3-dev",
    "stdlib.h": "libc6-dev",
    "tar": "tar",
    "xz": "xz-utils",
}

# Programs that are there under another name too: redis-tools holds the server's
# program, and starts no service as its own package would.
_ALSO_CALLED = {"redis-server": "redis-check-rdb"}

# For programs no test or build may silently do without.
KERNEL_BUILD = (
    "gcc",
    "make",
    "ld",
    "stdlib.h",
    "flex",
    "bison",
    "bc",
    "perl",
    "gelf.h",
    "openssl/ssl.h",
    "ccache",
    "patch",
    "git",
    "xz",
    "cpio",
    "rsync",
)

_INCLUDES = (Path("/usr/include"), Path("/usr/include/x86_64-linux-gnu"))


def _present(tool: str) -> bool:
    if tool.endswith(".h"):
        return any((directory / tool).exists() for directory in _INCLUDES)
    return shutil.which(tool) is not None


def missing(*tools: str) -> list[str]:
    """Those of ``tools`` (programs, or headers as ``name.h``) not present."""
    return [tool for tool in tools if not _present(tool)]


def require(*tools: str, packages: Mapping[str, str] | None = None) -> None:
    """Make sure that ``tools`` are there.

    Missing ones are installed by APT when root. ``packages`` maps a tool to
    its Debian package where neither its own name nor PACKAGES has it. Raises
    LabError that names the command to run otherwise.
    """
    if not missing(*tools):
        return
    names = {**PACKAGES, **(packages or {})}
    _refuse(missing(*tools), names)
    with _installing():
        absent = missing(*tools)
        if absent:
            _install(absent, _packages(absent, names))
    still = missing(*tools)
    if still:
        raise LabError(
            f"{', '.join(still)} not found though {', '.join(_packages(still, names))} is "
            "installed: put it on PATH"
        )


def find(name: str) -> Path:
    """Where the program ``name`` is, or one that is it under another name.

    It is installed where it is missing; LabError otherwise, as from require().
    """
    found = shutil.which(name)
    if found is None:
        other = _ALSO_CALLED.get(name, name)
        require(other)
        found = shutil.which(other)
    assert found is not None
    return Path(found)


def _packages(tools: list[str], names: Mapping[str, str]) -> list[str]:
    return sorted({names.get(tool, tool) for tool in tools})


def _installing() -> AbstractContextManager[None]:
    """One installs; others that start at once and lack the same look again then."""
    return locked(paths.CACHE / "packages.lock")


def _refuse(absent: list[str], names: Mapping[str, str]) -> None:
    """LabError where nothing can be installed."""
    what = ", ".join(absent)
    if not apt.available():
        raise LabError(f"missing {what}: install it and run the same command again")
    if os.geteuid() != 0:
        wanted = " ".join(_packages(absent, names))
        raise LabError(f"missing {what}: run 'apt-get install {wanted}' as root")


def _install(absent: list[str], wanted: list[str]) -> None:
    what = ", ".join(absent)
    try:
        apt.install(*wanted)
    except apt.AptError as error:
        raise LabError(
            f"missing {what}, and installing it failed ({error}): "
            f"run 'apt-get install {' '.join(wanted)}'"
        ) from error


def require_backport(package: str, minimum: str, *also: str) -> None:
    """Make sure a package is installed in at least version ``minimum``.

    It comes from the release where that is new enough, else from its
    backports suite on the machine's own mirror; ``also`` names packages to
    install beside it, from the same place: all it needs in a newer version.
    Raises LabError that names the command otherwise.
    """

    def there() -> bool:
        have = apt.version(package) if apt.available() else None
        return bool(have and apt.at_least(have, minimum) and all(map(apt.version, also)))

    if there():
        return
    if not apt.available():
        raise LabError(
            f"{package} {minimum} or newer is needed: install it and run the same command again"
        )
    suite = apt.backports()
    names = (package, *also)
    manual = "apt-get install " + " ".join(f"{name}/{suite}" for name in names)
    if os.geteuid() != 0:
        raise LabError(f"{package} {minimum} or newer is needed: run '{manual}' as root")
    try:
        with _installing():
            if there():
                return
            options = apt.private_suites("backports", suite, base=True)
            # Not -t: that would take every library they need from the suite as
            # well, and the release's own headers do not fit those.
            apt.install(*names, options=(*options, *apt.prefer(suite, *names)))
    except apt.AptError as error:
        raise LabError(
            f"cannot install {package} {minimum} ({error}): add {suite} to APT and run '{manual}'"
        ) from error
    have = apt.version(package)
    if have is None or not apt.at_least(have, minimum):
        raise LabError(f"{package} is {have}, {minimum} or newer is needed: run '{manual}'")
