# SPDX-License-Identifier: GPL-2.0
"""Runs on the modelled machine, where each access costs what its tier costs.

``measure(Run(...))`` boots a guest from memory, runs one workload, and returns what
it took in guest time, the same on every host: docs/lab.md.
"""

from lab.measure.run import Result, Run, measure, stop_all

__all__ = ["Result", "Run", "measure", "stop_all"]
