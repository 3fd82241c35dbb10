# SPDX-License-Identifier: GPL-2.0
"""What tiering costs where it has nothing to gain, as a sentence."""

from __future__ import annotations

from collections.abc import Callable

from lab.bench import figures, marks, resolution
from lab.bench.resolution import LEAST

_IDLE, _BUSY = "idle", "idle-busy"
"""What is used often lies in DRAM from the start; and the same with all CPUs busy."""


def _both(ours: dict, stock: dict, told: Callable[[dict], str | None]) -> str | None:
    """What is told of pghot and of the stock kernel; None where it is not of both."""
    pghot, linux = told(ours), told(stock)
    return f"{pghot} with pghot and {linux} with stock Linux" if pghot and linux else None


def _rows(rows: list[dict], experiment: str) -> dict[str, dict] | None:
    """The bounds, ``ours`` and ``stock`` of an experiment; None where one has no figures."""
    own = [row for row in rows if row["experiment"] == experiment]
    known = {row["contender"]: row for row in own}
    name = marks.headline([row["contender"] for row in own]) or ""
    wanted = {
        "fast": known.get("fast"),
        "slow": known.get("slow"),
        "ours": known.get(name),
        "stock": resolution.stock(own),
    }
    found = {which: row for which, row in wanted.items() if row and row["seconds"]}
    return found if len(found) == len(wanted) else None


def _longer(row: dict, fast: dict) -> str:
    share = row["seconds"] / fast["seconds"] - 1
    return f"{abs(share):.1%} {'longer' if share >= 0 else 'less'}"


def _lost(row: dict) -> str | None:
    """CPU time that programs on the other CPUs lost."""
    ms = row["hog_lost_ms"]
    return None if ms is None else f"{figures.cpu_ms(ms)} ms"


def _chance(rows: list[dict], own: dict[str, dict]) -> str:
    """How far the two are apart, at least, where they are called so: chance is blamed for no more
    than a control shows."""
    known = resolution.measured(rows, figures.row_key(own["ours"]))
    if known is None:
        return "What chance makes there is not known"
    fast, slow = own["fast"]["seconds"], own["slow"]["seconds"]
    part = (slow - fast) / fast
    if known >= LEAST:
        return f"What differs by less than {known * part:.1%} can be chance"
    return (
        f"What differs by less than {LEAST * part:.1%}, {LEAST} in R, is not told apart, which is "
        "a rule for all tables and no measure of chance"
    )


def lost_more(rows: list[dict]) -> dict[str, float]:
    """By how many milliseconds of CPU time programs on the other CPUs lose more with pghot than
    with the stock kernel, by the name of the experiment: those where it is more than chance makes,
    and by more than a tenth. With either of like kernels, the one that takes more."""
    found = {}
    for (name, _), own in figures.by_key(rows).items():
        ours = marks.headline([row["contender"] for row in own])
        lost = {row["contender"]: row["hog_lost_ms"] for row in own}
        like = [row["contender"] for row in own if row.get("like") == marks.REFERENCE]
        stock = [lost[one] for one in (marks.REFERENCE, *like) if lost.get(one) is not None]
        pghot, least = lost.get(ours or ""), resolution.apart_ms(own)
        if pghot is None or least is None or not stock:
            continue
        more = pghot - max(stock)
        if more > max(least, max(stock) / 10):
            found[name] = more
    return found


def _shares(rows: list[dict], experiment: str) -> str:
    """How much these programs get done, of what they do where nothing moves, in brackets; empty
    where that is alike."""
    known = {row["contender"]: row for row in rows if row["experiment"] == experiment}
    ours = known[marks.headline(list(known)) or ""]["hog_share"]
    stock = known[marks.REFERENCE]["hog_share"] if marks.REFERENCE in known else None
    if not (ours and stock) or f"{ours:.0%}" == f"{stock:.0%}":
        return ""
    return f" (they get {ours:.0%} done, with stock Linux {stock:.0%})"


def _told_more(rows: list[dict]) -> str:
    """Where they do, and by how much; empty where they do not."""
    return ", ".join(
        f"{figures.cpu_ms(ms)} ms in `{name}`{_shares(rows, name)}"
        for name, ms in lost_more(rows).items()
    )


def told_lost(rows: list[dict]) -> str:
    """A sentence on that; empty where nobody lost any."""
    if not any(row["hog_lost_ms"] for row in rows):
        return ""
    told = _told_more(rows) or "nothing"
    return f"Lost more with pghot than with stock Linux, by more than that and a tenth: {told}."


def slower(rows: list[dict]) -> dict[str, tuple[dict, dict]]:
    """The rows of pghot and of the stock kernel, at its best, by the name of the experiment: of
    those without bounds in which pghot has the lower score, with every seed of several, and in the
    mean by more than like kernels differ by."""
    least, found = resolution.score_differences(rows), {}
    for (name, _), own in figures.by_key(rows).items():
        known = {row["contender"]: row for row in own if row["score"] and row["recovered"] is None}
        ours = known.get(marks.headline(list(known)) or "")
        stock = resolution.stock(known.values())
        if not ours or not stock or name not in least:
            continue
        # The work of a seed is the same: who takes longer has the lower score.
        seeds = list(zip(ours["seconds_by_seed"] or [], stock["seconds_by_seed"] or []))
        agree = len(seeds) > 1 and all(pghot > linux for pghot, linux in seeds)
        if agree and 1 - ours["score"] / stock["score"] > least[name]:
            found[name] = ours, stock
    return found


def told_slower(rows: list[dict]) -> str:
    """A sentence on these; empty without any."""
    told = [
        f"`{name}` ({figures.score(ours['score'], None)} against "
        f"{figures.score(stock['score'], stock['unit'])}, "
        f"{1 - ours['score'] / stock['score']:.1%} less)"
        for name, (ours, stock) in slower(rows).items()
    ]
    if not told:
        return ""
    return (
        "Of experiments that have a score alone these are slower with pghot than with stock Linux, "
        "with every seed, and by more than two builds that do the same differ by: "
        f"{', '.join(told)}."
    )


def told(rows: list[dict]) -> str:
    """How much longer a run takes for tiering; empty where nothing of that was measured."""
    idle, busy = _rows(rows, _IDLE), _rows(rows, _BUSY)
    if not idle:
        return ""
    fast = idle["fast"]
    chance = [_chance(rows, own) for own in (idle, busy) if own]
    alike = len(chance) == 2 and chance[0] == chance[1]
    told = (
        "Where nothing is to be gained (`idle`: what is used often lies in DRAM), a run takes "
        f"{_both(idle['ours'], idle['stock'], lambda row: _longer(row, fast))} than where nothing "
        "is scanned or moved."
    )
    # What holds for both is said once, behind them.
    parts = [told if alike else f"{told} {chance[0]}."]
    if busy:
        fast = busy["fast"]
        text = (
            f"With all CPUs busy (`{_BUSY}`) it takes "
            f"{_both(busy['ours'], busy['stock'], lambda row: _longer(row, fast))}"
        )
        lost = _both(busy["ours"], busy["stock"], _lost)
        if lost:
            still = _lost(fast) or figures.NONE
            text += (
                f"; in a run of {busy['ours']['seconds']:.1f} s, programs on the other CPUs lose "
                f"together {lost}, and {still} where nothing moves"
            )
        parts.append(f"{text}. {chance[-1]}{', in both' if alike else ''}.")
    if more := _told_more(rows):
        parts.append(
            "Programs on other CPUs lose more with pghot than with stock Linux, by more than "
            f"chance makes: {more}."
        )
    return " ".join(parts)
