# SPDX-License-Identifier: GPL-2.0
"""The one exception type that reaches the user."""


class LabError(Exception):
    """A failure the user can act on.

    ``str(error)`` is one line that says what is wrong and what to do. The
    command line prints it to stderr and exits with status 1.
    """

    def __str__(self) -> str:
        return " ".join(super().__str__().split())
