# SPDX-License-Identifier: GPL-2.0
"""APT: install what the host lacks, and reach suites it does not list.

Other suites (backports) come from the machine's own mirror, through sources
and package lists of our own, so that its APT settings stay as they are.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from lab import paths
from lab.errors import LabError
from lab.files import write_text
from lab.log import progress

KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
_NETWORK = (
    "-o",
    "Acquire::Retries=2",
    "-o",
    "Acquire::http::Timeout=30",
    "-o",
    "Acquire::https::Timeout=30",
    "-o",
    "DPkg::Lock::Timeout=300",
)


class AptError(LabError):
    """apt-get failed; the message holds its first error."""


def available() -> bool:
    """Whether this is a machine with APT."""
    return shutil.which("apt-get") is not None


def _fraction(line: str) -> float | None:
    """Percent done from a line of APT's status descriptor, if it has one."""
    match = re.match(r"(?:dl|pm)status:[^:]*:([0-9.]+):", line)
    return float(match[1]) if match else None


def run(text: str, *args: str, cwd: Path | None = None) -> None:
    """Run apt-get with a progress bar named ``text``; raise AptError."""
    read, write = os.pipe()
    command = ["apt-get", "-q", "-y", *_NETWORK, "-o", f"APT::Status-Fd={write}", *args]
    env = dict(os.environ, DEBIAN_FRONTEND="noninteractive", LC_ALL="C")
    with (
        progress(text, total=100) as bar,
        os.fdopen(read) as updates,
        subprocess.Popen(
            command,
            cwd=cwd,
            env=env,
            pass_fds=[write],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
    ):
        os.close(write)
        for line in updates:
            done = _fraction(line)
            if done is not None:
                bar.update(done)
        assert process.stderr
        errors = process.stderr.read()
    if process.returncode:
        found = re.findall(r"^E: (.*)", errors, re.MULTILINE)
        raise AptError(found[0] if found else f"{' '.join(command)} failed")


def _targets(*options: str) -> list[tuple[str, str]]:
    """(repository URI, suite) of the lists that APT knows."""
    command = [
        "apt-get",
        "indextargets",
        *options,
        "--format",
        "$(REPO_URI) $(RELEASE)",
        "Created-By: Packages",
    ]
    output = subprocess.run(command, check=False, capture_output=True, text=True).stdout
    pairs = (line.split() for line in output.splitlines())
    return sorted({(pair[0], pair[1]) for pair in pairs if len(pair) == 2})


def _codename() -> str:
    for line in Path("/etc/os-release").read_text().splitlines():
        if line.startswith("VERSION_CODENAME="):
            return line.partition("=")[2].strip('"')
    return "stable"


def _mirrors() -> tuple[str, str | None]:
    """The machine's Debian archive, and its security archive if it has one."""
    release = _codename()
    wanted = {release, "stable"}
    targets = _targets()
    if not any(suite in wanted for _, suite in targets):
        # A fresh container has no lists; fetch them, but not into its own.
        lists = paths.APT / "own"
        (lists / "partial").mkdir(parents=True, exist_ok=True)
        options = ("-o", f"Dir::State::Lists={lists}", *_caches(lists))
        run("Reading the package lists", "update", *options)
        targets = _targets(*options)
    main = [uri for uri, suite in targets if suite in wanted]
    security = [uri for uri, suite in targets if suite in {f"{name}-security" for name in wanted}]
    if not main:
        raise AptError(f"APT knows no mirror of Debian {release}: add one to /etc/apt/sources.list")
    return main[0], security[0] if security else None


def _caches(directory: Path) -> tuple[str, ...]:
    """Options that keep APT's binary caches out of the system's."""
    return (
        "-o",
        f"Dir::Cache::pkgcache={directory}/pkgcache.bin",
        "-o",
        f"Dir::Cache::srcpkgcache={directory}/srcpkgcache.bin",
    )


def private_suites(name: str, *suites: str, base: bool = False) -> list[str]:
    """Fetch the lists of ``suites`` from the machine's mirror.

    With ``base`` the release itself, its updates and its security fixes are
    there too, as installing needs. Returns the options that make apt-get use
    these lists instead of the system's. Raises AptError.
    """
    archive, security = _mirrors()
    release = _codename()
    directory = paths.APT / name
    (directory / "lists" / "partial").mkdir(parents=True, exist_ok=True)
    stanzas = [(archive, " ".join(suites))]
    if base:
        stanzas[0] = (archive, f"{release} {release}-updates {' '.join(suites)}")
        if security:
            stanzas.append((security, f"{release}-security"))
    signed = f"Signed-By: {KEYRING}\n" if KEYRING.exists() else ""
    sources = directory / "pghot.sources"
    write_text(
        sources,
        "\n".join(
            f"Types: deb\nURIs: {uri}\nSuites: {names}\nComponents: main\n{signed}"
            for uri, names in stanzas
        ),
    )
    options = [
        "-o",
        f"Dir::State::Lists={directory}/lists",
        "-o",
        f"Dir::Etc::SourceList={sources}",
        "-o",
        "Dir::Etc::SourceParts=/dev/null",
        "-o",
        "APT::Get::List-Cleanup=0",
        *_caches(directory),
    ]
    if os.geteuid() == 0:
        # The cache belongs to root; the _apt user cannot write there.
        options += ["-o", "APT::Sandbox::User=root"]
    run(
        f"Reading the package lists of {', '.join(suites)}",
        "update",
        "-o",
        "APT::Update::Error-Mode=any",
        *options,
    )
    return options


def prefer(suite: str, *packages: str) -> list[str]:
    """Options that take these packages from ``suite`` where it has them.

    What they depend on comes from the release where that is new enough.
    """
    path = paths.APT / "preferences"
    write_text(path, f"Package: {' '.join(packages)}\nPin: release n={suite}\nPin-Priority: 990\n")
    return ["-o", f"Dir::Etc::Preferences={path}"]


def have_lists() -> bool:
    """Whether the system's own package lists were ever fetched."""
    return bool(_targets())


def install(*packages: str, options: tuple[str, ...] = ()) -> None:
    """Install Debian packages (root only); raise AptError."""
    text = "Installing " + " ".join(packages)
    command = ("install", "--no-install-recommends", *options, *packages)
    if not options and not have_lists():
        run("Reading the package lists", "update")
    try:
        run(text, *command)
    except AptError:
        if options:
            raise
        # The lists may be older than the mirror.
        run("Reading the package lists", "update")
        run(text, *command)


def version(package: str) -> str | None:
    """The installed version of a package, or None."""
    found = subprocess.run(
        ["dpkg-query", "-W", "-f", "${db:Status-Status} ${Version}", package],
        check=False,
        capture_output=True,
        text=True,
    ).stdout.split()
    return found[1] if len(found) == 2 and found[0] == "installed" else None


def at_least(have: str, minimum: str) -> bool:
    """Whether Debian version ``have`` (its epoch ignored) is enough."""
    bare = have.partition(":")[2] or have
    return (
        subprocess.run(["dpkg", "--compare-versions", bare, "ge", minimum], check=False).returncode
        == 0
    )


def backports() -> str:
    """The name of this release's backports suite."""
    return f"{_codename()}-backports"
