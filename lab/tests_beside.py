# SPDX-License-Identifier: GPL-2.0
"""A plugin of pytest-xdist's: one process more than CPUs, for what fills their gaps.

Guests wait now and then, for time to pass or for each other, and a CPU of the host with
them. What is compiled, checked and tested without a guest or a clock does not mind to be
given just these gaps. Files of guests' tests run one per CPU, as without this.
"""

from __future__ import annotations

import os

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

PATIENT = (
    "lab/tests/test_kernel_steps.py",
    "lab/tests/test_kernel_checks.py",
    "harness/tests/test_unit.py",
    "harness/tests/test_property.py",
)
"""Files that take long and ask for no guest and no time, the longest first."""

_NICE = 10
"""As nice(1) has it: a tenth of a CPU where guests want both."""


def pytest_configure(config: pytest.Config) -> None:
    """Give way, in the last process."""
    told = getattr(config, "workerinput", None)
    if told and told["workerid"] == _last(told["workercount"]):
        os.nice(_NICE)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling:
    """Say which process gets which file."""
    return Beside(config, log)


def _last(count: int) -> str:
    return f"gw{count - 1}"


class Beside(LoadFileScheduling):
    """Files in the order in which they are collected, but the last process gets patient ones
    only, and the others get these only when there is nothing else."""

    def _suits(self, node: WorkerController) -> list[str]:
        """Files that a process may be given, the best first."""
        patient = [name for name in PATIENT if name in self.workqueue]
        if node.gateway.id == _last(self.numnodes):
            return patient
        return [name for name in self.workqueue if name not in PATIENT] + patient

    def _assign_work_unit(self, node: WorkerController) -> None:
        # Where there are few files each process gets one to begin with.
        if suits := self._suits(node):
            self.workqueue.move_to_end(suits[0], last=False)
        super()._assign_work_unit(node)

    def _reschedule(self, node: WorkerController) -> None:
        if self.workqueue and not self._suits(node):
            if not node.shutting_down:
                node.shutdown()
            return
        super()._reschedule(node)
