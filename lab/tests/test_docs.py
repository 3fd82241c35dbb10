# SPDX-License-Identifier: GPL-2.0
"""The pages: every name in them exists, every page is listed, what they show is what is printed.

A complaint is ``file:line: what``; each file is a test of its own.
"""

from __future__ import annotations

import re

import pytest

from lab import paths
from lab.bench import description
from lab.host import programs
from lab.tests import names
from pghot.cli import main as tool
from pghot.tests import fakes

README = paths.ROOT / "README.md"
CONTRIBUTOR = paths.ROOT / "docs/contributor.md"


@pytest.mark.parametrize(
    "path", names.markdown(), ids=lambda path: str(path.relative_to(paths.ROOT))
)
def test_every_name_exists(path):
    found = names.complaints(names.parse(path))
    assert not found, "\n" + "\n".join(found)


@pytest.mark.parametrize(
    "text, complaint",
    [
        ("See `lab/no_such.py`.", "no such file: lab/no_such.py"),
        ("See `lab/tests/test_docs.py`, `lab/contenders/NAME.toml`.", None),
        ("See `guest/` and `no_such.py`.", "no such file: guest/"),
        ("A span `that\ngoes on` and `lab/none.c`.", "no such file: lab/none.c"),
        (
            "What `build/series/` holds; `build/no_such_thing/x`.",
            "no such file: build/no_such_thing/x",
        ),
        ("See `build/bench/splitmix64`.", "no such file: build/bench/splitmix64"),
        ("See `build/bench/results.md`.", None),
        ("[this](no_such.md)", "link to nothing: no_such.md"),
        ("[this\n](#no-such)", "no such heading: #no-such"),
        ("# A b, `c`\n[this](#a-b-c)", None),
        ('<img src="no/such.svg">', "link to nothing: no/such.svg"),
        ("Try `make demo`, `make no-such`.", "no target of make: no-such"),
        ("    make bench QUICK=1   make it quick", None),
        ("    make bench SLOW=1", "make takes no variable SLOW"),
        ("Use `SLOW=1` or `QUICK=1`.", "no such variable: SLOW"),
        ("    make -C harness unit BUILD=asan", None),
        ("    make -C harness demo", "no target of make: demo"),
        ("    make bench EXPERIMENT=redis,none", "no such experiment: none"),
        ("    cd linux\n    make modules_install", None),
        ("    bin/lab measure --machine dram-cxl -- --mib 64", None),
        ("    bin/lab measure --machine none -- --mib 64", "no such machine: none"),
        ("    bin/lab measure --speed 3", "bin/lab measure has no option --speed"),
        ("`bin/lab fly`", "bin/lab has no command fly"),
        ("`pghot status --watch 2`", None),
        ("```\n$ pghot doctor --mend\npghot lies\n```", "pghot doctor has no option --mend"),
        ("`/sys/kernel/mm/pghot/node0/ready` of `node<N>/ready`", None),
        ("`/sys/kernel/mm/pghot/ready`", "no such file of sysfs: /sys/kernel/mm/pghot/ready"),
        ("`/proc/no_such`", "nothing here knows /proc/no_such"),
        ("    sysctl kernel.numa_unbalancing=2", "no such sysctl: kernel.numa_unbalancing"),
        ("`pghot=default|precise|on`", "no such boot option: pghot=on"),
        ("`CONFIG_PGHOT=y` `CONFIG_NO_SUCH`", "no such kernel option: CONFIG_NO_SUCH"),
        ("all `pghot_skip_*`, `pghot_skip_lunch`", "no such counter: pghot_skip_lunch"),
        ("`pghot_record()` and `no_such_function()`", "nothing here is called no_such_function"),
        ("`redis-busy` `gups-full-busy`", None),
        ("`redis-lunch`", "nothing here is called redis-lunch"),
        ("`lab.errors.LabError`", None),
        ("`lab.errors.width`", "no such module or name: lab.errors.width"),
        ("`pghot --bogus status`", "pghot has no option --bogus"),
        ("`pghot --version`", None),
        ("    bin/lab --bogus demo", "bin/lab has no option --bogus"),
        ("    make shell FLAVOUR=bogus", "no such flavour: bogus"),
        ("`FLAVOUR=stock` `FLAVOUR=bogus`", "no such flavour: bogus"),
        ("    bin/lab kernel nosuchflavour", "bin/lab kernel does not take nosuchflavour"),
        ("    bin/lab kernel debug", None),
        ("    bin/lab measure --kernel nope", "bin/lab measure --kernel does not take nope"),
        ('    make measure RUN="random -- --mib 64"', None),
        ('    make measure RUN="nosuch"', "bin/lab measure does not take nosuch"),
        ("`$PGHOT_NOSUCH`", "no such variable: PGHOT_NOSUCH"),
        ("`pghot:nosuch_event`", "no such event: pghot:nosuch_event"),
        ("    sysctl vm.width=1", "no such sysctl: vm.width"),
        ("<a href='none.md'>x</a>", "link to nothing: none.md"),
        ("[x][ref]", "link to nothing: [ref]"),
        ("[x][ref]\n\n[ref]: none.md", "link to nothing: none.md"),
        ("x" * 101, "101 columns, of at most 100"),
        ("|" + "x" * 101, None),
    ],
)
def test_a_wrong_name_is_noticed(tmp_path, text, complaint):
    page = tmp_path / "page.md"
    page.write_text(text + "\n")
    found = [line.split(": ", 1)[1] for line in names.complaints(names.parse(page))]
    assert (complaint in found) if complaint else not found


def test_each_sysctl_is_one_that_the_pages_name():
    text = "\n".join(path.read_text() for path in names.markdown())
    assert not [name for name in names.SYSCTLS if name not in text]


def test_every_page_is_listed():
    listed = names.parse(paths.ROOT / "docs/README.md")
    targets = {(paths.ROOT / "docs" / target).resolve() for _, target in listed.links}
    assert set((paths.ROOT / "docs").glob("*.md")) <= targets | {listed.path}


def test_the_readme_shows_what_the_doctor_says(tmp_path, capsys):
    machine = fakes.cxl(tmp_path)
    fakes.balance(machine, 1)
    machine.write("sys/kernel/mm/numa/demotion_enabled", "false")
    assert tool(["doctor", "--root", str(tmp_path)]) == 1
    said = capsys.readouterr().out
    shown = re.search(
        r"^```\n\$ pghot doctor\n(.*?)^```", README.read_text(), re.MULTILINE | re.DOTALL
    )
    assert shown and shown[1] == said


def packages_listed() -> str:
    """The tables of packages."""
    return CONTRIBUTOR.read_text().partition("## What it is built on, and why")[2]


def test_every_python_package_has_a_reason():
    text = (paths.ROOT / "lab/requirements.txt").read_text()
    direct, _, rest = text.partition("# What the above need.")
    wanted = re.findall(r"^([\w-]+)==", direct, re.MULTILINE)
    wanted += [name for name in ("ruff", "mypy") if f"\n{name}==" in rest]
    assert len(wanted) > 5
    assert [name for name in wanted if not re.search(rf"\b{name}\b", packages_listed())] == []


def test_every_debian_package_has_a_reason():
    sources = "\n".join(
        path.read_text()
        for room in ("lab", "harness")
        for path in (paths.ROOT / room).rglob("*.py")
        if path.name not in ("programs.py", "test_kernel_build.py")
    )
    wanted = set(programs.KERNEL_BUILD)
    wanted |= {tool for tool in programs.PACKAGES if f'"{tool}"' in sources}
    debian = {programs.PACKAGES.get(tool, tool) for tool in wanted}
    debian |= set(re.findall(r'packages=\{"[^"]+": "([^"]+)"', sources))
    assert {"redis-tools", "busybox-static", "libelf-dev"} <= debian
    listed = packages_listed()
    assert (
        sorted(name for name in debian if not re.search(rf"(?<![\w-]){name}(?![\w-])", listed))
        == []
    )


def test_the_faq_counts_the_hooks():
    words = {12: "twelve", 13: "thirteen", 14: "fourteen", 15: "fifteen", 16: "sixteen"}
    words |= {17: "seventeen", 18: "eighteen", 19: "nineteen", 20: "twenty", 21: "twenty-one"}
    words |= {22: "twenty-two", 23: "twenty-three", 24: "twenty-four", 25: "twenty-five"}
    words |= {26: "twenty-six", 27: "twenty-seven", 28: "twenty-eight", 29: "twenty-nine"}
    hooks = len(list(paths.PATCHES.glob("*.patch")))
    said = " ".join((paths.ROOT / "docs/faq.md").read_text().split())
    assert f"and {words[hooks]} small patches (`patches/`)" in said


def test_the_page_names_each_experiment_that_damon_takes_part_in():
    text = " ".join((paths.ROOT / "docs/bench.md").read_text().split())
    said = text.partition("takes part only where `wide = true`: in ")[2].partition(", and in")[0]
    known = description.experiments()
    wide = {one.name for one in known if one.wide and not one.variant}
    assert wide == set(re.findall(r"`([\w-]+)`", said))
    assert not any(one.document and one.document.names("damon") for one in known)
