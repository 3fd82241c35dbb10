# SPDX-License-Identifier: GPL-2.0
"""What tests of the lab share."""

import os

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Several processes begin with what takes long, so that none is left with it at the end."""
    if hasattr(config, "workerinput"):
        marks = ("long", "kernel", "vm")
        items.sort(key=lambda item: [not item.get_closest_marker(mark) for mark in marks])


@pytest.fixture(scope="session")
def stock_kernel():
    """The kernel without pghot."""
    from lab.kernel import build

    return build.ensure("stock")


@pytest.fixture(scope="session")
def kernel():
    """The kernel under test: pghot's, with the kernel's own checks in debug runs."""
    from lab.kernel import build

    return build.ensure("debug" if os.environ.get("PGHOT_DEBUG") else "pghot")
