# SPDX-License-Identifier: GPL-2.0
"""What each counter of /proc/vmstat means to an operator, and what to do about it.

This is the one place that describes them: `pghot status`, its JSON, `pghot doctor`,
`pghot explain` and the table in docs/tool.md all read it.
"""

from typing import NamedTuple

from pghot.settings import DEFAULT_RATE_LIMIT, EVICTS_PERCENT

FLOW = "flow"
DROPPED = "dropped"
DELAYED = "delayed"
REFUSED = "refused"

#: The kernel names a reason by its prefix, so a reason newer than this tool still gets its kind.
REASON_PREFIXES = {
    "pghot_skip_": DROPPED,
    "pghot_delay_": DELAYED,
    "pghot_refused_": REFUSED,
}

KIND_TITLES = {
    DROPPED: "dropped: the record was ready, and was given up",
    DELAYED: "delayed: the record stays ready and is tried again (events, not pages)",
    REFUSED: "refused: the access was seen, and its page never became ready",
}

#: What to do where pages that come are like those that go.
NOTHING_GAINED = (
    "Nothing to do: more promotion would cost time for nothing. What is in use is larger than DRAM,"
    " and all alike."
)

#: The same of files that are not mapped.
READ_IN_TURN = (
    "Nothing to do: what is read in turn and does not fit into DRAM would be moved to and fro."
    " cache_gain_percent of the target says what was found."
)

#: From this share of memory on, in percent, dirty pages are written back early.
DIRTY_BACKGROUND_RATIO = 5


class Counter(NamedTuple):
    """One line of /proc/vmstat.

    `advice` says in words what to do about it, `command` does it. There is neither for a counter
    that is no reason, and no `command` where no single one helps.
    """

    name: str
    kind: str
    meaning: str
    advice: str = ""
    command: str | None = None


def kind_of(name: str) -> str:
    """The kind of a counter, known or not."""
    for prefix, kind in REASON_PREFIXES.items():
        if name.startswith(prefix):
            return kind
    return FLOW


def _counter(
    name: str, meaning: str, advice: str = "", command: str | None = None
) -> tuple[str, Counter]:
    return name, Counter(name, kind_of(name), meaning, advice, command)


COUNTERS: dict[str, Counter] = dict(
    [
        _counter(
            "pghot_recorded", "Accesses to lower-tier pages that were recorded, from all sources."
        ),
        _counter("pghot_recorded_hint_fault", "Recorded accesses that NUMA hint faults reported."),
        _counter("pghot_recorded_page_table", "Recorded pages that page tables reported."),
        _counter(
            "pghot_recorded_page_cache",
            "Recorded uses of files whose pages are not mapped.",
        ),
        _counter("pghot_recorded_hotness_unit", "Recorded accesses that hotness units reported."),
        _counter(
            "pghot_recorded_hw_sample",
            "Recorded samples of what the CPUs access in lower tiers, and pages found near them.",
        ),
        _counter(
            "pghot_dropped",
            "Accesses that were lost: they were reported faster than they could be recorded.",
        ),
        _counter(
            "pghot_ready", "Records that became ready: their page was found hot enough to promote."
        ),
        _counter("pghot_moved", "Ready records whose folio was promoted."),
        _counter(
            "pghot_promoted_pages",
            "Pages promoted by kmigrated, or by others who have ranges promoted; a large folio"
            " counts all its pages.",
        ),
        _counter(
            "pghot_batches",
            "Batches of folios that kmigrated, or others who have ranges promoted, handed to"
            " migration.",
        ),
        _counter("pghot_wakeups", "Times that a ready record woke kmigrated before its timer did."),
        _counter(
            "pghot_refreshed",
            "Times that a ready record stayed fresh because its page was in use while it waited.",
        ),
        _counter(
            "pghot_in_fault",
            "Folios left to the hint fault that found them, because kmigrated was"
            " behind. No other pghot counter has these accesses. Not in it is what faults promote"
            " for threads with a cpuset or memory policy of their own, or to where a memory policy"
            " has a place for the page.",
        ),
        _counter(
            "pghot_hint_spared",
            "Times that a page was not unmapped for a hint fault, because hint faults find nothing"
            " hot near it, or because promotion gains nothing.",
        ),
        _counter(
            "pghot_exchange_gain",
            "Times that pages that came to a full target were found to be accessed more often than"
            " those that went for them.",
        ),
        _counter(
            "pghot_exchange_loss",
            "Times that they were found not to be; only hint faults that come sooner count for that"
            " target then, and if that is no better, promotion to it slows down.",
        ),
        _counter(
            "pghot_skip_stale",
            "The page went cold before its turn came.",
            "Mend what delays promotion first (see the delayed reasons). If nothing does, the"
            " working set changes faster than pages move: raise window_ms, or raise"
            " freq_threshold so that fewer short-lived pages queue up.",
        ),
        _counter(
            "pghot_skip_gone",
            "The page was freed or reused before its turn came, or a hint fault promoted it.",
            "Normal for short-lived memory, and where faults promote themselves. When it dominates,"
            " raise freq_threshold so that only pages that live longer are picked.",
        ),
        _counter(
            "pghot_skip_toptier",
            "The page was already in the top tier when its turn came.",
            "Nothing to do: something else, such as numactl or a cpuset change, moved it first.",
        ),
        _counter(
            "pghot_skip_dirty",
            "The page belongs to a file and is dirty.",
            "It is considered again once it is written back and used again. When this dominates,"
            " write back sooner. The command lasts until the next boot.",
            f"sysctl -w vm.dirty_background_ratio={DIRTY_BACKGROUND_RATIO}",
        ),
        _counter(
            "pghot_skip_pinned",
            "The page is pinned for DMA, and such pages cannot move.",
            "Have the program take its memory from DRAM before it pins it for RDMA, VFIO, io_uring"
            " or direct I/O: bind it to DRAM nodes with numactl or a cpuset.",
        ),
        _counter(
            "pghot_skip_unmovable",
            "The page is the kernel's own or of hugetlb, and such pages cannot move.",
            "Nothing to do if a device reports accesses, which sees these pages too. Huge pages of"
            " hugetlb can be reserved in DRAM: nr_hugepages of its nodes.",
        ),
        _counter(
            "pghot_skip_policy",
            "A cpuset or memory policy of those who use the page keeps it where it is; or KSM has"
            " merged it, more than 4096 mappings may share it, or no top-tier node is nearer.",
            "Nothing to do if that is meant. Otherwise add DRAM nodes to the cpuset.mems of its"
            " cgroup, and start the job with numactl --balancing --membind=, with DRAM nodes and"
            " lower-tier ones: without --balancing a page stays on the nodes that are named.",
        ),
        _counter(
            "pghot_skip_asked",
            "The page is hot, but nobody knows who uses it: it was unmapped, so that the next"
            " access says it.",
            "Nothing to do: that access makes the page ready again, so it counts twice in"
            " pghot_ready.",
        ),
        _counter(
            "pghot_skip_migrate",
            "The page was taken off its list, and migration failed.",
            "Look at pgmigrate_fail in /proc/vmstat. The usual causes are pages to which the kernel"
            " held a reference, and a target node that ran out of memory at that moment.",
        ),
        _counter(
            "pghot_skip_offline",
            "The memory that held the page was taken offline.",
            "Nothing to do: memory was offlined on purpose.",
        ),
        _counter(
            "pghot_skip_disabled",
            "The record was still ready when pghot, its last source or memory tiering was switched"
            " off.",
            "Switch it on again if that was not meant; pghot doctor says what is off.",
            "echo 1 > /sys/kernel/mm/pghot/enabled",
        ),
        _counter(
            "pghot_delay_rate_limit",
            "The promotion rate limit of the target node was used up.",
            "Where the limit was lowered, raise it if memory bandwidth allows. The default, which"
            " the command sets, is in practice none: what limits is then the bandwidth of memory,"
            " and that lower-tier nodes share a target in equal parts.",
            f"sysctl -w kernel.numa_balancing_promote_rate_limit_MBps={DEFAULT_RATE_LIMIT}",
        ),
        _counter(
            "pghot_delay_no_gain",
            "The target is full, and what comes to it is worth no more than what goes for it: so it"
            " takes few pages.",
            f"{NOTHING_GAINED} But where gain_percent of the target is {EVICTS_PERCENT}, reclaim"
            " evicts pages for it: switch demotion on.",
        ),
        _counter(
            "pghot_delay_target_full",
            "The node that the page is accessed from had no room above its high watermark, nor had"
            " any other that is nearer to it than the page is; or none of them had room for a large"
            " folio in one piece.",
            "Where demotion is on, the memory in use is larger than DRAM, and raising"
            " vm.watermark_scale_factor keeps more of it free. Where it is off, let the kernel make"
            " room.",
            "echo true > /sys/kernel/mm/numa/demotion_enabled",
        ),
        _counter(
            "pghot_delay_no_target",
            "The machine has no top-tier node with memory at all.",
            "Online DRAM, or mend the tiers that the firmware describes: see pghot doctor.",
        ),
        _counter(
            "pghot_delay_busy",
            "The page could not be moved just then: something else was working on it, or on its"
            " process's memory map, or it is page cache that somebody is reading or has in a pipe.",
            "It is tried again until it goes cold. When this dominates, look for compaction, memory"
            " offlining, or a program that reads the same files all the time.",
        ),
        _counter(
            "pghot_refused_exec",
            "The page is shared program text, such as a library.",
            "Nothing to do: the stock kernel leaves such pages where they are, too.",
        ),
        _counter(
            "pghot_refused_policy",
            "The cpuset or memory policy of the task that used the page forbids the target node.",
            "Let the job use DRAM: add a top-tier node to its cpuset.mems, or to the list of"
            " numactl --balancing --membind.",
        ),
        _counter(
            "pghot_refused_no_gain",
            "A file that is not mapped was used, and to promote such pages gains nothing just now.",
            f"{READ_IN_TURN} Where that is {EVICTS_PERCENT}, reclaim evicts pages for it: switch"
            " demotion on.",
        ),
        _counter(
            "pgpromote_success", "Pages promoted to a faster node, by pghot or by the stock kernel."
        ),
        _counter(
            "pgpromote_candidate",
            "Pages that qualified for promotion and count against the rate limit.",
        ),
        _counter(
            "pgpromote_candidate_nrl",
            "Pages that qualified for promotion and are free of the rate limit.",
        ),
        _counter("pgdemote_kswapd", "Pages demoted by background reclaim."),
        _counter("pgdemote_direct", "Pages demoted by a task that had to wait for memory."),
        _counter("pgdemote_khugepaged", "Pages demoted while khugepaged made huge pages."),
        _counter("pgdemote_proactive", "Pages demoted because user space asked for reclaim."),
        _counter("numa_hint_faults", "NUMA hint faults taken."),
        _counter("numa_hint_page_cache", "The same as pghot_recorded_page_cache."),
        _counter(
            "numa_pte_updates", "Page table entries that were set up to take a NUMA hint fault."
        ),
    ]
)

UNKNOWN_MEANING = "This counter is newer than this version of the pghot command."


def describe(name: str) -> Counter:
    """The description of a counter; one that this version does not know is described as such."""
    return COUNTERS.get(name) or Counter(name, kind_of(name), UNKNOWN_MEANING)
