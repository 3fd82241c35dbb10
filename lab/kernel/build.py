# SPDX-License-Identifier: GPL-2.0
"""Build kernels, outside the work tree, and only when something changed."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from lab import paths
from lab.errors import LabError
from lab.files import locked, need_room, symlink, write_json, write_text
from lab.host import programs
from lab.kernel import apply, config, make, reuse, source
from lab.log import note


@dataclass(frozen=True)
class Flavour:
    """How one kernel differs from the others."""

    ours: bool
    """Whether linux/ and patches/ are in it."""
    fragments: tuple[str, ...]
    """Files of configs/ on top of tinyconfig; later ones win."""
    steps: int
    """About how many make takes for all of it; only for telling how long is left, and
    only until a build here has counted them."""
    shared: bool = False
    """Whether the compiler's output is of use to other builds of like configuration. Where it
    is, each file takes a fifth longer the first time."""
    begins_with: str | None = None
    """The flavour whose objects its first build begins with, where they are there."""


FLAVOURS = {
    # The steps of the series share most of it.
    "pghot": Flavour(True, ("base", "pghot"), 1870, shared=True, begins_with="stock"),
    "debug": Flavour(True, ("base", "pghot", "debug"), 1930),
    "stock": Flavour(False, ("base",), 1850),
    "demo": Flavour(True, ("base", "pghot", "demo"), 1670),
}

# The flavour whose source tree developers edit. The others' trees share their
# files with the pristine source.
EDITED = "pghot"


@dataclass(frozen=True)
class BuiltKernel:
    """A kernel that is ready to boot."""

    flavour: str
    source: Path
    """The source tree it was built from."""
    out: Path
    """Its objects, vmlinux and generated headers (make O=)."""
    bzimage: Path
    config: Path


def tree_of(flavour: str) -> Path:
    """Where the flavour's source tree is."""
    return paths.BUILDS / flavour / "linux"


def lock_of(flavour: str) -> Path:
    """The lock of the flavour's source tree and objects."""
    return paths.BUILDS / f"{flavour}.lock"


def ensure(flavour: str) -> BuiltKernel:
    """Build the kernel ``flavour``, one of FLAVOURS, if it is not current.

    Returns at once when nothing changed. Raises LabError for an unknown
    flavour, a hook that does not apply, an option without effect, or the
    compiler's first error.
    """
    if flavour not in FLAVOURS:
        raise LabError(f"no kernel flavour '{flavour}': use one of {', '.join(FLAVOURS)}")
    programs.require(*programs.KERNEL_BUILD)
    pristine = source.ensure()
    tree = tree_of(flavour)
    with locked(lock_of(flavour)):
        own = apply.expected(pristine) if FLAVOURS[flavour].ours else {}
        if FLAVOURS[flavour].ours and not own:
            raise LabError("linux/ and patches/ are empty: was this directory moved or removed?")
        apply.sync(pristine, tree, own, linked=flavour != EDITED)
        if flavour == EDITED:
            _show_tree(tree)
        return _build(_kernel(flavour), own)


def _show_tree(tree: Path) -> None:
    """Keep src/pghot, where developers edit, pointing at the tree."""
    symlink(paths.SOURCES / "pghot", tree)


def fragments(flavour: str) -> list[Path]:
    """The config fragments of a flavour; raises LabError for a missing one."""
    files = [paths.CONFIGS / f"{name}.config" for name in FLAVOURS[flavour].fragments]
    for path in files:
        if not path.exists():
            raise LabError(f"configs/{path.name} is missing: restore it")
    return files


def _hash(*parts: bytes) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(hashlib.sha256(part).digest())
    return whole.hexdigest()


def digest(files: dict[str, bytes], parts: list[Path]) -> str:
    """A digest of all that a build of pristine + ``files`` depends on."""
    return _hash(
        source.identity().encode(),
        _compiler(),
        *(path.read_bytes() for path in parts),
        *(f"{name}\n".encode() + data for name, data in sorted(files.items())),
    )


def options(files: dict[str, bytes]) -> dict[str, bytes]:
    """Those of the files that say which options there are."""
    return {name: data for name, data in files.items() if Path(name).name.startswith("Kconfig")}


def _compiler() -> bytes:
    return subprocess.run(["gcc", "-v"], check=True, capture_output=True).stderr


def _newer(tree: Path, stamp: Path) -> list[str]:
    """Files of the tree that were changed after ``stamp`` was written."""
    found = subprocess.run(
        ["find", str(tree), "-newer", str(stamp), "-type", "f", "-printf", r"%P\0"],
        check=True,
        capture_output=True,
    ).stdout
    return [os.fsdecode(name) for name in found.split(b"\0") if name]


class Steps:
    """How many steps make takes for all of a flavour, as the last whole build had it.

    ``out`` is where its objects are, some of them where a build was interrupted.
    """

    def __init__(self, flavour: str, out: Path) -> None:
        self._kept = paths.BUILDS / flavour / "steps"
        self._first = FLAVOURS[flavour].steps
        self._out = out
        self._there = sum(1 for kind in ("*.o", "*.a") for _ in out.rglob(kind))

    def left(self) -> int | None:
        """About how many are to come; None after an edit, of which nobody knows."""
        if (self._out / "vmlinux").exists():
            return None
        try:
            total = int(self._kept.read_text())
        except (FileNotFoundError, ValueError):
            total = self._first
        return max(1, total - self._there)

    def made(self, steps: int) -> None:
        """A build took so many: remembered where it was a whole one."""
        if not self._there:
            write_text(self._kept, f"{steps}\n")


def _key(flavour: str, own: dict[str, bytes]) -> dict[str, str]:
    """What a build depends on: digests of its base, its configuration and our files in it."""
    return {
        "base": _hash(source.identity().encode(), _compiler()),
        "config": _hash(
            *(path.read_bytes() for path in fragments(flavour)),
            *(data for _, data in sorted(options(own).items())),
        ),
        "source": _hash(*(f"{name}\n".encode() + data for name, data in sorted(own.items()))),
    }


def _kernel(flavour: str) -> BuiltKernel:
    out = paths.BUILDS / flavour / "out"
    return BuiltKernel(
        flavour, tree_of(flavour), out, out / "arch/x86/boot/bzImage", out / ".config"
    )


def _stamp(kernel: BuiltKernel) -> Path:
    """What the last whole build of a kernel depended on, as _key() says it."""
    return kernel.out.parent / "stamp"


def _last(kernel: BuiltKernel) -> dict[str, str]:
    stamp = _stamp(kernel)
    return json.loads(stamp.read_text()) if stamp.exists() else {}


def _is_current(kernel: BuiltKernel, key: dict[str, str]) -> bool:
    last = _last(kernel)
    return (
        all(last.get(part) == value for part, value in key.items())
        and kernel.bzimage.exists()
        and kernel.source.exists()
        and not _newer(kernel.source, _stamp(kernel))
    )


def _changed(tree: Path) -> list[str]:
    """Files of a tree that were written after the source was unpacked, by us or by a developer.

    All others have the times of the distribution's archive.
    """
    return _newer(tree, tree / source.ORIGIN)


def begin(flavour: str, tree: Path, out: Path) -> bool:
    """Begin a build of ``tree`` in ``out`` with another flavour's objects, where these are there
    and current, and of the source as it is distributed. The flavour has none of our files.

    Returns whether it did: of how many steps are to come nobody knows then.
    """
    with locked(lock_of(flavour)):
        other = _kernel(flavour)
        usable = _is_current(other, _key(flavour, {})) and not _changed(other.source)
        if usable:
            reuse.begin_with(other, tree, out, _changed(tree))
        return usable


def _build(kernel: BuiltKernel, own: dict[str, bytes]) -> BuiltKernel:
    flavour, tree, out, stamp = kernel.flavour, kernel.source, kernel.out, _stamp(kernel)
    key = _key(flavour, own)
    if _is_current(kernel, key):
        return kernel
    last = _last(kernel)
    if last.get("base", key["base"]) != key["base"]:
        # Another compiler: its objects look as current as the old one's.
        shutil.rmtree(out, ignore_errors=True)
    if not kernel.bzimage.exists():
        need_room(paths.BUILDS, 1.5, f"building the {flavour} kernel")
    stamp.unlink(missing_ok=True)
    other = FLAVOURS[flavour].begins_with
    begun_with = other is not None and not out.exists() and begin(other, tree, out)
    log = paths.LOGS / f"{flavour}.log"
    if last.get("config") != key["config"] or not kernel.config.exists():
        configure(tree, out, fragments(flavour), log)
    else:
        log.unlink(missing_ok=True)
    # Written before make runs: edits made meanwhile must count as newer.
    begun = out.parent / "begun"
    begun.unlink(missing_ok=True)
    write_json(begun, key)
    counted = Steps(flavour, out)
    total = None if begun_with else counted.left()
    text = f"Compiling Linux {source.version(tree)} ({flavour})"
    steps = 0
    if not FLAVOURS[flavour].shared:
        steps += make.run(
            tree, out, "vmlinux", log=log, append=True, total=total, shared=False, text=text
        )
        total, text = None, f"Packing {text.removeprefix('Compiling ')}"
    # What is packed is no header of the file that it is packed by: ccache sees it only where it
    # goes by what the preprocessor makes of that.
    steps += make.run(tree, out, "bzImage", log=log, append=True, total=total, text=text)
    begun.rename(stamp)
    counted.made(steps)
    note(f"{kernel.bzimage} is up to date ({steps} steps)")
    return kernel


def configure(tree: Path, out: Path, parts: list[Path], log: Path, strict: bool = True) -> None:
    """Write ``out``/.config from tinyconfig and fragments.

    Where ``strict``, raise LabError naming options without effect; no .config
    is left then.
    """
    make.run(tree, out, "tinyconfig", log=log)
    fragment = out / "pghot.fragment"
    config.write_fragment(parts, fragment)
    target = out / ".config"
    try:
        merged = subprocess.run(
            ["scripts/kconfig/merge_config.sh", "-m", "-O", str(out), str(target), str(fragment)],
            cwd=tree,
            check=False,
            capture_output=True,
            text=True,
            env=make.environment(),
        )
        if merged.returncode:
            raise LabError(f"merge_config.sh failed: {merged.stderr}")
        make.run(tree, out, "olddefconfig", log=log, append=True)
        if strict:
            config.verify(parts, target)
    except BaseException:
        target.unlink(missing_ok=True)
        raise
