# SPDX-License-Identifier: GPL-2.0
"""lab/measure/plugin.py: what the memory model is told, and what it refuses."""

import subprocess

import pytest

from lab import machines
from lab.errors import LabError
from lab.measure import plugin
from lab.tests.test_machines import GOOD


def test_the_model_is_told_of_every_path(tmp_path):
    text = plugin.config(machines.parse(GOOD)["m"], tmp_path / "out", timeline_ms=5)
    lines = text.splitlines()
    assert f"output {tmp_path / 'out'}" in lines
    assert "timeline_ms 5" in lines
    assert "llc 2097152 8 12 28" in lines
    assert "tlb 64 1536 12 3 10" in lines
    assert "ipi 250 250" in lines
    assert [line for line in lines if line.startswith("cpu ")] == ["cpu 0 0", "cpu 1 0", "cpu 2 1"]
    # 1000 MiB/s for 16 CPUs are 66 * 10^6 bytes a second for one.
    assert "node 0 66 0" in lines and "node 2 13 1" in lines
    assert "path 0 1 140 33" in lines and "path 1 2 300 13" in lines
    assert "range 0x100000000 0x140000000 2" in lines


def test_a_machine_without_a_model(tmp_path):
    with pytest.raises(LabError, match="machine three-node has no model"):
        plugin.config(machines.load("three-node"), tmp_path)


_NOT_QEMU = r"""
#include <dlfcn.h>
#include <stdio.h>
#include "api.h"

__thread void *current_cpu;

int main(int argc, char **argv)
{
	struct plugin_info info = { .target = "x86_64", .version = { 4, 4 } };
	void *model = dlopen(argv[1], RTLD_LAZY);
	int (*install)(plugin_id, const struct plugin_info *, int, char **);

	if (!model)
		return puts(dlerror()), 2;
	*(void **)&install = dlsym(model, "qemu_plugin_install");
	return install(1, &info, argc - 2, argv + 2);
}
"""


def test_the_model_refuses_a_program_that_is_not_its_qemu(tmp_path):
    source, program = tmp_path / "other.c", tmp_path / "other"
    source.write_text(_NOT_QEMU, encoding="utf-8")
    subprocess.run(
        ["cc", f"-I{plugin.SOURCE}", "-rdynamic", "-o", program, source, "-ldl"], check=True
    )
    config = tmp_path / "config"
    config.write_text(plugin.config(machines.load("small"), tmp_path / "out"), encoding="utf-8")

    def said(*options):
        done = subprocess.run(
            [program, plugin.build().plugin, *options], capture_output=True, text=True, check=False
        )
        assert done.returncode == 1
        return done.stderr

    assert said(f"config={config}") == (
        "memsim: QEMU 10.0 is needed, with its symbols exported as Debian builds it "
        "(plugin API 4; this one has 4)\n"
    )
    assert said() == "memsim: needs one argument, config=FILE\n"
    assert said("config=/no/file") == "memsim: /no/file: No such file or directory\n"
