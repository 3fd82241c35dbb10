# SPDX-License-Identifier: GPL-2.0
"""Keep a kernel tree equal to: pristine source + linux/ + patches/.

Only files whose contents change are written, so that an unchanged tree
rebuilds in seconds. Edits that a developer made in the built tree are kept
until ``make hook`` has written them back.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path

from lab import paths
from lab.errors import LabError
from lab.files import replace_directory, staging, write, write_json
from lab.kernel import patchfile, source
from lab.log import note, progress


def overlay_files(overlay: Path) -> dict[str, bytes]:
    """Path in a Linux tree -> contents, for every file under linux/."""
    if not overlay.is_dir():
        return {}
    return {
        str(path.relative_to(overlay)): path.read_bytes()
        for path in sorted(overlay.rglob("*"))
        if path.is_file() and not is_litter(path)
    }


def is_litter(path: Path) -> bool:
    """Whether an editor, a compiler, patch or checkpatch left this file behind."""
    return (
        path.name.endswith(("~", ".orig", ".rej", ".o", ".swp", ".pyc"))
        or path.name.startswith(".checkpatch-")
        or "__pycache__" in path.parts
    )


def hooked_files(
    pristine: Path,
    patches: list[patchfile.Patch],
) -> dict[str, list[tuple[patchfile.Patch, bytes, bytes]]]:
    """File -> (patch, contents before it, contents after it), in order.

    Raises LabError that names the patch, the file and the hunks.
    """
    what = f"Linux {source.version(pristine)}"
    states: dict[str, list[tuple[patchfile.Patch, bytes, bytes]]] = {}
    for patch in patches:
        for name in patch.sections:
            if name in states:
                before = states[name][-1][2]
            else:
                try:
                    before = (pristine / name).read_bytes()
                except OSError as error:
                    raise LabError(
                        f"patches/{patch.path.name} does not apply: {name} is "
                        f"not in {what}: mend the patch"
                    ) from error
            after = patchfile.apply(patch, name, before, what)
            states.setdefault(name, []).append((patch, before, after))
    return states


def expected(
    pristine: Path, overlay: Path = paths.OVERLAY, patches: Path = paths.PATCHES
) -> dict[str, bytes]:
    """Every file that differs from the pristine tree -> its contents."""
    files = overlay_files(overlay)
    for name in files:
        if (pristine / name).exists():
            raise LabError(
                f"linux/{name} is also a file of Linux "
                f"{source.version(pristine)}: change it by a patch "
                "in patches/"
            )
    for name, steps in hooked_files(pristine, patchfile.load(patches)).items():
        files[name] = steps[-1][2]
    return files


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Manifest:
    """What was last written to a tree: file -> digest. Lies beside it."""

    def __init__(self, tree: Path) -> None:
        self._path = tree.parent / f"{tree.name}.json"
        self.origin = ""
        self.files: dict[str, str] = {}
        if self._path.exists():
            stored = json.loads(self._path.read_text())
            self.origin, self.files = stored["origin"], stored["files"]

    def unchanged(self, name: str, data: bytes | None) -> bool:
        """Whether the work tree still gives ``name`` as last written."""
        digest = None if data is None else _digest(data)
        return self.files.get(name) == digest

    def save(self) -> None:
        """Store it."""
        write_json(self._path, {"origin": self.origin, "files": self.files})


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def edits(tree: Path, manifest: Manifest) -> list[str]:
    """Files of ours that were changed in the tree since we wrote them."""
    return [
        name
        for name, digest in manifest.files.items()
        if (data := _read(tree / name)) is None or _digest(data) != digest
    ]


def copy(pristine: Path, tree: Path, linked: bool) -> None:
    """Make ``tree`` a copy of the pristine source.

    A ``linked`` one shares its files: for trees that only sync() changes.
    """
    with staging(tree) as directory, progress(f"Copying the source to {tree}"):
        how = "-al" if linked else "-a"
        subprocess.run(
            ["cp", how, "--reflink=auto", str(pristine), str(directory / "linux")], check=True
        )
        replace_directory(directory / "linux", tree)


def sync(pristine: Path, tree: Path, files: dict[str, bytes], linked: bool = False) -> None:
    """Bring ``tree`` to pristine + ``files``. Hold the tree's lock.

    A file edited in the tree is kept if it did not change here since; raises
    LabError if it did.
    """
    origin = (pristine / source.ORIGIN).read_text()
    manifest = Manifest(tree)
    if tree.exists() and manifest.origin != origin:
        changed = edits(tree, manifest)
        if changed:
            raise LabError(
                f"edited in {tree}: {', '.join(changed)}, and the "
                "Linux source is another one now: save the edits, "
                f"then remove {tree}"
            )
    if not tree.exists() or manifest.origin != origin:
        # Of a tree that is not saved again below nothing is known: it is made anew then.
        manifest.files, manifest.origin = {}, ""
        manifest.save()
        # make goes by time stamps, which say nothing across sources.
        for objects in tree.parent.glob("out*"):
            shutil.rmtree(objects)
        copy(pristine, tree, linked)
        manifest.origin = origin
    edited = set(edits(tree, manifest))
    wanted = {name: _digest(data) for name, data in files.items()}
    unsaved = edited | {
        name
        for name in files
        if name not in manifest.files and _read(tree / name) != _read(pristine / name)
    }
    clash = [
        name
        for name in unsaved
        if wanted.get(name) != manifest.files.get(name) and _read(tree / name) != files.get(name)
    ]
    if clash:
        raise LabError(
            f"changed both in {tree} and in the work tree: "
            f"{', '.join(sorted(clash))}: restore one of them"
        )
    keep = {name for name in edited if _read(tree / name) != files.get(name)}
    for name, data in files.items():
        if name not in keep:
            write(tree / name, data)
    for name in set(manifest.files) - set(files):
        original = _read(pristine / name)
        if original is None:
            (tree / name).unlink(missing_ok=True)
        else:
            write(tree / name, original)
    manifest.files = wanted
    manifest.save()
    if keep:
        note(f"built with edits of {tree}: {', '.join(sorted(keep))}: 'make hook' writes them back")
