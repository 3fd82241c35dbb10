# SPDX-License-Identifier: GPL-2.0
"""The command line, rates over time, packaging and what `status` loads."""

import json
import re
import subprocess
import sys
import time

import pytest

from pghot import __version__
from pghot.cli import EXAMPLES, build_parser
from pghot.tests.fakes import PGHOT


def test_version(run):
    assert run("--version")[:2] == (0, f"pghot {__version__}\n")


COMMANDS = ["status", "doctor", "capture", "explain"]


def test_help_has_every_command_in_one_line(run):
    out = run("--help").out
    listed = [line.split()[0] for line in out.splitlines() if re.match(r"    [a-z]", line)]
    assert listed == COMMANDS
    lines = out.partition("\n  COMMAND\n")[2].partition("\n\n")[0].splitlines()
    assert len(lines) == len(COMMANDS) and max(map(len, lines)) < 80


def test_help_has_examples(run):
    assert "  pghot status --watch 2 " in run("--help").out


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_has_an_example_of_it(run, command):
    result = run(command, "--help")
    assert result.status == 0 and result.out.startswith(f"usage: pghot {command}")
    assert f"\n  pghot {command} " in result.out.partition("examples:")[2]
    assert max(map(len, result.out.splitlines())) <= 100


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_parse(name):
    for line in EXAMPLES[name].splitlines():
        command = re.split(r"  +", line.strip())[0].split()
        assert command[0] == "pghot"
        assert build_parser().parse_args(command[1:]).command in COMMANDS


@pytest.mark.parametrize(
    "args",
    [
        [],
        ["stat"],
        ["status", "--jso"],
        ["status", "--watch", "0"],
        ["status", "--watch", "nan"],
        ["status", "--watch", "inf"],
        ["status", "--watch", "x"],
        ["status", "--watch", "1", "--interval", "1"],
        ["status", "--count", "2"],
        ["status", "--watch", "1", "--count", "0"],
        ["explain", "pghot_nothing"],
        ["explain", "--json", "--markdown"],
    ],
)
def test_wrong_command_line(run, args):
    result = run(*args)
    assert (result.status, result.out) == (2, "")
    assert "Traceback" not in result.err and result.err


@pytest.mark.parametrize(
    "args, about",
    [
        (["doctor", "--foo"], "pghot doctor: error: unrecognized arguments: --foo"),
        (["status", "--node", "99"], "pghot status: error: unrecognized arguments: --node 99"),
        (["status", "--count", "2"], "pghot status: error: --count needs --watch"),
        (["status", "--watch", "0"], "pghot status: error: argument --watch: "),
        (["explain", "pghot_nothing"], "pghot explain: error: no counter or setting is named"),
        (["explain", "--json", "--markdown"], "pghot explain: error: --json and --markdown"),
    ],
)
def test_an_error_is_answered_by_the_subcommand(run, args, about):
    said = run(*args).err
    assert said.startswith(f"usage: pghot {args[0]} ")
    assert f"\n{about}" in said
    assert said.endswith(f"\nsee 'pghot {args[0]} --help'\n")


def test_an_error_before_the_subcommand_is_answered_by_the_command(run):
    said = run("stat").err
    assert said.startswith("usage: pghot [-h]") and said.endswith("\nsee 'pghot --help'\n")


@pytest.mark.parametrize("args", [["--json", "status"], ["--watch", "2"], ["--foo"]])
def test_options_before_the_command_are_told_where_to_go(run, args):
    result = run(*args)
    said = f"options come after the command, as in 'pghot status --json', and {args[0]} is first"
    assert result.status == 2 and said in result.err


@pytest.fixture
def clock(monkeypatch, cxl):
    """A clock that only sleeping moves; `busy` is what the machine does meanwhile."""

    class Clock:
        now = 100.0
        slept = 0

        def busy(self) -> None:
            pass

        def sleep(self, seconds: float) -> None:
            self.now += seconds
            self.slept += 1
            cxl.age(seconds)
            self.busy()

    fake = Clock()
    monkeypatch.setattr(time, "sleep", fake.sleep)
    monkeypatch.setattr(time, "monotonic", lambda: fake.now)
    return fake


def promote_more(machine, clock) -> None:
    """400 pages promoted and 20 dropped as dirty in each interval."""
    n = clock.slept
    machine.counters(
        pgpromote_success=9300 + 400 * n,
        pghot_promoted_pages=9200 + 400 * n,
        pghot_skip_dirty=200 + 20 * n,
    )
    machine.write(f"{PGHOT}/node2/promoted", 9200 + 400 * n)
    machine.write(f"{PGHOT}/sources/hint_fault/accesses", 100000 + 1000 * n)


def test_average_since_boot(run, cxl, clock):
    rates = run("status", "--json", machine=cxl).json["rates"]
    assert (rates["over"], rates["seconds"]) == ("boot", 1000.0)
    assert rates["pages"] == {"promoted": 9.3, "promoted_by_pghot": 9.2, "demoted": 0.52}
    assert clock.slept == 0


def test_interval(run, cxl, clock):
    clock.busy = lambda: promote_more(cxl, clock)
    status = run("status", "--json", "--interval", 4, machine=cxl).json
    assert clock.slept == 1
    rates = status["rates"]
    assert (rates["over"], rates["seconds"]) == ("interval", 4.0)
    assert rates["pages"] == {"promoted": 100.0, "promoted_by_pghot": 100.0, "demoted": 0.0}
    assert rates["counters"]["pghot_skip_dirty"] == 5.0
    assert rates["sources"] == {"hint_fault": 250.0, "page_cache": 0.0, "page_table": 0.0}
    assert rates["lower_nodes"] == {"2": 100.0}
    assert status["pages"]["promoted"] == 9700


def test_watch_gives_rates_over_each_interval(run, cxl, clock):
    clock.busy = lambda: promote_more(cxl, clock)
    lines = run("status", "--json", "--watch", 2, "--count", 3, machine=cxl).out.splitlines()
    documents = [json.loads(line) for line in lines]
    assert [d["pages"]["promoted"] for d in documents] == [9700, 10100, 10500]
    assert [d["rates"]["pages"]["promoted"] for d in documents] == [200.0] * 3


def test_watch_as_text(run, cxl, clock):
    clock.busy = lambda: promote_more(cxl, clock)
    out = run("status", "--watch", 2, "--count", 2, machine=cxl).out
    assert out.count("per second now") == 2 and "\033" not in out
    assert out.splitlines().count("  promoted                     9,700             200") == 1


def test_a_counter_that_goes_back_has_no_rate(run, cxl, clock):
    clock.busy = lambda: cxl.write(f"{PGHOT}/node2/promoted", 5)
    rates = run("status", "--json", "--interval", 4, machine=cxl).json["rates"]
    assert rates["lower_nodes"] == {"2": None}


def test_a_node_that_comes_up_has_no_rate_yet(run, cxl, clock):
    clock.busy = lambda: cxl.write(f"{PGHOT}/node3/promoted", 5)
    rates = run("status", "--json", "--interval", 4, machine=cxl).json["rates"]
    assert rates["lower_nodes"] == {"2": 0.0, "3": None}


def test_no_uptime_no_average(run, cxl):
    cxl.remove("proc/uptime")
    assert run("status", "--json", machine=cxl).json["rates"] is None
    assert run("status", machine=cxl).status == 0


@pytest.mark.parametrize(
    "verb", [["status", "--interval"], ["status", "--watch"], ["doctor", "--interval"]]
)
def test_no_time_passes_in_a_copy(run, cxl, monkeypatch, verb):
    """All would seem to be at rest, and so to be well."""
    monkeypatch.setattr(time, "sleep", lambda _seconds: None)
    result = run(*verb, 1, machine=cxl)
    assert result.status == 2 and result.out == ""
    assert "is a copy, in which no time passes: leave out --interval and --watch" in result.err


def test_interrupt_ends_quietly(run, cxl, clock):
    def interrupt() -> None:
        raise KeyboardInterrupt

    clock.busy = interrupt
    assert run("status", "--watch", 1, machine=cxl) == (130, "", "")


def start(repo, *args: str, **more) -> subprocess.CompletedProcess:
    return subprocess.run([*args], cwd=repo, capture_output=True, text=True, **more)


def test_three_ways_to_start(repo, cxl):
    args = ("status", "--root", str(cxl.root))
    outputs = [
        start(repo, sys.executable, "-m", "pghot", *args).stdout,
        start("/", str(repo / "bin/pghot"), *args).stdout,
        start(repo, sys.executable, "-c", "from pghot.cli import entry; entry()", *args).stdout,
    ]
    assert outputs[0].startswith("kernel          7.3.4-test\n")
    assert outputs[0] == outputs[1] == outputs[2]


def test_closed_pipe_is_silent(repo):
    """A pipe whose reader has gone, as after `pghot status | head -1`."""
    command = [sys.executable, "-m", "pghot", "explain"]
    with subprocess.Popen(["true"], stdin=subprocess.PIPE) as reader:
        reader.wait()
        done = subprocess.run(command, cwd=repo, stdout=reader.stdin, stderr=subprocess.PIPE)
    assert (done.returncode, done.stderr) == (-13, b"")


@pytest.mark.parametrize("closed", ["1>&-", "1>&- 2>&-", "2>&- >/dev/full"])
def test_who_has_closed_the_output_gets_no_verdict(repo, cxl, closed):
    command = f"{repo}/bin/pghot doctor --root {cxl.root} {closed}"
    done = subprocess.run(command, shell=True, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "") and "Traceback" not in done.stderr


#: Each costs milliseconds that a command with 200 ms to answer does not have.
SLOW_MODULES = {
    *("inspect", "dataclasses", "asyncio", "subprocess", "json", "typing_extensions", "shutil"),
    *("pghot.checks", "pghot.doctor", "pghot.explain", "pghot.document"),
}


def test_status_loads_nothing_slow(repo, cxl):
    """Stands in for a time limit, which a loaded machine would break."""
    code = "import sys; from pghot.cli import main; main(); print(*sys.modules, file=sys.stderr)"
    done = start(repo, sys.executable, "-I", "-c", f"import sys; sys.path[0:0] = ['.']; {code}",
                 "status", "--root", str(cxl.root))  # fmt: skip
    loaded = set(done.stderr.split())
    assert "pghot.text" in loaded
    assert not loaded & SLOW_MODULES


@pytest.mark.parametrize(
    "words",
    [("doctor", "--root", "."), ("status", "--json", "--root", "."), ("--help",), ("--version",)],
)
def test_what_cannot_be_written_is_no_finding(cxl, repo, words):
    """Exit status 1 is for problems found."""
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run(
            [repo / "bin/pghot", *words],
            cwd=cxl.root,
            check=False,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert (done.returncode, done.stderr) == (2, "pghot: cannot write: No space left on device\n")
