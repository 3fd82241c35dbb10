# SPDX-License-Identifier: GPL-2.0
"""The operator's command for pghot: what memory tiering does on this machine, and what stops it."""

__version__ = "0.1.0"

#: Version of the JSON documents. It rises only when a field changes its meaning or goes away;
#: new fields may come without a new version.
SCHEMA = 1
