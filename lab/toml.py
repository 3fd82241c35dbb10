# SPDX-License-Identifier: GPL-2.0
"""TOML that people write: read and checked, with errors that name file, table and field."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, NoReturn, TypeVar, overload

from lab.errors import LabError

_T = TypeVar("_T")
_D = TypeVar("_D")
_REQUIRED: Any = object()


class Table:
    """A table whose fields are taken one by one.

    ``where`` begins each error: the file, and the tables around this one. ``known``
    names the fields it may have; None where they are names that people choose.
    What else it holds is refused at once, so that a misspelled field is not
    reported as a missing one. Without a default a field must be there.
    """

    def __init__(self, where: str, value: object, known: Collection[str] | None = None) -> None:
        self.where = where
        self._known = known
        names = "" if known is None else ", ".join(sorted(known))
        if not isinstance(value, dict):
            raise LabError(f"{where}: is not a table{names and f' of {names}'}")
        self._fields: dict[str, Any] = value
        for field in value:
            if known is not None and field not in known:
                self.fail(field, f"unknown field, known are {names}")

    def __iter__(self) -> Iterator[str]:
        return iter(self._fields)

    def __contains__(self, field: str) -> bool:
        return field in self._fields

    def fail(self, field: str, problem: str) -> NoReturn:
        """Raise LabError about a field."""
        raise LabError(f"{self.where}: {field}: {problem}")

    def value(self, field: str, default: Any = _REQUIRED) -> Any:
        """A field as it is, of any kind."""
        assert self._known is None or field in self._known, field
        found = self._fields.get(field, default)
        if found is _REQUIRED:
            self.fail(field, "is missing: add it")
        return found

    @overload
    def take(self, field: str, kind: type[_T]) -> _T: ...

    @overload
    def take(self, field: str, kind: type[_T], default: _D) -> _T | _D: ...

    def take(self, field: str, kind: type, default: Any = _REQUIRED) -> Any:
        """A field of this kind, or the default where it is not there."""
        found = self.value(field, default)
        if field in self and type(found) is not kind:
            self.fail(field, f"{found!r} is not of type {kind.__name__}")
        return found

    def integer(self, field: str, low: int, high: int, default: int = _REQUIRED) -> int:
        """A whole number from ``low`` to ``high``."""
        return self._integer(field, self.value(field, default), low, high)

    def number(self, field: str, low: float, high: float, default: float = _REQUIRED) -> float:
        """A number with a point, from ``low`` to ``high``."""
        found = self.take(field, float, default)
        if not low <= found <= high:
            self.fail(field, f"{found} is not from {low:g} to {high:g}")
        return found

    def choice(self, field: str, options: Collection[str]) -> str:
        """One of these words."""
        found = self.value(field)
        if found not in options:
            self.fail(field, f"{found!r} is none of {', '.join(options)}")
        return found

    def words(self, field: str, default: Collection[str] = _REQUIRED) -> tuple[str, ...]:
        """A list of words."""
        found = self.value(field, default)
        if field in self:
            self.take(field, list)
        if not all(isinstance(word, str) for word in found):
            self.fail(field, "is not a list of words")
        return tuple(found)

    def matrix(
        self, field: str, rows: int, columns: int, low: int, high: int
    ) -> tuple[tuple[int, ...], ...]:
        """Rows of whole numbers from ``low`` to ``high``."""
        found = self.value(field)
        if (
            not isinstance(found, list)
            or len(found) != rows
            or not all(isinstance(row, list) and len(row) == columns for row in found)
        ):
            self.fail(field, f"is not {rows} rows of {columns} numbers")
        return tuple(
            tuple(
                self._integer(f"{field}[{i}][{j}]", cell, low, high) for j, cell in enumerate(row)
            )
            for i, row in enumerate(found)
        )

    def table(self, field: str, known: Collection[str] | None = None) -> Table:
        """A table in this one."""
        return Table(f"{self.where}: {field}", self.value(field), known)

    def tables(self, field: str, known: Collection[str], first: int = 0) -> list[Table]:
        """A list of tables, none where the field is not there. Errors count from ``first``."""
        found = self.value(field, [])
        if not isinstance(found, list):
            self.fail(field, f"{found!r} is not a list of tables")
        return [
            Table(f"{self.where}: {field} {number}", value, known)
            for number, value in enumerate(found, first)
        ]

    def _integer(self, field: str, value: object, low: int, high: int) -> int:
        # True and false are integers too, for Python.
        if type(value) is not int or not low <= value <= high:
            self.fail(field, f"{value!r} is not an integer from {low} to {high}")
        return value


def parse(text: str, where: str, known: Collection[str] | None = None) -> Table:
    """The table that ``text`` is; errors name ``where``, and line and column."""
    try:
        fields = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise LabError(f"{where}: {error}: mend it") from error
    return Table(where, fields, known)


def read(path: Path, known: Collection[str] | None = None, where: str | None = None) -> Table:
    """The table that a file holds; errors name ``where``, by default the file's name."""
    where = where or path.name
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise LabError(f"cannot read {path}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise LabError(f"{where}: is not UTF-8 (byte {error.start}): mend it") from error
    return parse(text, where, known)
