# SPDX-License-Identifier: GPL-2.0
"""Figures as people write them, the same in the table, on the page and in the documents.

What is not there is a dash; what is rounded to zero has no sign.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

from rich import box
from rich.table import Table

NONE = "-"
_DIGITS = 3
"""Significant digits of a score: two runs that are alike differ in the next one."""


def figure(value: float | None, form: str) -> str:
    """A number in this format; what follows it is added by the caller."""
    if value is None:
        return NONE
    text = format(value, form)
    return text.lstrip("-") if set(text) <= set("-0.,") else text


def share(value: float | None) -> str:
    """A recovered share: 0.74."""
    return figure(value, ".2f")


def seconds(value: float | None) -> str:
    """Guest time in seconds: 4.520."""
    return figure(value, ".3f")


def late(value: float | None) -> str:
    """A delay in seconds: 1.19."""
    return figure(value, ".2f")


def left(rate: float | None) -> str:
    """What is left of a workload's own CPUs, in CPUs: 0.62. An instruction takes 1 ns."""
    return figure(None if rate is None else rate / 1e9, ".2f")


def cpu_ms(value: float | None) -> str:
    """CPU time in milliseconds, of which a share of the run would say nothing: 345. Two runs that
    are alike differ by more than a tenth."""
    return figure(value, ",.0f")


def in_fault(row: dict) -> str:
    """Share of the promoted pages that hint faults moved themselves with pghot: 0.84. Of runs
    beside which no CPU was idle, as elsewhere none do."""
    own = row["in_fault"] if row["hog_idle_rate"] is not None else None
    return share(None if own is None or not row["promoted"] else own / row["promoted"])


def promoted(row: dict) -> int | None:
    """Pages that came to DRAM: by the kernel's counter, or those that the model saw come where it
    has none, as it does not count DAMON's."""
    return row["promoted"] or row["seen_promoted"]


def count(value: int | None) -> str:
    """Pages: 16,384."""
    return figure(value, ",")


def score(value: float | None, unit: str | None) -> str:
    """A workload's own figure, to three digits, with its unit: 504,000 keys/s."""
    if value is None:
        return NONE
    above = math.floor(math.log10(abs(value))) + 1 if value else 1
    places = max(_DIGITS - above, 0)
    text = figure(round(value, _DIGITS - above), f",.{places}f")
    return f"{text} {unit}" if unit else text


def delay(recovered: float | None, slow: float | None) -> float | None:
    """Seconds for which a contender would have been as slow as ``slow``, the time of the
    slow bound, had it been as fast as the other bound from then on: (1 - R) T_slow.
    Of a steady workload whose hot pages fit into DRAM it is the same however long the run
    is, which R is not. None without bounds."""
    return None if recovered is None or slow is None else (1 - recovered) * slow


def slow_seconds(rows: Iterable[dict]) -> dict[tuple[str, str], float | None]:
    """T_slow of each experiment and memory model (row_key()) of these rows."""
    return {row_key(row): row["seconds"] for row in rows if row["contender"] == "slow"}


def row_key(row: dict) -> tuple[str, str]:
    """Experiment and memory model of a row: where its bounds are."""
    return row["experiment"], row.get("variation", "")


def by_key(rows: Iterable[dict]) -> dict[tuple[str, str], list[dict]]:
    """The rows of each experiment and memory model, by row_key(), in the order they have."""
    found: dict[tuple[str, str], list[dict]] = {}
    for row in rows:
        found.setdefault(row_key(row), []).append(row)
    return found


def delays(rows: list[dict]) -> dict[tuple[str, str, str], float | None]:
    """The delay of each row, by row_key() and contender."""
    slow = slow_seconds(rows)
    return {
        (*row_key(row), row["contender"]): delay(row["recovered"], slow.get(row_key(row)))
        for row in rows
    }


def spread(row: dict) -> str:
    """From the lowest to the highest R of its seeds: 0.70..0.76; empty with one seed."""
    known = [value for value in row.get("recovered_by_seed") or [] if value is not None]
    return f"{share(min(known))}..{share(max(known))}" if len(known) > 1 else ""


def lone(rows: Iterable[dict], least: float) -> set[tuple[tuple[str, str], str]]:
    """Rows of one seed, by row_key() and contender, that stand beside one of the same experiment
    whose seeds differ by more than ``least`` in R: means of several are no measure of them."""
    found = set()
    for key, own in by_key(rows).items():
        seeds = {
            row["contender"]: [r for r in row.get("recovered_by_seed") or [] if r is not None]
            for row in own
        }
        if any(len(of) > 1 and max(of) - min(of) > least for of in seeds.values()):
            found |= {(key, name) for name, of in seeds.items() if len(of) == 1}
    return found


def harm(recovered: float | None) -> bool:
    """Whether a share is shown as below 0."""
    return share(recovered).startswith("-") and recovered is not None


def grid() -> Table:
    """An empty table as the terminal shows all of them."""
    return Table(
        header_style="bold",
        box=box.SIMPLE_HEAD,
        show_edge=False,
        pad_edge=False,
        collapse_padding=True,
    )
