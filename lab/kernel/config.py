# SPDX-License-Identifier: GPL-2.0
"""Kernel configuration: tinyconfig plus fragments, and proof that each
option asked for took effect."""

from __future__ import annotations

import re
from pathlib import Path

from lab.errors import LabError
from lab.files import write_text

_SET = re.compile(r"^CONFIG_(\w+)=(.*)$")
_UNSET = re.compile(r"^# CONFIG_(\w+) is not set$")


def read(path: Path) -> dict[str, str]:
    """Option -> value of a .config or fragment; "n" where it is not set.

    Raises LabError for a line that is neither an option nor a comment.
    """
    options = {}
    for number, text in enumerate(path.read_text().splitlines(), 1):
        line = text.strip()
        if match := _SET.match(line):
            options[match[1]] = match[2]
        elif match := _UNSET.match(line):
            options[match[1]] = "n"
        elif line and not line.startswith("#"):
            raise LabError(f"{path}:{number}: not a config option: {line}")
    return options


def requested(fragments: list[Path]) -> dict[str, tuple[str, Path]]:
    """Option -> (value, the last fragment that sets it)."""
    return {option: (value, path) for path in fragments for option, value in read(path).items()}


def write_fragment(fragments: list[Path], path: Path) -> None:
    """Join the fragments to one for merge_config.sh, with =n spelled out."""
    lines = [
        f"# CONFIG_{option} is not set" if value == "n" else f"CONFIG_{option}={value}"
        for option, (value, _) in requested(fragments).items()
    ]
    write_text(path, "\n".join(lines) + "\n")


def verify(fragments: list[Path], result: Path) -> None:
    """Raise LabError naming each option that did not take effect."""
    got = read(result)
    wrong = [
        f"{option}={value} ({path.name}) became {got.get(option, 'n')}"
        for option, (value, path) in requested(fragments).items()
        if got.get(option, "n") != value
    ]
    if wrong:
        raise LabError(f"configs/: no effect: {', '.join(wrong)}: mend or remove these options")
