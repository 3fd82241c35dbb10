# SPDX-License-Identifier: GPL-2.0
"""Configuration, the compiler run, the host's tools: without a real kernel."""

import os
import threading
from pathlib import Path

import pytest

from lab import cli, log, paths
from lab.errors import LabError
from lab.host import apt, programs
from lab.kernel import build, checks, config, make


def fragment(path: Path, *lines: str) -> Path:
    """Write a config file."""
    path.write_text("".join(f"{line}\n" for line in lines))
    return path


def test_options_without_effect_are_named(tmp_path: Path) -> None:
    base = fragment(
        tmp_path / "base.config", "# why", "CONFIG_A=y", "CONFIG_B=n", "CONFIG_GONE=y", "CONFIG_N=5"
    )
    more = fragment(
        tmp_path / "more.config", "CONFIG_B=y", "# CONFIG_OFF is not set", "CONFIG_TOO=n"
    )
    result = fragment(
        tmp_path / ".config", "CONFIG_A=y", "CONFIG_B=y", "CONFIG_N=7", "CONFIG_TOO=y"
    )
    with pytest.raises(LabError) as caught:
        config.verify([base, more], result)
    assert str(caught.value) == (
        "configs/: no effect: GONE=y (base.config) became n, N=5 (base.config)"
        " became 7, TOO=n (more.config) became y: mend or remove these options"
    )
    fragment(result, "CONFIG_A=y", "CONFIG_B=y", "CONFIG_N=5", "CONFIG_GONE=y")
    config.verify([base, more], result)


def test_not_an_option(tmp_path: Path) -> None:
    path = fragment(tmp_path / "x.config", "CONFIG_A=y", "CONFIG B=y")
    with pytest.raises(LabError, match=r"x\.config:2: not a config option"):
        config.read(path)


def test_fragments_become_one(tmp_path: Path) -> None:
    one = fragment(tmp_path / "1", "CONFIG_A=y", "CONFIG_B=n")
    two = fragment(tmp_path / "2", "CONFIG_A=n")
    config.write_fragment([one, two], tmp_path / "all")
    assert (tmp_path / "all").read_text() == ("# CONFIG_A is not set\n# CONFIG_B is not set\n")


def makefile(directory: Path, recipe: str) -> Path:
    """A tree whose build does ``recipe``."""
    directory.mkdir()
    (directory / "Makefile").write_text(f"bzImage:\n\t@{recipe}\n")
    return directory


def test_first_compiler_error_and_log(tmp_path: Path) -> None:
    fake = makefile(
        tmp_path / "t", "echo '  CC      mm/x.o'; echo 'mm/x.c:7:1: error: no such thing'; exit 1"
    )
    log = tmp_path / "log/x.log"
    with pytest.raises(
        LabError,
        match=r"make bzImage failed: mm/x\.c:7:1: "
        r"error: no such thing .*x\.log\)$",
    ):
        make.run(fake, tmp_path / "out", "bzImage", log=log, text="x")
    assert "  CC      mm/x.o\n" in log.read_text()


def test_steps_are_counted(tmp_path: Path) -> None:
    fake = makefile(tmp_path / "t", "echo '  CC      a.o'; echo '  AR      a'; echo other")
    assert make.run(fake, tmp_path / "out", "bzImage", log=tmp_path / "x.log") == 2


def test_steps_left_are_told_off_a_terminal(tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(log, "LINE_EVERY", 0.0)
    fake = makefile(tmp_path / "t", "echo '  CC      a.o'; echo '  AR      a'")
    make.run(
        fake, tmp_path / "out", "bzImage", log=tmp_path / "x.log", text="Compiling", total=1234
    )
    assert capsys.readouterr().err.splitlines() == [
        "Compiling: 1,234 steps ...",
        "Compiling: 1 of 1,234 steps",
        "Compiling: 2 of 1,234 steps",
        "Compiling: done in 0 s",
    ]


@pytest.mark.parametrize(
    "completed, seconds, unit, said",
    [
        (640, 297, "steps", "640 of 1,050 steps, about 3:10 left"),
        (640, 2, "steps", "640 of 1,050 steps"),
        (10, 60, "steps", "10 of 1,050 steps"),
        (0, 60, "steps", "0 of 1,050 steps"),
        (1050, 400, "steps", "1,050 of 1,050 steps, about 0:00 left"),
        (525, 30, None, "50%, about 0:30 left"),
    ],
)
def test_how_long_is_left(completed: float, seconds: float, unit, said: str) -> None:
    assert log.told(completed, 1050, seconds, unit) == said


def test_lines_come_at_intervals(monkeypatch, capsys) -> None:
    now = [100.0]
    monkeypatch.setattr(log.time, "monotonic", lambda: now[0])
    with log.progress("Reading", total=320) as step:
        for _ in range(320):
            now[0] += 0.125
            step.advance()
    assert capsys.readouterr().err.splitlines() == [
        "Reading ...",
        "Reading: 38%, about 0:25 left",
        "Reading: 75%, about 0:10 left",
        "Reading: done in 40 s",
    ]


def test_steps_of_a_whole_build_are_remembered(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(paths, "BUILDS", tmp_path)
    out = tmp_path / "stock" / "out"
    (out / "mm").mkdir(parents=True)
    steps = build.Steps("stock", out)
    assert steps.left() == build.FLAVOURS["stock"].steps
    steps.made(100)
    assert build.Steps("stock", out).left() == 100
    # Interrupted: what is there is not made again.
    for name in ("mm/a.o", "mm/b.o", "mm/built-in.a"):
        (out / name).touch()
    steps = build.Steps("stock", out)
    assert steps.left() == 97
    steps.made(97)
    assert build.Steps("stock", out).left() == 97
    (out / "vmlinux").touch()
    assert build.Steps("stock", out).left() is None


def test_compiler_output_is_shared_unless_told_otherwise(tmp_path: Path) -> None:
    fake = makefile(tmp_path / "t", 'echo "depend $$CCACHE_DEPEND"')
    for shared, said in ((True, "depend \n"), (False, "depend 1\n")):
        make.run(fake, tmp_path / "out", "bzImage", log=tmp_path / "x.log", shared=shared)
        assert said in (tmp_path / "x.log").read_text()


def test_build_ignores_the_callers_make(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MAKEFLAGS", "--no-such-option")
    monkeypatch.setenv("ARCH", "vax")
    fake = makefile(tmp_path / "t", 'test -z "$$ARCH"')
    make.run(fake, tmp_path / "out", "bzImage", log=tmp_path / "x.log")


def test_unknown_flavour() -> None:
    with pytest.raises(LabError, match="use one of pghot, debug, stock"):
        build.ensure("vanilla")


def test_a_work_tree_that_is_gone_does_not_undo_the_kernel(monkeypatch, tmp_path: Path) -> None:
    monkeypatch.setattr(build.programs, "require", lambda *names: None)
    monkeypatch.setattr(build.source, "ensure", lambda: tmp_path)
    monkeypatch.setattr(build.paths, "BUILDS", tmp_path / "builds")
    monkeypatch.setattr(build.apply, "expected", lambda pristine: {})
    monkeypatch.setattr(build.apply, "sync", lambda *args, **more: pytest.fail("it was undone"))
    with pytest.raises(LabError, match="linux/ and patches/ are empty"):
        build.ensure("pghot")


def test_missing_tool_as_user(monkeypatch) -> None:
    monkeypatch.setattr(programs.apt, "available", lambda: True)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(
        LabError, match="^missing no-such-tool: run 'apt-get install the-package' as root$"
    ):
        programs.require("sh", "no-such-tool", packages={"no-such-tool": "the-package"})


def test_missing_tool_without_apt(monkeypatch) -> None:
    monkeypatch.setattr(programs.apt, "available", lambda: False)
    with pytest.raises(LabError, match="missing no-such.h: install it and"):
        programs.require("no-such.h")


def test_tool_that_cannot_be_installed(monkeypatch) -> None:
    def fail(*_packages):
        raise apt.AptError("Unable to locate package")

    monkeypatch.setattr(programs.apt, "available", lambda: True)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(programs.apt, "install", fail)
    with pytest.raises(LabError, match="installing it failed .Unable to"):
        programs.require("no-such-tool")


def test_installed_tools_are_not_installed(monkeypatch) -> None:
    monkeypatch.setattr(programs, "_install", lambda *_: pytest.fail("installed"))
    programs.require("sh", "make")


def test_two_guests_at_once_install_what_is_missing_once(monkeypatch, tmp_path: Path) -> None:
    installed: list[tuple] = []
    both = threading.Barrier(2)

    def seen(*tools: str) -> list[str]:
        absent = [] if installed else list(tools)
        if threading.current_thread() not in met:
            # Neither looks for the first time after the other has installed it.
            met.append(threading.current_thread())
            both.wait(10)
        return absent

    met: list[threading.Thread] = []
    monkeypatch.setattr(paths, "CACHE", tmp_path)
    monkeypatch.setattr(programs, "missing", seen)
    monkeypatch.setattr(programs, "_install", lambda *what: installed.append(what))
    guests = [threading.Thread(target=programs.require, args=("busybox",)) for _ in range(2)]
    for guest in guests:
        guest.start()
    for guest in guests:
        guest.join(10)
    assert installed == [(["busybox"], ["busybox"])]


def test_errors_are_one_line_and_status_1(monkeypatch, capsys) -> None:
    monkeypatch.setenv("LINUX_TARBALL", "/no/such/file")
    assert cli.main(["stock"]) == 1
    out, err = capsys.readouterr()
    assert not out
    assert err.splitlines()[-1].startswith("lab: LINUX_TARBALL=/no/such/file")


def test_full_disk_is_one_line(monkeypatch, capsys) -> None:
    def full(*_args):
        raise OSError(28, "No space left on device", "/cache/x")

    monkeypatch.setattr(build, "ensure", full)
    assert cli.main(["stock"]) == 1
    assert capsys.readouterr().err == (
        "lab: no room left on disk at /cache/x: free some and run the same command again\n"
    )


def test_new_sparse_messages() -> None:
    stock = checks.Counter({("mm/m.c", "warning: a"): 2, ("include/h.h", "warning: h"): 1})
    ours = checks.Counter(
        {
            ("mm/m.c", "warning: a"): 3,
            ("include/h.h", "warning: h"): 9,
            ("mm/pghot/x.c", "warning: a"): 1,
        }
    )
    assert checks.new_messages(ours, stock, {"mm/pghot/x.c"}) == [
        "mm/m.c: warning: a",
        "mm/pghot/x.c: warning: a",
    ]
    assert not checks.new_messages(stock, stock, {"mm/pghot/x.c"})


@pytest.mark.kernel
@pytest.mark.parametrize("flavour", ["stock", "pghot"])
def test_kernel_builds(flavour: str) -> None:
    kernel = build.ensure(flavour)
    assert kernel.bzimage.stat().st_size > 2**20
    ours = "CONFIG_PGHOT=y" in kernel.config.read_text().splitlines()
    assert ours == (flavour == "pghot")
    assert (kernel.source / "mm/pghot").exists() == ours


@pytest.mark.kernel
def test_unchanged_kernel_is_not_built_again() -> None:
    before = build.ensure("pghot").bzimage.stat().st_mtime_ns
    assert build.ensure("pghot").bzimage.stat().st_mtime_ns == before
