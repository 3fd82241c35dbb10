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

NAMES = ("experiment", "contender", "tenant")
FIGURES = ("R", "score", "p50", "p99", "p99.9 us", "promoted", "demoted")
"""Columns of each of lines()."""
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


def lines(rows: list[dict]) -> Iterator[tuple[str, ...]]:
    """Each tenant of each row as text, with its latencies in microseconds."""
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


def _share(row: dict | None, name: str) -> str:
    """R of the tenant of that name, or its score where its bounds do not bound it."""
    for tenant in _of(row) if row else ():
        if tenant["name"] == name:
            shown = figures.share(tenant.get("recovered"))
            known = shown != figures.NONE
            return f"R {shown}" if known else figures.score(tenant["score"], tenant["unit"])
    return figures.NONE


def beside(ours: dict | None, stock: dict | None) -> str:
    """What became, with pghot and with the stock kernel, of the tenants beside the first one, whose
    R the row has; empty without any."""
    names = dict.fromkeys(tenant["name"] for row in (ours, stock) if row for tenant in _of(row)[1:])
    # The row is a mean of all seeds, its detail the first one's.
    several = any(len(row["seconds_by_seed"] or []) > 1 for row in (ours, stock) if row)
    seed = " (first seed)" if several else ""
    return "; ".join(
        f"the {name} beside it{seed}: {_share(ours, name)}, stock Linux "
        f"{_share(stock, name).removeprefix('R ')}"
        for name in names
    )


def table(rows: list[dict]) -> Table | None:
    """The same for the terminal; None without any."""
    known = list(lines(rows))
    if not known:
        return None
    shown = figures.grid()
    for title in NAMES:
        shown.add_column(title, no_wrap=True)
    for title in FIGURES:
        shown.add_column(title, justify="right", no_wrap=True)
    last: tuple[str, ...] = ()
    for experiment, contender, *rest in known:
        again = (experiment, contender) == last
        shown.add_row("" if again else experiment, "" if again else contender, *rest)
        last = (experiment, contender)
    return shown
