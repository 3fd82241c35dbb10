# SPDX-License-Identifier: GPL-2.0
"""Plain-text tables and numbers; no library, so that the command starts fast on a bare server."""


def count(value: int | None) -> str:
    """An integer with its thousands apart; "?" when it could not be read."""
    return "?" if value is None else f"{value:,}"


def size(value: int | None) -> str:
    """Bytes in the largest binary unit that leaves at least 1."""
    if value is None:
        return "?"
    amount = float(value)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if abs(amount) < 1024 or unit == "TiB":
            break
        amount /= 1024
    return f"{amount:.0f} {unit}" if amount >= 100 or unit == "B" else f"{amount:.1f} {unit}"


def rate(value: float | None) -> str:
    """Events per second."""
    if value is None:
        return "?"
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}"


def percent(value: float | None) -> str:
    """A share of 0 to 1."""
    return "-" if value is None else f"{value * 100:.1f}%"


def switch(value: bool | None) -> str:
    """on, off or "?" when it could not be read."""
    return "?" if value is None else "on" if value else "off"


def listed(names: list[str]) -> str:
    """Names in a sentence: "a, b and c"."""
    return " and ".join(part for part in (", ".join(names[:-1]), *names[-1:]) if part)


def table(
    header: str, rows: list[list[str]], indent: str = "  ", width: int | None = None
) -> list[str]:
    """Aligned lines. `header` names the columns; a name that ends in ">" is aligned right. With
    `width` the last column wraps, so that no line is longer."""
    names = header.split()
    right = [name.endswith(">") for name in names]
    cells = [[name.rstrip(">").replace("_", " ") for name in names], *rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(names))]
    if width is not None:
        left = len(indent) + sum(widths[:-1]) + 2 * (len(names) - 1)
        cells = [line for row in cells for line in _in_lines(row, max(width - left, 1))]
        widths[-1] = max(len(row[-1]) for row in cells)
    return [
        indent
        + "  ".join(
            cell.rjust(width) if is_right else cell.ljust(width)
            for cell, width, is_right in zip(row, widths, right, strict=True)
        ).rstrip()
        for row in cells
    ]


def _in_lines(row: list[str], width: int) -> list[list[str]]:
    """A row as several, so that its last cell is at most so wide, or one word."""
    import textwrap

    parts = textwrap.wrap(row[-1], width, break_long_words=False, break_on_hyphens=False) or [""]
    before = [row[:-1], *[[""] * (len(row) - 1)] * (len(parts) - 1)]
    return [[*cells, part] for cells, part in zip(before, parts, strict=True)]


def wrap(text: str, width: int, indent: str, first: str | None = None) -> list[str]:
    """`text` in lines of at most `width` characters, each after `indent`, or after `first` in
    the first line."""
    import textwrap

    return textwrap.wrap(
        text,
        width,
        initial_indent=indent if first is None else first,
        subsequent_indent=indent,
        break_on_hyphens=False,
    )
