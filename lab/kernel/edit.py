# SPDX-License-Identifier: GPL-2.0
"""``make hook``: write edits of the built tree back to linux/ and patches/."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from lab import paths
from lab.errors import LabError
from lab.files import locked, write
from lab.kernel import apply, build, patchfile, source
from lab.kernel.patchfile import Patch

_NEW_HEADER = "SPDX-License-Identifier: GPL-2.0\n\n"


@dataclass
class Place:
    """The four places that an edit involves."""

    pristine: Path
    tree: Path
    overlay: Path
    patches: Path


@dataclass
class WriteBack:
    """What to write: complete files, and which edits each one holds."""

    files: dict[Path, bytes] = field(default_factory=dict)
    edits: list[tuple[str, str]] = field(default_factory=list)
    """(kernel file, file in the work tree that takes it)"""


def _walk(top: Path, under: str = "") -> Iterator[tuple[str, os.stat_result]]:
    with os.scandir(top / under) as entries:
        for entry in entries:
            name = f"{under}/{entry.name}" if under else entry.name
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(top, name)
            else:
                yield name, entry.stat(follow_symlinks=False)


def _differing(place: Place) -> list[str]:
    """Files of the tree that the pristine source has otherwise, or not."""
    found = []
    for name, facts in _walk(place.tree):
        original = place.pristine / name
        if apply.is_litter(Path(name)):
            continue
        try:
            known = original.lstat()
        except FileNotFoundError:
            found.append(name)
            continue
        if (facts.st_size, facts.st_mtime_ns) == (known.st_size, known.st_mtime_ns):
            continue
        if original.is_symlink() or original.read_bytes() != (place.tree / name).read_bytes():
            found.append(name)
    return found


def _gone(place: Place, manifest: apply.Manifest) -> None:
    for name in manifest.files:
        if not (place.tree / name).exists():
            raise LabError(
                f"{name} was deleted in {place.tree}: restore it, "
                "or delete it in the work tree with 'git rm'"
            )


def plan(place: Place, hook: str = "") -> WriteBack:
    """Work out what ``make hook`` writes; nothing is written yet.

    ``hook`` is the number or name of the patch that takes edits of kernel
    files; without it the last patch that changes a file takes them. Raises
    LabError where it is unclear which patch that is.
    """
    manifest = apply.Manifest(place.tree)
    _gone(place, manifest)
    current = apply.expected(place.pristine, place.overlay, place.patches)
    edited = _unsaved(place)
    result = WriteBack()
    hooked: dict[str, bytes] = {}
    for name in edited:
        data = (place.tree / name).read_bytes()
        if current.get(name) == data:
            continue
        if not manifest.unchanged(name, current.get(name)):
            raise LabError(
                f"{name} changed both in {place.tree} and in the work tree: restore one of them"
            )
        if (place.pristine / name).exists():
            hooked[name] = data
        else:
            result.files[place.overlay / name] = data
            result.edits.append((name, f"linux/{name}"))
    if hooked:
        _rewrite(place, hooked, hook, result)
    return result


def _select(patches: list[Patch], hook: str, place: Place) -> Patch | None:
    """The patch that HOOK= names, a new one for a new name, or None."""
    if not hook:
        return None
    wanted = hook.removesuffix(".patch")
    for patch in patches:
        if wanted in (patch.name, patch.number):
            return patch
    known = ", ".join(patch.name for patch in patches) or "none yet"
    if not re.fullmatch(r"\d{4}-[\w-]+", wanted):
        raise LabError(
            f"HOOK={hook}: no such patch ({known}): name one, or NNNN-<concern> for a new one"
        )
    clash = [patch.name for patch in patches if patch.number == wanted.partition("-")[0]]
    if clash:
        raise LabError(f"HOOK={hook}: the number is that of {clash[0]}: take another")
    patch = Patch(place.patches / f"{wanted}.patch", _NEW_HEADER)
    patches.append(patch)
    patches.sort(key=lambda one: one.name)
    return patch


def _rewrite(place: Place, hooked: dict[str, bytes], hook: str, result: WriteBack) -> None:
    patches = patchfile.load(place.patches)
    states = apply.hooked_files(place.pristine, patches)
    chosen = _select(patches, hook, place)
    changed: list[Patch] = []
    for name, target in hooked.items():
        owners = [patch for patch, _, _ in states.get(name, [])]
        owner = chosen or (owners[-1] if owners else None)
        if owner is None:
            raise LabError(
                f"{name} is in no patch yet: say which takes it "
                "with HOOK=NNNN, or HOOK=NNNN-<concern> for a new "
                "one"
            )
        changed += _fold(place, patches, owner, name, target)
        result.edits.append((name, f"patches/{owner.path.name}"))
    empty = [patch.path.name for patch in changed if not patch.sections]
    if empty:
        raise LabError(
            f"nothing is left of patches/{empty[0]}: delete it with 'git rm', then 'make kernel'"
        )
    after = apply.hooked_files(place.pristine, patches)
    for name, target in hooked.items():
        got = after[name][-1][2] if name in after else (place.pristine / name).read_bytes()
        if got != target:
            raise LabError(
                f"cannot express the edit of {name} in {result.edits[-1][1]}: choose with HOOK=NNNN"
            )
    for patch in changed:
        result.files[patch.path] = patch.text().encode()


def _fold(
    place: Place, patches: list[Patch], owner: Patch, name: str, target: bytes
) -> list[Patch]:
    """Put the edit of one file into ``owner`` and move later patches along.

    Returns the patches that changed.
    """
    later = [patch for patch in patches[patches.index(owner) + 1 :] if name in patch.sections]
    ends = [target]
    for patch in reversed(later):
        try:
            ends.insert(0, patchfile.apply(patch, name, ends[0], str(place.tree), reverse=True))
        except LabError as error:
            raise LabError(
                f"the edit of {name} meets lines of "
                f"patches/{patch.path.name}, which comes after "
                f"{owner.name}: use HOOK={patch.number}"
            ) from error
    before = (place.pristine / name).read_bytes()
    for patch in patches[: patches.index(owner)]:
        if name in patch.sections:
            before = patchfile.apply(patch, name, before, str(place.pristine))
    for patch, end in zip([owner, *later], ends):
        text = patchfile.diff(name, before, end)
        if text:
            patch.sections[name] = text
        else:
            patch.sections.pop(name, None)
        before = end
    return [owner, *later]


def unsaved() -> list[str]:
    """Files that are edited in the built tree and not written back; none where there is no
    such tree."""
    tree = build.tree_of(build.EDITED)
    if not tree.exists() or not source.PRISTINE.exists():
        return []
    with locked(build.lock_of(build.EDITED)):
        return _unsaved(Place(source.PRISTINE, tree, paths.OVERLAY, paths.PATCHES))


def _unsaved(place: Place) -> list[str]:
    manifest = apply.Manifest(place.tree)
    others = set(_differing(place)) - set(manifest.files)
    return sorted(others | set(apply.edits(place.tree, manifest)))


def write_back(hook: str = "") -> WriteBack:
    """Write the edits of the built tree back; raise LabError if unclear."""
    pristine = source.ensure()
    tree = build.tree_of(build.EDITED)
    if not tree.exists():
        raise LabError("there is no built tree yet: run 'make kernel' first")
    with locked(build.lock_of(build.EDITED)):
        place = Place(pristine, tree, paths.OVERLAY, paths.PATCHES)
        result = plan(place, hook)
        for path, data in result.files.items():
            write(path, data)
        apply.sync(pristine, tree, apply.expected(pristine))
    return result
