# SPDX-License-Identifier: GPL-2.0
"""What documents show of results."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from lab.bench import (
    description,
    engines,
    figures,
    markdown,
    marks,
    order,
    overhead,
    resolution,
    tenants,
)
from lab.bench.compared import Compared, by_experiment, compared, pair
from lab.bench.description import Experiment
from lab.bench.origin import Origin
from lab.machines.variation import Variation

Late = Mapping[tuple[str, str, str], float | None]
"""figures.delays()."""
_SECONDS = re.compile(r"\d s\b")


def _order(rows: list[dict]) -> list[str]:
    """Contenders but the bounds: pghot first, as in the picture."""
    known = marks.of(list(dict.fromkeys(row["contender"] for row in rows)))
    return sorted(known, key=lambda name: known[name].rank)


def _matrix(
    rows: list[dict],
    title: str,
    text: Callable[[dict], str],
    name: Callable[[dict[str, dict]], str] = lambda own: next(iter(own.values()))["experiment"],
    bounds: Sequence[str] = (),
) -> str:
    """A line per experiment, which ``name`` names, and a column per contender, behind those of
    ``bounds``."""
    names = [*bounds, *_order(rows)]
    lines = [
        [name(own), *(text(own[one]) if one in own else figures.NONE for one in names)]
        for own in by_experiment(rows).values()
    ]
    return markdown.table([title, *names], lines)


def _with_unit(own: dict[str, dict]) -> str:
    row = next(row for row in own.values() if row["score"] is not None)
    return f"{row['experiment']}, {row['unit']}" if row["unit"] else row["experiment"]


def _scans(row: dict, experiments: Iterable[Experiment]) -> str:
    """How many passes over all memory fit into this bound's time at the fastest, behind a comma.
    An unscaled kernel is through before long."""
    own = next((one for one in experiments if one.name == row["experiment"]), None)
    if not (own and own.is_scaled and row["seconds"]):
        return ""
    return f", {row['seconds'] * 1000 / own.scale.scan_ms():.1f}"


def _with_scans(row: dict, experiments: Sequence[Experiment]) -> str:
    """The experiment, the slow bound's time, and passes in it."""
    return f"{row['experiment']} ({figures.late(row['seconds'])}{_scans(row, experiments)})"


_LONE = " (one seed)"
"""Behind a figure of figures.lone()."""


def _share(row: dict, one_seed: bool) -> str:
    """R, and from which to which seeds have it."""
    spread = figures.spread(row)
    return figures.share(row["recovered"]) + (
        f" ({spread})" if spread else _LONE if one_seed else ""
    )


def _measured(row: dict, there: str) -> str:
    """A row's own figures, as the document has its own ``there``: in seconds, or as a score."""
    score = figures.score(row["score"], row["unit"])
    if row["recovered"] is None:
        return score
    promoted = figures.promoted(row)
    moved = f", {figures.count(promoted)} pages promoted" if promoted else ""
    own = "" if _SECONDS.search(there) else f"{score}, "
    return f"{own}{figures.seconds(row['seconds'])} s, R {figures.share(row['recovered'])}{moved}"


def against(rows: list[dict], experiments: Sequence[Experiment]) -> str:
    """What documents say of the experiments that follow them, beside these rows, and why
    they differ; empty where there is nothing to hold against each other."""
    known = by_experiment(rows)
    lines: list[list[str]] = []
    # Several experiments may have one.
    reasons: dict[tuple[str, str], list[str]] = {}
    for experiment in experiments:
        own = known.get(experiment.name, {})
        document = experiment.document
        told = [
            [f"`{experiment.name}`", one.contender, one.text, _measured(row, one.text)]
            for one in (document.figures if document else ())
            if (row := own.get(one.contender)) and not row["error"]
        ]
        if document and told:
            lines += told
            why = (document.title, " ".join(document.differs.split()))
            reasons.setdefault(why, []).append(f"`{experiment.name}`")
    if not lines:
        return ""
    table = markdown.table(["Followed", "contender", "document", "lab"], lines, texts=3)
    causes = [
        markdown.item(f"- {', '.join(names)} (“{title}”): {why}")
        for (title, why), names in reasons.items()
    ]
    return f"{table}\n\nWhy they differ:\n\n" + "\n".join(causes)


def _standings(rows: list[dict]) -> str:
    """In which experiments pghot is ahead of the stock kernel at its best or not, and what it does
    with other sources and layouts of pghot by pghot as shipped; empty where nothing is to be
    compared."""
    ours = marks.headline(_order(rows))
    others = [name for name in _order(rows) if marks.of([name])[name].rank == 0 and name != ours]
    lines = []
    for one, other in ((ours, None), *((name, ours) for name in others)):
        found = order.standings(rows, one, other) if one else {}
        stands = [
            ", ".join(name for (name, _), said in found.items() if said == wanted) or figures.NONE
            for wanted in order.STANDINGS
        ]
        if found:
            lines.append([one or "", other or "stock Linux", *stands])
    if not lines:
        return ""
    about = "Who is ahead of whom, by the rule of *How sure it is*, each beside another contender:"
    return f"{about}\n\n{markdown.table(['Contender', 'beside', *order.STANDINGS], lines, texts=5)}"


def results(rows: list[dict], origin: Origin, experiments: Sequence[Experiment] = ()) -> str:
    """All that ``make bench`` found: R, the delay, what was taken from other programs, scores
    of what has no bounds, each tenant's figures, and what documents say."""
    delays = figures.delays(rows)
    bounded = {row["experiment"] for row in rows if row["recovered"] is not None}
    with_r = [row for row in rows if row["experiment"] in bounded]
    others = [
        row
        for row in rows
        if row["experiment"] not in bounded and row["contender"] not in marks.BOUNDS
    ]
    scored = {row["experiment"] for row in others if row["score"] is not None}
    others = [row for row in others if row["experiment"] in scored and row["contender"] != "best"]
    # Engines have tables of their own.
    plain = [row for row in others if not engines.is_engine(row["contender"])]
    parts = [markdown.made(origin, rows)]
    busy = [row for row in rows if row["hog_lost_ms"] is not None]
    lone = figures.lone(with_r, resolution.LEAST)

    def alone(row: dict) -> bool:
        return (figures.row_key(row), row["contender"]) in lone

    if with_r:
        told = "R, and in brackets from which to which it is with other random numbers"
        if any(alone(row) for row in with_r if row["contender"] not in marks.BOUNDS):
            told += (
                ". *One seed* stands where there is but one, beside others whose seeds differ by "
                f"more than {resolution.LEAST}: do not hold it against their means"
            )
        parts += [
            markdown.wrapped(f"{told}:"),
            _matrix(with_r, "R", lambda row: _share(row, alone(row))),
            *map(
                markdown.wrapped,
                filter(None, [resolution.told(rows), resolution.told_unmoved(rows)]),
            ),
            *filter(None, [_standings(with_r)]),
            markdown.wrapped(
                "The delay in seconds, the time that the slow bound takes, and how often NUMA "
                "balancing can scan all memory of the process in it:"
            ),
            _matrix(
                with_r,
                "delay (T_slow, scans)",
                lambda row: (
                    figures.late(delays[(*figures.row_key(row), row["contender"])])
                    + (_LONE if alone(row) else "")
                ),
                lambda own: _with_scans(own["slow"], experiments),
            ),
        ]
    if busy:
        parts += [
            markdown.wrapped(
                "CPU time in milliseconds that programs on the other CPUs lost, beside the slow "
                "bound. `fast` moves nothing either: it is the zero."
            ),
            _matrix(
                busy, "lost ms", lambda row: figures.cpu_ms(row["hog_lost_ms"]), bounds=("fast",)
            ),
            markdown.wrapped(f"{resolution.told_ms(busy)} {overhead.told_lost(busy)}".strip()),
        ]
    left = [row for row in rows if row["hog_idle_rate"] is not None]
    left = [row for row in left if row["contender"] not in marks.BOUNDS]
    if left:
        parts += [
            "Share of the promoted pages that hint faults moved themselves where no CPU was idle, "
            "with pghot:",
            _matrix(left, "in fault", figures.in_fault),
            "What is left of the workload's own CPUs to a program that gives way, in CPUs:",
            _matrix(left, "left", lambda row: figures.left(row["hog_idle_rate"])),
        ]
    if others:
        parts += [
            "What has no bounds, as a score, of which more is better:",
            _matrix(plain, "score", lambda row: figures.score(row["score"], None), _with_unit),
            *filter(
                None,
                map(markdown.wrapped, (resolution.told_scores(rows), overhead.told_slower(rows))),
            ),
        ]
    for table in engines.tables(rows, experiments):
        parts += [markdown.wrapped(table.about), markdown.table(table.head, table.lines)]
    if predicted := engines.told(rows, experiments):
        parts.append(markdown.wrapped(predicted))
    several = list(tenants.lines(rows))
    if several:
        parts += [
            "Programs that share a run, and quantiles of what a request takes, in microseconds:",
            markdown.table((*tenants.NAMES, *tenants.FIGURES), several, names=len(tenants.NAMES)),
        ]
    beside = against(rows, experiments)
    if beside:
        parts += ["What the documents say, and what came out here:", beside]
    return "\n\n".join(parts) + "\n"


def _percent(share: float) -> str:
    return f"{round(100 * share)}"


def _won(whole: Compared) -> str:
    """What is won back where one of both is ahead; empty where nobody is."""
    told = [
        f"`{name}` ({_percent(ours)}% against {_percent(stock)}%)"
        for name, stock, ours, stands in zip(whole.names, whole.stock, whole.ours, whole.standings)
        if stands in ("ahead", "behind")
    ]
    return f"Where they are apart, pghot against stock Linux: {', '.join(told)}. " if told else ""


def _behind(rows: list[dict], counted: Sequence[str]) -> str:
    """Where pghot is behind without being counted, as a sentence; empty where it is not."""
    known, told = by_experiment(rows), []
    ours = marks.headline(_order(rows))
    for (name, _), stands in order.standings(rows).items():
        stock, pghot = pair(known[name], ours)
        if stands == "behind" and name not in counted and stock and pghot:
            r = [_percent(row["recovered"]) for row in (pghot, stock)]
            told.append(f"`{name}` ({r[0]}% against {r[1]}%)")
    if not told:
        return ""
    return (
        "Of variants of these, and of experiments that begin otherwise, which are not counted, it "
        f"is behind in {', '.join(told)}. "
    )


def gain(rows: list[dict], experiments: Sequence[Experiment]) -> str:
    """The README's first sentence on results, for who has not heard of R, and a line for each
    class of experiments: an easy one is not to hide a hard one. Then what it costs. Empty where
    nothing was compared."""
    whole = compared(rows, experiments)
    costs = " ".join(filter(None, (overhead.told(rows), overhead.told_slower(rows))))
    told_costs = markdown.wrapped(f"**What it costs.** {costs}") + "\n\n" if costs else ""
    if not whole.stock:
        return told_costs
    part = f"{len(whole.stock)} of " if len(whole.stock) < whole.total else ""
    text = (
        "**What it gains.** Percentages say how much of the time lost to slow memory is won back: "
        "100% is as fast as DRAM, 0% no gain, below 0% harm. "
        f"These are {part}the {whole.total} experiments on modelled machines "
        f"whose data are in slow memory at the start. {whole.stands()} {_behind(rows, whole.names)}"
        f"{_won(whole)}{whole.harmed()}The table has the median of each kind of experiment, and in "
        "brackets the lowest and the highest."
    )
    classes = [
        (about, compared(rows, experiments, decides))
        for decides, about in description.DECIDES.items()
    ]
    classes.append(("some of these where no CPU is idle", compared(rows, experiments, busy=True)))
    lines = [[about, own.part(), *own.told(_percent), *own.counts()] for about, own in classes]
    titles = ["Where", "experiments", "stock Linux", "pghot", *order.STANDINGS]
    table = markdown.table(titles, lines)
    # A table ends with an empty line, and not with a mark.
    return f"{markdown.wrapped(text)}\n\n{table}\n\n{told_costs}"


_NOT_KNOWN = "?"
"""Behind R of pghot where nobody knows what chance makes."""


def _shares(
    own: dict[str, dict], ours: str | None, stands: str | None, late: Late | None = None
) -> list[str]:
    """R of one experiment, of the stock kernel and of pghot. Where ``late`` has delays, in brackets
    the delay, and which of like kernels it is."""
    cells = []
    for row, better in zip(pair(own, ours), (stands == "behind", stands == "ahead")):
        text = figures.share(row["recovered"] if row else None)
        shown = f"**{text}**" if better else text
        delay = late[(*figures.row_key(row), row["contender"])] if row and late else None
        beside = [] if delay is None else [f"{figures.late(delay)} s"]
        if row and late and row.get("like"):
            beside.append(row["contender"])
        cells.append(f"{shown} ({', '.join(beside)})" if beside else shown)
    if stands == order.UNKNOWN:
        cells[1] += f" {_NOT_KNOWN}"
    return cells


def _beside_stock(
    rows: list[dict],
    experiments: Sequence[Experiment],
    late: Late | None = None,
    only: Sequence[str] = (),
) -> str:
    """A line for every experiment with bounds, or for those of ``only`` that are there: pghot
    beside the stock kernel at its best. What pghot recovers most of comes first, and the better
    one is bold unless chance can make the difference. Where nobody knows that, it says so."""
    standings = order.standings(rows)
    about = {one.name: one.about if one.variant else one.about.split(";")[0] for one in experiments}
    ours = marks.headline(_order(rows))
    lines = []
    for experiment, own in by_experiment(rows).items():
        stock, pghot = pair(own, ours)
        shares = [row["recovered"] if row else None for row in (stock, pghot)]
        if all(value is None for value in shares) or (only and experiment not in only):
            continue
        cells = _shares(own, ours, standings.get((experiment, "")), late)
        rank = shares[1] if shares[1] is not None else float("-inf")
        what = "; ".join(filter(None, (about.get(experiment), tenants.beside(pghot, stock))))
        lines.append((rank, [f"`{experiment}`", *cells, what]))
    lines.sort(key=lambda line: -line[0])
    titles = ["Experiment", "stock Linux", "pghot", "What it does"]
    return markdown.table(titles, [line for _, line in lines], texts=1)


def short(
    rows: list[dict], experiments: Sequence[Experiment], origin: Origin, only: Sequence[str]
) -> str:
    """The README's table: R of ``only``, and where all others are."""
    shown = [name for name, own in by_experiment(rows).items() if _has_share(own.values())]
    some = [name for name in shown if name in only]
    head = (
        "R of each. Bold is who is ahead: with every seed of the random numbers, and in the mean "
        f"by {resolution.LEAST} or more, and no less than two builds that do the same differ by. "
        f"{_NOT_KNOWN}: too few runs to tell."
    )
    worse = ", ".join(f"`{name}`" for name in _worse(rows) if name not in some)
    more = (
        f"{len(some)} of the {len(shown)} experiments and variants that have an R: "
        "[all of them](docs/bench.md#results)."
    )
    if worse:
        more += (
            f" Behind stock Linux, or slower than where nothing moves, among the others: {worse}."
        )
    parts = [
        markdown.wrapped(head),
        _beside_stock(rows, experiments, only=some),
        markdown.made(origin, rows, more if some and len(some) < len(shown) else ""),
    ]
    return "\n\n".join(parts) + "\n"


def _worse(rows: list[dict]) -> list[str]:
    """Where pghot is behind the stock kernel, or does harm."""
    ours, standings = marks.headline(_order(rows)), order.standings(rows)
    return [
        name
        for name, own in by_experiment(rows).items()
        if standings.get((name, "")) == "behind"
        or (ours in own and figures.harm(own[ours]["recovered"]))
    ]


def _has_share(own: Iterable[dict]) -> bool:
    return any(row["recovered"] is not None for row in own)


def summary(rows: list[dict], experiments: Sequence[Experiment], origin: Origin) -> str:
    """Of every experiment with bounds R, and in brackets the delay, of pghot and of the stock
    kernel."""
    head = (
        "R, and in brackets the delay. Bold is who is ahead. Rows without it are of two kinds. "
        f"Those with a {_NOT_KNOWN} were run with one seed of the random numbers, or without a "
        "control, which is another build that does what stock Linux does: nobody knows whether "
        "chance makes the difference. In the others seeds do not agree, or the two differ by less "
        f"than {resolution.LEAST}, which is not told apart, or than like kernels do."
    )
    table = _beside_stock(rows, experiments, figures.delays(rows))
    more = (
        f"Stock Linux: the better one of {marks.REFERENCE} and its control, which is named. "
        "Bold: ahead with every seed of several, by "
        f"{resolution.LEAST} or more, and by no less than the control differs by, there and in the "
        "median of all. A variant goes by the control of the experiment that it is a variant of as "
        "well. Rows without a control are never bold, however large the difference. "
        f"{resolution.told(rows)} {resolution.told_unmoved(rows)}"
    )
    counted = compared(rows, experiments)
    stands = (
        f"Of the {counted.total} experiments whose data start in slow memory {len(counted.stock)} "
        f"are counted. {counted.stands()}"
    )
    parts = [
        markdown.wrapped(head),
        table,
        *([markdown.wrapped(stands)] if counted.stock else []),
        markdown.made(origin, rows, more.rstrip()),
    ]
    return "\n\n".join(parts) + "\n"


def sensitivity(
    rows: list[dict],
    variations: Sequence[Variation],
    origin: Origin,
    experiments: Sequence[Experiment] = (),
) -> str:
    """What ``make sensitivity`` found: for each experiment R, and in brackets the delay in
    seconds, with each memory model; and whether pghot and the stock kernel change places. How
    often memory can be scanned is said of these ``experiments``."""
    delays = figures.delays(rows)
    names = _order(rows)
    known = {one.experiment: one for one in order.orders(rows)}
    parts = [
        markdown.made(origin, rows),
        markdown.wrapped(
            "R, and in brackets the delay in seconds. *Scans*: how often NUMA balancing can scan "
            "all memory of the process in T_slow. *Lead* is R of pghot less that of stock "
            f"Linux, the better one of {marks.REFERENCE} and what is like it, and in brackets "
            "that of the seeds. *Order*: whether the one that is ahead in the model as described "
            "is so in this one: *same*, or *turned*. Where nobody is ahead as described, it says "
            "whether pghot is *ahead* or *behind* with this model. It is *open* where the two are "
            "not told apart with this model: seeds do not agree, there is but one, or they differ "
            f"by less than {resolution.LEAST} or than like kernels do there."
        ),
        "\n".join(markdown.item(f"- {one.told()}") for one in known.values()),
    ]
    for experiment in dict.fromkeys(row["experiment"] for row in rows):
        own = {
            (row["variation"], row["contender"]): row
            for row in rows
            if row["experiment"] == experiment
        }
        lines = []
        for variation in variations:
            slow = own[variation.name, "slow"]
            cells = [
                variation.name,
                f"{figures.seconds(slow['seconds'])} s{_scans(slow, experiments)}",
            ]
            for name in names:
                row = own[variation.name, name]
                late = figures.late(delays[experiment, variation.name, name])
                r = figures.share(row["recovered"])
                cells.append(r if r == figures.NONE else f"{r} ({late})")
            if experiment in known:
                ahead = known[experiment].leads.get(variation.name)
                cells.append(str(ahead) if ahead else figures.NONE)
                cells.append(known[experiment].verdicts().get(variation.name, figures.NONE))
            lines.append(cells)
        titles = [experiment, "T_slow, scans", *names]
        parts.append(
            markdown.table(titles + (["lead", "order"] if experiment in known else []), lines)
        )
    return "\n\n".join(filter(None, parts)) + "\n"
