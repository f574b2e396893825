"""A table as lines of text with its columns one below the other, for channels that have no tables."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import combining, east_asian_width

COLUMN_WIDTH_MAX = 40
"""A cell wider than this pushes its own line out, instead of every other line."""


def aligned(rows: Sequence[Sequence[str]]) -> str:
    """The rows below each other, with a line of dashes under the first."""
    if not rows:
        return ""
    widths = [
        min(COLUMN_WIDTH_MAX, max(_width(row[column]) for row in rows if column < len(row)))
        for column in range(len(rows[0]))
    ]
    dashes = "-+-".join("-" * width for width in widths)
    lines = [" | ".join(_padded(cell, width) for cell, width in zip(row, widths, strict=False)) for row in rows]
    return "\n".join(line.rstrip() for line in (lines[0], dashes, *lines[1:]))


def _padded(cell: str, width: int) -> str:
    return cell + " " * (width - _width(cell))


def _width(cell: str) -> int:
    if cell.isascii():
        return len(cell)
    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in cell)
