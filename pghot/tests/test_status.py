# SPDX-License-Identifier: GPL-2.0
"""`pghot status` on machines of every kind, exactly."""

import json
import re

import pytest

from pghot.settings import EVICTS_PERCENT, GAIN_PERCENT_MAX
from pghot.snapshot import collect
from pghot.tests.fakes import MAP_BYTES, PGHOT, balance, switch_off, switch_on, with_engines
from pghot.text import report
from pghot.tree import Tree


def section(text: str, title: str) -> str:
    """One section of the text report."""
    found = [part for part in text.split("\n\n") if part.splitlines()[0].startswith(title)]
    assert len(found) == 1, text
    return found[0].rstrip("\n")


def test_demotion_that_no_node_counts(run, cxl):
    # As in Linux 6.1, which counts it for the whole machine.
    for node in range(3):
        cxl.write(f"sys/devices/system/node/node{node}/vmstat", "pgpromote_success 7\n")
    said = section(run("status", machine=cxl).out, "Nodes").splitlines()[-1]
    assert said == "  demoted_from: this kernel does not count demoted pages by node"


def test_healthy_machine(run, cxl):
    status = run("status", "--json", machine=cxl).json
    assert status["schema"] == 1
    assert status["kernel"] == "7.3.4-test"
    assert status["pghot"]["state"] == "enabled"
    assert status["pghot"]["layout"] == "default"
    assert {s["name"]: s["value"] for s in status["pghot"]["settings"]} == {
        "freq_threshold": 2,
        "window_ms": 4000,
        "batch_pages": 16,
        "period_ms": 100,
        "backoff": 1,
        "promote_rate_limit_MBps": 65536,
    }
    assert status["numa_balancing"] == {
        "available": True,
        "mode": 2,
        "meaning": "memory tiering",
        "tiering": True,
    }
    assert status["demotion"] is True and status["hmat"] is True
    assert [(t["tier"], t["top"], t["nodes"]) for t in status["tiers"]] == [
        (4, True, [0, 1]),
        (22, False, [2]),
    ]
    assert status["tiers"][1]["total_bytes"] == 256 << 30
    assert [(n["node"], n["tier"], n["top"], n["room"]) for n in status["nodes"]] == [
        (0, 4, True, True),
        (1, 4, True, True),
        (2, 22, False, True),
    ]
    assert status["nodes"][2]["distances"] == {"0": 24, "1": 14, "2": 10}
    assert (status["nodes"][1]["promoted_to_pages"], status["nodes"][1]["demoted_from_pages"]) == (
        100,
        10,
    )
    assert [
        (s["name"], s["enabled"], s["running"], s["accesses"], [k["name"] for k in s["settings"]])
        for s in status["sources"]
    ] == [
        ("hint_fault", True, True, 100000, ["hot_threshold_ms"]),
        ("page_cache", True, True, 0, []),
        (
            "page_table", True, True, 0,
            [
                "cpu_permille", "scan_period_ms", "scanned", "passes", "cpu_usec",
                "near_permille", "near_scanned", "near_usec",
            ],
        ),
    ]  # fmt: skip
    assert status["sources"][0]["settings"][0]["value"] == 1000
    assert status["lower_nodes"] == [
        {
            "node": 2,
            "ready": 200,
            "promoted_pages": 9200,
            "sections": 2048,
            "map_bytes": MAP_BYTES,
            "kmigrated": {"pid": 77, "state": "running"},
        }
    ]
    assert [(t["node"], t["threshold_ms"], t["promoted_pages"]) for t in status["targets"]] == [
        (0, 900, 5000),
        (1, 1000, 4200),
    ]
    assert status["pages"] == {"promoted": 9300, "promoted_by_pghot": 9200, "demoted": 520}
    assert status["records"] == {
        "recorded": 100000,
        "ready": 10000,
        "moved": 9000,
        "dropped": 800,
        "waiting": 200,
    }
    assert status["unread"] == []


def test_every_reason_has_count_share_meaning_and_advice(run, cxl):
    reasons = run("status", "--json", machine=cxl).json["reasons"]
    assert len(reasons) == 19
    by_name = {r["name"]: r for r in reasons}
    assert [
        (by_name[n]["count"], by_name[n]["share"]) for n in ("pghot_skip_stale", "pghot_skip_dirty")
    ] == [
        (600, 0.75),
        (200, 0.25),
    ]
    assert by_name["pghot_delay_rate_limit"]["share"] == 0.0
    assert {r["kind"] for r in reasons} == {"dropped", "delayed", "refused"}
    assert all(
        r["known"] and r["meaning"].endswith(".") and r["advice"].endswith(".") for r in reasons
    )
    assert reasons[0]["name"] == "pghot_skip_stale"


def test_text_names_reasons_with_what_to_do(run, cxl):
    text = section(run("status", machine=cxl).out, "Why ready pages were not moved")
    assert "9,000 moved (90.0%), 800 dropped (8.0%), 200 waiting (2.0%)" in text
    assert (
        "pghot_skip_dirty: 200 (25.0%), 0.2 per second\n"
        "      The page belongs to a file and is dirty."
    ) in text
    assert "      run: sysctl -w vm.dirty_background_ratio=5\n" in text
    assert "never: pghot_skip_asked, pghot_skip_disabled" in text


def test_text_tables(run, cxl):
    text = run("status", machine=cxl).out
    assert section(text, "Lower-tier nodes").splitlines()[2].split() == [
        "2", "200", "9,200", "9.2", "64.2", "MiB", "77", "running",
    ]  # fmt: skip
    assert section(text, "Tiers").splitlines()[2].split() == [
        "4",
        "top",
        "0,1",
        "128",
        "GiB",
        "6.0",
        "GiB",
    ]
    assert section(text, "Sources").splitlines()[2].split() == [
        "hint_fault", "on", "100,000", "100", "hot_threshold_ms=1000",
    ]  # fmt: skip


def test_kernel_without_pghot(run, stock):
    result = run("status", machine=stock)
    assert (result.status, result.err) == (0, "")
    said = "absent: This kernel shows nothing of pghot: it has none, or pghot did not start.\n"
    assert f"pghot           {said}" in result.out
    assert "Why ready" not in result.out and "Sources" not in result.out
    assert run("status", "--json", machine=stock).json["reasons"] == []
    stock.write("boot/config-7.3.4-test", "CONFIG_NUMA=y")
    said = run("status", machine=stock).out
    assert "pghot           absent: This kernel has no pghot.\n" in said


@pytest.mark.parametrize(
    "cmdline, config, state",
    [
        ("quiet pghot=off", None, "boot-off"),
        ("quiet pghot=off", "CONFIG_NUMA=y\nCONFIG_PGHOT=y", "boot-off"),
        ("quiet pghot=off", "CONFIG_NUMA=y\n# CONFIG_PGHOT is not set", "absent"),
        ("quiet pghot=off pghot=default", None, "absent"),
        ("quiet pghot=default pghot=off", None, "boot-off"),
        ("quiet", "CONFIG_PGHOT=y\nCONFIG_PGHOT_BOOT_OFF=y", "boot-off"),
        ("quiet pghot=precise", "CONFIG_PGHOT=y\nCONFIG_PGHOT_BOOT_OFF=y", "failed"),
        ("quiet pghot=defualt", None, "boot-off"),
        ("quiet pghot=default", None, "absent"),
        ("quiet", "CONFIG_PGHOT=y", "failed"),
        ("quiet", None, "absent"),
    ],
)
def test_pghot_off_at_boot(run, stock, cmdline, config, state):
    stock.write("proc/cmdline", cmdline)
    if config:
        stock.write("boot/config-7.3.4-test", config)
    status = run("status", "--json", machine=stock).json
    assert status["pghot"]["state"] == state
    assert ("off since boot" in run("status", machine=stock).out) == (state == "boot-off")
    assert (status["pghot"]["off_by"] is None) == (state != "boot-off")


def test_none_wait_where_there_is_no_lower_node(run, cxl):
    """That is known. Without pghot there are no records."""
    cxl.remove(f"{PGHOT}/node2")
    assert run("status", "--json", machine=cxl).json["records"]["waiting"] == 0
    cxl.remove(PGHOT)
    assert run("status", "--json", machine=cxl).json["records"]["waiting"] is None


def test_a_node_without_memory_has_no_room_to_tell(run, cxl):
    cxl.zones(node0=100000, node2=800000)
    rows = section(run("status", machine=cxl).out, "Nodes").splitlines()
    assert "  ?  " in rows[3]
    cxl.write(
        "sys/devices/system/node/node1/meminfo", "Node 1 MemTotal: 0 kB\nNode 1 MemFree: 0 kB"
    )
    rows = section(run("status", machine=cxl).out, "Nodes").splitlines()
    assert rows[3].split()[:8] == ["1", "4", "16-31", "0", "B", "0", "B", "-"]


def test_disabled(run, cxl):
    cxl.write(f"{PGHOT}/enabled", 0).write("proc/77/stat", "77 (kmigrated2) P 2 0")
    status = run("status", "--json", machine=cxl).json
    assert status["pghot"]["state"] == "disabled"
    assert status["lower_nodes"][0]["kmigrated"] == {"pid": 77, "state": "parked"}


def test_sources_are_idle_while_pghot_is_off(run, cxl):
    cxl.write(f"{PGHOT}/enabled", 0)
    for name in ("hint_fault", "page_cache", "page_table"):
        cxl.write(f"{PGHOT}/sources/{name}/running", 0)
    shown = section(run("status", machine=cxl).out, "Sources").splitlines()
    assert [line.split()[1] for line in shown[2:5]] == ["idle"] * 3
    assert "  idle: switched on, while pghot itself is off" in shown


def test_page_tables_report_without_numa_balancing(run, cxl):
    switch_on(balance(cxl, 0), "page_table").write(f"{PGHOT}/sources/page_table/accesses", 7)
    shown = section(run("status", machine=cxl).out, "Sources").splitlines()
    assert shown[4].split()[:5] == ["page_table", "on", "7", "0.0", "cpu_permille=10"]
    checks = run("doctor", "--json", machine=cxl).json["checks"]
    assert {f["id"]: f["verdict"] for f in checks}["numa-balancing"] == "ok"


#: What the scan of page tables tells of itself.
SCAN = {"cpu_permille": 10, "scan_period_ms": 62, "scanned": 10**10, "cpu_usec": 8 * 10**9}


@pytest.mark.parametrize("width", [80, 100, 120])
def test_what_a_source_tells_of_itself_wraps(cxl, width):
    for name, value in {"enabled": 1, "accesses": 10**9, "passes": 17, **SCAN}.items():
        cxl.write(f"{PGHOT}/sources/page_table/{name}", value)
    shown = section(report(collect(Tree(str(cxl.root))), width), "Sources")
    assert {f"{name}={value}" for name, value in {"passes": 17, **SCAN}.items()} < {*shown.split()}
    assert max(map(len, shown.splitlines())) <= width


@pytest.mark.parametrize("mode", [0, 1])
def test_hint_faults_wait_for_memory_tiering(run, cxl, mode):
    balance(cxl, mode)
    source = run("status", "--json", machine=cxl).json["sources"][0]
    assert (source["enabled"], source["running"]) == (True, False)
    _, _, row, *_, why = section(run("status", machine=cxl).out, "Sources").splitlines()
    assert row.split()[:2] == ["hint_fault", "waits"]
    switch_off(cxl, "page_cache", "page_table")
    assert "kernel.numa_balancing is 2 or 3" in why
    cxl.write(f"{PGHOT}/sources/hint_fault/enabled", 0)
    shown = section(run("status", machine=cxl).out, "Sources")
    assert shown.splitlines()[2].split()[:2] == ["hint_fault", "off"] and "waits" not in shown


def test_a_source_that_is_on_with_memory_tiering_waits_for_it(run, cxl):
    balance(cxl, 1)
    source = run("status", "--json", machine=cxl).json["sources"][2]
    assert (source["name"], source["enabled"], source["tiering"]) == ("page_table", True, True)
    assert source["running"] is False
    shown = section(run("status", machine=cxl).out, "Sources").splitlines()
    assert shown[4].split()[:2] == ["page_table", "waits"]
    switch_on(cxl, "page_table")
    assert run("status", "--json", machine=cxl).json["sources"][2]["tiering"] is False


def test_the_page_cache_reports_without_numa_balancing(run, cxl):
    switch_on(balance(cxl, 0), "page_cache").write(f"{PGHOT}/sources/page_cache/accesses", 7)
    shown = section(run("status", machine=cxl).out, "Sources").splitlines()
    assert shown[3].split() == ["page_cache", "on", "7", "0.0"]


@pytest.mark.parametrize("mode, source", [(2, "hint_fault"), (0, "page_table")])
def test_a_source_that_should_run_is_not_told_to_wait_for_the_mode(run, cxl, mode, source):
    balance(cxl, mode).write(f"{PGHOT}/sources/{source}/enabled", 1)
    cxl.write(f"{PGHOT}/sources/{source}/running", 0)
    shown = section(run("status", machine=cxl).out, "Sources").splitlines()
    assert [row.split()[:2] for row in shown[1:] if " stuck " in row] == [[source, "stuck"]]
    assert shown[-1] == "  stuck: switched on, and not running; pghot doctor says more"
    assert any(row.startswith("  waits: ") for row in shown) == (mode == 0)


def test_gain_is_told_as_what_it_is(run, cxl):
    """240% is the root of how much more often: not 2.4 times."""
    *_, why = section(run("status", machine=cxl).out, "Target nodes").partition("  gain: ")
    assert "100% alike, 200% accessed some 4 times as often" in " ".join(why.split())
    cxl.write(f"{PGHOT}/target0/gain_percent", 0)
    shown = section(run("status", machine=cxl).out, "Target nodes")
    assert "gain:" in shown and shown.splitlines()[2].split()[3:5] == ["-", "-"]
    assert shown.splitlines()[3].split()[3:5] == ["-", "98%"]
    cxl.write(f"{PGHOT}/target1/cache_gain_percent", 0)
    shown = section(run("status", machine=cxl).out, "Target nodes")
    assert "gain:" not in shown and shown.splitlines()[2].split()[3] == "-"


def test_a_target_that_pages_are_evicted_for_is_told(run, cxl):
    """The kernel's word for it is a gain of 1, which nobody measured."""
    legend = "  evicts: reclaim evicts pages for them, which are soon read again"
    assert legend not in run("status", machine=cxl).out
    cxl.write(f"{PGHOT}/target1/gain_percent", 1)
    shown = section(run("status", machine=cxl).out, "Target nodes").splitlines()
    assert shown[3].split()[3:5] == ["evicts", "98%"] and shown[-1] == legend


def test_the_bounds_of_gain_are_the_kernels(repo):
    evicted = (repo / "linux/mm/pghot/evicted.h").read_text()
    assert f"#define PGHOT_EVICTED_PERCENT\t{EVICTS_PERCENT}U\n" in evicted
    header = (repo / "linux/mm/pghot/gain.h").read_text()
    assert f"#define PGHOT_GAIN_PERCENT_MAX\t{GAIN_PERCENT_MAX}U\n" in header
    bounds = dict(re.findall(r"define PGHOT_GAIN_(\w+)\t+(\d+)U$", header, re.MULTILINE))
    slower, faster = bounds["PERCENT"], bounds["AGAIN"]
    page = " ".join((repo / "docs/tool.md").read_text().split())
    assert f"Below {slower}% promotion to the node slows down, from {faster}% on it gets" in page


def test_one_tier(run, bare):
    status = run("status", "--json", machine=bare).json
    assert [(t["tier"], t["top"]) for t in status["tiers"]] == [(4, True)]
    assert status["nodes"][0]["distances"] == {"0": 10}


def test_no_numa_at_all(run, bare):
    bare.remove("sys/devices")
    result = run("status", machine=bare)
    assert result.status == 0
    assert "none: the kernel shows no memory tiers" in result.out
    assert "none: the kernel shows no NUMA nodes" in result.out


def test_tier_without_nodes_is_left_out(run, cxl):
    cxl.write("sys/devices/virtual/memory_tiering/memory_tier9/nodelist", "")
    assert [t["tier"] for t in run("status", "--json", machine=cxl).json["tiers"]] == [4, 22]


def test_slowest_tier_with_a_cpu_is_top(run, cxl):
    """As in the kernel: HBM without CPUs above DRAM is top tier too."""
    cxl.write("sys/devices/virtual/memory_tiering/memory_tier1/nodelist", "0")
    cxl.write("sys/devices/virtual/memory_tiering/memory_tier4/nodelist", "1")
    cxl.write("sys/devices/system/node/has_cpu", "1")
    assert [(t["tier"], t["top"]) for t in run("status", "--json", machine=cxl).json["tiers"]] == [
        (1, True),
        (4, True),
        (22, False),
    ]


@pytest.mark.parametrize(
    "comm, stat, kthreadd, state",
    [
        ("kmigrated2", "77 (kmigrated2) D 2", "kthreadd", "running"),
        ("kmigrated2", "77 (kmigrated2) P 2", "kthreadd", "parked"),
        ("bash", "77 (bash) S 2", "kthreadd", "missing"),
        ("kmigrated2", "77 (kmigrated2) Z 2", "kthreadd", "missing"),
        ("kmigrated2", "garbage", "kthreadd", "unknown"),
        ("bash", "77 (bash) S 2", "sleep", "unknown"),
    ],
)
def test_kmigrated_state(run, cxl, comm, stat, kthreadd, state):
    cxl.write("proc/77/comm", comm).write("proc/77/stat", stat).write("proc/2/comm", kthreadd)
    assert (
        run("status", "--json", machine=cxl).json["lower_nodes"][0]["kmigrated"]["state"] == state
    )


def test_kmigrated_gone(run, cxl):
    cxl.remove("proc/77")
    assert (
        run("status", "--json", machine=cxl).json["lower_nodes"][0]["kmigrated"]["state"]
        == "missing"
    )


def test_new_counters_and_sources_of_a_later_kernel(run, cxl):
    cxl.counters(pghot_skip_moonlight=5, pghot_delay_tide=3, pghot_echoes=8)
    cxl.write(f"{PGHOT}/sources/ebb/enabled", 0).write(f"{PGHOT}/sources/ebb/accesses", 0)
    result = run("status", machine=cxl)
    status = run("status", "--json", machine=cxl).json
    by_name = {r["name"]: r for r in status["reasons"]}
    assert (by_name["pghot_skip_moonlight"]["kind"], by_name["pghot_skip_moonlight"]["known"]) == (
        "dropped",
        False,
    )
    assert by_name["pghot_delay_tide"]["kind"] == "delayed"
    assert status["records"]["dropped"] == 805
    assert status["counters"]["pghot_echoes"] == 8
    assert "pghot_skip_moonlight: 5 (0.6%)" in result.out
    assert section(result.out, "Counters newer").splitlines()[2].split() == ["pghot_echoes", "8"]
    assert [s["name"] for s in status["sources"]] == [
        "ebb",
        "hint_fault",
        "page_cache",
        "page_table",
    ]


def test_json_is_one_document_of_plain_types(run, any_machine):
    document = run("status", "--json", machine=any_machine).json
    assert json.loads(json.dumps(document, allow_nan=False)) == document


def test_every_field_is_documented(run, cxl, repo):
    def names(value) -> set:
        if isinstance(value, list):
            return set().union(*map(names, value))
        if isinstance(value, dict):
            inner = {
                key
                for key in value
                if not key.startswith(("pghot_", "pg", "numa_")) and not key.isdigit()
            }
            return (inner - {"hint_fault", "page_cache", "page_table"}).union(
                *map(names, value.values())
            )
        return set()

    document = (repo / "docs/tool.md").read_text()
    fields = names(run("status", "--json", machine=with_engines(cxl)).json)
    assert len(fields) > 50
    assert [
        f for f in sorted(fields) if f"`{f}`" not in document and f"`{f}[]`" not in document
    ] == []


def test_the_rate_limit_is_in_the_kernels_unit(run, cxl, repo):
    guide = (repo / "linux/Documentation/admin-guide/mm/pghot.rst").read_text()
    about = guide.partition("``promote_rate_limit_MBps``\n")[2].partition("\n\n")[0]
    assert "in MiB a second" in about
    assert "65536  MiB/s" in run("status", machine=cxl).out
    assert "65536 MiB/s" in run("doctor", machine=cxl).out
    for page in ("docs/operator.md", "docs/tool.md"):
        assert "MB/s" not in (repo / page).read_text(), page
