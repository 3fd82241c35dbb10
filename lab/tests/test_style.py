# SPDX-License-Identifier: GPL-2.0
"""The Python style holds, and its check finds what breaks it."""

import subprocess
import textwrap
import tomllib

from lab import paths, style
from lab.tree import interpreter, tracked


def test_all_python_here_has_the_one_style():
    assert not style.complaints()


def test_all_shell_here_is_sound():
    whole, parts = style.shell_files()
    assert {"bin/lab", ".ci/run", "lab/guest/agent.sh"} <= set(whole)
    assert "lab/guest/online.sh" in parts
    assert not style.shell_complaints()


def test_unsound_shell_is_named(tmp_path, monkeypatch):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / "whole").write_text("#!/bin/sh\n[[ -e x ]]\n")
    (tmp_path / "part.sh").write_text("cd nowhere\n")
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    first, second = style.shell_complaints()
    assert first.startswith("whole:2:1: warning: In POSIX sh, [[ ]] is undefined")
    assert second.startswith("part.sh:1:1: warning: Use 'cd ... || exit'")


_FILES = 'files = ["lab", "pghot", "harness/tests", "bin/pghot"]'


def test_programs_without_a_suffix_are_checked():
    programs = {
        str(path.relative_to(paths.ROOT))
        for path in tracked()
        if "python" in interpreter(path) and path.suffix != ".py"
    }
    assert "bin/pghot" in programs
    tools = tomllib.loads((paths.ROOT / "pyproject.toml").read_text())["tool"]
    assert programs <= set(tools["ruff"]["extend-include"])
    assert programs <= set(tools["mypy"]["files"])


def test_what_breaks_it_is_named(tmp_path, monkeypatch):
    (tmp_path / "lab").mkdir()
    (tmp_path / "pyproject.toml").write_text(
        (paths.ROOT / "pyproject.toml").read_text().replace(_FILES, 'files = ["lab"]')
    )
    (tmp_path / "lab" / "bad.py").write_text(
        textwrap.dedent('''\
            # SPDX-License-Identifier: GPL-2.0
            """A file that every checker refuses."""
            import os


            def half(number: int) -> str:
                """A number where a string is promised."""
                return number // 2,
            ''')
    )
    monkeypatch.setattr(paths, "ROOT", tmp_path)
    found = "\n".join(style.complaints())
    assert "lab/bad.py:3:8: F401" in found
    assert "unformatted: File would be reformatted\n --> lab/bad.py" in found
    assert "lab/bad.py:8: error: Incompatible return value type" in found
