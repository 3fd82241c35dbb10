# SPDX-License-Identifier: GPL-2.0
"""make test: pytest gets what it is to, and as many processes as the host has room for."""

import subprocess
import sys

import pytest

from lab import cli, test
from lab.errors import LabError


@pytest.mark.parametrize(
    "words",
    [["-m", "not vm and not kernel", "-q"], ["--durations=9", "lab/tests"], ["lab/tests", "-x"]],
)
def test_options_for_pytest_reach_it(monkeypatch, words):
    ran = []

    def run(command, **_):
        ran.append(command)
        return subprocess.CompletedProcess(command, 5)

    monkeypatch.setattr(test.subprocess, "run", run)
    assert cli.main(["test", *words]) == 5
    assert ran == [[sys.executable, "-m", "pytest", *words]]


@pytest.mark.parametrize(
    ("jobs", "gib", "options"),
    [
        ("2", 24, ["--numprocesses", "2", "--dist", "loadfile", "--no-loadscope-reorder"]),
        ("16", 19, ["--numprocesses", "3", "--dist", "loadfile", "--no-loadscope-reorder"]),
        ("8", 4, []),
        ("1", 64, []),
    ],
)
def test_all_tests_run_beside_each_other(monkeypatch, jobs, gib, options):
    ran = []

    def run(command, **_):
        ran.append(command)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(test.subprocess, "run", run)
    monkeypatch.setattr(test.build, "ensure", ran.append)
    monkeypatch.setattr(test.capacity.memory, "available", lambda: gib << 30)
    monkeypatch.setenv("JOBS", jobs)
    monkeypatch.delenv("PGHOT_DEBUG", raising=False)
    assert cli.main(["test"]) == 0
    slowest = ["--durations", "20", "--durations-min", "10"]
    assert ran == ["pghot", "stock", "demo", [sys.executable, "-m", "pytest", *slowest, *options]]


def test_a_kernel_that_does_not_build_is_for_the_tests_to_fail(monkeypatch, capsys):
    def ensure(flavour):
        raise LabError("make bzImage failed")

    monkeypatch.setattr(test.build, "ensure", ensure)
    monkeypatch.setattr(
        test.subprocess, "run", lambda command, **_: subprocess.CompletedProcess(command, 1)
    )
    assert cli.main(["test"]) == 1
    assert "The stock kernel: make bzImage failed" in capsys.readouterr().out


@pytest.mark.parametrize("words", [[""], ["-x", ""]])
def test_an_empty_word_does_not_mean_all_tests(monkeypatch, capsys, words):
    monkeypatch.setattr(test.subprocess, "run", lambda *_, **__: pytest.fail("it ran"))
    assert cli.main(["test", *words]) == 1
    assert capsys.readouterr().err == (
        "lab: an empty word names no test: leave it out for all, or name files\n"
    )


def test_help_of_test_is_its_own(monkeypatch, capsys):
    monkeypatch.setattr(test.subprocess, "run", lambda *_, **__: pytest.fail("it ran"))
    with pytest.raises(SystemExit) as end:
        cli.main(["test", "--help"])
    assert end.value.code == 0
    assert "options and files for pytest" in capsys.readouterr().out
