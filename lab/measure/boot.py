# SPDX-License-Identifier: GPL-2.0
"""The guest of a measured run: its inputs, its QEMU."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab import files
from lab.errors import LabError
from lab.host import programs, qemu
from lab.host.process import Guests, Process
from lab.kernel import build
from lab.machines import Machine, load, qemu_args
from lab.measure import emulator, plugin, workloads
from lab.measure.initramfs import Initramfs
from lab.measure.run import SCHEMA, Run

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


def _programs(run: Run) -> set[str]:
    """Programs of lab/workloads/ to take along. No others: what is in the guest's memory
    decides where its pages lie."""
    return {name for name in run.workload[:1] if name in workloads.names()} | set(run.programs)


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


@dataclass(frozen=True)
class _Start:
    """All that QEMU is given: its words, what is set beside the environment, and the files
    that it finds."""

    command: list[str]
    env: dict[str, str]
    files: dict[Path, bytes]


class Prepared:
    """A run with all its inputs at hand."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.machine = run.variation.of(load(run.machine, engine=run.engine))
        plugin.config(self.machine, Path())
        qemu.ensure()
        qemu.check_model()
        self.image = _bzimage(run.kernel)
        self.model = plugin.build()
        self.root = _root(run).bytes()

    def _start(self, image: Path, model: plugin.Plugin, work: Path) -> _Start:
        """How QEMU is started with the kernel and the model at these paths, and with its
        files in ``work``."""
        run = self.run
        described = plugin.config(
            self.machine,
            work / "model.json",
            samples=run.samples,
            timeline_ms=run.timeline_ms,
            pages=work / "pages" if run.count_pages else None,
            profile=work / "profile" if run.profile else None,
        )
        return _Start(
            _command(self.machine, image, model, work, run.cmdline),
            {"LD_PRELOAD": ":".join(map(str, model.preload))},
            {work / "initramfs": self.root, work / "machine.conf": described.encode()},
        )

    def digest(self) -> str:
        """A digest of all that decides the result."""
        model = self.model
        # Where things lie decides nothing: names take the place of paths that vary.
        names = tuple(Path(f"preload{number}") for number, _ in enumerate(model.preload))
        start = self._start(Path("kernel"), plugin.Plugin(Path("plugin"), names), Path("work"))
        parts = [
            f"schema {SCHEMA}".encode(),
            emulator.identity(),
            *(path.read_bytes() for path in (self.image, model.plugin, *model.preload)),
            repr((start.command, start.env)).encode(),
        ]
        for path, data in start.files.items():
            parts += [bytes(path), data]
        whole = hashlib.sha256()
        for part in parts:
            whole.update(hashlib.sha256(part).digest())
        return whole.hexdigest()

    @contextmanager
    def started(self, work: Path, guests: Guests) -> Iterator[Process]:
        """QEMU for the ``with`` block, one of ``guests``, with its files in ``work``."""
        start = self._start(self.image, self.model, work)
        for path, data in start.files.items():
            files.write(path, data)
        with (
            open(work / "qemu", "wb") as said,
            guests.started(start.command, said, env=start.env) as process,
        ):
            yield process
