# SPDX-License-Identifier: GPL-2.0
"""lab/measure/outcome.py: how a measured run ended."""

import json
from dataclasses import replace

import pytest

from lab import machines
from lab.host.process import Process
from lab.machines import addresses
from lab.measure import Run, outcome


@pytest.mark.parametrize(
    "guest, model, agree",
    [
        (2.0, 2.0, True),
        (2.00004, 2.0, True),
        (2.00006, 2.0, False),
        # An interrupt came between the mark and the reading of the clock.
        (2.318026, 2.318081, True),
        # The kernel scanned 52 MiB at the end of that interrupt.
        (1.444479, 1.446225, True),
        (2.0, 2.0049, True),
        (2.0, 2.0051, False),
    ],
)
def test_clocks(guest, model, agree):
    assert outcome.clocks_agree(guest, model) == agree


@pytest.mark.parametrize(
    "script, limit, said",
    [
        ("exit 0", 30, None),
        (
            "echo memsim: no such file; echo could not load the plugin; exit 1",
            30,
            "QEMU ended with status 1: memsim: no such file",
        ),
        ("exit 3", 30, "QEMU ended with status 3: it said nothing"),
        (
            "echo '[    1.000000] Kernel panic - not syncing: x' >console; sleep 1000",
            30,
            "the guest's kernel reported: Kernel panic - not syncing: x",
        ),
        ("sleep 1000", 0.3, "the guest did not end within 0.3 s of the host's time"),
    ],
)
def test_how_qemu_ended(tmp_path, script, limit, said):
    with open(tmp_path / "qemu", "wb") as output:
        process = Process(["sh", "-c", f"cd {tmp_path}; {script}"], output)
    assert outcome.wait(process, tmp_path, limit) == said
    assert process.status is not None


def answered(work, machine, **more):
    """What a guest of this machine leaves behind, with some of it changed."""
    blocks = addresses.blocks(addresses.ranges(machine))
    sections = {
        "blocks": "".join(f"{node} {one}\n" for node in blocks for one in blocks[node]),
        "status": "0\n",
        "out": '{"verified": true, "seconds": 2.0, "score": 7}\n',
        "vmstat.begin": "pgpromote_success 1\n",
        "vmstat.end": "pgpromote_success 4\n",
        "end": "",
        **more,
    }
    text = "".join(f"@@{name}\n{said}" for name, said in sections.items() if said is not None)
    (work / "answer").write_text(text, encoding="utf-8")
    kernel = {"instructions": 10**9, "ns": 5 * 10**8}
    model = {"seconds": 2.0, "cpus": [{"kernel": kernel}], "host": {}}
    (work / "model.json").write_text(json.dumps(model), encoding="utf-8")


def test_what_is_collected(tmp_path):
    machine = machines.load("small")
    answered(tmp_path, machine)
    (tmp_path / "pages").write_text("10 1\n", encoding="utf-8")
    run = Run("small", "stock", ("random",))
    result = outcome.collect(run, machine, tmp_path)
    assert result.error is None
    assert (result.seconds, result.kernel_seconds, result.score) == (2.0, 1.5, 7)
    assert result.vmstat == {"pgpromote_success": 3}
    assert "host" not in result.model and result.pages is None
    counted = outcome.collect(replace(run, count_pages=True), machine, tmp_path)
    assert counted.pages == "10 1\n"


@pytest.mark.parametrize(
    "more, error",
    [
        ({"problem": "set-up failed: x\n"}, "set-up failed: x"),
        ({"end": None}, "the guest powered off before the workload ended"),
        (
            {"vmstat.end": "pgpromote_success\n"},
            "the guest's /proc/vmstat holds lines that are no counter",
        ),
        ({"blocks": "0 0\n"}, "the guest's memory is not where the model takes it to be"),
        ({"status": "2\n", "err": "a\nb\n", "out": ""}, "the workload failed with status 2: b"),
        (
            {"status": "1\n", "out": '{"error": "why"}\n'},
            "the workload failed with status 1: why",
        ),
        ({"out": "{}\n"}, "the workload did not verify its data"),
        ({"out": "7\n"}, "the workload did not verify its data"),
        (
            {"status": "1\n", "err": "why\n", "out": "[]\n"},
            "the workload failed with status 1: why",
        ),
        ({"hog": "null\n"}, "what was to keep the other CPUs busy did not say what it got done"),
        ({"hog": "\n"}, "what was to keep the other CPUs busy did not say what it got done"),
        ({"hog": "no\n"}, "what was to keep the other CPUs busy did not say what it got done"),
        (
            {"out": '{"verified": true, "seconds": 1.5}\n'},
            "the guest's clock says 1.500000 s and the model 2.000000 s: the model's clocks "
            "came apart",
        ),
    ],
)
def test_what_is_wrong_with_an_answer(tmp_path, more, error):
    machine = machines.load("small")
    answered(tmp_path, machine, **more)
    assert outcome.collect(Run("small", "stock", ("random",)), machine, tmp_path).error == error


def test_a_run_without_a_measured_part(tmp_path):
    machine = machines.load("small")
    answered(tmp_path, machine)
    (tmp_path / "model.json").unlink()
    result = outcome.collect(Run("small", "stock", ("random",)), machine, tmp_path)
    assert result.error == "the workload had no measured part"


def test_what_others_got_done(tmp_path):
    machine = machines.load("small")
    # Not by its own time, which lasts longer than the measured part.
    said = '{"hog":{"instructions":3000000000,"seconds":2.05,"cpus":2}}'
    answered(tmp_path, machine, hog=said + "\n")
    result = outcome.collect(Run("small", "stock", ("random",)), machine, tmp_path)
    assert result.error is None and result.hog_rate == 1.5e9
    assert result.hog_idle_rate is None
    answered(tmp_path, machine)
    assert outcome.collect(Run("small", "stock", ("random",)), machine, tmp_path).hog_rate is None


@pytest.mark.parametrize(
    "cpus, did, idle_cpus, idle_did, rates",
    [
        (2, 3000000000, 1, 750000000, (1.5e9, 3.75e8)),
        # All CPUs are the workload's, which leaves nothing.
        (0, 0, 4, 0, (None, 0)),
        (2, 0, 1, 750000000, None),
        (0, 0, 0, 0, None),
    ],
)
def test_what_the_workload_leaves_is_counted_by_itself(
    tmp_path, cpus, did, idle_cpus, idle_did, rates
):
    machine = machines.load("small")
    said = {"instructions": did, "seconds": 2.05, "cpus": cpus}
    said |= {"idle_instructions": idle_did, "idle_cpus": idle_cpus}
    answered(tmp_path, machine, hog=json.dumps({"hog": said}) + "\n")
    result = outcome.collect(Run("small", "stock", ("random",)), machine, tmp_path)
    if rates:
        assert result.error is None and (result.hog_rate, result.hog_idle_rate) == rates
    else:
        assert result.error and "did not say what it got done" in result.error
