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


def migrate_offload(tree: Tree) -> MigrateOffload | None:
    """The engines and their settings; None where the kernel can have no engine."""
    if not tree.exists(MIGRATE_OFFLOAD):
        return None
    names = [name for name in tree.names(MIGRATE_OFFLOAD) if NAME.match(name)]
    return MigrateOffload(
        settings=read_settings(tree, MIGRATE_OFFLOAD, ENGINE_SETTINGS),
        engines=[engine for name in names if (engine := _engine(tree, name))],
    )
