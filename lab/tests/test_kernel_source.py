# SPDX-License-Identifier: GPL-2.0
"""Fetching and unpacking Linux, and every way in which that fails."""

import hashlib
import io
import lzma
import subprocess
import urllib.error
from collections import namedtuple
from pathlib import Path

import pytest

from lab import files, paths
from lab.errors import LabError
from lab.host import apt
from lab.kernel import kernel_org, source
from lab.tests.kernel_fakes import linux, tarball


@pytest.fixture(name="cache", autouse=True)
def _cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache with room, and no network."""
    cache = tmp_path / "cache"
    monkeypatch.setattr(paths, "CACHE", cache)
    monkeypatch.setattr(paths, "SOURCES", cache / "src")
    monkeypatch.setattr(source, "PRISTINE", cache / "src/linux")
    monkeypatch.delenv("LINUX_TARBALL", raising=False)
    room(monkeypatch, 100)

    def no_network(*_args, **_options):
        raise apt.AptError("Temporary failure resolving the mirror")

    def no_connection(_url):
        raise urllib.error.URLError("no route")

    monkeypatch.setattr(apt, "private_suites", no_network)
    monkeypatch.setattr(kernel_org, "_open", no_connection)
    return cache


def room(monkeypatch: pytest.MonkeyPatch, gib: float) -> None:
    """Pretend that so much is free on every disk."""
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(files.shutil, "disk_usage", lambda _path: usage(0, 0, int(gib * 2**30)))


def local(monkeypatch: pytest.MonkeyPatch, archive: Path) -> None:
    """Set LINUX_TARBALL."""
    monkeypatch.setenv("LINUX_TARBALL", str(archive))


def nothing_left(cache: Path) -> bool:
    """Whether no part of a source is in the cache."""
    return not [path for path in cache.rglob("*") if path.is_file() and path.suffix != ".lock"]


def test_local_tarball(monkeypatch, tmp_path: Path) -> None:
    archive = tarball(linux(tmp_path / "linux-7.3.4"), tmp_path / "l.tar.xz")
    local(monkeypatch, archive)
    found = source.ensure()
    assert source.version(found) == "7.3.4"
    assert (found / "mm/b.c").read_text() == "int b;\n"
    when = found.stat().st_ctime_ns
    assert source.ensure().stat().st_ctime_ns == when


def test_local_tarball_stays_in_use(monkeypatch, tmp_path: Path) -> None:
    local(monkeypatch, tarball(linux(tmp_path / "x"), tmp_path / "l.tar.xz"))
    source.ensure()
    monkeypatch.delenv("LINUX_TARBALL")
    assert source.version(source.ensure()) == "7.3.4"


def test_another_tarball_replaces_the_source(monkeypatch, tmp_path) -> None:
    first = linux(tmp_path / "x")
    local(monkeypatch, tarball(first, tmp_path / "one.tar.xz"))
    source.ensure()
    before = source.identity()
    (first / "mm/b.c").write_text("int newer;\n")
    local(monkeypatch, tarball(first, tmp_path / "two.tar.xz"))
    assert (source.ensure() / "mm/b.c").read_text() == "int newer;\n"
    assert source.identity() != before


def test_debian_package(monkeypatch, tmp_path: Path) -> None:
    package = tmp_path / "package"
    (package / "DEBIAN").mkdir(parents=True)
    (package / "DEBIAN/control").write_text(
        "Package: linux-source-7.3\nVersion: 7.3.4-1\nArchitecture: all\n"
        "Maintainer: none <none@host.example>\nDescription: a fake\n"
    )
    (package / "usr/src").mkdir(parents=True)
    tarball(linux(tmp_path / "linux-source-7.3"), package / "usr/src/linux-source-7.3.tar.xz")
    archive = tmp_path / "l.deb"
    subprocess.run(
        ["dpkg-deb", "--root-owner-group", "-b", str(package), str(archive)],
        check=True,
        capture_output=True,
    )
    local(monkeypatch, archive)
    assert source.version(source.ensure()) == "7.3.4"


def _text(path: Path) -> Path:
    path.write_text("not an archive\n" * 100)
    return path


def _truncated(path: Path) -> Path:
    tarball(linux(path.parent / "whole"), path)
    path.write_bytes(path.read_bytes()[:-200])
    return path


def _other_program(path: Path) -> Path:
    other = path.parent / "other"
    other.mkdir()
    (other / "Makefile").write_text("all:\n")
    return tarball(other, path)


def _older(path: Path) -> Path:
    return tarball(linux(path.parent / "older", minor=2), path)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (_text, "is not a Linux 7.3 source: give"),
        (_truncated, "is not a Linux 7.3 source: give"),
        (_other_program, "is not a Linux 7.3 source: give"),
        (_older, "holds Linux 7.2.4, and 7.3 is needed: give"),
    ],
)
def test_wrong_tarball(monkeypatch, cache, tmp_path, make, message) -> None:
    local(monkeypatch, make(tmp_path / "l.tar.xz"))
    with pytest.raises(LabError, match=message) as caught:
        source.ensure()
    assert "\n" not in str(caught.value)
    assert nothing_left(cache)


def test_wrong_tarball_keeps_the_source(monkeypatch, tmp_path: Path) -> None:
    local(monkeypatch, tarball(linux(tmp_path / "x"), tmp_path / "l.tar.xz"))
    found = source.ensure()
    local(monkeypatch, _text(tmp_path / "wrong.tar.xz"))
    with pytest.raises(LabError):
        source.ensure()
    assert source.version(found) == "7.3.4"


def test_missing_tarball(monkeypatch, cache: Path, tmp_path: Path) -> None:
    local(monkeypatch, tmp_path / "none.tar.xz")
    with pytest.raises(LabError, match="No such file or directory: name a"):
        source.ensure()
    assert nothing_left(cache)


def test_no_network(cache: Path) -> None:
    with pytest.raises(LabError, match="connect to the network, or set LINUX_TARBALL=") as caught:
        source.ensure()
    assert "\n" not in str(caught.value)
    assert nothing_left(cache)


def test_no_room(monkeypatch, cache: Path) -> None:
    room(monkeypatch, 1.5)
    with pytest.raises(LabError, match="needs 8.0 GiB .* 1.5 GiB are free"):
        source.ensure()
    assert nothing_left(cache)


class _Answer(io.BytesIO):
    """What kernel.org would send."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.headers = {"Content-Length": str(len(data))}


def kernel_org_with(monkeypatch, name: str, data: bytes, digest: str) -> None:
    """Let kernel.org have one release."""
    pages = {"sha256sums.asc": f"-----BEGIN\n{digest}  {name}\n".encode(), name: data}
    monkeypatch.setattr(kernel_org, "_open", lambda url: _Answer(pages[url.rpartition("/")[2]]))


def test_kernel_org_after_debian(monkeypatch, tmp_path: Path) -> None:
    archive = tarball(linux(tmp_path / "x"), tmp_path / "linux-7.3.4.tar.xz")
    data = archive.read_bytes()
    kernel_org_with(monkeypatch, archive.name, data, hashlib.sha256(data).hexdigest())
    assert source.version(source.ensure()) == "7.3.4"


def test_wrong_checksum(monkeypatch, cache: Path) -> None:
    kernel_org_with(monkeypatch, "linux-7.3.9.tar.xz", lzma.compress(b"x"), "0" * 64)
    with pytest.raises(LabError, match="does not match kernel.org's checksum"):
        source.ensure()
    assert nothing_left(cache)


def test_newest_release_is_taken() -> None:
    sums = "".join(
        f"{digit * 64}  linux-{version}.tar.xz\n"
        for digit, version in (
            ("1", "7.3"),
            ("2", "7.3.10"),
            ("3", "7.3.9"),
            ("4", "7.30.2"),
            ("5", "7.4.1"),
        )
    )
    assert kernel_org.newest("7.3", sums) == ("linux-7.3.10.tar.xz", "2" * 64)
    with pytest.raises(LabError, match="lists no Linux 7.5"):
        kernel_org.newest("7.5", sums)
