# SPDX-License-Identifier: GPL-2.0
"""The knobs of /sys/kernel/mm/pghot/ and of copy engines, and what each one sets."""

from typing import NamedTuple

PGHOT = "sys/kernel/mm/pghot"
MIGRATE_OFFLOAD = "sys/kernel/mm/migrate_offload"
BACKOFF = "backoff"
RATE_LIMIT = "promote_rate_limit_MBps"
SYSCTL_RATE_LIMIT = "proc/sys/kernel/numa_balancing_promote_rate_limit_MBps"
#: In MiB/s; in practice no limit.
DEFAULT_RATE_LIMIT = 65536
WINDOW_MS_MAX = 60000
#: A gain: pages are evicted for those that come, not demoted, and soon read again.
EVICTS_PERCENT = 1
GAIN_PERCENT_MAX = 10000
#: By layout.
FREQ_THRESHOLD_MAX = {"default": 3, "precise": 127}


class Knob(NamedTuple):
    """What one knob sets; `places` are the directories that have it, from the root on, and
    `world_readable` is another file with its value that needs no root."""

    name: str
    unit: str
    meaning: str
    places: tuple[str, ...] = (PGHOT,)
    world_readable: str = ""


def _sources(*names: str) -> tuple[str, ...]:
    return tuple(f"{PGHOT}/sources/{name}" for name in names)


SETTINGS = (
    Knob("freq_threshold", "accesses", "accesses within the window that make a page ready"),
    Knob("window_ms", "ms", "accesses further apart than this do not add up"),
    Knob("batch_pages", "pages", "pages that are gathered, and then migrate together"),
    Knob("period_ms", "ms", "kmigrated's timer; a ready record wakes it earlier"),
    Knob(BACKOFF, "0 or 1", "1: promotion that gains nothing slows down"),
    Knob(
        RATE_LIMIT,
        "MiB/s",
        "most memory promoted to one target node per second",
        world_readable=SYSCTL_RATE_LIMIT,
    ),
)

_HINTS, _TABLES = _sources("hint_fault"), _sources("page_table")
_UNITS, _SAMPLES = _sources("hotness_unit"), _sources("hw_sample")
_BOTH = (*_TABLES, *_SAMPLES)

#: Files that a source has of its own, below sources/<name>/: knobs, and what it tells of itself.
SOURCE_SETTINGS = (
    Knob(
        "hot_threshold_ms",
        "ms",
        "hint faults that come sooner make a page ready at once; in force is 1/8 to 2 times that,"
        " see threshold_ms, and less where promotion gains nothing",
        places=_HINTS,
    ),
    Knob(
        "cpu_permille",
        "thousandths",
        "how much of one CPU the scan, or of each CPU samples, may use",
        places=_BOTH,
    ),
    Knob(
        "scan_period_ms",
        "ms",
        "from one look at accessed bits to the next; read-only",
        places=_TABLES,
    ),
    Knob("scanned", "entries", "of page tables that were looked at; read-only", places=_TABLES),
    Knob(
        "passes",
        "times",
        "the scan has been through with all processes; read-only",
        places=_TABLES,
    ),
    Knob(
        "cpu_usec", "us", "CPU time that the scan, or samples, have used; read-only", places=_BOTH
    ),
    Knob(
        "near_permille",
        "thousandths",
        "how much of one CPU looks near hint faults may use",
        places=_TABLES,
    ),
    Knob(
        "near_scanned",
        "entries",
        "of page tables, looked at near hint faults; read-only",
        places=_TABLES,
    ),
    Knob(
        "near_usec",
        "us",
        "CPU time that looks near hint faults have used; read-only",
        places=_TABLES,
    ),
    Knob("period", "ops or loads", "of so many a CPU samples one; read-only", places=_SAMPLES),
    Knob(
        "look_permille",
        "thousandths",
        "how much of each CPU looks near samples may use, in one thread",
        places=_SAMPLES,
    ),
    Knob(
        "looked",
        "entries",
        "of page tables that were looked at near samples; read-only",
        places=_SAMPLES,
    ),
    Knob(
        "look_usec", "us", "CPU time that looks near samples have used; read-only", places=_SAMPLES
    ),
    Knob("samples", "samples", "of any memory that CPUs have taken; read-only", places=_SAMPLES),
    Knob(
        "away",
        "0 or 1",
        "1: others use the CPUs' counter, or one CPU has none; read-only",
        places=_SAMPLES,
    ),
    Knob(
        "epoch_ms",
        "ms",
        "how long a hotness unit counts before it lists what is hot",
        places=_UNITS,
    ),
    Knob("units", "units", "hotness units that there are; read-only", places=_UNITS),
    Knob(
        "threshold",
        "requests",
        "in an epoch, from which a unit lists a page; read-only",
        places=_UNITS,
    ),
    Knob(
        "overflows",
        "times",
        "a unit had no room to list all that was hot; read-only",
        places=_UNITS,
    ),
)

#: Those of all copy engines together.
ENGINE_SETTINGS = (
    Knob(
        "first_folio_us",
        "us",
        "copy engines: most time a job's first folio waits",
        places=(MIGRATE_OFFLOAD,),
    ),
)

_NODE, _TARGET = f"{PGHOT}/node<N>", f"{PGHOT}/target<N>"
_EACH_SOURCE = (*_HINTS, *_sources("page_cache"), *_TABLES, *_UNITS, *_SAMPLES)
_ENGINE = f"{MIGRATE_OFFLOAD}/<engine>"
_FOLIOS = f"{_ENGINE}/folios-<size>kB"

#: What pghot, its sources, its nodes and copy engines tell of themselves, and their switches.
STATE = (
    Knob(
        "enabled",
        "0, 1, tiering, always",
        "whether it is on; a source with tiering is on while NUMA balancing has memory tiering on;"
        " an engine with 1 copies where that costs less than by the CPU, with always all it takes",
        places=(PGHOT, *_EACH_SOURCE, _ENGINE),
    ),
    Knob("layout", "word", "default or precise: what a record holds; read-only"),
    Knob("running", "0 or 1", "whether the source reports now; read-only", places=_EACH_SOURCE),
    Knob("accesses", "accesses", "that the source reported; read-only", places=_EACH_SOURCE),
    Knob("event", "word", "counter that samples; read-only", places=_SAMPLES),
    Knob("sections", "sections", "of memory that have a map; read-only", places=(_NODE,)),
    Knob("map_bytes", "bytes", "that the node's records take; read-only", places=(_NODE,)),
    Knob("ready", "records", "that wait to be promoted; read-only", places=(_NODE,)),
    Knob("kmigrated", "PID", "of the thread that promotes; read-only", places=(_NODE,)),
    Knob(
        "promoted",
        "pages",
        "promoted from the node, or to it, by kmigrated or others who have ranges promoted;"
        " read-only",
        places=(_NODE, _TARGET),
    ),
    Knob(
        "threshold_ms",
        "ms",
        "hint fault latency that makes a page ready at once, by the number of candidates; where"
        " promotion gains nothing it takes 1/8 of that, later 1/64, which does not show here;"
        " read-only",
        places=(_TARGET,),
    ),
    Knob(
        "gain_percent",
        "percent",
        "what pages that came are worth beside those that went for them, by the root of how often"
        f" they are accessed, at most {GAIN_PERCENT_MAX}; 0: not known; {EVICTS_PERCENT}: reclaim"
        " evicts pages for them, which are soon read again; read-only",
        places=(_TARGET,),
    ),
    Knob(
        "cache_gain_percent",
        "percent",
        "the same for pages of files that nobody has mapped; read-only",
        places=(_TARGET,),
    ),
    Knob("rate_kib_s", "KiB/s", "what the node takes at most now; read-only", places=(_TARGET,)),
    Knob("reasons", "names", "for which pages migrate that the engine copies", places=(_ENGINE,)),
    Knob("busy", "jobs", "that the engine had no room for; read-only", places=(_ENGINE,)),
    Knob("copied", "folios", "of this size that the engine copied; read-only", places=(_FOLIOS,)),
    Knob(
        "failed",
        "folios",
        "of this size that the engine should have copied, and the CPU did; read-only",
        places=(_FOLIOS,),
    ),
)

#: All of them.
KNOBS = (*SETTINGS, *SOURCE_SETTINGS, *ENGINE_SETTINGS, *STATE)
