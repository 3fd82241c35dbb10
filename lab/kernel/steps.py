# SPDX-License-Identifier: GPL-2.0
"""Prove that every step of the series builds, and the whole without pghot.

One tree and one object directory serve all steps, so that each compiles only
what it changes; the first one begins with the objects of the stock kernel. A
step that built once is known by its contents, and one that adds files to which
nothing refers yet is built with the next one that does more.
"""

from __future__ import annotations

import json
from pathlib import Path

from lab import paths
from lab.errors import LabError
from lab.files import locked, need_room, write
from lab.host import programs
from lab.kernel import apply, build, make, series, source

_HOME = paths.BUILDS / "series"


class _Known:
    """Contents that built, by digest; the newest hundred are kept."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._digests = json.loads(path.read_text()) if path.exists() else []

    def __contains__(self, digest: str) -> bool:
        return digest in self._digests

    def add(self, digest: str) -> None:
        """Remember one."""
        self._digests = [*self._digests, digest][-100:]
        write(self._path, json.dumps(self._digests).encode())


def _compiled(files: dict[str, bytes]) -> dict[str, bytes]:
    """Those that the kernel is made of: a step of pages and tests alone has built already."""
    return {
        name: data
        for name, data in files.items()
        if not name.startswith(("Documentation/", "tools/"))
    }


def only_adds(step: dict[str, bytes], met: set[str], pristine: Path) -> bool:
    """Whether a step has only files that no build has met, and that are not in ``pristine``.

    What has been built refers to none of them, and nothing else is there that could: so the
    kernel is the same. That of headers for programs is made of all there are.
    """
    return not any(
        name in met or name.startswith("include/uapi/") or (pristine / name).exists()
        for name in _compiled(step)
    )


def build_all() -> list[str]:
    """Build the kernel after each step; return the steps' subjects.

    Raises LabError that names the step with the compiler's first errors.
    """
    programs.require(*programs.KERNEL_BUILD)
    pristine = source.ensure()
    found = series.steps(pristine)
    known = _Known(_HOME / "known.json")
    parts = build.fragments("pghot")
    log = paths.LOGS / "series.log"
    files: dict[str, bytes] = {}
    whole = build.options({name: data for step in found for name, data in step.files.items()})
    configured: dict[str, bytes] | None = None
    met: set[str] = set()
    with locked(paths.BUILDS / "series.lock"):
        need_room(paths.BUILDS, 1.5, "building the series")
        for number, step in enumerate(found, 1):
            files.update(step.files)
            digest = build.digest(_compiled(files), parts)
            if digest in known:
                met.update(files)
                continue
            # Of the last one it would come to light in no other.
            if step is not found[-1] and only_adds(step.files, met, pristine):
                continue
            met.update(files)
            apply.sync(pristine, _HOME / "linux", files, linked=True)
            if not (_HOME / "out").exists():
                build.ensure("stock")
                build.begin("stock", _HOME / "linux", _HOME / "out")
            try:
                if configured != (options := build.options(files)):
                    build.configure(
                        _HOME / "linux", _HOME / "out", parts, log, strict=options == whole
                    )
                    configured = options
                make.run(
                    _HOME / "linux",
                    _HOME / "out",
                    "vmlinux",
                    log=log,
                    append=True,
                    text=f"Step {number} of {len(found)}: {step.subject}",
                )
            except LabError as error:
                raise LabError(
                    f"step {number} of the series ({step.subject}) does not build: {error}"
                ) from error
            known.add(digest)
    return [step.subject for step in found]


def build_without() -> list[str]:
    """Compile every hooked C file with pghot configured out, with NUMA balancing and without.

    Returns the object files; raises LabError with the compiler's first
    errors.
    """
    programs.require(*programs.KERNEL_BUILD)
    pristine = source.ensure()
    files = apply.expected(pristine)
    parts = build.fragments("stock")
    alone = [*parts, paths.CONFIGS / "unbalanced.config"]
    out = _HOME / "out-without"
    log = paths.LOGS / "without.log"
    # Which of them this configuration builds, the stock kernel tells.
    stock = build.ensure("stock").out
    objects = [
        name.removesuffix(".c") + ".o"
        for name in sorted(files)
        if name.endswith(".c") and (pristine / name).exists()
    ]
    objects = [name for name in objects if (stock / name).exists()]
    known = _Known(_HOME / "without.json")
    digest = build.digest(files, alone)
    if not objects or digest in known:
        return objects
    with locked(paths.BUILDS / "series.lock"):
        apply.sync(pristine, _HOME / "linux", files, linked=True)
        for fragments, text in (
            (parts, "Compiling the hooked files without pghot"),
            (alone, "The same without NUMA balancing"),
        ):
            build.configure(_HOME / "linux", out, fragments, log)
            make.run(_HOME / "linux", out, *objects, log=log, append=True, text=text)
    known.add(digest)
    return objects
