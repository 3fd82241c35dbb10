# SPDX-License-Identifier: GPL-2.0
"""The lab: builds kernels, starts modelled machines, runs experiments."""
