# SPDX-License-Identifier: GPL-2.0
"""The demonstration's part inside the guest. Standard library only: it runs in
the guest's own Python, outside of the lab's environment."""
