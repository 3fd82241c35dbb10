# SPDX-License-Identifier: GPL-2.0
"""Lets `python3 -m pghot` run the command."""

import sys

from pghot.cli import entry

sys.exit(entry())
