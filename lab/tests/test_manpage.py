# SPDX-License-Identifier: GPL-2.0
"""The man page."""

import re

from lab import manpage
from pghot import cli


def test_man_page(tmp_path):
    """It has every subcommand and option."""
    manpage.write(tmp_path / "new/pghot.8")
    page = (tmp_path / "new/pghot.8").read_text()
    assert page.startswith('.TH PGHOT "8"')
    for command in ("status", "doctor", "capture", "explain"):
        assert f"pghot {command}" in page
    for option in (r"\-\-watch", r"\-\-root", r"\-\-json", "pghot status \\-\\-watch 2"):
        assert option in page


def test_man_page_has_what_the_help_ends_with(tmp_path):
    manpage.write(tmp_path / "pghot.8")
    page = (tmp_path / "pghot.8").read_text()
    plain = page.replace(r"\-", "-")
    examples = plain.partition("\n.SH EXAMPLES\n")[2]
    for line in "".join(cli.EXAMPLES.values()).splitlines():
        command = re.split(r" {2,}", line.strip())[0]
        assert examples.count(f".TP\n\\fB{command}\\fR\n") == 1, command
    statuses = plain.partition("\n.SH EXIT STATUS\n")[2].partition("\n.SH ")[0]
    for status, meaning in cli.EXIT_STATUS.items():
        assert f".TP\n\\fB{status}\\fR\n{meaning}" in statuses
    assert page.count(".SH EXAMPLES") == 1
