# SPDX-License-Identifier: GPL-2.0
"""What the host has and how to get the rest: packages, programs, QEMU."""
