# SPDX-License-Identifier: GPL-2.0
"""make test: pytest gets what it is to, and as many processes as the host has room for."""

import os
import re
import signal
import subprocess
import sys
from unittest import mock

import pytest

from lab import cli, paths, test, tests_beside
from lab.errors import LabError


@pytest.fixture
def pytest_ends(monkeypatch):
    """Have pytest end with a status; what is returned lists the commands that ran."""

    def ends(status):
        ran = []
        process = mock.MagicMock()
        process.__enter__.return_value.wait.return_value = status

        def started(command, **_):
            ran.append(command)
            return process

        monkeypatch.setattr(test.subprocess, "Popen", started)
        return ran

    return ends


@pytest.mark.parametrize(
    "words",
    [["-m", "not vm and not kernel", "-q"], ["--durations=9", "lab/tests"], ["lab/tests", "-x"]],
)
def test_options_for_pytest_reach_it(pytest_ends, words):
    ran = pytest_ends(5)
    assert cli.main(["test", *words]) == 5
    assert ran == [[sys.executable, "-m", "pytest", *words]]


@pytest.mark.parametrize(
    ("jobs", "gib", "options"),
    [
        ("2", 24, ["--numprocesses", "3"]),
        ("16", 19, ["--numprocesses", "4"]),
        ("8", 4, []),
        ("1", 64, []),
    ],
)
def test_all_tests_run_beside_each_other(monkeypatch, pytest_ends, jobs, gib, options):
    # One process more than there is room for guests.
    if options:
        options += ["--dist", "loadfile", "--no-loadscope-reorder", "-p", "lab.tests_beside"]
    ran = pytest_ends(0)
    monkeypatch.setattr(test.build, "ensure", ran.append)
    monkeypatch.setattr(test.capacity.memory, "available", lambda: gib << 30)
    monkeypatch.setenv("JOBS", jobs)
    monkeypatch.delenv("PGHOT_DEBUG", raising=False)
    assert cli.main(["test"]) == 0
    slowest = ["-p", "lab.tests_running", "--durations", "20", "--durations-min", "10"]
    assert ran == ["stock", "pghot", "demo", [sys.executable, "-m", "pytest", *slowest, *options]]


def test_a_kernel_that_does_not_build_is_for_the_tests_to_fail(monkeypatch, pytest_ends, capsys):
    def ensure(flavour):
        raise LabError("make bzImage failed")

    monkeypatch.setattr(test.build, "ensure", ensure)
    pytest_ends(1)
    assert cli.main(["test"]) == 1
    assert "The stock kernel: make bzImage failed" in capsys.readouterr().out


def test_who_runs_what(tmp_path):
    """Two processes that have guests' tests first, and one beside them for patient ones."""
    code = (
        "import os, pathlib, time\n"
        "def test_it():\n"
        "    time.sleep(0.2)\n"
        f"    with open({str(tmp_path / 'said')!r}, 'a') as said:\n"
        "        who = os.environ['PYTEST_XDIST_WORKER']\n"
        "        print(pathlib.Path(__file__).stem, who, os.nice(0), file=said)\n"
    )
    vm = [f"lab/tests/test_vm_{number}.py" for number in range(4)]
    for name in (*tests_beside.PATIENT, *vm):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(code)
    words = ["-q", "--rootdir", tmp_path, "--import-mode=importlib", "-p", "no:cacheprovider"]
    words += ["-n", "3", "--dist", "loadfile", *test._ORDER, "lab", "harness"]
    subprocess.run(
        [sys.executable, "-m", "pytest", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(paths.ROOT)},
        check=True,
    )
    ran = [line.split() for line in (tmp_path / "said").read_text().splitlines()]
    assert len(ran) == len(tests_beside.PATIENT) + len(vm)
    own = os.nice(0)
    for name, who, nice in ran:
        assert int(nice) == (min(19, own + 10) if who == "gw2" else own)
        assert name.startswith("test_vm") <= (who != "gw2")
    # What is patient waits, but for the process that has nothing else; at the end all help.
    for worker in ("gw0", "gw1"):
        guests = [name.startswith("test_vm") for name, who, _ in ran if who == worker]
        assert guests == sorted(guests, reverse=True) and guests[:2] == [True, True]
    assert sum(who == "gw2" for _, who, _ in ran) >= 2


def test_who_is_patient_is_there_and_boots_nothing():
    for name in tests_beside.PATIENT:
        assert "mark.vm" not in (paths.ROOT / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("words", [[""], ["-x", ""]])
def test_an_empty_word_does_not_mean_all_tests(pytest_ends, capsys, words):
    ran = pytest_ends(0)
    assert cli.main(["test", *words]) == 1
    assert capsys.readouterr().err == (
        "lab: an empty word names no test: leave it out for all, or name files\n"
    )
    assert ran == []


def test_help_of_test_is_its_own(pytest_ends, capsys):
    ran = pytest_ends(0)
    with pytest.raises(SystemExit) as end:
        cli.main(["test", "--help"])
    assert end.value.code == 0
    assert "options and files for pytest" in capsys.readouterr().out
    assert ran == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("processes", ["0", "2"])
def test_who_ends_tests_sees_which_ran(tmp_path, processes, number):
    hanging = tmp_path / "test_hanging.py"
    hanging.write_text("import time\ndef test_hangs():\n    time.sleep(60)\n")
    # Who prints knows of it a moment later than the process that runs it.
    (tmp_path / "conftest.py").write_text(
        "import pytest\n"
        "class Told:\n"
        "    @pytest.hookimpl(trylast=True)\n"
        "    def pytest_runtest_logstart(self):\n"
        f"        open({str(tmp_path / 'runs')!r}, 'w').close()\n"
        "def pytest_configure(config):\n"
        "    if not hasattr(config, 'workerinput'):\n"
        "        config.pluginmanager.register(Told())\n"
    )
    os.mkfifo(tmp_path / "runs")
    words = ["-p", "lab.tests_running", "-n", processes, f"--rootdir={tmp_path}", str(hanging)]
    with subprocess.Popen(
        [sys.executable, "-m", "lab", "test", *words],
        cwd=paths.ROOT,
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),
        stdout=subprocess.PIPE,
        text=True,
    ) as lab:
        # Until that opens it to write.
        (tmp_path / "runs").read_bytes()
        lab.send_signal(number)
        said, _ = lab.communicate()
    assert lab.returncode == 128 + number
    assert "0 min: 0 tests have ended; running: test_hanging.py::test_hangs for " in said
    assert "asked to end" in said


def test_a_guest_serves_all_tests_of_a_file():
    # One that is a parameter's along with what differs by test is booted anew for each.
    modules = sorted(str(path) for path in (paths.ROOT / "lab/tests").glob("*_vm.py"))
    plan = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:xdist", "--setup-plan", "-q", *modules],
        cwd=paths.ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    made, fresh = [], []
    for line in plan.splitlines():
        if setup := re.match(r"\s*SETUP +M (.*)", line):
            fresh.append(setup[1])
        elif test := re.match(r"\s*(\S+_vm\.py)::", line):
            made += [(test[1], fixture) for fixture in fresh]
            fresh = []
    assert len(made) > 6
    assert len(made) == len(set(made)), [each for each in set(made) if made.count(each) > 1]
