# SPDX-License-Identifier: GPL-2.0
"""A result in the time of the machine that is modelled, where guest time is not that."""

from __future__ import annotations

from dataclasses import replace

from lab.measure.run import Result

TIMES = ("seconds", "seconds_a_loop", "ended_apart", "first_thread_done", "latency", "ns")
"""Fields that are times, beside those whose names end with their unit."""
_UNITS = ("_ns", "_us", "_ms")
RATES = ("bandwidth",)
"""Fields that are so much in a time. A score's unit says whether it is."""


def is_time(name: str) -> bool:
    """Whether a field of what a workload or the model says is a time."""
    return name in TIMES or name.endswith(_UNITS)


def _of_score(value: float, unit: str, clock: int) -> float:
    if unit.endswith("/s"):
        return value * clock
    return value / clock if unit in ("ns", "us", "ms", "s") else value


def _fields(said: dict, clock: int) -> dict:
    found = {name: _value(name, value, clock) for name, value in said.items()}
    if isinstance(said.get("score"), (int, float)):
        found["score"] = _of_score(said["score"], said.get("unit", ""), clock)
    return found


def _value(name: str, value: object, clock: int) -> object:
    if isinstance(value, dict):
        return _fields(value, clock)
    if isinstance(value, list):
        return [_value(name, entry, clock) for entry in value]
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if is_time(name):
            return value / clock
        if name in RATES:
            return value * clock
    return value


def _profile(text: str, clock: int) -> str:
    lines = (line.split() for line in text.splitlines())
    return "".join(f"{address} {round(int(ns) / clock)}\n" for address, ns in lines)


def in_machine_time(result: Result, clock: int) -> Result:
    """The result of a guest of which ``clock`` nanoseconds are one of the machine's. How many
    nanoseconds an instruction takes is then ``instruction_ns`` of the model's counts; without it
    there it is 1. The hog's figures stay as they are: it counts instructions in guest time."""
    if clock == 1:
        return result
    seconds, kernel = result.seconds, result.kernel_seconds
    model = _fields(result.model, clock)
    return replace(
        result,
        seconds=None if seconds is None else seconds / clock,
        kernel_seconds=None if kernel is None else kernel / clock,
        workload=_fields(result.workload, clock),
        model={**model, "instruction_ns": 1 / clock} if model else model,
        profile=None if result.profile is None else _profile(result.profile, clock),
    )
