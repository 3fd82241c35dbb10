# SPDX-License-Identifier: GPL-2.0
"""Modelled machines: their description, variations of it, and where QEMU puts their memory."""
