# SPDX-License-Identifier: GPL-2.0
"""What the demonstration's program in the guest makes of its machine."""

import pytest

from lab.demo.inside.__main__ import DemoError, place
from pghot.tests import fakes
from pghot.tree import Tree


def test_redis_runs_on_the_last_socket_and_its_load_on_the_first(tmp_path):
    placement = place(Tree(str(fakes.cxl(tmp_path).root)))
    assert (placement.fast, placement.slow, placement.redis_node) == ([0, 1], 2, 1)
    assert (placement.redis_cpus, placement.load_cpus) == (list(range(16, 32)), [15])
    assert (placement.kernel, placement.layout) == ("7.3.4-test", "default")


def test_one_socket_is_shared(tmp_path):
    machine = fakes.cxl(tmp_path).remove(f"{fakes.NODES}/node1")
    tiers = "sys/devices/virtual/memory_tiering"
    machine.write(f"{tiers}/memory_tier4/nodelist", 0).write(f"{tiers}/memory_tier9/nodelist", "")
    placement = place(Tree(str(machine.root)))
    assert (placement.redis_node, placement.redis_cpus, placement.load_cpus) == (0, [15], [0])


@pytest.mark.parametrize("kind, why", [("stock_cxl", "without pghot"), ("cxl", "one memory tier")])
def test_machines_that_cannot_show_it(tmp_path, kind, why):
    machine = getattr(fakes, kind)(tmp_path)
    machine.remove("sys/devices/virtual/memory_tiering/memory_tier22")
    with pytest.raises(DemoError, match=why):
        place(Tree(str(machine.root)))
