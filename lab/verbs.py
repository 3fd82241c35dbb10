# SPDX-License-Identifier: GPL-2.0
"""What a module's add_parser() registers its verbs with."""

from __future__ import annotations

import argparse
from typing import TypeAlias

Verbs: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
