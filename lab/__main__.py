# SPDX-License-Identifier: GPL-2.0
"""Entry point of ``python -m lab``."""

import sys

from lab.cli import main

sys.exit(main())
