# SPDX-License-Identifier: GPL-2.0
"""Runs on the modelled machine, where each access costs what its tier costs.

``measure(Run(...))`` boots a guest from memory, runs one workload, and returns what
it took in guest time, the same on every host: docs/lab.md.
"""

from __future__ import annotations

import json
import tempfile
import threading
import time
from dataclasses import asdict, replace
from pathlib import Path

from lab import files, paths
from lab.errors import LabError
from lab.host.process import Process
from lab.machines import check_host
from lab.measure import outcome
from lab.measure.boot import Prepared
from lab.measure.run import Result, Run

__all__ = ["Result", "Run", "measure", "stop_all"]

_running: set[Process] = set()
"""Guests of all threads, each in a session of its own, where ctrl-C does not come."""
_stopping = threading.Event()
"""No guest is to start any more."""


def stop_all() -> None:
    """End all guests at once, now and for good; their runs end with an error."""
    _stopping.set()
    for process in list(_running):
        process.kill()


def cached(key: str) -> Path:
    """Where the result of a run with this key is kept."""
    return paths.CACHE / "measure" / f"{key}.json"


def measure(run: Run, *, reuse: bool = False) -> Result:
    """Run it. With ``reuse``, the result of an earlier run of the same inputs is taken.

    A run that fails is a Result with ``error``; so is one that cannot be started.
    """
    started = time.monotonic()
    try:
        prepared = Prepared(run)
        check_host(prepared.machine)
        keep = cached(prepared.digest())
        if reuse and keep.is_file():
            return Result(**json.loads(keep.read_text(encoding="utf-8")))
        result = _run(prepared)
    except LabError as error:
        return Result(error=str(error))
    result = replace(result, host_seconds=round(time.monotonic() - started, 1))
    if result.error is None:
        files.write_text(keep, json.dumps(asdict(result)))
    return result


def _run(prepared: Prepared) -> Result:
    with tempfile.TemporaryDirectory(prefix="pghot-measure-") as name:
        work = Path(name)
        process = prepared.start(work)
        _running.add(process)
        try:
            if _stopping.is_set():
                return Result(error="interrupted")
            trouble = outcome.wait(process, work, prepared.run.limit_s)
        finally:
            _running.discard(process)
            process.kill()
        if trouble:
            return Result(error=trouble)
        return outcome.collect(prepared.run, prepared.machine, work)
