# SPDX-License-Identifier: GPL-2.0
"""What docs/model.md says of the tables of `make sensitivity`, for test_docs_figures.py."""

from __future__ import annotations

from collections.abc import Callable

from lab.bench.resolution import LEAST
from lab.tests.results_claimed import OURS, late, sensitivity

OF_MODELS: dict[str, tuple[str, Callable[[], bool]]] = {
    "those of `redis` grow with `overlap`, that of stock Linux most": (
        "docs/model.md",
        lambda: (
            late("redis", "overlap", "stock-2") - late("redis", "as-described", "stock-2")
            > late("redis", "overlap", OURS) - late("redis", "as-described", OURS)
            > 0
        ),
    ),
    "`double-bandwidth` in `tenants`, where stock Linux loses about half as much and pghot two "
    "thirds: moving, demotion and the scan of the file share the bandwidth.": (
        "docs/model.md",
        lambda: all(
            abs(
                late("tenants", "double-bandwidth", whose) / late("tenants", "as-described", whose)
                - share
            )
            < 0.06
            for whose, share in (("stock-2", 1 / 2), (OURS, 2 / 3))
        ),
    ),
    "Pghot's lead in R stays as it is in `redis`, and is less than half as large in `tenants`.": (
        "docs/model.md",
        lambda: (
            abs(
                sensitivity("redis", "faster-cpu", "lead")
                - sensitivity("redis", "as-described", "lead")
            )
            < LEAST
            and 2 * sensitivity("tenants", "faster-cpu", "lead")
            < sensitivity("tenants", "as-described", "lead")
        ),
    ),
    "in `graph500` there is no lead.": (
        "docs/model.md",
        lambda: abs(sensitivity("graph500", "faster-cpu", "lead")) < LEAST,
    ),
    "How often memory can be scanned (`half-memory`, `double-memory`) makes more of a difference "
    "to stock Linux than to pghot where a file that is read fills DRAM (`tenants`).": (
        "docs/model.md",
        lambda: (
            late("tenants", "double-memory", "stock-2") - late("tenants", "half-memory", "stock-2")
            > late("tenants", "double-memory", OURS) - late("tenants", "half-memory", OURS)
        ),
    ),
}
