# SPDX-License-Identifier: GPL-2.0
"""When pages arrive, next to the stock kernel."""
