# SPDX-License-Identifier: GPL-2.0
"""``make bench``: every experiment with every contender, in guest time (docs/bench.md)."""
