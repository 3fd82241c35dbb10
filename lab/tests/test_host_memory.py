# SPDX-License-Identifier: GPL-2.0
"""lab/host/memory.py: what the host can give away."""

import pytest

from lab.host import memory


@pytest.mark.parametrize(
    "text, found",
    [
        ("MemTotal: 9 kB\nMemAvailable:      7 kB\n", 7 << 10),
        ("MemTotal: 9 kB\n", None),
        (None, None),
    ],
)
def test_what_meminfo_says(tmp_path, monkeypatch, text, found):
    path = tmp_path / "meminfo"
    if text is not None:
        path.write_text(text, encoding="ascii")
    monkeypatch.setattr(memory, "MEMINFO", path)
    assert memory.available() == found


def test_this_host_has_some():
    assert (memory.available() or 0) > 1 << 20
