# SPDX-License-Identifier: GPL-2.0
"""What ``make bench``, ``make sensitivity`` and ``make sources`` have in common: their options,
and what they say of the host."""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Mapping

from rich.console import Console

from lab import paths
from lab.bench import description, report
from lab.bench.origin import Origin
from lab.errors import LabError
from lab.host import capacity
from lab.log import console

OUT = paths.OUT / "bench"


class _Switch(argparse.Action):
    """An option without a value. Unlike those of "store_true" its default is read by ``type``,
    and so only where the verb is."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        setattr(namespace, self.dest, True)


def _on(name: str) -> Callable[[str], bool]:
    """Reads the variable of a switch. What is meant otherwise, as "yes", is not to start hours of
    runs that are others."""

    def given(text: str) -> bool:
        if text not in ("", "0", "1"):
            raise LabError(f"{name}={text} is neither 0 nor 1: say {name}=1 or leave it out")
        return text == "1"

    return given


def switch(parser: argparse.ArgumentParser, name: str, text: str) -> None:
    """An option that is off unless it is given, or a variable of its name is 1."""
    parser.add_argument(
        f"--{name}",
        action=_Switch,
        nargs=0,
        type=_on(name.upper()),
        default=os.environ.get(name.upper(), ""),
        help=f"{text} ({name.upper()}=1)",
    )


def _names(option: str, default: str) -> Callable[[str], str]:
    """The type of an option that lists names. A shell variable that is not set gives an empty
    list, and all there is would take hours."""

    def given(text: str) -> str:
        if not text.strip(", "):
            raise LabError(
                f"--{option} names nothing: leave it out for {default}, or give names with "
                "commas in between"
            )
        return text

    return given


def add(parser: argparse.ArgumentParser, names: Mapping[str, str | None], documents: str) -> None:
    """What is run and how; options default to $EXPERIMENT, $CONTENDER, $QUICK, $FRESH and
    $DOCS. ``names`` are what can be chosen, "experiment" and "contender", each with what is
    where nothing is; ``documents`` are those that --docs renews."""
    for name, default in names.items():
        beside = " and the bounds" if name == "contender" else ""
        parser.add_argument(
            f"--{name}",
            metavar="NAMES",
            type=_names(name, default or "all"),
            default=os.environ.get(name.upper(), default),
            help=f"only these{beside}, with commas in between (default: {default or 'all'})",
        )
    fewer = ", fewer contenders" if "contender" in names else ""
    switch(parser, "quick", f"less work in each run, one seed{fewer}")
    switch(parser, "fresh", "make all runs again, also those whose result is there")
    switch(parser, "docs", f"put what comes out into {documents}")


def whole_for_documents(args: argparse.Namespace, contenders: str | None = None) -> None:
    """LabError where --docs is asked for with less than the default contenders, at full length: a
    document says what came out, and not what somebody chose of it. Experiments can be renewed
    one at a time. --main was chosen once for all, and says in the
    documents that it is a part."""
    part = [
        word
        for word, given in (
            ("CONTENDER", getattr(args, "contender", None) not in (None, contenders)),
            ("QUICK", args.quick),
            ("LONG", getattr(args, "long", False)),
        )
        if given
    ]
    if args.docs and part:
        raise LabError(f"DOCS=1 is of all contenders at full length: leave out {', '.join(part)}")


def chosen(names: str | None) -> list[description.Contender]:
    """Those of a comma list and the bounds, or all."""
    known = description.contenders()
    wanted = [name for name in (names or "").split(",") if name]
    for name in wanted:
        if name not in [contender.name for contender in known]:
            raise LabError(
                f"unknown contender {name!r}: choose from "
                f"{', '.join(contender.name for contender in known)}"
            )
    return [
        contender
        for contender in known
        if not wanted or contender.name in wanted or contender.placement in ("fast", "slow")
    ]


def host_facts(began: float, args: argparse.Namespace, origin: Origin) -> dict:
    """``host`` of results.json, of runs that began at this time.monotonic()."""
    return {
        "seconds": round(time.monotonic() - began, 1),
        "cores": capacity.cpus(),
        "quick": args.quick,
        **origin.facts(),
    }


def screen() -> Console:
    """Where tables are shown: the terminal, or a file as wide as report.WIDTH."""
    return console if console.is_terminal else Console(width=report.WIDTH)
