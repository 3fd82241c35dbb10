# SPDX-License-Identifier: GPL-2.0
"""Captured /proc and /sys trees of machines that exist on no desk."""

from pathlib import Path

PGHOT = "sys/kernel/mm/pghot"
OFFLOAD = "sys/kernel/mm/migrate_offload"
NODES = "sys/devices/system/node"
MIB_KB = 1024
#: Of 256 GiB in sections of 128 MiB, in the default layout: 32 KiB of records and the 112 bytes
#: that go with them, `struct pghot_section` in linux/mm/pghot/hotmap_layout.h.
MAP_BYTES = 2048 * (32768 + 112)

PGHOT_COUNTERS = {
    "pghot_recorded": 100000,
    "pghot_recorded_hint_fault": 100000,
    "pghot_recorded_page_cache": 0,
    "pghot_recorded_page_table": 0,
    "pghot_dropped": 0,
    "pghot_ready": 10000,
    "pghot_moved": 9000,
    "pghot_promoted_pages": 9200,
    "pghot_batches": 40,
    "pghot_wakeups": 35,
    "pghot_refreshed": 300,
    "pghot_in_fault": 40,
    "pghot_hint_spared": 500,
    "pghot_exchange_gain": 5,
    "pghot_exchange_loss": 1,
    "pghot_skip_stale": 600,
    "pghot_skip_gone": 0,
    "pghot_skip_toptier": 0,
    "pghot_skip_dirty": 200,
    "pghot_skip_pinned": 0,
    "pghot_skip_unmovable": 0,
    "pghot_skip_policy": 0,
    "pghot_skip_asked": 0,
    "pghot_skip_migrate": 0,
    "pghot_skip_offline": 0,
    "pghot_skip_disabled": 0,
    "pghot_delay_rate_limit": 0,
    "pghot_delay_no_gain": 0,
    "pghot_delay_target_full": 12,
    "pghot_delay_no_target": 0,
    "pghot_delay_busy": 0,
    "pghot_refused_exec": 7,
    "pghot_refused_policy": 0,
    "pghot_refused_no_gain": 0,
}
STOCK_COUNTERS = {
    "nr_free_pages": 123456,
    "pgpromote_success": 9300,
    "pgpromote_candidate": 9400,
    "pgpromote_candidate_nrl": 0,
    "pgdemote_kswapd": 500,
    "pgdemote_direct": 20,
    "pgdemote_khugepaged": 0,
    "pgdemote_proactive": 0,
    "numa_pte_updates": 200000,
    "numa_hint_faults": 150000,
}


class Machine:
    """A tree below `root`; paths are given without the leading slash."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def write(self, path: str, content: object) -> "Machine":
        """Write one file; bool becomes 0 or 1."""
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            target.write_bytes(content)
        else:
            text = str(int(content)) if isinstance(content, bool) else str(content)
            target.write_text(text if text.endswith("\n") else text + "\n")
        return self

    def remove(self, path: str) -> "Machine":
        """Remove a file, or a directory with all below it."""
        target = self.root / path
        if target.is_dir():
            for child in target.iterdir():
                self.remove(str(child.relative_to(self.root)))
            target.rmdir()
        else:
            target.unlink()
        return self

    def counters(self, **changes: int) -> "Machine":
        """Write /proc/vmstat with these values in it."""
        path = self.root / "proc/vmstat"
        old = dict(line.split() for line in path.read_text().splitlines()) if path.exists() else {}
        values = {**old, **changes}
        return self.write("proc/vmstat", "\n".join(f"{k} {v}" for k, v in values.items()))

    def zones(self, **free: int) -> "Machine":
        """Write /proc/zoneinfo; node<N>=pages free, with a high watermark of 5000 pages."""
        text = ""
        for name, pages in free.items():
            text += (
                f"Node {name.removeprefix('node')}, zone   Normal\n  per-node stats\n"
                f"      nr_inactive_anon 17\n  pages free     {pages}\n        boost    0\n"
                "        min      3000\n        low      4000\n"
                "        high     5000\n        promo    6000\n"
                "        spanned  1128576\n        present  1128576\n        managed  1000000\n"
                "        cma      0\n        protection: (0, 0, 0, 0)\n      nr_free_pages 3\n"
                "  pagesets\n    cpu: 0\n              count:    300\n              high:     700\n"
            )
        return self.write("proc/zoneinfo", text)

    def age(self, seconds: float) -> "Machine":
        """So much time passes."""
        text = (self.root / "proc/uptime").read_text().split()
        return self.write("proc/uptime", f"{float(text[0]) + seconds:.2f} {text[1]}")

    def files(self) -> list[str]:
        """Every file of the tree."""
        return sorted(str(p.relative_to(self.root)) for p in self.root.rglob("*") if p.is_file())


def _node(m: Machine, node: int, cpus: str, total_mib: int, free_mib: int, distance: str) -> None:
    base = f"{NODES}/node{node}"
    m.write(
        f"{base}/meminfo",
        f"Node {node} MemTotal:       {total_mib * MIB_KB} kB\n"
        f"Node {node} MemFree:        {free_mib * MIB_KB} kB\n"
        f"Node {node} HugePages_Total:     0\n",
    )
    m.write(f"{base}/cpulist", cpus).write(f"{base}/distance", distance)
    m.write(
        f"{base}/vmstat",
        f"nr_free_pages 1\npgpromote_success {100 * node}\npgdemote_kswapd {10 * node}\n",
    )


def bare(root: Path) -> Machine:
    """One socket, one node, a stock kernel."""
    m = Machine(root)
    m.write("proc/sys/kernel/osrelease", "7.3.4-test").write("proc/cmdline", "root=/dev/vda quiet")
    m.write("proc/uptime", "1000.00 3000.00").write("proc/sys/vm/watermark_scale_factor", 10)
    m.write("proc/sys/vm/dirty_background_ratio", 10).write("proc/sys/kernel/numa_balancing", 0)
    m.write("sys/kernel/mm/numa/demotion_enabled", "false").write("proc/2/comm", "kthreadd")
    m.write("sys/firmware/acpi/tables/DSDT", b"DSDT")
    m.write("sys/devices/system/memory/block_size_bytes", "8000000")
    m.write(f"{NODES}/has_cpu", "0")
    _node(m, 0, "0-15", 65536, 4096, "10")
    m.write("sys/devices/virtual/memory_tiering/memory_tier4/nodelist", "0")
    return m.counters(**STOCK_COUNTERS).zones(node0=100000)


def stock_cxl(root: Path) -> Machine:
    """Two sockets and one CXL node, well set up, without pghot."""
    m = bare(root)
    m.write(f"{NODES}/has_cpu", "0-1")
    _node(m, 0, "0-15", 65536, 4096, "10 21 24")
    _node(m, 1, "16-31", 65536, 2048, "21 10 14")
    _node(m, 2, "", 262144, 131072, "24 14 10")
    m.write("sys/devices/virtual/memory_tiering/memory_tier4/nodelist", "0-1")
    m.write("sys/devices/virtual/memory_tiering/memory_tier22/nodelist", "2")
    m.write("sys/firmware/acpi/tables/HMAT", b"HMAT")
    m.write("proc/sys/kernel/numa_balancing", 2).write(
        "sys/kernel/mm/numa/demotion_enabled", "true"
    )
    m.write("proc/sys/kernel/numa_balancing_promote_rate_limit_MBps", 65536)
    return m.zones(node0=100000, node1=90000, node2=800000)


def cxl(root: Path) -> Machine:
    """The same machine with pghot as it is configured by default, healthy."""
    m = stock_cxl(root)
    values = {
        "layout": "default",
        "enabled": 1,
        "backoff": 1,
        "freq_threshold": 2,
        "window_ms": 4000,
        "batch_pages": 16,
        "period_ms": 100,
        "promote_rate_limit_MBps": 65536,
        "sources/hint_fault/enabled": 1,
        "sources/hint_fault/running": 1,
        "sources/hint_fault/accesses": 100000,
        "sources/hint_fault/hot_threshold_ms": 1000,
        "sources/page_cache/enabled": "tiering",
        "sources/page_cache/running": 1,
        "sources/page_cache/accesses": 0,
        "sources/page_table/enabled": "tiering",
        "sources/page_table/running": 1,
        "sources/page_table/accesses": 0,
        "sources/page_table/cpu_permille": 10,
        "sources/page_table/scan_period_ms": 0,
        "sources/page_table/scanned": 0,
        "sources/page_table/cpu_usec": 0,
        "sources/page_table/passes": 0,
        "sources/page_table/near_permille": 20,
        "sources/page_table/near_scanned": 0,
        "sources/page_table/near_usec": 0,
        "node2/sections": 2048,
        "node2/map_bytes": MAP_BYTES,
        "node2/ready": 200,
        "node2/promoted": 9200,
        "node2/kmigrated": 77,
        "target0/threshold_ms": 900,
        "target0/promoted": 5000,
        "target0/gain_percent": 240,
        "target0/cache_gain_percent": 0,
        "target0/rate_kib_s": 65536 << 10,
        "target1/threshold_ms": 1000,
        "target1/promoted": 4200,
        "target1/gain_percent": 0,
        "target1/cache_gain_percent": 98,
        "target1/rate_kib_s": 65536 << 10,
    }
    for name, value in values.items():
        m.write(f"{PGHOT}/{name}", value)
    m.write("proc/77/comm", "kmigrated2").write("proc/77/stat", "77 (kmigrated2) S 2 0 0 0 -1")
    return m.counters(**PGHOT_COUNTERS, numa_hint_page_cache=0)


def _follow(m: Machine) -> Machine:
    """Maps are kept, and kmigrated runs, while a source does."""
    base = m.root / PGHOT
    runs = any(file.read_text() == "1\n" for file in base.glob("sources/*/running"))
    if (base / "node2").exists():
        m.write(f"{PGHOT}/node2/sections", 2048 if runs else 0)
        m.write(f"{PGHOT}/node2/map_bytes", MAP_BYTES if runs else 0)
        if not runs:
            m.write(f"{PGHOT}/node2/ready", 0)
        m.write("proc/77/stat", f"77 (kmigrated2) {'S' if runs else 'P'} 2 0 0 0 -1")
    return m


def balance(m: Machine, mode: int) -> Machine:
    """kernel.numa_balancing is written to, and the kernel starts or stops what goes by it."""
    m.write("proc/sys/kernel/numa_balancing", mode)
    for source in (m.root / PGHOT / "sources").glob("*"):
        said = (source / "enabled").read_text().strip()
        if said == "tiering" or (source.name == "hint_fault" and said == "1"):
            m.write(f"{PGHOT}/sources/{source.name}/running", int(bool(mode & 2)))
    return _follow(m)


def switch_on(m: Machine, source: str) -> Machine:
    """A source that needs no NUMA balancing is switched on, and the kernel starts it."""
    for name in ("enabled", "running"):
        m.write(f"{PGHOT}/sources/{source}/{name}", 1)
    return _follow(m)


def switch_off(m: Machine, *sources: str) -> Machine:
    """Sources are switched off, and the kernel stops them."""
    for source in sources:
        for name in ("enabled", "running"):
            m.write(f"{PGHOT}/sources/{source}/{name}", 0)
    return _follow(m)


def with_hotness_units(m: Machine, units: object) -> Machine:
    """The kernel has CONFIG_PGHOT_HOTNESS_UNIT too, and the machine so many units."""
    values = {"enabled": 0, "running": 0, "accesses": 0, "epoch_ms": 20, "units": units}
    for name, value in {**values, "overflows": 0, "threshold": 0}.items():
        m.write(f"{PGHOT}/sources/hotness_unit/{name}", value)
    return m.counters(pghot_recorded_hotness_unit=0)


def with_hw_sample(m: Machine, away: int) -> Machine:
    """The kernel has CONFIG_PGHOT_HW_SAMPLE too, and samples, or gives way to others."""
    values = {"accesses": 12, "cpu_permille": 5, "period": 65536, "samples": 40, "cpu_usec": 90}
    values |= {"look_permille": 5, "looked": 512, "look_usec": 30}
    for name, value in {**values, "event": "ibs_op", "away": away}.items():
        m.write(f"{PGHOT}/sources/hw_sample/{name}", value)
    return switch_on(m, "hw_sample").counters(pghot_recorded_hw_sample=12)


#: As the kernel writes them for an engine that serves all.
REASONS = (
    "compaction memory_failure memory_hotplug syscall_or_cpuset mempolicy_mbind numa_misplaced"
    " contig_range longterm_pin demotion damon"
)


def add_engine(m: Machine, name: str, use: object, **folios: tuple[int, int]) -> Machine:
    """A copy engine. _4kB and the like are what it copied and what failed; others are 0."""
    base = f"{OFFLOAD}/{name}"
    m.write(f"{base}/enabled", use).write(f"{base}/reasons", REASONS).write(f"{base}/busy", 0)
    for order in range(11):
        size = f"{4 << order}kB"
        copied, failed = folios.get(f"_{size}", (0, 0))
        m.write(f"{base}/folios-{size}/copied", copied)
        m.write(f"{base}/folios-{size}/failed", failed)
    return m


def with_engines(m: Machine) -> Machine:
    """The kernel has CONFIG_MIGRATE_COPY too, and two engines: one is on, and works."""
    m.write(f"{OFFLOAD}/first_folio_us", 100)
    add_engine(add_engine(m, "mtcopy", 0), "dcbm", 1, _4kB=(8000, 12), _2048kB=(400, 0))
    return m.write(f"{OFFLOAD}/dcbm/busy", 30)


def troubled(root: Path) -> Machine:
    """The same machine, with much that is wrong, garbled or newer than the command."""
    m = cxl(root)
    m.write(f"{PGHOT}/freq_threshold", "two").write(f"{PGHOT}/node2/ready", 5000)
    m.write(f"{PGHOT}/sources/moonlight/enabled", 0).write("proc/2/comm", "sleep")
    m.write("proc/sys/kernel/numa_balancing", 1).write("sys/kernel/mm/numa/demotion_enabled", 0)
    m.write(f"{PGHOT}/sources/hint_fault/running", 0)
    m.counters(pghot_skip_dirty=8000, pghot_skip_moonlight=5, pghot_echoes=8)
    with_engines(m).write(f"{OFFLOAD}/dcbm/folios-4kB/failed", 4000)
    add_engine(m, "test", "always").write(f"{OFFLOAD}/mtcopy/enabled", "always")
    m.write(f"{OFFLOAD}/mtcopy/folios-4kB/copied", "many")
    m.write(f"{OFFLOAD}/mtcopy/reasons", "demotion numa_misplaced")
    return m.remove(f"{NODES}/node1/distance").zones(node0=4000, node1=4000, node2=800000)


_SLOW = f"{NODES}/node2"
_SLOW_TIER = "sys/devices/virtual/memory_tiering/memory_tier22"


def _unset(m: Machine) -> Machine:
    """CXL memory offline, no setting made."""
    m.remove(_SLOW).remove(_SLOW_TIER)
    m.write(f"{NODES}/node0/distance", "10 21").write(f"{NODES}/node1/distance", "21 10")
    return balance(m, 1).write("sys/kernel/mm/numa/demotion_enabled", "false")


def stock_fresh(root: Path) -> Machine:
    """The same machine before anything was done to it, with a stock kernel."""
    return _unset(stock_cxl(root)).counters(**dict.fromkeys(STOCK_COUNTERS, 0))


def fresh(root: Path) -> Machine:
    """The same machine as it boots for the first time: CXL memory offline, no setting made."""
    m = cxl(root)
    m.remove(f"{PGHOT}/node2").remove("proc/77")
    _unset(m)
    for name in ("sources/hint_fault/accesses", "target0/promoted", "target1/promoted"):
        m.write(f"{PGHOT}/{name}", 0)
    m.write("etc/sysctl.d/README.sysctl", "").write("etc/tmpfiles.d/README", "")
    return m.counters(**dict.fromkeys([*PGHOT_COUNTERS, *STOCK_COUNTERS], 0))


def plug(m: Machine) -> Machine:
    """The CXL memory of `fresh` comes online."""
    _node(m, 0, "0-15", 65536, 4096, "10 21 24")
    _node(m, 1, "16-31", 65536, 2048, "21 10 14")
    _node(m, 2, "", 262144, 131072, "24 14 10")
    m.write(f"{_SLOW_TIER}/nodelist", "2").zones(node0=100000, node1=90000, node2=800000)
    for name, value in {"ready": 0, "promoted": 0, "kmigrated": 77}.items():
        m.write(f"{PGHOT}/node2/{name}", value)
    m.write("proc/77/comm", "kmigrated2")
    return balance(m, int((m.root / "proc/sys/kernel/numa_balancing").read_text()))


def stuck(root: Path) -> Machine:
    """The same machine with little moving: dirty pages of files, in memory that is full."""
    m = cxl(root).zones(node0=4000, node1=4100, node2=800000)
    m.write(f"{PGHOT}/node2/ready", 500).write(f"{PGHOT}/node2/promoted", 910)
    m.counters(pghot_moved=900, pghot_promoted_pages=910, pgpromote_success=910)
    return m.counters(pghot_skip_dirty=8000, pghot_delay_target_full=3100)


def working(root: Path) -> Machine:
    """The machine of `cxl`, with figures that agree with each other: for the documentation."""
    m = cxl(root).write("proc/sys/kernel/osrelease", "7.3.0")
    for node, promoted, demoted in ((0, 5050, 300), (1, 4250, 220), (2, 0, 0)):
        m.write(
            f"{NODES}/node{node}/vmstat",
            f"pgpromote_success {promoted}\npgdemote_kswapd {demoted}\n",
        )
    return m


def engines(root: Path) -> Machine:
    """The machine of `working` with copy engines."""
    return with_engines(working(root))


def many_sources(root: Path) -> Machine:
    """The machine of `working`, whose sources that are off by default run once switched on."""
    m = working(root).write("etc/tmpfiles.d/README", "")
    for name in ("page_cache", "page_table"):
        running = root / f"{PGHOT}/sources/{name}/running"
        running.unlink()
        running.symlink_to("enabled")
    return m
