# SPDX-License-Identifier: GPL-2.0
"""Programs that share a run: each has its own figure and its own bounds.

A workload with several says so in its detail, as ``tenants``: a list of tables with a
``name``, a ``score``, a ``unit`` and what else it measured, such as ``p99_us``.
"""

from __future__ import annotations

from collections.abc import Iterator

from rich.table import Table

from lab.bench import figures
from lab.bench.matrix import recovered

_LATENCIES = ("p50_us", "p99_us", "p999_us")


def _of(row: dict) -> list[dict]:
    return (row["detail"] or {}).get("tenants", [])


def _time(tenant: dict | None) -> float | None:
    """What one unit of its score takes."""
    return 1 / tenant["score"] if tenant and tenant["score"] else None


def _bound(rows: list[dict], of: dict, contender: str, name: str) -> dict | None:
    for row in rows:
        if row["contender"] == contender and figures.row_key(row) == figures.row_key(of):
            return next((tenant for tenant in _of(row) if tenant["name"] == name), None)
    return None


def bound(rows: list[dict]) -> None:
    """Put each tenant's ``recovered`` beside its score: R of the time that a unit of it
    takes, between that tenant's own times in the runs ``fast`` and ``slow``. None where
    the run has no bounds."""
    for row in rows:
        for tenant in _of(row):
            fast, slow = (
                _time(_bound(rows, row, contender, tenant["name"]))
                for contender in ("fast", "slow")
            )
            tenant["recovered"] = recovered(_time(tenant), fast, slow)


def _lines(rows: list[dict]) -> Iterator[tuple[str, ...]]:
    for row in rows:
        for tenant in _of(row):
            yield (
                row["experiment"],
                row["contender"],
                tenant["name"],
                figures.share(tenant.get("recovered")),
                figures.score(tenant["score"], tenant["unit"]),
                *(figures.figure(tenant.get(name), ".2f") for name in _LATENCIES),
                figures.count(tenant.get("promoted")),
                figures.count(tenant.get("demoted")),
            )


def table(rows: list[dict]) -> Table | None:
    """Each tenant of each row, with its latencies in microseconds; None without any."""
    lines = list(_lines(rows))
    if not lines:
        return None
    shown = figures.grid()
    for title in ("experiment", "contender", "tenant"):
        shown.add_column(title, no_wrap=True)
    for title in ("R", "score", "p50", "p99", "p99.9 us", "promoted", "demoted"):
        shown.add_column(title, justify="right", no_wrap=True)
    last: tuple[str, ...] = ()
    for experiment, contender, *rest in lines:
        again = (experiment, contender) == last
        shown.add_row("" if again else experiment, "" if again else contender, *rest)
        last = (experiment, contender)
    return shown
