# SPDX-License-Identifier: GPL-2.0
"""What the command prints, byte for byte: programs read the JSON, and people compare reports.

A difference that is meant goes into golden/ with
`PGHOT_GOLDEN=write python3 -m pytest pghot/tests/test_golden.py`.
"""

import os
from pathlib import Path

import pytest

from pghot import __version__
from pghot.tests import fakes

GOLDEN = Path(__file__).parent / "golden"

COMMANDS = {
    "status.json": ("status", "--json"),
    "status.txt": ("status",),
    "doctor.json": ("doctor", "--json"),
    "doctor.txt": ("doctor",),
}


@pytest.mark.parametrize("kind", ["bare", "stock_cxl", "cxl", "troubled"])
@pytest.mark.parametrize("command", COMMANDS)
def test_output_is_what_it_was(tmp_path, run, kind, command):
    printed = run(*COMMANDS[command], machine=getattr(fakes, kind)(tmp_path)).out
    printed = printed.replace(f'"tool": "{__version__}"', '"tool": "VERSION"')
    golden = GOLDEN / f"{kind}.{command}"
    if os.environ.get("PGHOT_GOLDEN") == "write":
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(printed)
    assert printed == golden.read_text()


def test_explain_is_what_it_was(run):
    names = ("pghot_ready", "pghot_skip_dirty", "cpu_permille", "pghot_skip_gone")
    printed = run("explain", "--json", *names).out
    assert printed == (GOLDEN / "explain.json").read_text().replace("VERSION", __version__)


@pytest.mark.parametrize(
    "kind",
    ["bare", "stock_cxl", "stock_fresh", "cxl", "troubled", "fresh", "stuck", "engines", "off"],
)
@pytest.mark.parametrize("command", ["status", "doctor"])
def test_lines_wrap_at_100(tmp_path, run, kind, command):
    """Other than commands to run, which are in one piece."""
    if kind == "off":
        machine = fakes.cxl(tmp_path).write(f"{fakes.PGHOT}/enabled", 0)
    else:
        machine = getattr(fakes, kind)(tmp_path)
    lines = run(command, machine=machine).out.splitlines()
    assert lines
    assert [x for x in lines if len(x) > 100 and not x.lstrip().startswith("run: ")] == []
