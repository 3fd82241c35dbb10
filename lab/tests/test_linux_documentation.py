# SPDX-License-Identifier: GPL-2.0
"""Every file, counter and tracepoint of the kernel code is documented, and
nothing else is."""

import re

import pytest

from lab import paths
from lab.kernel import apply, source

PGHOT = paths.OVERLAY / "mm/pghot"
DOCUMENTATION = paths.OVERLAY / "Documentation"
ABI = DOCUMENTATION / "ABI/testing/sysfs-kernel-mm-pghot"
GUIDE = DOCUMENTATION / "admin-guide/mm/pghot.rst"
DESIGN = DOCUMENTATION / "mm/pghot.rst"
TRACE = paths.OVERLAY / "include/trace/events/pghot.h"

SOURCES = {
    name
    for path in sorted((PGHOT / "source").glob("*.c"))
    for name in re.findall(r'^\t\.name = "(\w+)",', path.read_text(), re.MULTILINE)
}

# Files of ours that are in a directory which is not.
NUMA = "/sys/kernel/mm/numa/"

# Where the files of an attribute group are, below /sys/kernel/mm/pghot/ or elsewhere.
DIRECTORIES = {
    "pghot": "",
    "source": "sources/<source>/",
    "hint_fault": "sources/hint_fault/",
    "numa": NUMA,
    "page_table": "sources/page_table/",
    "hotness_unit": "sources/hotness_unit/",
    "hw_sample": "sources/hw_sample/",
    "node": "node<N>/",
    "target": "target<N>/",
}


def kernel_files() -> list[str]:
    """Each file of mm/pghot but its tests, comments removed."""
    return [
        re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        for path in sorted(PGHOT.rglob("*.[ch]"))
        if "tests" not in path.relative_to(PGHOT).parts
    ]


def kernel_sources() -> str:
    """All of them."""
    return "\n".join(kernel_files())


def first(pattern: str, text: str) -> str:
    """The group of the pattern's first match, which must be there."""
    found = re.search(pattern, text, re.MULTILINE)
    assert found, pattern
    return found[1]


def attributes(source: str) -> dict[str, str]:
    """Variable of an attribute -> name of its file."""
    found = {}
    for name in re.findall(r"^DEFINE_KNOB\((\w+),", source, re.MULTILINE):
        found[f"{name}_knob.attr"] = name
    for name, file in re.findall(r"^NODE_FILE\((\w+),\s*(\w+),", source, re.MULTILINE):
        found[f"{name}_attr"] = file
    for variable, file in re.findall(r"struct kobj_attribute (\w+)\s*=\s*__ATTR\w*\((\w+)", source):
        if not file.startswith("_"):  # the body of a macro
            found[variable] = file
    return found


def sysfs_files(source: str) -> set[str]:
    """Files below /sys/kernel/mm/pghot/ that ``source``, one file, makes."""
    known = attributes(source)
    files = set()
    groups = re.findall(r"struct attribute \*(\w+)_attrs\[\] = \{(.*?)\};", source, re.DOTALL)
    assert groups or not known
    for group, body in groups:
        assert group in DIRECTORIES, f"{group}_attrs: say in DIRECTORIES where its files are"
        for variable in re.findall(r"&([\w.]+)\.attr,", body):
            file = DIRECTORIES[group] + known.pop(variable)
            files |= {file.replace("<source>", name) for name in SOURCES}
    assert not known, f"in no attribute group: {sorted(known)}"
    return files


def guide_terms() -> set[str]:
    """What the guide defines: a literal alone on its line, text below it."""
    return set(re.findall(r"^``([^`\s]+)``\n\t", GUIDE.read_text(), re.MULTILINE))


def abi_entries() -> dict[str, str]:
    """Path below /sys/kernel/mm/pghot/ -> description."""
    entries = {}
    for entry in ABI.read_text().split("\n\nWhat:"):
        what = first(r"\s/sys/kernel/mm/pghot/(\S*)\n", entry)
        assert what not in entries
        entries[what] = entry.partition("Description:")[2]
    return entries


ALL_FILES = set().union(*map(sysfs_files, kernel_files()))
FILES = {name for name in ALL_FILES if not name.startswith("/")}
COUNTERS = {
    f"pghot_{name}"
    for name in re.findall(r"^\tX\((\w+),", (PGHOT / "stat.h").read_text(), re.MULTILINE)
}
COUNTERS |= {f"pghot_recorded_{name}" for name in SOURCES}
# Their other names.
COUNTERS |= set(re.findall(r'^\t\.counter = "(\w+)",', kernel_sources(), re.MULTILINE))
# Of memory.stat.
OF_MEMCG = set(re.findall(r'seq_buf_printf\(s, "(\w+) ', (PGHOT / "memcg.c").read_text()))
EVENTS = {
    f"pghot:{name}"
    for name in re.findall(
        r"^(?:TRACE_EVENT\(|DEFINE_EVENT\(\w+, )(\w+),", TRACE.read_text(), re.MULTILINE
    )
}
BOOT_VALUES = {f"pghot={value}" for value in ("default", "precise", "off")}


def test_the_parser_finds_each_kind():
    assert {
        "enabled",
        "layout",
        "window_ms",
        "sources/hint_fault/enabled",
        "sources/hint_fault/hot_threshold_ms",
        "node<N>/ready",
        "node<N>/promoted",
        "target<N>/promoted",
    } <= FILES
    elsewhere = ALL_FILES - FILES
    assert elsewhere == {f"{NUMA}pagecache_promotion_enabled"}
    assert {"pghot_ready", "pghot_skip_stale", "numa_hint_page_cache"} <= COUNTERS
    assert {"pghot:pghot_record", "pghot:pghot_delay"} <= EVENTS


@pytest.mark.parametrize(
    "declaration, group, entry",
    [
        ("DEFINE_KNOB(fresh, &fresh, 0, 1);\n", "pghot", "&fresh_knob.attr.attr,"),
        ('NODE_FILE(fresh, fresh, "%lu", 0UL);\n', "node", "&fresh_attr.attr,"),
        (
            "static struct kobj_attribute fresh_attr = __ATTR_RO(fresh);\n",
            "target",
            "&fresh_attr.attr,",
        ),
        (
            "static struct kobj_attribute fresh_attr =\n\t__ATTR(fresh, 0600, a, b);",
            "hint_fault",
            "&fresh_attr.attr,",
        ),
    ],
)
def test_a_new_file_is_noticed(declaration, group, entry):
    at = f"struct attribute *{group}_attrs[] = {{\n"
    (source,) = [text for text in kernel_files() if at in text]
    source = declaration + source.replace(at, f"{at}\t{entry}\n")
    assert sysfs_files(source) - ALL_FILES == {f"{DIRECTORIES[group]}fresh"}


def test_files_are_made_from_groups_only():
    made = set(re.findall(r"\b(sysfs_create_\w+|device_create_file)\(", kernel_sources()))
    assert made == {"sysfs_create_groups"}


def test_every_file_has_an_abi_entry():
    files = {name for name in abi_entries() if name and name[-1] != "/"}
    assert files == FILES


def test_files_elsewhere_are_in_the_guide_and_have_an_abi_entry_there():
    hooks = "".join(path.read_text() for path in sorted(paths.PATCHES.glob("*.patch")))
    for name in ALL_FILES - FILES:
        assert f"\n+What:\t\t{name}\n" in hooks
        assert f"\n\t``{name}``" in GUIDE.read_text()


def test_every_directory_has_an_abi_entry():
    directories = {name for name in abi_entries() if name.endswith("/")}
    assert directories == {"sources/", "node<N>/", "target<N>/"}
    assert "" in abi_entries()


def test_the_guide_defines_everything_once():
    text = GUIDE.read_text()
    assert guide_terms() == FILES | COUNTERS | OF_MEMCG | EVENTS | BOOT_VALUES
    for term in guide_terms():
        assert text.count(f"\n``{term}``\n\t") == 1, term


def _number(name: str, source: str) -> int:
    """Value of a literal or of a macro, which may be a shift of literals."""
    if not name.isdigit():
        name = first(rf"^#define {name}\s+\(?([^)\n/]+)", source)
    base, _, shift = name.replace("U", "").partition("<<")
    return int(base) << int(shift or 0)


def test_ranges_and_defaults_are_those_of_the_code():
    source = kernel_sources()
    knobs = {
        next(file for file in sysfs_files(text) if file.split("/")[-1] == name): (
            low.strip(),
            high.strip(),
        )
        for text in kernel_files()
        for name, low, high in re.findall(
            r"^DEFINE_KNOB\((\w+),[^,]+,([^,]+),([^)]+)\);", text, re.MULTILINE
        )
    }
    bits = re.findall(r"\.freq_bits = (\d+)", source)
    assert len(bits) == 2
    for path, (low, high) in knobs.items():
        ranges = [(_number(low, source), _number(high, source))]
        if path == "freq_threshold":  # the layout bounds it
            ranges = [(1, (1 << int(width)) - 1) for width in bits]
        guide = first(rf"^``{path}``\n((?:\t.*\n)+)", GUIDE.read_text())
        for text in (abi_entries()[path], guide):
            text = " ".join(text.split())
            for bounds in ranges:
                assert "{} to {}".format(*bounds) in text, path
    defaults = {
        "freq_threshold": "FREQ_THRESHOLD",
        "window_ms": "WINDOW_MS",
        "batch_pages": "BATCH_PAGES",
        "period_ms": "PERIOD_MS",
    }
    for name, macro in defaults.items():
        default = _number(f"PGHOT_{macro}", source)
        assert f"default {default}." in " ".join(abi_entries()[name].split())


def test_the_boot_option_is_documented():
    values = re.findall(r'strcmp\(s, "(\w+)"\)', kernel_sources())
    assert {f"pghot={value}" for value in values} == BOOT_VALUES
    patches = "".join(path.read_text() for path in sorted(paths.PATCHES.glob("*.patch")))
    assert re.search(
        r"^\+\tpghot=\t.*\n\+\t\t\tFormat: "
        r"\{ default \| precise \| off \}$",
        patches,
        re.MULTILINE,
    )


def test_the_design_names_every_source_file():
    listed = first(r"(?s)^File .*?\n=+.*?\n(.*?)\n=+ ", DESIGN.read_text())
    names = {line.split()[0] for line in listed.splitlines()}
    for path in PGHOT.iterdir():
        if path.is_dir():
            assert f"{path.name}/" in names
        elif path.suffix in (".c", ".h"):
            stem = path.stem
            assert names & {path.name, f"{stem}.[ch]"} or path.name in (
                "internal.h",
                "hotmap.h",
                "hotmap_layout.h",
            ), path


def test_the_design_names_every_test_suite():
    suites = re.findall(
        r'\.name = "(pghot_\w+)"',
        "".join(path.read_text() for path in sorted((PGHOT / "tests").glob("*.c"))),
    )
    assert suites
    for suite in suites:
        assert f"``{suite}``" in DESIGN.read_text(), suite


@pytest.mark.kernel
def test_boot_parameters_are_documented() -> None:
    files = apply.expected(source.ensure())
    text = files["Documentation/admin-guide/kernel-parameters.txt"].decode()
    names = [
        name
        for file, data in files.items()
        if file in apply.overlay_files(paths.OVERLAY)
        for name in re.findall(r'__setup\("(\w+=?)"', data.decode())
    ]
    assert names
    for name in names:
        assert f"\n\t{name}\t" in text


@pytest.mark.parametrize(
    "page",
    [
        GUIDE,
        DESIGN,
        PGHOT / "Kconfig",
        paths.ROOT / "docs/operator.md",
        paths.ROOT / "docs/faq.md",
        paths.ROOT / "harness/README.md",
    ],
    ids=lambda page: page.name,
)
def test_memory_of_a_tib_is_what_the_harness_allows(page):
    unit = (paths.ROOT / "harness/unit/test_map.c").read_text()
    bounds = re.findall(r"precise \? (\d+)UL : (\d+)UL\) << 20", unit)
    assert len(bounds) == 1
    text = " ".join(page.read_text().split())
    # What stands in one sentence or table with a TiB, or just after it.
    said = {
        int(mib.replace(",", ""))
        for part in re.findall(r"[^.]*\bTiB\b[^.]*\.[^.]*", text)
        for mib in re.findall(r"([\d,]+) MiB", part)
    }
    assert {mib for mib in said if mib > 128} == {int(bound) for bound in bounds[0]}


@pytest.mark.parametrize(
    "page",
    [GUIDE, paths.ROOT / "docs/faq.md", paths.ROOT / "docs/kernel-reviewer.md"],
    ids=lambda page: page.name,
)
def test_when_a_fault_moves_the_page_is_as_in_the_code(page):
    wake = (PGHOT / "wake.c").read_text()
    crowded = first(r"^#define BEHIND_RECORDS\s+(\d+)$", wake)
    alone = first(r"^#define FAR_BEHIND_RECORDS\s+(\d+)$", wake)
    text = " ".join(page.read_text().split())
    assert re.search(
        rf"more than {crowded} records\b[^.]*\bothers want its CPU", text
    ) or re.search(rf"others want its CPU and more than {crowded} records", text)
    assert re.search(rf"more than {alone} where it has (?:a CPU|one) for itself", text)
    assert "where no CPU is idle and the thread is behind" not in text
