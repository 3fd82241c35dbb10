# SPDX-License-Identifier: GPL-2.0
"""The man page."""

from lab import manpage


def test_man_page(tmp_path):
    """It has every subcommand and option."""
    manpage.write(tmp_path / "new/pghot.8")
    page = (tmp_path / "new/pghot.8").read_text()
    assert page.startswith('.TH PGHOT "8"')
    for command in ("status", "doctor", "capture", "explain"):
        assert f"pghot {command}" in page
    for option in (r"\-\-watch", r"\-\-root", r"\-\-json", "pghot status \\-\\-watch 2"):
        assert option in page
