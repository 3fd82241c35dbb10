# SPDX-License-Identifier: GPL-2.0
"""lab/host/capacity.py: what runs side by side has a CPU and memory."""

import pytest

from lab.errors import LabError
from lab.host import capacity

GIB = 1 << 30


def test_jobs_are_as_many_as_asked_for_or_as_there_are_cpus(monkeypatch):
    monkeypatch.setattr(capacity.os, "sched_getaffinity", lambda _: {1, 2, 5})
    monkeypatch.delenv("JOBS", raising=False)
    assert capacity.jobs() == capacity.cpus() == 3
    monkeypatch.setenv("JOBS", "7")
    assert capacity.jobs() == 7
    monkeypatch.setenv("JOBS", "")
    assert capacity.jobs() == 3


@pytest.mark.parametrize("value", ["0", "-1", "many"])
def test_jobs_must_be_a_number(monkeypatch, value):
    monkeypatch.setenv("JOBS", value)
    with pytest.raises(LabError, match=f"JOBS={value}: give a number"):
        capacity.jobs()


@pytest.mark.parametrize(
    ("have", "free", "count"),
    [(None, None, 1), (0, 0, 1), (13 * GIB, 12 * GIB, 2), (99 * GIB, 98 * GIB, 4)],
)
def test_what_has_no_memory_is_not_started(monkeypatch, have, free, count):
    monkeypatch.setenv("JOBS", "4")
    monkeypatch.setattr(capacity.memory, "available", lambda: have)
    assert capacity.free() == free
    assert capacity.side_by_side(6 * GIB) == count
