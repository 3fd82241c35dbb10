# SPDX-License-Identifier: GPL-2.0
"""What goes wrong in a guest."""

from __future__ import annotations

from lab.errors import LabError

TAIL = 40
"""Lines of the kernel log shown with an error."""


class GuestError(LabError):
    """A guest that could not run on: panic, oops, hang, time-out, dead QEMU.

    ``reason`` is one line, ``log`` the whole kernel log, and str() the reason
    with the log's end.
    """

    def __init__(self, reason: str, log: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.log = log

    def __str__(self) -> str:
        tail = self.log.splitlines()[-TAIL:]
        if not tail:
            return self.reason
        return "\n".join([f"{self.reason}; the end of its log:", *(f"  {line}" for line in tail)])


class EmulatorError(GuestError):
    """The emulator failed, not the guest: another boot may go well."""
