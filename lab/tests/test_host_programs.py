# SPDX-License-Identifier: GPL-2.0
"""lab/host/programs.py: where programs of the host come from."""

import pytest

from lab.host import programs


def test_redis_comes_from_the_package_that_starts_no_service(tmp_path, monkeypatch):
    server = tmp_path / "redis-check-rdb"
    server.write_text("#!/bin/sh\n", encoding="utf-8")
    server.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert programs.find("redis-server") == server
    wanted: list[str] = []
    monkeypatch.setattr(programs, "require", wanted.append)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(AssertionError):
        programs.find("redis-server")
    assert wanted == ["redis-check-rdb"]
