# SPDX-License-Identifier: GPL-2.0
"""lab/bench/checks.py and options.py: what is told who asks for what there is not."""

import re
import subprocess

import pytest

from lab import cli, paths
from lab.bench import command, description, options
from lab.errors import LabError
from lab.tests import bench_fakes

EMPTY = "test.toml: workload: is empty: it begins with a program"
NO_PLACE = 'test.toml: quick: has no "{place}"'


@pytest.mark.parametrize(
    "old, new, error",
    [
        ('about = "a test"', "", "test.toml: about: is missing"),
        ('"small"', '"none"', "test.toml: machine: unknown machine 'none'"),
        ("best_mib = [1]", 'fast_machine = "none"', "test.toml: fast_machine: unknown machine"),
        ('workload = ["random", "--place", "{place}", "--accesses", "4"]', "workload = []", EMPTY),
        ('start = "1"', 'start = "2"', "test.toml: start: small has no node 2: it has 2"),
        ('slow = "1"', 'slow = "0,2+"', "test.toml: slow: small has no node 2: it has 2"),
        ('fast = "0"', 'fast = "dram"', "test.toml: fast: 'dram' is not nodes like"),
        ('quick = ["random", "--place", "{place}"', 'quick = ["random"', NO_PLACE),
        ('"4"]', '"4", "--cpus", "0-1"]', "test.toml: workload: --cpus: '0-1' is no CPU of small"),
        (
            '"1"]',
            '"1", "--cpus", "2"]',
            "test.toml: quick: --cpus: '2' is no CPU of small: numbers",
        ),
        ('"4"]', '"4", "--mib", "1G"]', "test.toml: workload: --mib: '1G' is not a number"),
        ('decides = "first"', "", "test.toml: decides: is missing: add it"),
        ('decides = "first"', 'decides = "me"', "test.toml: decides: 'me' is none of first, full"),
        ("best_mib = [1]", 'named = ["dam"]', "test.toml: named: unknown contender 'dam': choose"),
        ("best_mib = [1]", 'one_seed = ["dam"]', "test.toml: one_seed: unknown contender 'dam'"),
        ('"stock-2", text', '"stock-9", text', "test.toml: document: unknown contender 'stock-9'"),
        ("[scale]\nmemory = 128\ntime = 26\ndata = 64", "", "test.toml: scale: data: is missing"),
        ('"small"', '"three-node"', "test.toml: machine: three-node has no model"),
        ("best_mib = [1]", "best_mib = 1", "test.toml: best_mib: 1 is not of type list"),
        ("best_mib = [1]", "best_mib = [1, 2]", "best_mib: is not a list of 1 numbers above 0"),
        ("best_mib = [1]", "best_mib = [0]", "best_mib: is not a list of 1 numbers above 0"),
        ('["mark"]', '"mark"', "test.toml: programs: 'mark' is not of type list"),
        ("best_mib = [1]", "best = 1", "test.toml: best: unknown field"),
        ('fast = "0"', "", "test.toml: fast: goes with slow"),
        ('fast = "0"\nslow = "1"', "", "test.toml: unbounded: is for experiments"),
        ("best_mib = [1]", "seeds = 0", "test.toml: seeds: 0 is not an integer from 1 to 100"),
        (
            "title =",
            "name =",
            "test.toml: document: name: unknown field, known are cold, differs, figures, title",
        ),
        (
            "text =",
            "word =",
            "test.toml: document: figures 1: word: unknown field, known are contender, text",
        ),
        ("[document]", "[document", "test.toml: Expected"),
        ("memory = 128", "memory = 0", "test.toml: scale: memory: 0 is not an integer from 1"),
        ("data = 64", "size = 64", "test.toml: scale: size: unknown field"),
        ("[scale]", "[variants]\nidle = 'full'\n[scale]", "variants: idle: unknown field"),
        ("[scale]", "[variants]\nbusy = 'no'\n[scale]", "busy: 'no' is none of full, seeds, quick"),
    ],
)
def test_a_bad_experiment_names_the_field(tmp_path, old, new, error):
    assert old in bench_fakes.EXPERIMENT
    path = tmp_path / "test.toml"
    path.write_text(bench_fakes.EXPERIMENT.replace(old, new), encoding="utf-8")
    with pytest.raises(LabError, match=re.escape(error)):
        description.experiment(path)


def test_a_bad_contender_names_the_field(tmp_path):
    path = tmp_path / "c.toml"
    good = 'about = "x"\norder = 1\nkernel = "stock"\nbalancing = 2\nplacement = "start"\n'
    path.write_text(good.replace('"start"', '"there"'), encoding="utf-8")
    with pytest.raises(LabError, match="c.toml: placement: 'there' is none of"):
        description.contender(path)
    path.write_text(good + 'like = "stock-9"\n', encoding="utf-8")
    with pytest.raises(LabError, match="c.toml: like: unknown contender 'stock-9': choose from"):
        description.contender(path)
    path.write_text(good + 'variables = { "a b" = 1 }\n', encoding="utf-8")
    with pytest.raises(LabError, match="c.toml: variables: a b = 1 is not a name"):
        description.contender(path)
    path.write_text(good + 'setup = ["none.sh"]\n', encoding="utf-8")
    with pytest.raises(LabError, match="c.toml: setup: cannot read none.sh"):
        description.contender(path)


def parsed(*words):
    return cli.parser().parse_args(words)


@pytest.mark.parametrize("text, on", [("", False), ("0", False), ("1", True)])
def test_a_switch_is_a_variable_too(monkeypatch, text, on):
    for name in ("quick", "fresh", "docs", "main", "long"):
        monkeypatch.setenv(name.upper(), text)
        assert getattr(parsed("bench"), name) is on
        assert getattr(parsed("bench", f"--{name}"), name) is True
        monkeypatch.delenv(name.upper())
        assert getattr(parsed("bench"), name) is False


def test_what_is_not_read_starts_no_run(monkeypatch, capsys):
    """Neither as "set" nor as "not set", which would be hours of runs. Other verbs do not care."""
    monkeypatch.setattr(command, "run_matrix", lambda *_, **__: pytest.fail("it ran"))
    for text in ("yes", "no", "true", " 1"):
        monkeypatch.setenv("QUICK", text)
        assert cli.main(["bench"]) == cli.main(["sensitivity"]) == 1
        assert f"QUICK={text} is neither 0 nor 1" in capsys.readouterr().err
        assert parsed("check").run


def test_nothing_to_run_is_an_error(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(command, "run_matrix", lambda *_, **__: pytest.fail("it ran"))
    monkeypatch.setattr(options, "OUT", tmp_path / "build")
    assert cli.main(["bench", "--quick", "--experiment", "redis-long,pmbench-uniform"]) == 1
    assert "there is nothing to run of redis-long, pmbench-uniform" in capsys.readouterr().err
    assert not (tmp_path / "build").exists()


def made(*words):
    """What make would do."""
    done = subprocess.run(
        ["make", "-n", *words], cwd=paths.ROOT, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_variables_that_a_target_does_not_take_are_refused():
    for words in (["bench", "EXPERIMENTS=redis"], ["sensitivity", "LONG=1"], ["bench", "quick=1"]):
        assert f"lab: {words[0]} takes no {words[1].partition('=')[0]}: " in made(*words)
    targets = re.findall(r"^([a-z-]+): ##", (paths.ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {"demo", "test", "shell", "kernel", "clean"} <= set(targets)
    for target in set(targets) - {"help"}:
        assert f"lab: {target} takes no TEST: " in made(target, "TEST=1")
    assert "takes no" not in made("shell", "MACHINE=small", "FLAVOUR=stock", "RUN=true")
    assert "takes no" not in made("test", "TESTS=pghot/tests", "DEBUG=1", "JOBS=2")
    for text in ("yes", "2", "1 1x"):
        assert f"lab: DEBUG={text} is neither 0 nor 1" in made("test", f"DEBUG={text}")
    for text in ("", "0", "1"):
        assert "neither" not in made("test", f"DEBUG={text}")
    told = subprocess.run(["make", "help"], cwd=paths.ROOT, capture_output=True, check=True)
    parts = told.stdout.decode().partition("All of these take")[2].partition("'soak'")[0]
    names = re.findall(r"^  ([A-Z_]+)=", parts, re.MULTILINE)
    assert {"JOBS", "PGHOT_CACHE", "EXPERIMENT", "QUICK", "LONG"} <= set(names)
    given = [f"{name}=1" for name in names if name != "TESTS"]
    assert "takes no" not in made("bench", *given)
