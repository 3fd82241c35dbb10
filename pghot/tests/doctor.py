# SPDX-License-Identifier: GPL-2.0
"""What tests of `pghot doctor` share."""


def problems(verdicts: dict) -> dict:
    """All that is not ok."""
    return {check: verdict for check, verdict in verdicts.items() if verdict != "ok"}
