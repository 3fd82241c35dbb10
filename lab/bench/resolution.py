# SPDX-License-Identifier: GPL-2.0
"""How small a difference the results can show: what kernels that do the same differ by.

Contenders that are ``like`` another one are a control. They run another image that does the
same, so what they differ by is chance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from statistics import median

from lab.bench import figures, marks

LEAST = 0.02
"""R is shown with two digits: who differ by less are not told apart. That is a rule for what is
printed, and no measure of chance."""
_UNKNOWN = 0.1
"""R that nothing was promoted for may be so far from 0 where no control says what chance makes."""


def stock(own: Iterable[dict]) -> dict | None:
    """Of one experiment's rows that of the stock kernel, at its best, by the score where there are
    no bounds: what is like it is a second sample of it. What is ahead of one of them only may be
    so by chance."""
    samples = [row for row in own if marks.REFERENCE in (row["contender"], row.get("like"))]
    for figure in ("recovered", "score"):
        known = [row for row in samples if row[figure] is not None]
        if known:
            return max(known, key=lambda row: row[figure])
    return next(iter(samples), None)


def _apart(row: dict, twin: dict) -> float | None:
    """What R of two rows differs by, at most, with the same random numbers."""
    seeds = zip(row.get("recovered_by_seed") or [], twin.get("recovered_by_seed") or [])
    pairs = [(row["recovered"], twin["recovered"]), *seeds]
    known = [abs(a - b) for a, b in pairs if a is not None and b is not None]
    return max(known, default=None)


def _alike(rows: list[dict]) -> Iterator[tuple[dict, dict]]:
    """Each row of a control that is there, and the row of what it is like."""
    known = {(*figures.row_key(row), row["contender"]): row for row in rows}
    for row in rows:
        twin = known.get((*figures.row_key(row), row.get("like") or ""))
        if twin:
            yield row, twin


def differences(rows: list[dict]) -> dict[tuple[str, str], float]:
    """The largest difference in R between two contenders that are alike, of all seeds, by
    figures.row_key(); experiments without such a pair are not in it."""
    found: dict[tuple[str, str], float] = {}
    for row, twin in _alike(rows):
        key, apart = figures.row_key(row), _apart(row, twin)
        if apart is not None:
            found[key] = max(found.get(key, 0.0), apart)
    return found


def measured(rows: list[dict], key: tuple[str, str]) -> float | None:
    """What chance makes of R in an experiment, as far as a control shows it; None without one.

    A variant goes by the experiment that it is a variant of too: it is the same work. The control
    is one more image, with a sample or three. Where it happens to agree, chance is taken to be
    what it is in the median of all experiments.
    """
    found = differences(rows)
    whole = {figures.row_key(row): row["variant_of"] for row in rows if "variant_of" in row}
    own = [found[one] for one in (key, (whole.get(key, ""), key[1])) if one in found]
    return max(median(found.values()), *own) if own else None


def of(rows: list[dict], key: tuple[str, str]) -> float | None:
    """R of an experiment has to differ by so much for one contender to be called better; None
    where nobody knows, for want of a control."""
    known = measured(rows, key)
    return None if known is None else max(LEAST, known)


def unmoved(rows: list[dict]) -> list[dict]:
    """Rows whose R promotion did not make: all begins as beside the slow bound and no page came to
    DRAM, whoever counts, but R is further from 0 than like kernels differ by."""
    return [
        row
        for row in rows
        if row["recovered"] is not None and row.get("begins_slow") and not figures.promoted(row)
        if abs(row["recovered"]) > (of(rows, figures.row_key(row)) or _UNKNOWN)
    ]


def told_unmoved(rows: list[dict]) -> str:
    """A warning of them; empty without any."""
    found = [
        f"{figures.share(row['recovered'])} in {row['experiment']} with {row['contender']}"
        for row in unmoved(rows)
    ]
    return f"Not the policy, for no page was promoted: R of {', of '.join(found)}." if found else ""


def score_differences(rows: list[dict]) -> dict[str, float]:
    """Of experiments without bounds: by which part of it the scores of two contenders differ that
    are alike, at most, by the experiment's name."""
    found: dict[str, float] = {}
    for row, twin in _alike(rows):
        if row["recovered"] is None and row["score"] and twin["score"]:
            apart = abs(row["score"] / twin["score"] - 1)
            found[row["experiment"]] = max(found.get(row["experiment"], 0.0), apart)
    return found


def told_scores(rows: list[dict]) -> str:
    """A sentence on these differences; empty without any."""
    found = score_differences(rows)
    if not found:
        return ""
    named = ", ".join(f"{apart:.1%} in {name}" for name, apart in found.items())
    return f"Resolution of scores without bounds: like kernels differ by {named}."


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
        f"Resolution: controls ({', '.join(pairs)}) differ in R by "
        f"{figures.share(median(found.values()))} in the median of this table, and in {worst} by "
        f"{figures.share(largest)}, where they do most. Other builds may differ by more."
    )


def apart_ms(rows: list[dict]) -> float | None:
    """By how many milliseconds one experiment's contenders may differ in what others lose, where
    all are alike: what ``fast`` loses, which moves nothing, and what like kernels differ by. None
    where nothing was taken from anybody."""
    pairs = [
        *((row["hog_lost_ms"], 0.0) for row in rows if row["contender"] == "fast"),
        *((row["hog_lost_ms"], twin["hog_lost_ms"]) for row, twin in _alike(rows)),
    ]
    known = [abs(a - b) for a, b in pairs if a is not None and b is not None]
    return max(known, default=None)


def told_ms(rows: list[dict]) -> str:
    """A sentence on these differences; empty without any."""
    own = figures.by_key(rows)
    apart = {key: ms for key, those in own.items() if (ms := apart_ms(those)) is not None}
    if not apart:
        return ""
    told = ", ".join(f"{figures.cpu_ms(ms)} ms in {name}" for (name, _), ms in apart.items())
    return (
        "Resolution of lost ms: what fast loses, which moves nothing, and what like kernels differ "
        f"by, is up to {told}. What is less is nothing."
    )


def all_told(rows: list[dict]) -> list[str]:
    """A sentence on each kind of difference that there is, and a warning of what is none."""
    every = (told(rows), told_scores(rows), told_ms(rows), told_unmoved(rows))
    return [said for said in every if said]
