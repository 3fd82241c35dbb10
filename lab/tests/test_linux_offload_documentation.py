# SPDX-License-Identifier: GPL-2.0
"""Every file and engine of page migration's copy offload is documented, and nothing else is."""

import re

from lab import paths

DOCUMENTATION = paths.OVERLAY / "Documentation"
ABI = DOCUMENTATION / "ABI/testing/sysfs-kernel-mm-migrate-offload"
GUIDE = (DOCUMENTATION / "admin-guide/mm/migrate_offload.rst").read_text()
SYSFS = (paths.OVERLAY / "mm/migrate_copy/sysfs.c").read_text()
ENGINES = paths.OVERLAY / "drivers/migrate_offload"
TOP = "/sys/kernel/mm/migrate_offload/"


def files() -> set[str]:
    """Files below TOP that the kernel makes."""
    made = set(re.findall(r"kobj_attribute (\w+)_attr = __ATTR", SYSFS))
    of_all = set(re.findall(r"sysfs_create_file\(parent, &(\w+)_attr", SYSFS))
    assert of_all and made > of_all
    counters = set(re.findall(r'counter_init\(&dir->\w+, "(\w+)"', SYSFS))
    assert counters
    return (
        of_all
        | {f"<engine>/{name}" for name in made - of_all}
        | {f"<engine>/folios-<size>kB/{name}" for name in counters}
    )


def test_each_file_is_in_the_abi():
    said = re.findall(rf"^What:\t\t{re.escape(TOP)}(.+)$", ABI.read_text(), re.MULTILINE)
    assert set(said) == files()


def test_each_file_is_in_the_guide():
    assert set(re.findall(r"^`{0,2}((?:<engine>/|first_)[^`\s]+)`{0,2}$", GUIDE, re.MULTILINE)) == (
        files()
    )


def test_each_engine_is_in_the_guide():
    drivers = "\n".join(path.read_text() for path in sorted(ENGINES.glob("*.c")))
    engines = re.findall(r'^\t\.name = "(\w+)",', drivers, re.MULTILINE)
    assert len(engines) >= 2
    for engine in engines:
        assert f"\n{engine}\n\t" in GUIDE


def test_each_mode_of_the_test_engine_is_in_the_guide():
    text = (ENGINES / "test_engine.c").read_text()
    modes = re.findall(r'^\t\[TEST_\w+\] = "(\w+)",', text, re.MULTILINE)
    assert len(modes) == len(re.findall(r"^\tTEST_\w+,", text, re.MULTILINE))
    for mode in modes:
        assert f"``{mode}``" in GUIDE


def test_each_parameter_is_in_the_guide():
    for path in ENGINES.glob("*.c"):
        for name in re.findall(r"module_param_cb\((\w+),", path.read_text()):
            assert f"``{path.stem}.{name}``" in GUIDE
