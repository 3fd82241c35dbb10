# SPDX-License-Identifier: GPL-2.0
"""lab/measure/boot.py: what a measured guest is made of, and what its result is kept by."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass, replace
from pathlib import Path

import pytest

from lab import machines
from lab.machines.variation import Variation
from lab.measure import Guests, Run, boot, emulator, plugin


def test_words_of_the_workload_reach_it_as_they_are():
    script = boot._quoted("it's $HOME")
    done = subprocess.run(
        ["sh", "-c", f"printf %s {script}"], capture_output=True, text=True, check=True
    )
    assert done.stdout == "it's $HOME"


def test_only_programs_that_are_named_come_along():
    # The name of a directory is no program.
    setup = "ls /sys/kernel/mm/damon/regions; mark begin"
    run = Run("small", "stock", ("random", "--file", "/mnt/readers"), setup=setup)
    assert boot._programs(run) == {"random"}
    assert boot._programs(replace(run, programs=("mark", "random"))) == {"random", "mark"}
    script = replace(run, workload=("sh", "-c", "mark begin"), files={"/x": b"#!/bin/sh\ngups"})
    assert boot._programs(script) == set()
    root = boot._root(replace(script, programs=("mark",))).bytes()
    assert b"bin/mark\0" in root and b"bin/random\0" not in root


def test_the_guest_waits_until_its_answer_is_sent(tmp_path):
    """Powering off lost the last line where a server kept the port open: closing it does
    not wait then."""
    script = (boot.HERE / "init.sh").read_text(encoding="utf-8")
    finish = script[script.index("finish() {") :].partition("\n}\n")[0]
    steps = tmp_path / "steps"
    for name in ("stty", "poweroff"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho {name} "$@" >>{steps}\n', encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    done = f'PATH={tmp_path}:$PATH\nsection() {{ echo "@@$1" >>{steps}; }}\n{finish}\n}}\nfinish'
    subprocess.run(["sh", "-ec", done], check=True)
    said = steps.read_text(encoding="utf-8").splitlines()
    # Words that change nothing do not wait.
    assert said == ["@@end", "stty -F /dev/ttyS1 raw -echo", "poweroff -f"]


@pytest.fixture
def parts(tmp_path, monkeypatch):
    """A directory with all files that a run is made of, each holding its own name."""
    for name in ("kernel", "plugin", "freeze", "more", "busybox", "random", "mark", "redis-server"):
        (tmp_path / name).write_text(name, encoding="utf-8")
        (tmp_path / name).chmod(0o755)
    made = plugin.Plugin(tmp_path / "plugin", (tmp_path / "freeze", tmp_path / "more"))
    for where, name, value in (
        (boot.qemu, "ensure", lambda: None),
        (boot.qemu, "check_model", lambda: None),
        (boot.programs, "require", lambda *_, **__: None),
        (boot.programs, "find", lambda name: tmp_path / name),
        (boot.workloads, "path", lambda name: tmp_path / name),
        (emulator, "identity", lambda: b"10.0.2"),
        (plugin, "build", lambda: made),
    ):
        monkeypatch.setattr(where, name, value)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    return tmp_path


@pytest.fixture
def run(parts):
    """One that says something of everything that can be said."""
    return Run(
        "dram-cxl",
        str(parts / "kernel"),
        ("random", "--mib", "8"),
        cmdline=("maxcpus=2",),
        setup="true",
        programs=("mark",),
        files={"/script": b"#!/bin/sh\n"},
        packages=("redis-server",),
    )


def key(run):
    return boot.Prepared(run).digest()


CHANGED = {
    "machine": "dram-cxl-full",
    "workload": ("random", "--mib", "9"),
    "cmdline": ("maxcpus=1",),
    "setup": "false",
    "programs": (),
    "files": {"/script": b"#!/bin/bash\n"},
    "packages": (),
    "variation": Variation(latency=2.0),
    "samples": True,
    "engine": True,
    "timeline_ms": 51,
    "count_pages": True,
    "profile": True,
}
"""Another value of each field of a run that decides something."""


@pytest.mark.parametrize("field", [field.name for field in fields(Run)])
def test_each_field_of_a_run_is_in_its_key(parts, run, field):
    if field == "engine":
        # Where the machine has one on request.
        assert key(replace(run, engine=True)) == key(run)
        run = replace(run, machine="dram-cxl-tight")
    first = key(run)
    assert key(run) == first
    if field == "kernel":
        # What it holds, and not where it lies.
        (parts / "again").write_bytes((parts / "kernel").read_bytes())
        assert key(replace(run, kernel=str(parts / "again"))) == first
        (parts / "again").write_bytes(b"another")
        assert key(replace(run, kernel=str(parts / "again"))) != first
    elif field == "limit_s":
        # A run that ends within it is the same.
        assert key(replace(run, limit_s=1)) == first
    else:
        assert key(replace(run, **{field: CHANGED[field]})) != first


def leaves(value, path=""):
    """Paths of all values in dataclasses within each other; a table of numbers is one."""
    for field in fields(value):
        inner = getattr(value, field.name)
        at = f"{path}.{field.name}".strip(".")
        if isinstance(inner, tuple) and is_dataclass(inner[0]):
            for number, entry in enumerate(inner):
                yield from leaves(entry, f"{at}.{number}")
        elif is_dataclass(inner):
            yield from leaves(inner, at)
        else:
            yield at


def another(value):
    if isinstance(value, tuple):
        return tuple(map(another, value))
    if isinstance(value, bool):
        return not value
    return {"dram": "cxl", "cxl": "pmem"}[value] if isinstance(value, str) else 2 * value or 1


def with_another(value, path):
    """The same with another value at this path."""
    name, _, rest = path.partition(".")
    if isinstance(value, tuple):
        number = int(name)
        return (*value[:number], with_another(value[number], rest), *value[number + 1 :])
    inner = getattr(value, name)
    return replace(value, **{name: with_another(inner, rest) if rest else another(inner)})


DRAM_CXL = machines.load("dram-cxl")


@pytest.mark.parametrize(
    "path",
    # What it is called decides nothing, nor whether an engine that is there was asked for. A
    # node either has CPUs or is near one that has.
    sorted(
        set(leaves(DRAM_CXL))
        - {"name", "about", "nodes.0.near", "nodes.1.cpus", "model.dma.on_request"}
    ),
)
def test_each_number_of_a_machine_is_in_the_key(monkeypatch, run, path):
    first = key(run)
    monkeypatch.setattr(boot, "load", lambda name, engine: with_another(DRAM_CXL, path))
    assert key(run) != first


def test_a_machines_name_is_not_in_the_key(monkeypatch, run):
    first = key(run)
    same = replace(DRAM_CXL, name="other", about="called otherwise")
    monkeypatch.setattr(boot, "load", lambda name, engine: same)
    assert key(run) == first


@pytest.mark.parametrize(
    "name", ["kernel", "plugin", "freeze", "more", "busybox", "random", "mark", "redis-server"]
)
def test_each_file_is_in_the_key_by_what_it_holds(parts, run, name):
    first = key(run)
    (parts / name).write_text("built again", encoding="utf-8")
    assert key(run) != first


def test_the_first_process_the_schema_and_the_emulator_are_in_the_key(monkeypatch, run, parts):
    first = key(run)
    for what, name, value in (
        (boot, "SCHEMA", boot.SCHEMA + 1),
        (boot, "HERE", parts),
        (emulator, "identity", lambda: b"10.0.3"),
    ):
        (parts / "init.sh").write_text("another", encoding="utf-8")
        with monkeypatch.context() as other:
            other.setattr(what, name, value)
            assert key(run) != first, name


class Recorder(Guests):
    """Starts nothing, and keeps how it was to be started."""

    @contextmanager
    def started(self, command, said, *, env=None):
        self.command, self.env = command, env
        yield


def spoilt(start: boot._Start) -> Iterator[tuple[str, boot._Start]]:
    """The same with one part changed, for each part that it has."""
    for at, word in enumerate(start.command):
        words = [*start.command[:at], word + "x", *start.command[at + 1 :]]
        yield f"word {at}, {word}", replace(start, command=words)
    for name, value in start.env.items():
        yield name, replace(start, env={**start.env, name: value + "x"})
    yield "a new variable", replace(start, env={**start.env, "NEW": "1"})
    for path, data in start.files.items():
        yield str(path), replace(start, files={**start.files, path: data + b"x"})
    yield "a new file", replace(start, files={**start.files, Path("work/new"): b""})


def test_all_that_decides_a_result_is_in_its_digest(monkeypatch, run):
    """Each word of QEMU's command, its environment and its files."""
    assert {field.name for field in fields(boot._Start)} == {"command", "env", "files"}
    made = boot.Prepared(replace(run, count_pages=True, profile=True))
    first, good, asked = made.digest(), made._start, []

    def remembered(*where):
        asked.append(good(*where))
        return asked[-1]

    monkeypatch.setattr(made, "_start", remembered)
    assert made.digest() == first
    for what, start in spoilt(asked[0]):
        monkeypatch.setattr(made, "_start", lambda *_, start=start: start)
        assert made.digest() != first, what


def test_what_is_started_is_what_the_digest_is_of(tmp_path, parts, run):
    """The same words, environment and files, but for the names of paths."""
    made = boot.Prepared(replace(run, count_pages=True, profile=True))
    work, recorder = tmp_path / "work", Recorder()
    work.mkdir()
    with made.started(work, recorder):
        pass
    names = tuple(Path(f"preload{number}") for number in range(2))
    named = made._start(Path("kernel"), plugin.Plugin(Path("plugin"), names), Path("work"))

    where = {work: "work", parts / "kernel": "kernel", parts / "plugin": "plugin"}
    where |= {parts / "freeze": "preload0", parts / "more": "preload1"}

    def plain(text: str) -> str:
        for path, name in where.items():
            text = text.replace(str(path), name)
        return text

    assert [plain(word) for word in recorder.command] == named.command
    assert {name: plain(value) for name, value in recorder.env.items()} == named.env
    files = {path: path.read_bytes() for path in work.iterdir() if path.name != "qemu"}
    assert {
        Path(plain(str(path))): plain(data.decode("latin-1")).encode("latin-1")
        for path, data in files.items()
    } == named.files
    assert str(tmp_path) not in repr((named.command, named.env, named.files))
