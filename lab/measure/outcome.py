# SPDX-License-Identifier: GPL-2.0
"""How a measured run ended: waiting for it, its answer, and what may be wrong with it."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from pathlib import Path

from lab.host.process import Process
from lab.machines import Machine, addresses
from lab.measure import transcript
from lab.measure.run import Result, Run

_LOOK = 0.2
"""Seconds of the host between two looks at a guest's console."""
_CLOCKS_APART = 50e-6
"""Seconds by which the guest's clock may be ahead of the model's: whoever reads one may
be on another CPU, whose clock is up to two turns of 10 us away."""
_INTERRUPTED = 5e-3
"""Seconds by which it may be behind: an interrupt between a mark of the measured part
and the reading of the clock beside it belongs to the model's time alone, and with it what
the kernel does at its end. That can be a scan of 52 MiB, which was seen to take 1.7 ms: a
thread that is older than the scan delay is due for one from its first tick on."""


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n")
    except FileNotFoundError:
        return ""


def wait(process: Process, work: Path, limit: float) -> str | None:
    """Wait for QEMU's end, ``limit`` seconds of the host at most; return what went wrong.

    ``work`` is the directory that boot.Prepared.started() was given.
    """
    deadline = time.monotonic() + limit
    while process.wait(_LOOK) is None:
        trouble = transcript.fatal(_text(work / "console"))
        if trouble:
            process.kill()
            return f"the guest's kernel reported: {trouble}"
        if time.monotonic() > deadline:
            process.kill()
            return f"the guest did not end within {limit:g} s of the host's time"
    if process.status:
        said = _text(work / "qemu").strip().splitlines() or ["it said nothing"]
        # What the model complains of, QEMU only says that it does not load.
        own = [line for line in said if line.startswith("memsim: ")]
        return f"QEMU ended with status {process.status}: {(own or said)[-1]}"
    return None


def _busy(model: dict) -> float:
    """Seconds that all CPUs spent in the kernel."""
    return (
        sum(cpu["kernel"]["instructions"] + cpu["kernel"]["ns"] for cpu in model.get("cpus", []))
        / 1e9
    )


def _said(output: list[str]) -> dict:
    """What the last line of a program's output says; nothing where it is no JSON object."""
    lines = [line for line in output if line.strip()]
    try:
        said = json.loads(lines[-1]) if lines else {}
    except json.JSONDecodeError:
        return {}
    return said if isinstance(said, dict) else {}


def collect(run: Run, machine: Machine, work: Path) -> Result:
    """What the guest and the model left in ``work``, checked: the result has ``error``
    where it is not to be trusted."""
    answer = transcript.sections(_text(work / "answer"))
    result = Result(vmstat=transcript.growth(answer))
    model = _text(work / "model.json")
    if model:
        counted = json.loads(model)
        counted.pop("host")
        result = replace(
            result, model=counted, seconds=counted["seconds"], kernel_seconds=_busy(counted)
        )
    said = _said(answer.get("out", "").splitlines())
    result = replace(
        result,
        workload=said,
        hog=_said(answer.get("hog", "").splitlines()).get("hog", {}),
        pages=_text(work / "pages") if run.count_pages else None,
        profile=_text(work / "profile") if run.profile else None,
    )
    return replace(result, error=_problem(machine, answer, said, result, _text(work / "console")))


def clocks_agree(guest: float, model: float) -> bool:
    """Whether both can be right about how many seconds the measured part took."""
    return -_INTERRUPTED <= guest - model <= _CLOCKS_APART


def _silent(result: Result) -> bool:
    """Whether what was to keep other CPUs busy did nothing, or did not say what. What gives
    way may have got nothing done: then the workload left nothing."""
    hog = result.hog
    if not hog.get("seconds") or not (hog.get("cpus") or hog.get("idle_cpus")):
        return True
    return bool(hog.get("cpus")) and not hog["instructions"]


def _problem(
    machine: Machine, answer: dict[str, str], said: dict, result: Result, log: str
) -> str | None:
    if "problem" in answer:
        return answer["problem"].strip()
    fatal = transcript.fatal(log)
    if fatal:
        return f"the guest's kernel reported: {fatal}"
    if "end" not in answer:
        return "the guest powered off before the workload ended"
    if transcript.unread(answer):
        return "the guest's /proc/vmstat holds lines that are no counter"
    want = addresses.blocks(addresses.ranges(machine))
    if transcript.blocks(answer.get("blocks", "")) != want:
        return "the guest's memory is not where the model takes it to be"
    status = answer.get("status", "").strip()
    if status != "0":
        last = (answer.get("err", "").strip().splitlines() or ["it said nothing"])[-1]
        return f"the workload failed with status {status}: {said.get('error', last)}"
    if "hog" in answer and _silent(result):
        return "what was to keep the other CPUs busy did not say what it got done"
    if not said.get("verified"):
        return "the workload did not verify its data"
    if result.seconds is None:
        return "the workload had no measured part"
    own = said.get("seconds") or result.seconds
    if not clocks_agree(own, result.seconds):
        return (
            f"the guest's clock says {own:.6f} s and the model {result.seconds:.6f} s: "
            "the model's clocks came apart"
        )
    warnings = transcript.warnings(log)
    if warnings:
        return f"the guest's kernel reported: {warnings[0]}"
    return None
