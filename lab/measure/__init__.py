# SPDX-License-Identifier: GPL-2.0
"""Runs on the modelled machine, where each access costs what its tier costs.

``measure(Run(...))`` boots a guest from memory, runs one workload, and returns what
it took in the machine's time, the same on every host: docs/model.md.
"""

from __future__ import annotations

import json
import tempfile
import time
from dataclasses import asdict, replace
from pathlib import Path

from lab import files, paths
from lab.errors import LabError
from lab.host.process import Guests
from lab.machines import check_host
from lab.measure import outcome
from lab.measure.boot import Prepared
from lab.measure.machine_time import in_machine_time
from lab.measure.run import Result, Run

__all__ = ["Guests", "Result", "Run", "measure"]


def cached(key: str) -> Path:
    """Where the result of a run with this key is kept."""
    return paths.CACHE / "measure" / f"{key}.json"


def measure(run: Run, *, reuse: bool = False, guests: Guests | None = None) -> Result:
    """Run it. With ``reuse``, the result of an earlier run of the same inputs is taken.

    Its guest is one of ``guests``, whose owner can end it from another thread. A run
    that fails is a Result with ``error``; so is one that cannot be started.
    """
    started = time.monotonic()
    try:
        prepared = Prepared(run)
        check_host(prepared.machine)
        keep = cached(prepared.digest())
        clock = prepared.machine.clock
        if reuse and keep.is_file():
            kept = Result(**json.loads(keep.read_text(encoding="utf-8")))
            return in_machine_time(kept, clock)
        result = _run(prepared, guests or Guests())
    except LabError as error:
        return Result(error=str(error))
    result = replace(result, host_seconds=round(time.monotonic() - started, 1))
    if result.error is None:
        # In guest time, as all that the digest is of.
        files.write_text(keep, json.dumps(asdict(result)))
    return in_machine_time(result, clock)


def _run(prepared: Prepared, guests: Guests) -> Result:
    with tempfile.TemporaryDirectory(prefix="pghot-measure-") as name:
        work = Path(name)
        with prepared.started(work, guests) as process:
            trouble = outcome.wait(process, work, prepared.run.limit_s)
        if trouble:
            return Result(error=trouble)
        return outcome.collect(prepared.run, prepared.machine, work)
