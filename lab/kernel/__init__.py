# SPDX-License-Identifier: GPL-2.0
"""The kernel tree: source, overlay and hooks, builds, series, checks."""
