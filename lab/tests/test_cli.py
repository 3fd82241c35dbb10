# SPDX-License-Identifier: GPL-2.0
"""bin/lab and make: the same verbs, each with a help that people can read."""

import os
import re
import signal
import subprocess
import sys

import pytest

from lab import cli, paths
from lab.errors import LabError


def make(*words):
    done = subprocess.run(
        ["make", "-s", "-C", paths.ROOT, *words], check=True, capture_output=True, text=True
    )
    return done.stdout


def listed(monkeypatch):
    """Verb -> its line in `bin/lab --help`."""
    monkeypatch.setenv("COLUMNS", "80")
    return dict(re.findall(r"^    (\S+) +(\S.*)$", cli.parser().format_help(), re.MULTILINE))


def targets():
    """Target -> its line in `make help`."""
    return dict(re.findall(r"^  make (\S+) +(\S.*)$", make("help"), re.MULTILINE))


def test_make_and_lab_list_the_same(monkeypatch):
    assert list(targets()) == ["help", *listed(monkeypatch)]


def test_each_help_is_one_clean_line(monkeypatch):
    for text in (*listed(monkeypatch).values(), *targets().values()):
        assert re.fullmatch(r"[a-z][^`\n]{10,}[^.]", text), text


def test_help_gives_each_variable_once_per_target():
    named = re.findall(r"^  ([A-Z_]+)=", make("help"), re.MULTILINE)
    assert {"DEBUG", "RUN", "EXPERIMENT", "HOOK", "PGHOT_CACHE"} <= set(named)
    # 'measure' and 'shell' mean different things by it, and each says its own.
    assert [name for name in set(named) if named.count(name) > 1] == ["RUN"]
    assert "likewise" not in make("help")


def test_targets_name_no_file():
    text = (paths.ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", "")
    assert text.partition(".PHONY: ")[2].partition("\n")[0].split() == list(targets())


def test_a_target_is_its_verb():
    for name in set(targets()) - {"help"}:
        assert re.search(rf"/bin/lab {name}\s*$", make("-n", name, "RUN=", "TESTS=")), name


def test_words_for_a_workload_reach_its_verb():
    text = make("-n", "measure", "RUN=random -- --mib 64")
    assert text.endswith("/bin/lab measure random -- --mib 64\n")


def refused(*words):
    """Status of make, and what it complains."""
    done = subprocess.run(
        ["make", "-s", "-C", paths.ROOT, *words], check=False, capture_output=True, text=True
    )
    return done.returncode, done.stderr


def test_measure_without_a_workload_says_how_to_name_one():
    status, said = refused("measure", "RUN=")
    assert status == 2
    assert said.startswith('lab: name a workload: make measure RUN="random -- --mib 64"\n')


@pytest.mark.parametrize(
    ("verb", "option"),
    [
        ("bench", "--experiment"),
        ("bench", "--contender"),
        ("sensitivity", "--experiment"),
        ("sensitivity", "--contender"),
        ("sources", "--experiment"),
    ],
)
@pytest.mark.parametrize("names", ["", " ", ","])
def test_a_list_of_names_that_is_empty_does_not_mean_all(monkeypatch, capsys, verb, option, names):
    """As where a shell variable is not set, with an option or with make's variable."""
    variable = option.removeprefix("--").upper()
    for module in ("lab.bench.command", "lab.bench.sources", "lab.bench.sensitivity"):
        monkeypatch.setattr(f"{module}.run_matrix", lambda *_, **__: pytest.fail("it ran"))
    monkeypatch.delenv(variable, raising=False)
    assert cli.main([verb, option, names]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"lab: {option} names nothing: leave it out for ")
    assert said.endswith(", or give names with commas in between\n")
    assert ("leave it out for all," in said) == (verb != "sensitivity")
    monkeypatch.setenv(variable, names)
    assert cli.main([verb]) == 1
    assert capsys.readouterr().err == said


def test_tests_that_are_named_by_nothing_are_not_all():
    status, said = refused("test", "TESTS=")
    assert status == 2
    assert said.startswith("lab: TESTS names nothing: name files or leave it out for all\n")


def test_an_unknown_target_is_sent_to_the_list():
    status, said = refused("cook")
    assert status == 2
    assert said.startswith("make: there is no target 'cook': 'make help' lists them\n")


def test_no_verb_waits_for_what_only_pages_need():
    loaded = "import sys; from lab import cli; cli.parser(); print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", loaded], cwd=paths.ROOT, check=True, capture_output=True, text=True
    )
    assert not {"matplotlib", "jinja2", "numpy"} & set(done.stdout.split())


def test_help_is_shown_where_nothing_is_asked_for(capsys):
    assert cli.main([]) == 0
    bare = capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        cli.main(["--help"])
    assert end.value.code == 0
    assert bare.out == capsys.readouterr().out == cli.parser().format_help()
    assert not bare.err


def test_each_verb_has_a_help_without_markup(capsys):
    for verb in set(targets()) - {"help"}:
        with pytest.raises(SystemExit) as end:
            cli.main([verb, "--help"])
        assert end.value.code == 0
        said = capsys.readouterr().out
        assert said.startswith(f"usage: lab {verb} ")
        assert "``" not in said


def test_an_unknown_verb_names_the_known(capsys):
    with pytest.raises(SystemExit) as end:
        cli.main(["cook"])
    assert end.value.code == 2
    assert "lab: error: " in (said := capsys.readouterr().err)
    assert "'cook'" in said and "compare-stock" in said


@pytest.mark.parametrize(
    "error, status, said",
    [
        (LabError("no\n  kernel"), 1, "lab: no kernel\n"),
        (OSError(28, "No space left", "/x"), 1, "lab: no room left on disk at /x: free some"),
        (KeyboardInterrupt(), 130, "lab: interrupted\n"),
    ],
)
def test_errors_of_a_verb_are_one_line(monkeypatch, capsys, error, status, said):
    def run(_):
        raise error

    monkeypatch.setattr("lab.clean.run", run)
    assert cli.main(["clean"]) == status
    shown = capsys.readouterr().err
    assert shown.startswith(said) and shown.count("\n") == 1


@pytest.mark.parametrize("name", ["a b", "a,b", "a:b", "a#b"])
def test_a_directory_that_cannot_be_named_is_refused(monkeypatch, capsys, tmp_path, name):
    monkeypatch.setattr("lab.clean.run", lambda _: pytest.fail("it ran"))
    bad = tmp_path / name
    refusal = f"lab: '{bad}' has a blank, comma, colon or '#' in its name: {{}} to a directory"
    monkeypatch.setenv("TMPDIR", str(bad))
    assert cli.main(["clean"]) == 1
    assert capsys.readouterr().err.startswith(refusal.format("set TMPDIR"))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(paths, "CACHE", bad)
    assert cli.main(["clean"]) == 1
    assert capsys.readouterr().err.startswith(refusal.format("set PGHOT_CACHE"))
    monkeypatch.setattr(paths, "ROOT", bad)
    assert cli.main(["clean"]) == 1
    assert capsys.readouterr().err.startswith(refusal.format("move this work tree"))


_WORKS = """
import signal, sys, tempfile, time
from lab import clean, cli

def run(_):
    with tempfile.TemporaryDirectory():
        print("works", flush=True)
        try:
            time.sleep({})
        finally:
            # Asked again while it cleans up.
            signal.raise_signal(signal.SIGHUP)

clean.run = run
sys.exit(cli.main(["clean"]))
"""


@pytest.mark.parametrize(
    "number, ignored, status",
    [
        (signal.SIGINT, None, 130),
        (signal.SIGTERM, None, 143),
        (signal.SIGHUP, None, 129),
        (signal.SIGHUP, signal.SIG_IGN, 0),
    ],
)
def test_who_is_asked_to_end_leaves_nothing(tmp_path, number, ignored, status):
    with subprocess.Popen(
        [sys.executable, "-c", _WORKS.format(1 if ignored else 1000)],
        cwd=paths.ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        # Where the tests run in the background of a script they ignore ctrl-C themselves.
        preexec_fn=lambda: signal.signal(number, ignored or signal.SIG_DFL),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as lab:
        assert lab.stdout is not None and lab.stdout.readline() == "works\n"
        assert any(tmp_path.iterdir())
        lab.send_signal(number)
        _, said = lab.communicate()
    assert (lab.returncode, said) == (status, "lab: interrupted\n" if status else "")
    assert not any(tmp_path.iterdir())


def test_other_errors_are_faults_of_the_program(monkeypatch):
    def run(_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("lab.clean.run", run)
    with pytest.raises(PermissionError):
        cli.main(["clean"])
