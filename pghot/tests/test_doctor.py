# SPDX-License-Identifier: GPL-2.0
"""`pghot doctor`: each thing that stops promotion is found, and nothing else is reported."""

import subprocess

import pytest

from pghot.checks import CHECKS
from pghot.tests.doctor import problems
from pghot.tests.fakes import (
    NODES,
    PGHOT,
    balance,
    switch_on,
)

CHECK_IDS = [check.__name__.replace("_", "-") for check in CHECKS]


def test_healthy(verdicts, cxl):
    # It has no such source, and no copy engine.
    not_asked = {"hotness-units", "test-engine", "copy-engines", "engine-failures"}
    asked = [check for check in CHECK_IDS if check not in not_asked]
    assert verdicts(cxl) == {**dict.fromkeys(asked, "ok"), "exit": 0}


def test_stock_kernel(verdicts, stock):
    """Checks of pghot itself do not arise; those of tiering do."""
    assert verdicts(stock) == {
        "kernel": "warn",
        "memory-tiers": "ok",
        "hmat": "ok",
        "numa-balancing": "ok",
        "demotion": "ok",
        "room": "ok",
        "rate-limit": "ok",
        "exit": 1,
    }


def test_a_stock_kernel_is_no_failure_that_a_command_mends(finding, stock):
    """It promotes by itself, in the mode that this machine has."""
    found = finding(stock, "kernel")
    assert found["command"] is None
    assert "promotes, if it is on with memory tiering (mode 2 or 3)" in found["explanation"]


def test_plain_server(verdicts, bare):
    assert verdicts(bare) == {
        "kernel": "warn",
        "memory-tiers": "fail",
        "hmat": "warn",
        "exit": 1,
    }


def test_off_at_boot(verdicts, finding, stock):
    stock.write("proc/cmdline", "quiet pghot=off")
    assert problems(verdicts(stock)) == {"kernel": "unknown", "boot-option": "fail", "exit": 1}
    stock.write("boot/config-7.3.4-test", "CONFIG_PGHOT=y")
    assert problems(verdicts(stock)) == {"boot-option": "fail", "exit": 1}
    assert finding(stock, "boot-option")["command"].endswith(" /etc/default/grub && update-grub")


@pytest.mark.parametrize(
    "before, after",
    [
        ('"quiet pghot=off"', '"quiet"'),
        ("'quiet pghot=off'", "'quiet'"),
        ("'pghot=off'", "''"),
        ('"pghot=defualt quiet pghot=off"', '" quiet"'),
        ('"pghot=precise quiet pghot=off"', '"pghot=precise quiet"'),
        ('"pghot=precisely pghot=default"', '" pghot=default"'),
        ('"quiet pghot=precise"', None),
        ("'pghot=default'", None),
        ('"quiet"', None),
    ],
)
def test_the_boot_option_command_mends_the_file(finding, stock, tmp_path, before, after):
    stock.write("proc/cmdline", "quiet pghot=off")
    grub = tmp_path / "grub"
    grub.write_text(f"GRUB_CMDLINE_LINUX={before}\nGRUB_TIMEOUT=5\n")
    command = finding(stock, "boot-option")["command"].replace("update-grub", "true")
    done = subprocess.run(command.replace("/etc/default/grub", str(grub)), shell=True, check=False)
    assert done.returncode == (after is None)
    assert grub.read_text() == f"GRUB_CMDLINE_LINUX={after or before}\nGRUB_TIMEOUT=5\n"


def test_a_kernel_built_to_stay_off(verdicts, finding, stock):
    stock.write("boot/config-7.3.4-test", "CONFIG_PGHOT=y\nCONFIG_PGHOT_BOOT_OFF=y")
    assert problems(verdicts(stock)) == {"boot-option": "fail", "exit": 1}
    found = finding(stock, "boot-option")
    assert "boot with pghot=default" in found["explanation"] and found["command"] is None


def test_built_in_but_not_started(verdicts, stock):
    stock.write("boot/config-7.3.4-test", "CONFIG_PGHOT=y")
    assert problems(verdicts(stock)) == {"kernel": "fail", "exit": 1}


#: What is written where; the check that must find it, alone; its verdict; the mending command.
FAULTS = {
    "pghot off": (
        {f"{PGHOT}/enabled": "0"},
        "enabled",
        "fail",
        "echo 1 > /sys/kernel/mm/pghot/enabled",
    ),
    "numa balancing off": (
        {"proc/sys/kernel/numa_balancing": "0"},
        "numa-balancing",
        "fail",
        "sysctl -w kernel.numa_balancing=2",
    ),
    "numa balancing without tiering": (
        {"proc/sys/kernel/numa_balancing": "1"},
        "numa-balancing",
        "fail",
        "sysctl -w kernel.numa_balancing=3",
    ),
    "hint faults off": (
        {f"{PGHOT}/sources/hint_fault/enabled": "0"},
        "hint-faults",
        "warn",
        "echo 1 > /sys/kernel/mm/pghot/sources/hint_fault/enabled",
    ),
    "demotion off": (
        {"sys/kernel/mm/numa/demotion_enabled": "false"},
        "demotion",
        "warn",
        "echo true > /sys/kernel/mm/numa/demotion_enabled",
    ),
    "rate limit 0": (
        {"proc/sys/kernel/numa_balancing_promote_rate_limit_MBps": "0"},
        "rate-limit",
        "fail",
        "sysctl -w kernel.numa_balancing_promote_rate_limit_MBps=65536",
    ),
    "thread did not start": (
        {f"{PGHOT}/node2/kmigrated": "0"},
        "kmigrated",
        "fail",
        "dmesg | grep -i -e kmigrated -e pghot -e oops",
    ),
    "thread parked": (
        {"proc/77/stat": "77 (kmigrated2) P 2 0"},
        "kmigrated",
        "fail",
        "echo 0 > /sys/kernel/mm/pghot/enabled && echo 1 > /sys/kernel/mm/pghot/enabled",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_one_fault_gives_one_problem_and_its_command(verdicts, finding, cxl, name):
    files, check, verdict, command = FAULTS[name]
    for path, content in files.items():
        if path.endswith("numa_balancing"):
            balance(cxl, int(content))
        else:
            cxl.write(path, content)
    assert problems(verdicts(cxl)) == {check: verdict, "exit": 1}
    found = finding(cxl, check)
    assert found["command"] == command
    assert found["summary"].endswith(".") and found["explanation"].endswith(".")


@pytest.mark.parametrize("mode", [0, 1])
def test_what_is_on_between_sockets_is_kept(finding, cxl, mode):
    """And whoever does not need it is told how to do without."""
    found = finding(balance(cxl, mode), "numa-balancing")
    assert found["command"].endswith(f"={mode | 2}")
    assert ("do not need that, set 2 instead" in found["explanation"]) == (mode == 1)


def test_parked_is_right_while_disabled(verdicts, cxl):
    cxl.write(f"{PGHOT}/enabled", 0).write("proc/77/stat", "77 (kmigrated2) P 2 0")
    assert problems(verdicts(cxl)) == {"enabled": "fail", "exit": 1}


@pytest.mark.parametrize("mode, wanted", [(0, 2), (1, 3)])
def test_parked_is_right_without_memory_tiering(verdicts, finding, cxl, mode, wanted):
    balance(cxl, mode)
    assert problems(verdicts(cxl)) == {"numa-balancing": "fail", "exit": 1}
    assert f"kernel.numa_balancing={wanted}." in finding(cxl, "hint-faults")["summary"]
    switch_on(cxl, "page_table").write("proc/77/stat", "77 (kmigrated2) P 2 0")
    assert problems(verdicts(cxl)) == {"kmigrated": "fail", "exit": 1}


def test_thread_died(verdicts, cxl):
    cxl.remove("proc/77")
    assert problems(verdicts(cxl)) == {"kmigrated": "fail", "exit": 1}


def test_threads_hidden(verdicts, cxl):
    cxl.remove("proc/77").remove("proc/2")
    assert problems(verdicts(cxl)) == {"kmigrated": "unknown", "exit": 2}


def test_a_thread_that_is_not_named_is_not_called_hidden(finding, cxl):
    path = f"{PGHOT}/node2/kmigrated"
    found = finding(cxl.remove(path), "kmigrated")
    assert (found["verdict"], found["explanation"]) == ("unknown", f"/{path}: it is missing.")
    found = finding(cxl.write(path, "x"), "kmigrated")
    assert (found["verdict"], found["explanation"]) == ("unknown", f"/{path}: not a number: 'x'.")


def test_lower_node_without_map(verdicts, cxl):
    cxl.remove(f"{PGHOT}/node2")
    assert problems(verdicts(cxl)) == {"kmigrated": "fail", "exit": 1}


def test_each_lower_node_is_watched(verdicts, finding, cxl):
    """Where memory came online late, one may have been left out, or a map."""
    cxl.write("sys/devices/virtual/memory_tiering/memory_tier22/nodelist", "2-3")
    cxl.write(f"{NODES}/node3/meminfo", "Node 3 MemTotal: 4096 kB\nNode 3 MemFree: 4096 kB")
    assert verdicts(cxl)["kmigrated"] == "fail"
    assert finding(cxl, "kmigrated")["summary"] == "pghot does not watch node 3."


def test_a_lower_node_has_a_map(verdicts, finding, cxl):
    cxl.write(f"{PGHOT}/node2/sections", 0)
    assert problems(verdicts(cxl)) == {"kmigrated": "fail", "exit": 1}
    assert "no map of node 2" in finding(cxl, "kmigrated")["summary"]
    cxl.write(f"{PGHOT}/enabled", 0)
    assert verdicts(cxl)["kmigrated"] == "ok"


def test_a_rate_limit_of_0_without_pghot(verdicts, stock):
    stock.write("proc/sys/kernel/numa_balancing_promote_rate_limit_MBps", 0)
    assert problems(verdicts(stock)) == {"kernel": "warn", "rate-limit": "fail", "exit": 1}
    stock.remove("proc/sys/kernel/numa_balancing_promote_rate_limit_MBps")
    assert "rate-limit" not in verdicts(stock)


@pytest.mark.parametrize("tiers, verdict", [(2, "ok"), (1, "unknown")])
def test_a_container_hides_the_firmware(verdicts, finding, cxl, tiers, verdict):
    cxl.remove("sys/firmware")
    if tiers == 1:
        cxl.remove("sys/devices/virtual/memory_tiering/memory_tier22")
    assert verdicts(cxl)["hmat"] == verdict
    assert "cannot be seen" in finding(cxl, "hmat")["summary"]


def test_one_tier_though_a_node_has_no_cpu(verdicts, finding, cxl):
    """What a machine without HMAT looks like: CXL memory beside DRAM, in its tier."""
    cxl.remove("sys/firmware/acpi/tables/HMAT").remove(f"{PGHOT}/node2")
    cxl.remove("sys/devices/virtual/memory_tiering/memory_tier22")
    cxl.write("sys/devices/virtual/memory_tiering/memory_tier4/nodelist", "0-2")
    found = problems(verdicts(cxl))
    assert (found["memory-tiers"], found["hmat"], found["exit"]) == ("fail", "warn", 1)
    assert "Node 2 has memory and no CPU" in finding(cxl, "memory-tiers")["explanation"]


def test_memory_that_is_faster_than_dram_is_not_taken_for_slow(verdicts, finding, run, cxl):
    """HBM without CPUs above DRAM: two tiers, and nothing below."""
    cxl.remove(f"{PGHOT}/node2").remove("sys/devices/virtual/memory_tiering/memory_tier22")
    cxl.write("sys/devices/virtual/memory_tiering/memory_tier2/nodelist", "2")
    found = finding(cxl, "memory-tiers")
    assert found["verdict"] == "fail" and found["summary"].startswith("All 2 memory tiers are")
    assert "no CPU" not in found["explanation"]
    cxl.write("proc/sys/kernel/numa_balancing", 0)
    assert problems(verdicts(cxl)) == {"memory-tiers": "fail", "exit": 1}


def test_how_much_is_below_is_not_made_up(finding, cxl):
    cxl.write("sys/devices/system/node/node2/meminfo", "garbage")
    assert finding(cxl, "memory-tiers")["summary"] == "2 memory tiers; ? below the top tier."


def test_a_kernel_that_does_not_say_may_have_failed(finding, stock):
    found = finding(stock, "kernel")
    assert found["verdict"] == "warn" and "it has none, or pghot did not start" in found["summary"]
    assert "dmesg | grep pghot" in found["explanation"]


@pytest.mark.parametrize(
    "sections, block, verdict",
    [(2048, "8000000", "ok"), (10, "8000000", "warn"), (800, "80000000", "warn"), (10, "x", "ok")],
)
def test_memory_without_a_map_is_told(verdicts, finding, cxl, sections, block, verdict):
    cxl.write(f"{PGHOT}/node2/sections", sections)
    cxl.write("sys/devices/system/memory/block_size_bytes", block)
    assert verdicts(cxl)["kmigrated"] == verdict
    if verdict == "warn":
        assert finding(cxl, "kmigrated")["summary"] == "pghot has a map of a part of node 2 only."


def test_switched_off_for_want_of_memory_is_explained(finding, cxl):
    cxl.write(f"{PGHOT}/enabled", 0)
    assert "refuses the command with ENOMEM" in finding(cxl, "enabled")["explanation"]


def test_what_destroys_data_is_no_command_to_run_unread(finding, bare):
    found = finding(bare, "memory-tiers")
    assert found["command"] == "daxctl list"
    assert "destroys all that is stored on it. Look first" in found["explanation"]
    assert found["explanation"].endswith("daxctl reconfigure-device --mode=system-ram dax0.0.")


def test_two_tiers_need_no_hmat(verdicts, cxl):
    cxl.remove("sys/firmware/acpi/tables/HMAT")
    assert problems(verdicts(cxl)) == {"exit": 0}


def test_no_numa_balancing_in_the_kernel(verdicts, cxl):
    cxl.remove("proc/sys/kernel/numa_balancing")
    assert problems(verdicts(cxl)) == {"numa-balancing": "fail", "exit": 1}


def test_numa_balancing_that_is_hidden_is_not_called_missing(finding, run, cxl):
    """As in a container that shows processes alone of /proc."""
    cxl.remove("proc")
    found = finding(cxl, "numa-balancing")
    assert found["verdict"] == "unknown" and found["summary"].endswith("mode cannot be read.")
    assert "NUMA balancing  ?\n" in run("status", machine=cxl).out


@pytest.mark.parametrize("hidden", [PGHOT, "sys"])
def test_pghot_that_is_hidden_is_not_called_missing(verdicts, finding, run, cxl, hidden):
    """Counters of pghot are there where it runs, and nowhere else."""
    cxl.remove(hidden)
    found = verdicts(cxl)
    assert (found["kernel"], found["enabled"]) == ("ok", "unknown")
    assert finding(cxl, "enabled")["explanation"] == f"/{PGHOT}/enabled: it is missing."
    status = run("status", "--json", machine=cxl).json
    assert (status["pghot"]["state"], status["pghot"]["built_in"]) == ("unknown", True)
    assert status["pghot"]["settings"] == [] and status["unread"] == []
    assert (
        f"unknown: This kernel has pghot; /{PGHOT} is not visible here."
        in run("status", machine=cxl).out
    )


def test_full_with_demotion_off(verdicts, finding, cxl):
    cxl.zones(node0=4000, node1=4000, node2=800000).write(
        "sys/kernel/mm/numa/demotion_enabled", "false"
    )
    assert problems(verdicts(cxl)) == {"room": "fail", "demotion": "warn", "exit": 1}
    found = finding(cxl, "room")
    assert found["summary"] == "DRAM is full, and demotion is off."
    assert "node 0: 4,000 pages free, high watermark 5,000" in found["explanation"]
    assert found["command"] == "echo true > /sys/kernel/mm/numa/demotion_enabled"


@pytest.mark.parametrize(
    "factor, command", [(10, "sysctl -w vm.watermark_scale_factor=100"), (100, None), (3000, None)]
)
def test_full_with_demotion_on(verdicts, finding, cxl, factor, command):
    cxl.zones(node0=5000, node1=4000, node2=800000).write(
        "proc/sys/vm/watermark_scale_factor", factor
    )
    assert problems(verdicts(cxl)) == {"room": "warn", "exit": 1}
    found = finding(cxl, "room")
    assert (found["summary"], found["command"]) == ("DRAM is full, with demotion on.", command)


def test_wider_watermarks_do_not_help_where_all_memory_is_full(verdicts, finding, cxl):
    cxl.zones(node0=4000, node1=4000, node2=4000)
    assert problems(verdicts(cxl)) == {"room": "warn", "exit": 1}
    found = finding(cxl, "room")
    assert found["command"] is None and "lower tier is full as well" in found["explanation"]
    cxl.zones(node0=4000, node1=4000, node2=800000)
    assert "lower tier" not in finding(cxl, "room")["explanation"]


def test_one_of_two_sockets_full(verdicts, finding, cxl):
    cxl.zones(node0=100000, node1=4000, node2=4000)
    assert problems(verdicts(cxl)) == {"room": "warn", "exit": 1}
    assert finding(cxl, "room")["summary"] == "Some top-tier nodes are full, with demotion on."


def test_full_lower_tier_is_no_problem(verdicts, cxl):
    cxl.zones(node0=100000, node1=90000, node2=10)
    assert problems(verdicts(cxl)) == {"exit": 0}


def test_a_problem_outweighs_what_is_unknown(verdicts, cxl):
    balance(cxl.remove("proc/zoneinfo"), 0)
    assert problems(verdicts(cxl)) == {"room": "unknown", "numa-balancing": "fail", "exit": 1}


def test_node_without_memory_needs_no_room(verdicts, cxl):
    cxl.write(f"{NODES}/node1/meminfo", "Node 1 MemTotal: 0 kB\nNode 1 MemFree: 0 kB")
    cxl.zones(node0=100000, node2=800000)
    assert problems(verdicts(cxl)) == {"exit": 0}


def test_text(run, cxl):
    balance(cxl, 0)
    result = run("doctor", machine=cxl)
    lines = result.out.splitlines()
    at = lines.index("fail     numa-balancing   NUMA balancing is off.")
    assert lines[at + 3] == "         run: sysctl -w kernel.numa_balancing=2"
    assert lines[-1] == "14 ok, 0 warn, 1 fail, 0 unknown"


def test_json(run, cxl):
    document = run("doctor", "--json", machine=cxl).json
    assert (document["schema"], document["healthy"], document["unread"]) == (1, True, [])
    assert all(
        set(check) == {"id", "verdict", "summary", "explanation", "command"}
        for check in document["checks"]
    )


def test_every_check_is_documented_and_no_other(repo):
    text = (repo / "docs/tool.md").read_text()
    table = text.partition("| Check | Finds |")[2].partition("\n\n")[0]
    assert [row.split("`")[1] for row in table.splitlines() if "`" in row] == CHECK_IDS
