# SPDX-License-Identifier: GPL-2.0
"""What tests of the lab share."""

import os

import pytest


def pytest_configure(config):
    config.addinivalue_line("markers", "vm: boots a guest, which takes seconds to minutes")


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
