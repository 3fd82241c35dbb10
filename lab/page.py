# SPDX-License-Identifier: GPL-2.0
"""Pages of HTML that need nothing else: one look for all, on white and on black.

A template begins with ``{% extends "page.html" %}``, lab/page.html, and fills its blocks.
"""

from __future__ import annotations

from pathlib import Path

from jinja2 import ChoiceLoader, Environment, FileSystemLoader, StrictUndefined

_HERE = Path(__file__).resolve().parent


def render(template: Path, **values: object) -> str:
    """The page that a template file makes of these values."""
    # By its own name first: the one of this directory is what it extends.
    loader = ChoiceLoader([FileSystemLoader(template.parent), FileSystemLoader(_HERE)])
    environment = Environment(
        loader=loader,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template.name).render(**values)
