# SPDX-License-Identifier: GPL-2.0
"""How small a difference the results can show: what kernels that do the same differ by.

Contenders that are ``like`` another one are a control. They run another image that does the
same, so what they differ by is chance.
"""

from __future__ import annotations

from statistics import median

from lab.bench import figures

LEAST = 0.02
"""R of two kernels that do the same can differ by so much wherever the control, which is one
sample of chance, happens to agree: pghot's two layouts, which promote the same pages of
graph500, do."""


def differences(rows: list[dict]) -> dict[tuple[str, str], float]:
    """The largest difference in R between two contenders that are alike, by
    figures.row_key(); experiments without such a pair are not in it."""
    known = {(*figures.row_key(row), row["contender"]): row["recovered"] for row in rows}
    found: dict[tuple[str, str], float] = {}
    for row in rows:
        key = figures.row_key(row)
        twin = known.get((*key, row.get("like") or ""))
        if twin is not None and row["recovered"] is not None:
            found[key] = max(found.get(key, 0.0), abs(twin - row["recovered"]))
    return found


def of(rows: list[dict], key: tuple[str, str]) -> float:
    """R of an experiment has to differ by so much for one contender to be called better."""
    return max(LEAST, differences(rows).get(key, 0.0))


def told(rows: list[dict]) -> str:
    """A sentence on the differences; empty without a control."""
    found = differences(rows)
    if not found:
        return ""
    pairs = dict.fromkeys(
        f"{row['contender']} and {row['like']}"
        for row in rows
        if row.get("like") and row["recovered"] is not None
    )
    (worst, _), largest = max(found.items(), key=lambda entry: entry[1])
    return (
        f"Resolution: kernels that are alike ({', '.join(pairs)}) differ in R by "
        f"{figures.share(median(found.values()))} in the median, by {figures.share(largest)} at "
        f"most ({worst})."
    )
