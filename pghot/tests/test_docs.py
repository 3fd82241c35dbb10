# SPDX-License-Identifier: GPL-2.0
"""Each transcript in the operator's pages is what the commands print.

A block of ```console follows a comment that says what it was made on:

    <!-- machine: NAME -->    a fake machine of fakes.py; it keeps what earlier blocks did to it
    <!-- shown only: WHY -->  not run here

`PGHOT_DOCS=write python3 -m pytest pghot/tests/test_docs.py` writes what the commands print now.
"""

import os
import re
from typing import NamedTuple

import pytest

from pghot.tests import fakes, shell

PAGES = ["docs/operator.md", "docs/tool.md"]
BLOCK = re.compile(r"(?:^<!-- ([^\n]*) -->\n)?^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*(?:\\\n.*)*)\n", re.MULTILINE)
UPDATE = (
    "the page shows another output: PGHOT_DOCS=write python3 -m pytest pghot/tests/test_docs.py"
)


class Block(NamedTuple):
    """A block of a page, and what the comment before it says."""

    about: str
    text: str


def blocks(page: str) -> list[Block]:
    return [Block(m[1] or "", m[2]) for m in BLOCK.finditer((shell.REPO / page).read_text())]


def rerun(page: str, directory) -> list[str]:
    """The page's blocks as they should be."""
    machines = {}
    fresh = []
    for about, text in blocks(page):
        kind, _, name = about.partition(": ")
        if kind != "machine":
            fresh.append(text)
            continue
        if name not in machines:
            machines[name] = getattr(fakes, name)(directory / name).root
        commands = COMMAND.findall(text)
        outputs = [shell.run(command, machines[name], directory) for command in commands]
        fresh.append("".join(f"$ {c}\n{o}" for c, o in zip(commands, outputs)))
    return fresh


@pytest.mark.parametrize("page", PAGES)
def test_transcripts_are_what_the_commands_print(page, tmp_path):
    fresh = rerun(page, tmp_path)
    if os.environ.get("PGHOT_DOCS") == "write":
        path = shell.REPO / page
        texts = iter(fresh)
        path.write_text(
            BLOCK.sub(lambda m: m[0].replace(m[2] + "```", next(texts) + "```"), path.read_text())
        )
    assert [block.text for block in blocks(page)] == fresh, UPDATE


@pytest.mark.parametrize("page", PAGES)
def test_every_block_says_what_it_was_made_on(page):
    found = blocks(page)
    assert len(found) == (shell.REPO / page).read_text().count("```console")
    for about, text in found:
        assert re.match(r"(machine|shown only): .", about), text
        assert text.startswith("$ "), text
        if about.startswith("shown only"):
            assert not re.search(
                r"^\$ (pghot (?!--version)|sysctl|daxctl|echo|cat|grep)", text, re.M
            )


@pytest.mark.parametrize("page", PAGES)
def test_commands_stand_in_such_blocks_only(page):
    rest = BLOCK.sub("", (shell.REPO / page).read_text())
    assert not re.search(r"^ *[$#] (pghot|sysctl|echo|daxctl)\b", rest, re.MULTILINE)


@pytest.mark.parametrize("page", PAGES)
def test_lines_wrap_at_100(page):
    """Other than rows of tables, and what a command prints."""
    text = BLOCK.sub("", (shell.REPO / page).read_text())
    assert [x for x in text.splitlines() if len(x) > 100 and not x.startswith("|")] == []


def test_the_series_shown_is_the_series():
    steps = (shell.REPO / "patches/series.toml").read_text()
    subjects = re.findall(r'^subject = "(.*)"$', steps, re.MULTILINE)
    page = (shell.REPO / PAGES[0]).read_text()
    first, rest = re.findall(r"^((?:Applying: .*\n)+)\.\.\.\n((?:Applying: .*\n)+)", page, re.M)[0]
    assert first == "".join(f"Applying: {subject}\n" for subject in subjects[:2])
    assert rest == "".join(f"Applying: {subject}\n" for subject in subjects[-2:])
    assert page.count("\nApplying: ") == 4
    faq = " ".join((shell.REPO / "docs/faq.md").read_text().split())
    assert f"as a series of {len(subjects)} patches" in faq


def depends_of_pghot() -> set[str]:
    """What the kernel's PGHOT depends on."""
    kconfig = (shell.REPO / "linux/mm/pghot/Kconfig").read_text()
    lines = re.findall(r"^\tdepends on (.*)$", kconfig.partition("\n\thelp\n")[0], re.MULTILINE)
    return set(re.findall(r"\w+", " ".join(lines)))


def test_the_options_that_pghot_needs_are_those_of_its_kconfig():
    # What an x86-64 kernel has in any case, and how the page says so.
    fixed = {"64BIT": "a 64-bit kernel", "PAGE_SIZE_4KB": "pages of 4 KiB"}
    needed = depends_of_pghot()
    assert set(fixed) < needed
    page = " ".join((shell.REPO / PAGES[0]).read_text().split())
    said = page.partition("missing that it depends on: ")[2].partition(".")[0]
    assert set(re.findall(r"`CONFIG_(\w+)`", said)) == needed - set(fixed)
    assert all(words in said for words in fixed.values())
    command = next(text for _, text in blocks(PAGES[0]) if "scripts/config" in text)
    enabled = set(re.findall(r"--enable (\w+)", command))
    assert needed - set(fixed) | {"PGHOT"} <= enabled


def test_the_last_patch_shown_is_the_last_of_the_series():
    steps = (shell.REPO / "patches/series.toml").read_text()
    subjects = re.findall(r'^subject = "(.*)"$', steps, re.MULTILINE)
    shown = re.findall(r"^build/series/(\S+)$", (shell.REPO / PAGES[0]).read_text(), re.MULTILINE)
    name = re.sub(r"\W+", "-", subjects[-1])
    assert shown == [f"{len(subjects):04}-{name}.patch"]


def test_the_page_has_each_source_that_is_off_by_default(tmp_path):
    """The machine that shows them has all but hotness units, of which no server has one, and
    samples."""
    sources = [path.read_text() for path in (shell.REPO / "linux/mm/pghot/source").glob("*.c")]
    known = set(re.findall(r'^\t\.name = "(\w+)",$', "\n".join(sources), re.MULTILINE))
    section = (shell.REPO / PAGES[0]).read_text().partition("\n## More sources\n")[2]
    listed = re.findall(r"^\| `(\w+)` \|", section.partition("\n## ")[0], re.MULTILINE)
    assert {*listed, "hint_fault"} == known
    shown = (fakes.many_sources(tmp_path).root / fakes.PGHOT / "sources").iterdir()
    assert {path.name for path in shown} == known - {"hotness_unit", "hw_sample"}
