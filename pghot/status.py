# SPDX-License-Identifier: GPL-2.0
"""The types of a status: everything that is readable now on one machine.

The text report, the JSON and the doctor's checks are made from a Status and read nothing else. The
names and the order of the fields are those of the JSON, which docs/tool.md describes: None stands
for what could not be read, or what the kernel does not have. Sizes are in bytes where the name ends
in _bytes, in pages where it ends in _pages; all that counts, counts since boot.

NamedTuple and not dataclass: importing dataclasses costs 10 ms of the 200 that the command has.
"""

from typing import NamedTuple

#: Rates or counts by name.
Rate = dict[str, float | None]
Flow = dict[str, int | None]


class Balancing(NamedTuple):
    """kernel.numa_balancing; `available` is False when the kernel has none, None when that cannot
    be seen."""

    available: bool | None
    mode: int | None
    meaning: str | None
    #: Whether the mode looks for hot pages of slower tiers.
    tiering: bool | None


class Tier(NamedTuple):
    """One memory tier; a lower number is faster. Only pages of tiers that are not top move up."""

    tier: int
    top: bool | None
    nodes: list[int]
    total_bytes: int | None
    free_bytes: int | None


class Node(NamedTuple):
    """One NUMA node. `room`: a zone is above its high watermark. `distances` are by other node."""

    node: int
    tier: int | None
    top: bool | None
    has_cpu: bool | None
    #: A list as the kernel writes it, such as "0-15".
    cpus: str | None
    total_bytes: int | None
    free_bytes: int | None
    free_pages: int | None
    high_watermark_pages: int | None
    room: bool | None
    distances: dict[str, int]
    promoted_to_pages: int | None
    demoted_from_pages: int | None


class Setting(NamedTuple):
    """One knob with its value."""

    name: str
    value: int | None
    unit: str
    meaning: str


class PghotState(NamedTuple):
    """pghot as a whole; `state` is one of the states of `subsystem`."""

    state: str
    meaning: str
    built_in: bool | None
    #: What keeps it off since boot, one of those of `subsystem`; None where nothing does.
    off_by: str | None
    layout: str | None
    settings: list[Setting]


class Source(NamedTuple):
    """One source of accesses; `enabled` is its switch, `running` whether it reports now.

    `tiering`: it runs only while NUMA balancing has memory tiering on. `event` is the counter that
    one uses which samples what CPUs access.
    """

    name: str
    enabled: bool | None
    tiering: bool
    running: bool | None
    accesses: int | None
    settings: list[Setting]
    event: str | None = None


class Kmigrated(NamedTuple):
    """The thread of one node; `state` is running, parked, missing or unknown."""

    pid: int | None
    state: str


class LowerNode(NamedTuple):
    """One lower-tier node that pghot watches; `ready` is how many records wait now."""

    node: int
    ready: int | None
    promoted_pages: int | None
    sections: int | None
    map_bytes: int | None
    kmigrated: Kmigrated


class Target(NamedTuple):
    """One node that pghot promotes to, with the hot threshold by the candidates, in ms.

    `gain_percent` is what pages that came are worth beside those that went for them, None
    or 0 if that is not known; `cache_gain_percent` the same for pages of files that nobody has
    mapped; `rate_kib_s` how much it takes just now.
    """

    node: int
    threshold_ms: int | None
    promoted_pages: int | None
    gain_percent: int | None
    cache_gain_percent: int | None
    rate_kib_s: int | None


class FolioSize(NamedTuple):
    """What a copy engine did with folios of one size."""

    folio_bytes: int
    copied_folios: int | None
    failed_folios: int | None


class Engine(NamedTuple):
    """One copy engine; `use` is off, on (where it costs less than the CPU) or always.

    `reasons` are those of migration that it serves. What failed the CPU copied; `busy_jobs` are
    those that the engine had no room for.
    """

    name: str
    use: str | None
    reasons: list[str] | None
    copied_folios: int | None
    failed_folios: int | None
    busy_jobs: int | None
    folio_sizes: list[FolioSize]


class MigrateOffload(NamedTuple):
    """Copy engines for page migration, and the settings of all of them."""

    settings: list[Setting]
    engines: list[Engine]


class Pages(NamedTuple):
    """Pages promoted by anybody, by pghot, and demoted."""

    promoted: int | None
    promoted_by_pghot: int | None
    demoted: int | None


class Records(NamedTuple):
    """What became of records: ready = moved + dropped + waiting, but for time between readings."""

    recorded: int | None
    ready: int | None
    moved: int | None
    dropped: int | None
    waiting: int | None


class Reason(NamedTuple):
    """Why ready pages were not moved; `share` is 0 to 1, of the reasons of the same kind."""

    name: str
    kind: str
    count: int  # type: ignore[assignment]  # the JSON's name; tuple.count() is not missed
    share: float | None
    #: Whether this version of the command knows the counter.
    known: bool
    meaning: str
    advice: str
    command: str | None


class Rates(NamedTuple):
    """Growth per second, over `seconds` since boot or since the report before (`interval`)."""

    over: str
    seconds: float
    pages: Rate
    counters: Rate
    sources: Rate
    lower_nodes: Rate
    engines: Rate


class Unread(NamedTuple):
    """A file that is there and told nothing usable."""

    path: str
    why: str


class Status(NamedTuple):
    """The whole. `kernel` is its release, `uptime_seconds` the time since boot."""

    kernel: str | None
    uptime_seconds: float | None
    numa_balancing: Balancing
    demotion: bool | None
    #: Whether the firmware describes memory latencies; None where nothing of it can be seen.
    hmat: bool | None
    watermark_scale_factor: int | None
    dirty_background_ratio: int | None
    promote_rate_limit_MBps: int | None
    #: By which memory comes online.
    memory_block_bytes: int | None
    tiers: list[Tier]
    nodes: list[Node]
    pghot: PghotState
    sources: list[Source]
    lower_nodes: list[LowerNode]
    targets: list[Target]
    migrate_offload: MigrateOffload | None
    pages: Pages
    records: Records
    reasons: list[Reason]
    counters: dict[str, int]
    rates: Rates | None
    unread: list[Unread]
