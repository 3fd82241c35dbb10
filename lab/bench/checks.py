# SPDX-License-Identifier: GPL-2.0
"""What the fields of experiments and contenders may say: errors name the file and the field."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path

from lab import machines, toml
from lab.errors import LabError
from lab.machines import Machine

_NUMBERS = ("--mib", "--cold-mib")
"""What lab.bench.scale reads too."""


def machine(table: toml.Table, field: str, name: str) -> Machine:
    """A machine that time can be measured on."""
    try:
        found = machines.load(name)
    except LabError as error:
        table.fail(field, str(error))
    if found.model is None:
        table.fail(field, f"{name} has no model to measure time with")
    return found


def place(table: toml.Table, field: str, nodes: str, on: Machine) -> None:
    """Nodes of that machine, as the option --place of workloads takes them."""
    if nodes == "local":
        return
    if not re.fullmatch(r"\d+(,\d+)*\+?", nodes):
        table.fail(field, f'{nodes!r} is not nodes like "0" or "0,1+", or "local"')
    for node in nodes.rstrip("+").split(","):
        if int(node) >= len(on.nodes):
            table.fail(field, f"{on.name} has no node {node}: it has {len(on.nodes)}")


def cpus_of(words: Sequence[str]) -> list[str] | None:
    """The CPUs that a workload is bound to; None where it says nothing of them."""
    said = [value for option, value in pairwise(words) if option == "--cpus"]
    return said[-1].split(",") if said else None


def workload(table: toml.Table, field: str, words: Sequence[str], on: Machine) -> None:
    """Words of a workload for that machine."""
    if not words:
        table.fail(field, "is empty: it begins with a program of lab/workloads")
    cpus = sum(node.cpus for node in on.nodes)
    for cpu in cpus_of(words) or ():
        if not cpu.isdecimal() or int(cpu) >= cpus:
            table.fail(
                field, f"--cpus: {cpu!r} is no CPU of {on.name}: numbers below {cpus}, with commas"
            )
    for option, value in pairwise(words):
        if option in _NUMBERS and not value.isdecimal():
            table.fail(field, f"{option}: {value!r} is not a number")


def placed(table: toml.Table, field: str, words: Sequence[str]) -> None:
    """Bounds differ in where the data is: words have to take it."""
    if not any("{place}" in word for word in words):
        table.fail(field, 'has no "{place}", by which bounds would be the same')


def known(table: toml.Table, field: str, names: Iterable[str], folder: Path) -> None:
    """Names of contenders that have a file there."""
    there = sorted(path.stem for path in folder.glob("*.toml"))
    for name in names:
        if name not in there:
            table.fail(field, f"unknown contender {name!r}: choose from {', '.join(there)}")
