# SPDX-License-Identifier: GPL-2.0
"""The doctor's checks, in the order of the report.

Each takes a Status and gives a Finding, or None when the question does not arise on this machine.
To add one: write the function in the module of its subject, and name it in CHECKS. The name of the
function is the id of the check.
"""

from collections.abc import Callable

from pghot.checks_engines import copy_engines, engine_failures, test_engine
from pghot.checks_flow import (
    delayed_pages,
    dropped_pages,
    hint_faults,
    hotness_units,
    numa_balancing,
    refused_pages,
    sources,
)
from pghot.checks_memory import demotion, hmat, memory_tiers, room
from pghot.checks_pghot import boot_option, enabled, kernel, kmigrated, rate_limit
from pghot.findings import Finding
from pghot.status import Status

CHECKS: tuple[Callable[[Status], Finding | None], ...] = (
    kernel,
    boot_option,
    enabled,
    memory_tiers,
    hmat,
    numa_balancing,
    hint_faults,
    sources,
    hotness_units,
    demotion,
    room,
    rate_limit,
    kmigrated,
    dropped_pages,
    delayed_pages,
    refused_pages,
    test_engine,
    copy_engines,
    engine_failures,
)
