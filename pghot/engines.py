# SPDX-License-Identifier: GPL-2.0
"""What the kernel tells of copy engines for page migration. It may have them without pghot."""

import re

from pghot.machine import total_of
from pghot.settings import ENGINE_SETTINGS, MIGRATE_OFFLOAD
from pghot.status import Engine, FolioSize, MigrateOffload
from pghot.subsystem import NAME, read_settings
from pghot.tree import Tree, clean

OFF = "off"
ON = "on"
ALWAYS = "always"
_USES = {"0": OFF, "1": ON, "always": ALWAYS}

#: The engine that goes wrong when it is told to, for tests of the kernel.
TEST = "test"

#: All that pages migrate for, by the kernel's names; a later kernel may have more.
ALL_REASONS = frozenset(
    (
        "compaction",
        "memory_failure",
        "memory_hotplug",
        "syscall_or_cpuset",
        "mempolicy_mbind",
        "numa_misplaced",
        "contig_range",
        "longterm_pin",
        "demotion",
        "damon",
    )
)

#: The number is in units of 1024 bytes, though the kernel writes kB.
_FOLIOS = re.compile(r"folios-([1-9][0-9]{0,11})kB\Z")


def _reasons(tree: Tree, path: str) -> list[str] | None:
    text = tree.text(path)
    if text is None:
        return None
    names = text.split()
    if not all(NAME.match(name) for name in names):
        tree.note(path, f"not a list of names: '{clean(text)}'")
        return None
    return names


def _folio_sizes(tree: Tree, base: str, files: list[str]) -> list[FolioSize]:
    """Counters by size, the smallest first."""
    matches = (_FOLIOS.match(name) for name in files)
    sizes = {int(m[1]) * 1024: f"{base}/{m[0]}" for m in matches if m}
    return [
        FolioSize(size, tree.integer(f"{path}/copied"), tree.integer(f"{path}/failed"))
        for size, path in sorted(sizes.items())
    ]


def _engine(tree: Tree, name: str) -> Engine | None:
    """None for what is no directory: a setting of all engines."""
    base = f"{MIGRATE_OFFLOAD}/{name}"
    files = tree.names(base)
    if not files:
        return None
    sizes = _folio_sizes(tree, base, files)
    return Engine(
        name=name,
        use=tree.choice(f"{base}/enabled", _USES),
        reasons=_reasons(tree, f"{base}/reasons"),
        copied_folios=total_of(size.copied_folios for size in sizes),
        failed_folios=total_of(size.failed_folios for size in sizes),
        busy_jobs=tree.integer(f"{base}/busy"),
        folio_sizes=sizes,
    )


def _less(after: int | None, before: int | None) -> int | None:
    """What was counted in between; None where one is not known."""
    return None if after is None or before is None else max(after - before, 0)


def _grown(before: Engine | None, after: Engine) -> Engine:
    """One engine; all that one counted which has come since is of the time in between."""
    if before is None:
        return after
    old = {size.folio_bytes: size for size in before.folio_sizes}
    sizes = [
        FolioSize(
            size.folio_bytes,
            _less(size.copied_folios, old[size.folio_bytes].copied_folios),
            _less(size.failed_folios, old[size.folio_bytes].failed_folios),
        )
        if size.folio_bytes in old
        else size
        for size in after.folio_sizes
    ]
    return after._replace(
        copied_folios=total_of(size.copied_folios for size in sizes),
        failed_folios=total_of(size.failed_folios for size in sizes),
        busy_jobs=_less(after.busy_jobs, before.busy_jobs),
        folio_sizes=sizes,
    )


def grown(before: MigrateOffload | None, after: MigrateOffload | None) -> MigrateOffload | None:
    """`after` with what its engines counted since `before`."""
    if before is None or after is None:
        return after
    old = {engine.name: engine for engine in before.engines}
    return after._replace(engines=[_grown(old.get(e.name), e) for e in after.engines])


def migrate_offload(tree: Tree) -> MigrateOffload | None:
    """The engines and their settings; None where the kernel can have no engine."""
    if not tree.exists(MIGRATE_OFFLOAD):
        return None
    names = [name for name in tree.names(MIGRATE_OFFLOAD) if NAME.match(name)]
    return MigrateOffload(
        settings=read_settings(tree, MIGRATE_OFFLOAD, ENGINE_SETTINGS),
        engines=[engine for name in names if (engine := _engine(tree, name))],
    )
