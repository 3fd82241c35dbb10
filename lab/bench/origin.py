# SPDX-License-Identifier: GPL-2.0
"""Which command made results, and of which commit: what stands under each table."""

from __future__ import annotations

import argparse
import subprocess
from dataclasses import dataclass

from lab import paths
from lab.kernel import edit

_MEASURED = ("linux", "patches", "configs", "lab", "harness", "pghot")
"""What results can depend on, pghot for its parsers: edits of the documents are not edits
of these."""


@dataclass(frozen=True)
class Origin:
    """The command as it is typed, and the commit it was run at."""

    command: str
    commit: str

    def facts(self) -> dict[str, str]:
        """For ``host`` of results.json."""
        return {"command": self.command, "commit": self.commit}


def _git(*words: str) -> str | None:
    """What git says; None where there is no repository, or no git."""
    try:
        done = subprocess.run(
            ["git", *words], cwd=paths.ROOT, check=False, capture_output=True, text=True
        )
    except FileNotFoundError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def commit() -> str:
    """The commit that is checked out, and whether what is measured was edited since, here or in
    the kernel's built tree."""
    head = _git("rev-parse", "--short=12", "HEAD")
    if head is None:
        return "unknown commit"
    edited = _git("status", "--porcelain", "--", *_MEASURED) or edit.unsaved()
    return f"commit {head}" + (", edited" if edited else "")


def of(verb: str, args: argparse.Namespace, **defaults: str) -> Origin:
    """Of ``make VERB`` with these options, as far as the results depend on them: names that
    are the verb's defaults need not be typed."""
    words = ["make", verb]
    words += [
        f"{name.upper()}=1" for name in ("main", "long", "quick") if getattr(args, name, False)
    ]
    for option in ("experiment", "contender"):
        value = getattr(args, option, None)
        if value and value != defaults.get(option):
            words.append(f"{option.upper()}={value}")
    return Origin(" ".join(words), commit())
