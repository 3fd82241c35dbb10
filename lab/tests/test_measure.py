# SPDX-License-Identifier: GPL-2.0
"""lab/measure: measure() itself, without running a guest."""

import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

import lab.measure
from lab import machines
from lab.host import memory, qemu
from lab.measure import Guests, Run, boot, measure


@pytest.mark.parametrize(
    "run, error",
    [
        (Run("none", "stock", ("random",)), "unknown machine 'none': choose one of"),
        (Run("three-node", "stock", ("random",)), "has no model"),
        (
            Run("small", __file__, ("random",), programs=("none",)),
            "unknown workload 'none': choose one of",
        ),
        (Run("small", "/no/kernel", ("random",)), "no kernel at /no/kernel: name a file"),
    ],
)
def test_what_cannot_start_is_an_error_in_the_result(run, error):
    result = measure(run)
    assert result.error is not None and error in result.error
    assert "\n" not in result.error


@pytest.mark.parametrize(
    "found, said",
    [
        ((9, 2), "the memory model needs QEMU 10.0, here is 9.2: run 'apt-get"),
        ((10, 1), "the memory model needs QEMU 10.0, here is 10.1: run 'apt-get"),
        (None, "the memory model needs QEMU 10.0, here is none: run 'apt-get"),
    ],
)
def test_another_qemu_is_refused_in_one_line(monkeypatch, found, said):
    monkeypatch.setattr(qemu, "ensure", lambda: None)
    monkeypatch.setattr(qemu, "version", lambda: found)
    result = measure(Run("small", "stock", ("random",)))
    assert result.error is not None and result.error.startswith(said)
    assert "\n" not in result.error


def test_a_machine_that_is_too_big_is_refused_in_one_line(monkeypatch, tmp_path):
    def prepared(self, run):
        self.machine = machines.load("two-socket-cxl")

    monkeypatch.setattr(boot.Prepared, "__init__", prepared)
    monkeypatch.setattr(memory, "available", lambda: 1 << 30)
    result = measure(Run("two-socket-cxl", "stock", ("random",)))
    assert result.error is not None and result.error.startswith("machine two-socket-cxl needs")
    assert "\n" not in result.error


class Sleeping(boot.Prepared):
    """A run whose guest only sleeps."""

    def __init__(self, run):
        self.run, self.machine = run, machines.load("small")
        self.process = None

    def digest(self):
        return "none"

    @contextmanager
    def started(self, work, guests):
        with guests.started(["sleep", "1000"], subprocess.DEVNULL) as self.process:
            yield self.process


@pytest.fixture
def sleeping(monkeypatch):
    """The runs that were prepared."""
    runs = []

    def prepared(run):
        runs.append(Sleeping(run))
        return runs[-1]

    monkeypatch.setattr(lab.measure, "Prepared", prepared)
    return runs


def test_no_guest_starts_after_the_end(sleeping):
    guests = Guests()
    guests.stop()
    assert measure(Run("small", "stock", ("random",)), guests=guests).error == "interrupted"
    assert sleeping[0].process is None


def test_the_end_comes_to_guests_of_other_threads(sleeping):
    guests, others = Guests(), Guests()
    run = Run("small", "stock", ("random",), limit_s=60)
    with ThreadPoolExecutor(3) as pool:
        ours = [pool.submit(measure, run, guests=guests) for _ in range(2)]
        theirs = pool.submit(measure, run, guests=others)
        while not (len(sleeping) == 3 and all(made.process for made in sleeping)):
            time.sleep(0.01)
        guests.stop()
        for ended in ours:
            assert ended.result(30).error == "QEMU ended with status -9: it said nothing"
        # What another owner has goes on.
        assert sum(made.process.status is None for made in sleeping) == 1
        others.stop()
        assert theirs.result(30).error is not None
