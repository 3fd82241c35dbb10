# SPDX-License-Identifier: GPL-2.0
"""The one place that makes JSON documents of what the command found."""

from typing import Any, NamedTuple

from pghot import SCHEMA, __version__


def _plain(value: Any) -> Any:
    """The same in plain JSON types; a NamedTuple becomes an object."""
    as_dict = getattr(value, "_asdict", None)
    if as_dict is not None:
        return {name: _plain(part) for name, part in as_dict().items()}
    if isinstance(value, list):
        return [_plain(part) for part in value]
    return value


def document(content: NamedTuple) -> dict[str, Any]:
    """What `--json` prints: the versions, then the fields of `content` in their order."""
    return {"schema": SCHEMA, "tool": __version__, **_plain(content)}
