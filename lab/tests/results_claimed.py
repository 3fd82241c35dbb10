# SPDX-License-Identifier: GPL-2.0
"""What published results say, for what prose claims of them (test_docs_figures.py)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from lab.bench import published
from lab.bench.resolution import LEAST
from lab.tests.results_shown import commits_since, number, page, table, values

OURS, ALL, TABLES = "pghot-default", "pghot-default-all", "pghot-default-page_table"
HINTS, SAMPLES = "pghot-default-hint_fault", "pghot-default-hw_sample"

R = values("R")
TENANT = table("experiment", keys=3)


def stock(experiment: str) -> float:
    """R of stock Linux at its best."""
    return max(R[experiment][name] for name in ("stock-2", "off-2") if name in R[experiment])


STANDING = table("Contender", keys=2)


def lead(experiment: str) -> float:
    """R of pghot less that of the stock kernel."""
    return R[experiment][OURS] - stock(experiment)


@cache
def _rows(experiment: str) -> dict[str, dict]:
    """Rows that the tables were made of."""
    rows = published.rows_of(published.read(published.BENCH), [experiment])
    return {row["contender"]: row for row in rows}


def since_rows_with_r() -> list[int | None]:
    """How many commits to the kernel came after each commit of rows that have an R; None where
    there is no history to look at."""
    entries = published.read(published.BENCH).values()
    bounded = [one for one in entries if any(row["recovered"] is not None for row in one["rows"])]
    return [commits_since(commit) for commit in {one["commit"].split()[1] for one in bounded}]


def first_seed(experiment: str, contender: str) -> float:
    """R with the seed that all contenders have."""
    return _rows(experiment)[contender]["recovered_by_seed"][0]


def ahead(experiment: str, beside: str = "stock-2") -> list[float]:
    """R of pghot less that of a sample of stock Linux, for each seed."""
    ours, theirs = (_rows(experiment)[name]["recovered_by_seed"] for name in (OURS, beside))
    return [one - other for one, other in zip(ours, theirs, strict=True)]


def score(experiment: str, contender: str) -> float:
    """Of an experiment without bounds."""
    return _rows(experiment)[contender]["score"]


def without_engine(experiment: str) -> float:
    """The score of the image with pghot that has no engine, in times of stock Linux's."""
    return score(experiment, "off") / score(experiment, "stock-0")


def where(stands: str, one: str = OURS, other: str = "stock") -> set[str]:
    """Experiments in which a contender stands so beside another one, by the rule."""
    return set(STANDING[f"{one} {other}"][stands].split(", ")) - {"-"}


def tenant(experiment: str, contender: str, which: str, column: str) -> float:
    value = number(TENANT[f"{experiment} {contender} {which}"][column])
    assert value is not None
    return value


def of_tenants(column: str, which: str) -> list[tuple[float, list[float], float]]:
    """With pghot, with each stock Linux, and beside the slow bound."""
    return [
        (
            tenant(name, OURS, which, column),
            [tenant(name, one, which, column) for one in ("stock-2", "off-2")],
            tenant(name, "slow", which, column),
        )
        for name in ("tenants", "tenants-busy")
    ]


def tail(one: str, other: str) -> list[float]:
    """What the slowest requests take with one contender, in times of another: in tenants p99 and
    p99.9, and then in tenants-busy."""
    return [
        tenant(name, one, "server", column) / tenant(name, other, "server", column)
        for name in ("tenants", "tenants-busy")
        for column in ("p99", "p99.9 us")
    ]


def both(
    one: str, other: str, among: Callable[[str], bool] = lambda _: True
) -> list[tuple[float, float]]:
    """R of two contenders where both took part."""
    return [
        (line[one], line[other])
        for name, line in R.items()
        if one in line and other in line and among(name)
    ]


def more_lost() -> set[str]:
    """Where pghot takes more from others than stock Linux, as the command has found."""
    (said,) = re.findall(
        r"Lost more with pghot than with stock Linux, by more than that and a tenth: ([^.]*)\.",
        " ".join(page("docs/bench.md").split()),
    )
    return set(re.findall(r"\d ms in `([\w-]+)`", said))


def sensitivity(experiment: str, model: str, column: str) -> float:
    """R, or the lead."""
    value = number(table(experiment, "docs/model.md")[model][column])
    assert value is not None
    return value


def late(experiment: str, model: str, column: str) -> float:
    """The delay, which is in brackets."""
    found = re.search(r"\((.*)\)", table(experiment, "docs/model.md")[model][column])
    assert found
    return float(found[1])


def lower(one: str, *names: str) -> bool:
    """Whether R is, though by the rule nobody knows what chance makes."""
    return set(names) <= where("not known", one, OURS) and all(
        R[name][one] < R[name][OURS] - LEAST for name in names
    )
