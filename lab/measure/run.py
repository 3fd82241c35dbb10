# SPDX-License-Identifier: GPL-2.0
"""One measured run: a workload on a machine, a kernel and settings."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from lab import paths
from lab.errors import LabError
from lab.host import programs, qemu
from lab.host.process import Process
from lab.kernel import build
from lab.machines import Machine, addresses, check_host, load, qemu_args
from lab.machines.variation import Variation
from lab.measure import outcome, plugin, workloads
from lab.measure.initramfs import Initramfs

HERE = Path(__file__).resolve().parent

# What a measured guest's kernel is told. No watchdog: the guest's time stands still
# whenever the host likes. Level 5 has warnings and worse on the console.
_CMDLINE = (
    "console=ttyS0",
    "loglevel=5",
    "panic=-1",
    "nokaslr",
    "norandmaps",
    "tsc=reliable",
    "nowatchdog",
    "rcupdate.rcu_cpu_stall_suppress=1",
    "hung_task_panic=0",
    "oops=panic",
)

_LIMIT = 900.0
_LOOK = 0.2
"""Seconds of the host between two looks at a guest's console."""
_CLOCKS_APART = 50e-6
"""Seconds by which the guest's clock may be ahead of the model's: whoever reads one may
be on another CPU, whose clock is up to two turns of 10 us away."""
_INTERRUPTED = 1e-3
"""Seconds by which it may be behind: an interrupt between a mark of the measured part
and the reading of the clock beside it belongs to the model's time alone."""


@dataclass(frozen=True)
class Run:
    """What to measure.

    ``kernel`` is a flavour of lab.kernel.build or the path of a bzImage. ``setup`` is
    shell text, run as root before the workload; ``workload`` the words of a command,
    whose first is a program of lab/workloads/ or of ``files`` and ``packages``. ``files``
    maps paths in the guest to content; ``packages`` names programs of the host to
    take along. ``variation`` is of the machine's model. ``timeline_ms`` is the interval
    of the model's time line.
    ``count_pages``: return how often each page was missed; ``profile``: how long
    each piece of code took. ``limit_s`` is in seconds of the host.
    """

    machine: str
    kernel: str
    workload: tuple[str, ...]
    cmdline: tuple[str, ...] = ()
    setup: str = ""
    files: Mapping[str, bytes] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    variation: Variation = Variation()
    timeline_ms: int = 50
    count_pages: bool = False
    profile: bool = False
    limit_s: float = _LIMIT


@dataclass(frozen=True)
class Result:
    """What came of it.

    ``seconds`` is guest time of the measured part, ``kernel_seconds`` what all CPUs
    spent of theirs in the kernel. ``workload`` is what the workload printed,
    ``model`` what the memory model counted (lab/memsim/results.c), ``vmstat`` how
    much each counter grew, ``pages`` lines of page
    number and misses from each socket, ``profile`` lines of address and
    nanoseconds. Where ``error`` is not None it says what went wrong, and the rest
    may be missing. ``host_seconds`` is the only value that differs between runs.
    """

    seconds: float | None = None
    workload: dict = field(default_factory=dict)
    model: dict = field(default_factory=dict)
    vmstat: dict[str, int] = field(default_factory=dict)
    kernel_seconds: float | None = None
    pages: str | None = None
    profile: str | None = None
    error: str | None = None
    host_seconds: float = 0.0

    @property
    def score(self) -> float | None:
        """The workload's own figure."""
        return self.workload.get("score")


def _bzimage(kernel: str) -> Path:
    if kernel in build.FLAVOURS:
        return build.ensure(kernel).bzimage
    image = Path(kernel)
    if not image.is_file():
        raise LabError(f"no kernel at {kernel}: name a file or one of {', '.join(build.FLAVOURS)}")
    return image


def _root(run: Run) -> Initramfs:
    """All that the guest has."""
    programs.require("busybox", packages={"busybox": "busybox-static"})
    root = Initramfs()
    for directory in ("/proc", "/sys", "/dev", "/run", "/tmp", "/sbin", "/mnt"):
        root.directory(directory)
    root.character_device("/dev/console", 5, 1)
    root.program("busybox")
    root.link("/bin/sh", "busybox")
    root.file("/init", (HERE / "init.sh").read_bytes(), program=True)
    root.file("/setup.sh", run.setup + "\n")
    root.file("/workload.sh", "exec " + " ".join(map(_quoted, run.workload)) + "\n")
    for name in _programs(run):
        root.program(workloads.path(name), f"/bin/{name}")
    for name in run.packages:
        root.program(programs.find(name), f"/bin/{name}")
    for path, data in run.files.items():
        root.file(path, data, program=data.startswith((b"\x7fELF", b"#!")))
    return root


def _quoted(word: str) -> str:
    return "'" + word.replace("'", "'\\''") + "'"


def _programs(run: Run) -> list[str]:
    """Programs of lab/workloads/ that the run's texts mention."""
    text = " ".join(
        [
            run.setup,
            *run.workload,
            *(
                data.decode(errors="replace")
                for data in run.files.values()
                if data.startswith(b"#!")
            ),
        ]
    )
    return [name for name in workloads.names() if name in text]


def _command(
    machine: Machine, image: Path, model: plugin.Plugin, work: Path, cmdline: tuple[str, ...]
) -> list[str]:
    return [
        qemu.PROGRAM,
        "-nodefaults",
        "-no-user-config",
        "-display",
        "none",
        "-no-reboot",
        *qemu_args(machine),
        "-machine",
        "hpet=off",
        *qemu.MODEL_ARGS,
        "-plugin",
        f"file={model.plugin},config={work / 'machine.conf'}",
        *plugin.devices(machine),
        "-rtc",
        "base=2026-01-01T00:00:00,clock=vm",
        "-seed",
        "1",
        "-serial",
        f"file:{work / 'console'}",
        "-serial",
        f"file:{work / 'answer'}",
        "-kernel",
        str(image),
        "-initrd",
        str(work / "initramfs"),
        "-append",
        " ".join([*_CMDLINE, *machine.cmdline, *cmdline]),
    ]


_running: set[Process] = set()
"""Guests of all threads, each in a session of its own, where ctrl-C does not come."""
_stopping = threading.Event()
"""No guest is to start any more."""


def stop_all() -> None:
    """End all guests at once, now and for good; their runs end with an error."""
    _stopping.set()
    for process in list(_running):
        process.kill()


class _Prepared:
    """A run with all its inputs at hand."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.machine = run.variation.of(load(run.machine))
        plugin.config(self.machine, Path())
        qemu.ensure()
        qemu.check_model()
        self.image = _bzimage(run.kernel)
        self.model = plugin.build()
        self.root = _root(run).bytes()

    def key(self) -> str:
        """A digest of all that decides the result."""
        run = self.run
        parts = [
            self.image.read_bytes(),
            self.model.plugin.read_bytes(),
            self.model.preload.read_bytes(),
            self.root,
            plugin.config(self.machine, Path("output"), timeline_ms=run.timeline_ms).encode(),
            " ".join(
                [
                    *_CMDLINE,
                    *run.cmdline,
                    *qemu_args(self.machine),
                    *qemu.MODEL_ARGS,
                    *plugin.devices(self.machine),
                    str(run.count_pages),
                    str(run.profile),
                ]
            ).encode(),
        ]
        whole = hashlib.sha256()
        for part in parts:
            whole.update(hashlib.sha256(part).digest())
        return whole.hexdigest()

    def start(self, work: Path) -> Process:
        """Start QEMU with its files in ``work``."""
        run = self.run
        (work / "initramfs").write_bytes(self.root)
        (work / "machine.conf").write_text(
            plugin.config(
                self.machine,
                work / "model.json",
                timeline_ms=run.timeline_ms,
                pages=work / "pages" if run.count_pages else None,
                profile=work / "profile" if run.profile else None,
            ),
            encoding="utf-8",
        )
        command = _command(self.machine, self.image, self.model, work, run.cmdline)
        with open(work / "qemu", "wb") as said:
            return Process(command, said, env={"LD_PRELOAD": str(self.model.preload)})


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n")
    except FileNotFoundError:
        return ""


def _wait(process: Process, work: Path, limit: float) -> str | None:
    """Wait for QEMU's end; return what went wrong."""
    deadline = time.monotonic() + limit
    while process.wait(_LOOK) is None:
        trouble = outcome.fatal(_text(work / "console"))
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


def _collect(prepared: _Prepared, work: Path) -> Result:
    answer = outcome.sections(_text(work / "answer"))
    output = answer.get("out", "").strip().splitlines()
    result = Result(vmstat=outcome.growth(answer))
    model = _text(work / "model.json")
    if model:
        counted = json.loads(model)
        counted.pop("host")
        result = replace(
            result, model=counted, seconds=counted["seconds"], kernel_seconds=_busy(counted)
        )
    try:
        said = json.loads(output[-1]) if output else {}
    except json.JSONDecodeError:
        said = {}
    result = replace(
        result,
        workload=said,
        pages=_text(work / "pages") if prepared.run.count_pages else None,
        profile=_text(work / "profile") if prepared.run.profile else None,
    )
    return replace(result, error=_problem(prepared, answer, said, result, _text(work / "console")))


def clocks_agree(guest: float, model: float) -> bool:
    """Whether both can be right about how many seconds the measured part took."""
    return -_INTERRUPTED <= guest - model <= _CLOCKS_APART


def _problem(
    prepared: _Prepared, answer: dict[str, str], said: dict, result: Result, log: str
) -> str | None:
    if "problem" in answer:
        return answer["problem"].strip()
    fatal = outcome.fatal(log)
    if fatal:
        return f"the guest's kernel reported: {fatal}"
    if "end" not in answer:
        return "the guest powered off before the workload ended"
    want = addresses.blocks(addresses.ranges(prepared.machine))
    if outcome.blocks(answer.get("blocks", "")) != want:
        return "the guest's memory is not where the model takes it to be"
    status = answer.get("status", "").strip()
    if status != "0":
        last = (answer.get("err", "").strip().splitlines() or ["it said nothing"])[-1]
        return f"the workload failed with status {status}: {said.get('error', last)}"
    if not said.get("verified"):
        return "the workload did not verify its data"
    if not result.model:
        return "the workload had no measured part"
    own = said.get("seconds") or result.seconds
    if not clocks_agree(own, result.seconds):
        return (
            f"the guest's clock says {own:.6f} s and the model {result.seconds:.6f} s: "
            "the model's clocks came apart"
        )
    warnings = outcome.warnings(log)
    if warnings:
        return f"the guest's kernel reported: {warnings[0]}"
    return None


def cached(key: str) -> Path:
    """Where the result of a run with this key is kept."""
    return paths.CACHE / "measure" / f"{key}.json"


def measure(run: Run, *, reuse: bool = False) -> Result:
    """Run it. With ``reuse``, the result of an earlier run of the same inputs is taken.

    A run that fails is a Result with ``error``; so is one that cannot be started.
    """
    started = time.monotonic()
    try:
        prepared = _Prepared(run)
        check_host(prepared.machine)
        keep = cached(prepared.key())
        if reuse and keep.is_file():
            return Result(**json.loads(keep.read_text(encoding="utf-8")))
        result = _run(prepared)
    except LabError as error:
        return Result(error=str(error))
    result = replace(result, host_seconds=round(time.monotonic() - started, 1))
    if result.error is None:
        keep.parent.mkdir(parents=True, exist_ok=True)
        fresh = keep.with_suffix(f".{os.getpid()}.tmp")
        fresh.write_text(json.dumps(asdict(result)), encoding="utf-8")
        fresh.rename(keep)
    return result


def _run(prepared: _Prepared) -> Result:
    with tempfile.TemporaryDirectory(prefix="pghot-measure-") as name:
        work = Path(name)
        process = prepared.start(work)
        _running.add(process)
        try:
            if _stopping.is_set():
                return Result(error="interrupted")
            trouble = _wait(process, work, prepared.run.limit_s)
        finally:
            _running.discard(process)
            process.kill()
        if trouble:
            return Result(error=trouble)
        return _collect(prepared, work)
