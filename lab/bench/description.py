# SPDX-License-Identifier: GPL-2.0
"""Experiments and contenders: one TOML file each, read and checked.

An experiment (lab/experiments/NAME.toml) is a workload on a machine:

- ``about``: one line
- ``machine``: of lab/machines/machines.toml
- ``workload``: words of a command; ``{place}`` becomes the nodes its data is put on
- ``quick``: the same for QUICK=1, with less work; empty: not run then
- ``quick_by_name``: true: with QUICK=1 only where it is asked for by its name
- ``start``, ``fast``, ``slow``: nodes ("0" or "0,1") where the data of ordinary
  contenders begins, and where that of the bounds is for good. Without ``fast`` the
  experiment has no bounds, and ``unbounded`` says why
- ``fast_machine``: for the bound ``fast``, where DRAM cannot hold all data
- ``wide``: true: every contender takes part, and not those alone that do so everywhere
- ``named``: contenders that take part at full length though they do not everywhere, with all
  seeds, and unless they are "alone" in variants without a further CPU too
- ``control``: true: of contenders that are not everywhere the control takes part, in variants
  without a further CPU too
- ``decides``: what decides there which pages are promoted, one of DECIDES; where there are bounds
- ``seeds``: how many runs with different random numbers the figures are means of
  (default 1); with QUICK=1 there is one
- ``one_seed``: contenders that have one seed all the same, to save time: bounds that take as long
  with each, and contenders whose R tables mark where that of others differs between seeds
- ``best_mib``: how much of the data the DRAM of each socket can hold, where that is
  not all of what is accessed. The best placement takes no part in
  variants but long ones
- ``setup``, ``cmdline``, ``programs``, ``packages``: as in lab.measure.Run
- ``scale``: how much larger and longer what it stands for is (lab.bench.scale); without it
  there the common one
- ``long``: the same as ``workload`` for LONG=1, with more work; ``long_times`` says how many times
  longer that takes, and stands for: the scale is the same
- ``turn``: where one part of the memory is hot after the other, ``ms`` for which each of them
  is, from slow memory, and ``there_ms`` for which it was in the document
- ``variants``: which of VARIANTS take part in the matrix without being asked for, each "full",
  with one seed, and all of them where it is published, "seeds", with all of them, or "quick",
  which is with QUICK=1 too. By its name, with the variant's behind, each of any experiment can be
  had, with all seeds
- ``document``: title, ``differs`` (what is not the same here), ``cold`` (true: its threads had
  just begun, so the variant of that name has it too) and ``figures``, a list of contender and
  text

A contender (lab/contenders/NAME.toml) is a kernel and its settings:

- ``about``, ``order`` (in tables), ``kernel`` (a flavour or a path), ``cmdline``
- ``balancing``: kernel.numa_balancing
- ``placement``: "start", "fast", "slow" or "best"
- ``like``: the contender that does the same by another kernel. What they differ by is the
  resolution of the results
- ``part``: "everywhere" (the default), "control": with QUICK=1, and else in experiments that
  are ``wide`` or say ``control``; "wide": only in those that are ``wide``, at full length, with
  one seed, and where it balances between sockets only on machines with several; "named": only in
  those that have it in ``named``; "alone": the same, and in none of their variants. Where a
  document has a figure of one of these, it takes part at full length
- ``samples``: true: on the same machine with CPUs that sample instructions; ``engine``: true: with
  a copy engine, where it has one on request alone
- ``long``: true: one that is "wide" takes part in the long forms of ``wide`` experiments too, as
  the control does
- ``setup``: shell scripts beside the file; ``variables``: a table of values for them;
  ``programs``: those of lab/workloads/ that they use
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from lab import machines, paths, toml
from lab.bench import checks, followed, scale
from lab.bench.followed import Document, Turn
from lab.bench.scale import Scale
from lab.errors import LabError
from lab.machines.variation import Variation

EXPERIMENTS = paths.ROOT / "lab" / "experiments"
CONTENDERS = paths.ROOT / "lab" / "contenders"
PLACEMENTS = ("start", "fast", "slow", "best")
PARTS = ("everywhere", "control", "wide", "named", "alone")
DECIDES = {
    "first": "more than 1 GiB of DRAM is free: any hint fault promotes",
    "full": "DRAM is full, or comes to be: how hot a page is decides, and demotion makes room",
    "none": "hint faults have nothing to gain: files that are not mapped",
}
"""Classes of experiments, by which code of the kernel decides what is promoted. The last one is
also that of experiments whose data lie in DRAM, which are in no table of classes."""
VARIANTS = {
    "busy": "all CPUs are busy",
    "2cpu": "there are no CPUs but its two",
    "cold": "its threads have just begun",
    "limited": f"no more may be promoted than {scale.LIMITED_MBPS} MiB/s of a large machine",
    "watermarks": "watermarks lie as close together as those of a large machine",
    "apart": "watermarks lie further apart, by vm.watermark_scale_factor = 100",
    "lru": "the multi-gen LRU is off",
    "unscaled": "constants of time and size are those of a large machine",
    "long": "it takes many times as long",
}
"""What experiments have variants of, and what is said of them."""
_RECLAIM = {
    "watermarks": scale.CLOSE,
    "apart": "echo 100 >/proc/sys/vm/watermark_scale_factor",
    "lru": "echo n >/sys/kernel/mm/lru_gen/enabled",
}
"""Shell for those in which the kernel makes room in another way."""
NO_SPARE = ("busy",)
"""Those in which no CPU is idle: a thread that moves pages takes its time from somebody."""
_NO_FURTHER = (*NO_SPARE, "2cpu")
"""Those that leave it no CPU but such as others use. A CPU of the last one's may be idle for most
of the time, as that of Redis's client is."""


@dataclass(frozen=True)
class Variant:
    """What is not the same in a variant of an experiment, whose name it has with its own
    behind.

    ``hogs`` are the CPUs that something else keeps busy, ``left`` those of the workload,
    where something else has what the workload leaves. ``scaled``: constants are scaled;
    ``limited``: the rate limit is one that is met; ``reclaim``: shell that sets how the kernel
    makes room; ``cold``: threads are as young as they are.
    """

    name: str
    of: str
    hogs: tuple[int, ...] = ()
    left: tuple[int, ...] = ()
    scaled: bool = True
    limited: bool = False
    reclaim: str = ""
    cold: bool = False


@dataclass(frozen=True)
class Experiment:
    """A workload on a machine; the module says what each field means."""

    name: str
    about: str
    machine: str
    workload: tuple[str, ...]
    quick: tuple[str, ...]
    start: str
    fast: str | None
    slow: str | None
    fast_machine: str
    unbounded: str | None
    best_mib: tuple[int, ...]
    seeds: int
    setup: str
    cmdline: tuple[str, ...]
    programs: tuple[str, ...]
    packages: tuple[str, ...]
    document: Document | None
    scale: Scale
    variants: Mapping[str, str]
    quick_by_name: bool = False
    wide: bool = False
    named: tuple[str, ...] = ()
    one_seed: tuple[str, ...] = ()
    control: bool = False
    decides: str = ""
    long: tuple[str, ...] = ()
    long_times: int = 1
    turn: Turn | None = None
    variant: Variant | None = None
    variation: Variation = field(default_factory=Variation)

    @property
    def key(self) -> tuple[str, str]:
        """What tells it from others of a matrix."""
        return self.name, self.variation.name

    @property
    def is_scaled(self) -> bool:
        """Whether the kernel's constants are set by its scale."""
        return self.variant is None or self.variant.scaled

    @property
    def is_long(self) -> bool:
        """Whether it is the long form."""
        return self.variant is not None and self.variant.name == "long"


@dataclass(frozen=True)
class Contender:
    """A kernel and its settings; the module says what each field means."""

    name: str
    about: str
    order: int
    kernel: str
    cmdline: tuple[str, ...]
    balancing: int
    placement: str
    setup: str
    programs: tuple[str, ...]
    like: str | None = None
    part: str = "everywhere"
    long: bool = False
    samples: bool = False
    engine: bool = False


def _wide(read: Experiment, contender: Contender) -> bool:
    """Whether it is one of those that take part where all do, and has something to do there."""
    if not read.wide or contender.part in ("named", "alone"):
        return False
    between_sockets = contender.balancing == 3
    return not between_sockets or len(machines.load(read.machine).initiators) > 1


def take_part(read: Experiment, contender: Contender, *, quick: bool) -> bool:
    """Whether the matrix has this cell without its contender being asked for."""
    if contender.placement == "best" and read.variant and not read.is_long:
        return False
    if contender.part == "everywhere" or (quick and contender.part == "control"):
        return True
    if quick:
        return False
    named = read.document is not None and read.document.names(contender.name)
    crowded = read.variant is not None and read.variant.name in _NO_FURTHER
    asked = contender.name in read.named and not (crowded and contender.part == "alone")
    if (crowded or not read.variant) and (asked or (contender.part == "control" and read.control)):
        return True
    slow = read.is_long and (contender.long or contender.part == "control")
    return named or (_wide(read, contender) and (slow or not read.variant))


def _names(kind: type) -> set[str]:
    return {entry.name for entry in fields(kind)}


_EXPERIMENT = _names(Experiment) - {"name", "variant", "variation"}
_CONTENDER = _names(Contender) - {"name"} | {"variables"}
_SCALE = _names(Scale)


def _variants(table: toml.Table) -> dict[str, str]:
    if "variants" not in table:
        return {}
    chosen = table.table("variants", VARIANTS)
    return {kind: chosen.choice(kind, ("full", "seeds", "quick")) for kind in chosen}


def _check(table: toml.Table, read: Experiment) -> None:
    """LabError where fields do not go together."""
    on = machines.load(read.machine)
    roomy = checks.machine(table, "fast_machine", read.fast_machine) if read.fast_machine else on
    for name, nodes, there in (
        ("start", read.start, on),
        ("slow", read.slow, on),
        ("fast", read.fast, roomy),
    ):
        if nodes is not None:
            checks.place(table, name, nodes, there)
    for name, words in (("quick", read.quick), ("long", read.long)):
        if words:
            checks.workload(table, name, words, on)
    if read.fast is not None:
        for name in ("workload", "quick", "long"):
            if words := getattr(read, name):
                checks.placed(table, name, words)
        # Else no class of the tables would have it.
        table.choice("decides", DECIDES)
    for name in ("named", "one_seed"):
        checks.known(table, name, getattr(read, name), CONTENDERS)
    figures = read.document.figures if read.document else ()
    checks.known(table, "document", [figure.contender for figure in figures], CONTENDERS)
    sockets = len(on.initiators)
    if read.best_mib and (
        len(read.best_mib) != sockets
        or not all(type(mib) is int and mib > 0 for mib in read.best_mib)
    ):
        table.fail("best_mib", f"is not a list of {sockets} numbers above 0")
    if bool(read.long) != ("long_times" in table):
        table.fail("long", "goes with long_times")
    if read.turn and (read.turn.there_ms is None) != (read.document is None):
        table.fail("turn", "has there_ms where there is a document, and nowhere else")
    if (read.fast is None) != (read.slow is None):
        table.fail("fast", "goes with slow")
    if (read.fast is None) == (read.unbounded is None):
        table.fail("unbounded", "is for experiments without fast and slow, which say why")


def experiment(path: Path) -> Experiment:
    """Read one experiment."""
    table = toml.read(path, _EXPERIMENT)
    # What others are read by.
    words = table.words("workload")
    checks.workload(
        table, "workload", words, checks.machine(table, "machine", table.take("machine", str))
    )
    scaled = table.table("scale", _SCALE) if "scale" in table else None
    read = Experiment(
        name=path.stem,
        about=table.take("about", str),
        machine=table.take("machine", str),
        workload=words,
        quick=table.words("quick"),
        quick_by_name=table.take("quick_by_name", bool, False),
        start=table.take("start", str),
        fast=table.take("fast", str, None),
        slow=table.take("slow", str, None),
        fast_machine=table.take("fast_machine", str, ""),
        unbounded=table.take("unbounded", str, None),
        best_mib=tuple(table.take("best_mib", list, ())),
        wide=table.take("wide", bool, False),
        named=table.words("named", []),
        one_seed=table.words("one_seed", []),
        control=table.take("control", bool, False),
        decides=table.choice("decides", DECIDES) if "decides" in table else "",
        long=table.words("long", []),
        long_times=table.integer("long_times", 1, 1000, 1),
        seeds=table.integer("seeds", 1, 100, 1),
        setup=table.take("setup", str, ""),
        cmdline=table.words("cmdline", []),
        programs=table.words("programs", []),
        packages=table.words("packages", []),
        document=(
            followed.document(table.table("document", _names(Document)))
            if "document" in table
            else None
        ),
        # Where it is missing the error is to name the file as well.
        scale=scale.read(scaled or toml.Table(f"{table.where}: scale", {}, _SCALE), words),
        turn=followed.turn(table.table("turn", _names(Turn))) if "turn" in table else None,
        variants=_variants(table),
    )
    _check(table, read)
    return replace(read, document=followed.with_turn(read.document, read.turn, read.scale))


def _variables(table: toml.Table) -> str:
    """Assignments of the shell."""
    values = table.take("variables", dict, {})
    for name, value in values.items():
        if not name.isidentifier() or not isinstance(value, (str, int)):
            table.fail("variables", f"{name} = {value!r} is not a name and a word")
    return "".join(f"{name}={shlex.quote(str(value))}\n" for name, value in values.items())


def contender(path: Path) -> Contender:
    """Read one contender."""
    table = toml.read(path, _CONTENDER)
    text = _variables(table)
    for script in table.words("setup", []):
        try:
            text += (path.parent / script).read_text(encoding="utf-8")
        except OSError as error:
            table.fail("setup", f"cannot read {script}: {error.strerror}")
    if "like" in table:
        checks.known(table, "like", [table.take("like", str)], CONTENDERS)
    return Contender(
        name=path.stem,
        about=table.take("about", str),
        order=table.take("order", int),
        kernel=table.take("kernel", str),
        cmdline=table.words("cmdline", []),
        balancing=table.integer("balancing", 0, 3),
        placement=table.choice("placement", PLACEMENTS),
        setup=text,
        programs=table.words("programs", []),
        like=table.take("like", str, None),
        part=table.choice("part", PARTS) if "part" in table else PARTS[0],
        long=table.take("long", bool, False),
        samples=table.take("samples", bool, False),
        engine=table.take("engine", bool, False),
    )


def _cpus(read: Experiment) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """CPUs that the workload has not, and those that it has: all where it says nothing of
    CPUs, as it can come to run on any."""
    every = range(sum(node.cpus for node in machines.load(read.machine).nodes))
    used = set(every)
    if bound := checks.cpus_of(read.workload):
        used = set(map(int, bound))
    return tuple(cpu for cpu in every if cpu not in used), tuple(sorted(used))


def _said(read: Experiment, kind: str) -> str:
    """What is said of a variant."""
    return VARIANTS[kind].replace("many times", f"{read.long_times} times")


def variant(read: Experiment, kind: str) -> Experiment:
    """An experiment in another way, one of VARIANTS. One that is long has the constants of the
    short one, and stands for as many times more time: policies have so many more steps in it."""
    if kind == "long":
        if not read.long:
            raise LabError(f"{read.name} has no long form: its file has no words for it")
        read = replace(
            read,
            workload=read.long,
            quick=(),
            seeds=1,
            turn=read.turn and replace(read.turn, ms=read.turn.ms * read.long_times),
        )
    spare, used = _cpus(read)
    if kind == "2cpu" and used != (0, 1):
        raise LabError(f"{read.name} has no variant on two CPUs: it does not run on 0 and 1 alone")
    hogs, left = (spare, used) if kind == "busy" else ((), ())
    made = Variant(
        kind,
        read.name,
        hogs=hogs,
        left=left,
        limited=kind == "limited",
        reclaim=_RECLAIM.get(kind, ""),
        cold=kind in ("cold", "unscaled"),
        scaled=kind != "unscaled",
    )
    return replace(
        read,
        name=f"{read.name}-{kind}",
        about=f"{read.about.split(';')[0]}; {_said(read, kind)}",
        variants={},
        variant=made,
        cmdline=read.cmdline + (("maxcpus=2",) if kind == "2cpu" else ()),
        document=read.document if kind == "cold" and read.document and read.document.cold else None,
    )


def _with_variants(path: Path, *, published: bool) -> list[Experiment]:
    """One of the matrix, and those of its variants that are in it too; without a quick form
    where that is for who asks by name."""
    read = experiment(path)
    made = [replace(read, quick=()) if read.quick_by_name else read]
    for kind, where in read.variants.items():
        one = variant(read, kind)
        if where != "quick":
            one = replace(one, quick=())
        made.append(replace(one, seeds=1) if where == "full" and not published else one)
    return made


def long_ones() -> list[Experiment]:
    """The long form of each that has one."""
    return [variant(read, "long") for read in map(experiment, _files()) if read.long]


def _files() -> list[Path]:
    return sorted(EXPERIMENTS.glob("*.toml"))


def _named(name: str, known: Mapping[str, Path]) -> Experiment:
    if name in known:
        return experiment(known[name])
    whole, _, kind = name.rpartition("-")
    if whole in known and kind in VARIANTS:
        return variant(experiment(known[whole]), kind)
    raise LabError(
        f"unknown experiment {name!r}: choose from {', '.join(known)}, "
        f"each also with -{', -'.join(VARIANTS)}"
    )


def experiments(names: str | None = None, *, published: bool = False) -> list[Experiment]:
    """Those of a comma list, or all and the variants that they name; LabError lists the
    known ones. What is named or ``published`` has all its seeds."""
    known = {path.stem: path for path in _files()}
    wanted = [name for name in (names or "").split(",") if name]
    if wanted:
        return [_named(name, known) for name in wanted]
    return [one for path in known.values() for one in _with_variants(path, published=published)]


def contenders() -> list[Contender]:
    """All, in the order of tables."""
    return sorted(
        map(contender, CONTENDERS.glob("*.toml")), key=lambda read: (read.order, read.name)
    )
