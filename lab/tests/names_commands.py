# SPDX-License-Identifier: GPL-2.0
"""Commands that the pages name: targets and variables of make, verbs, options and values."""

from __future__ import annotations

import argparse
import functools
import os
import re
import shlex
import tomllib
from collections.abc import Iterator
from unittest import mock

from lab import cli, paths
from lab.bench.description import VARIANTS
from lab.kernel import build
from pghot.cli import build_parser

# Variables of other programs' command lines and files.
FOREIGN_VARIABLES = {"GRUB_DEFAULT", "PYTHONPATH", "TARGETS"}


def options(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The commands of a parser by name."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    raise AssertionError(f"{parser.prog} has no commands")


# What the caller's environment says of defaults is no matter of the pages.
with mock.patch.dict(os.environ):
    for _name in ("MACHINE", "FLAVOUR", "EXPERIMENT", "CONTENDER"):
        os.environ.pop(_name, None)
    LAB = cli.parser()
TOOL = build_parser()


@functools.cache
def makefile(directory: str) -> tuple[frozenset[str], str]:
    """Targets of a Makefile of this tree, and all of its text."""
    text = (paths.ROOT / directory / "Makefile").read_text()
    targets: set[str] = set()
    for line in re.findall(r"^([\w. -]+):(?!=)", text, re.MULTILINE):
        targets |= set(line.split())
    return frozenset(targets), text


def _words_of(command: str) -> list[str]:
    """A command's words; what follows two spaces is a remark."""
    command = re.split(r"\s{2,}|\s[#|>;&]|\[", command.strip(), maxsplit=1)[0]
    try:
        return shlex.split(command)
    except ValueError:
        return command.split()


def wrong_make(arguments: list[str]) -> Iterator[str]:
    """Targets and variables that a Makefile of this tree does not have."""
    directory = "."
    if "-C" in arguments:
        at = arguments.index("-C")
        directory = arguments[at + 1]
        arguments = arguments[:at] + arguments[at + 2 :]
    if not (paths.ROOT / directory / "Makefile").is_file():
        return
    targets, text = makefile(directory)
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if equals:
            if not re.search(rf"\b{re.escape(name)}\b", text):
                yield f"make takes no variable {name}"
            yield from wrong_value(name, value)
            if name == "RUN" and "measure" in arguments:
                yield from wrong_options(["measure", *_words_of(value)], LAB, "bin/lab")
        elif not argument.startswith("-") and argument not in targets:
            yield f"no target of make: {argument}"


def _choices(action: argparse.Action) -> frozenset[str] | None:
    """Values that an option or argument takes; None where it takes any."""
    if action.choices is not None:
        return frozenset(map(str, action.choices))
    name = (action.metavar if isinstance(action.metavar, str) else action.dest).upper()
    return names_of({"MACHINES": "MACHINE"}.get(name, action.dest.upper()))


def wrong_options(
    arguments: list[str], parser: argparse.ArgumentParser, what: str
) -> Iterator[str]:
    """A command, its options and their values, up to ``--``, that a program does not have."""
    if not arguments:
        return
    verb, commands = arguments[0], options(parser)
    if verb.startswith("-"):
        if verb.partition("=")[0] not in parser._option_string_actions:
            yield f"{what} has no option {verb}"
        return
    if verb.isupper():
        return
    if verb not in commands:
        yield f"{what} has no command {verb}"
        return
    actions = commands[verb]._actions
    known = {option: action for action in actions for option in action.option_strings}
    places = [action for action in actions if not action.option_strings]
    rest = arguments[1:]
    while rest:
        argument = rest.pop(0)
        if argument == "--":
            break
        if argument.startswith("-"):
            name, equals, value = argument.partition("=")
            if name not in known:
                # Of the test verb's options all but the name is pytest's.
                if verb != "test":
                    yield f"{what} {verb} has no option {name}"
                continue
            if known[name].nargs == 0:
                continue
            if not equals:
                value = rest.pop(0) if rest else ""
            yield from _wrong_choice(known[name], value, f"{what} {verb} {name}")
        elif places and verb != "test":
            yield from _wrong_choice(places[0], argument, f"{what} {verb}")
            if places[0].nargs not in ("*", "+", argparse.REMAINDER):
                places.pop(0)


def _wrong_choice(action: argparse.Action, value: str, what: str) -> Iterator[str]:
    allowed = _choices(action)
    for one in value.split(","):
        if allowed is not None and one and not one.isupper() and one not in allowed:
            kind = action.dest.upper()
            known = kind in ("MACHINE", "EXPERIMENT", "CONTENDER")
            yield f"no such {kind.lower()}: {one}" if known else f"{what} does not take {one}"


@functools.cache
def names_of(kind: str) -> frozenset[str] | None:
    """What there is of a kind; None for a kind of which nothing is known."""
    if kind == "MACHINE":
        return frozenset(tomllib.loads((paths.ROOT / "lab/machines/machines.toml").read_text()))
    if kind in ("EXPERIMENT", "CONTENDER"):
        directory = paths.ROOT / "lab" / f"{kind.lower()}s"
        found = frozenset(path.stem for path in directory.glob("*.toml"))
        variants = VARIANTS if kind == "EXPERIMENT" else ()
        return found | {f"{name}-{variant}" for name in found for variant in variants}
    if kind == "WORKLOAD":
        return frozenset(path.stem for path in (paths.ROOT / "lab/workloads").glob("*.c"))
    if kind in ("FLAVOUR", "KERNEL"):
        return frozenset(build.FLAVOURS)
    return None


def wrong_value(name: str, value: str) -> Iterator[str]:
    """Experiments, contenders, machines and flavours that are not there."""
    known = names_of(name)
    for one in value.split(",") if known is not None else ():
        if one and not one.isupper() and one not in (known or ()):
            yield f"no such {name.lower()}: {one}"


def wrong_command(command: str) -> Iterator[str]:
    """What is wrong with one command line."""
    arguments = _words_of(re.sub(r"^[$#] ", "", command.strip()))
    while arguments and (arguments[0] == "sudo" or re.fullmatch(r"[A-Z_]+=.*", arguments[0])):
        yield from wrong_variable(arguments.pop(0))
    if not arguments:
        return
    program, rest = arguments[0], arguments[1:]
    if program in ("python", "python3") and rest[:1] == ["-m"]:
        program, rest = rest[1] if len(rest) > 1 else "", rest[2:]
        program = "bin/lab" if program == "lab" else program
    if program == "make":
        yield from wrong_make(rest)
    elif program == "bin/lab":
        yield from wrong_options(rest, LAB, "bin/lab")
    elif program in ("pghot", "bin/pghot"):
        yield from wrong_options(rest, TOOL, "pghot")


def wrong_variable(text: str) -> Iterator[str]:
    """A variable for make alone, such as ``QUICK=1``."""
    name, _, value = text.partition("=")
    if name.startswith("CONFIG_") or name in FOREIGN_VARIABLES:
        return
    known = makefile(".")[1] + makefile("harness")[1] + (paths.ROOT / "bin/lab").read_text()
    if not re.search(rf"\b{name}\b", known):
        yield f"no such variable: {name}"
    yield from wrong_value(name, value)
