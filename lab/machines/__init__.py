# SPDX-License-Identifier: GPL-2.0
"""Modelled machines: their description, variations of it, and where QEMU puts their memory."""

from lab.machines.description import load, names, parse
from lab.machines.host import check_host
from lab.machines.machine import Dma, Interrupts, Machine, Model, Node, Tlb
from lab.machines.options import qemu_args

__all__ = [
    "Dma",
    "Interrupts",
    "Machine",
    "Model",
    "Node",
    "Tlb",
    "check_host",
    "load",
    "names",
    "parse",
    "qemu_args",
]
