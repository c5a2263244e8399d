"""Tables as text, with the rules of the Python MASE's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def _widths(rows: list[list[list[str]]], headings: Sequence[str]) -> list[int]:
    # Two columns more than a heading needs, as the original's tables have them.
    return [max(len(heading) + 2, *(len(line) for row in rows for line in row[at])) for at, heading in enumerate(headings)]


def _lines(row: list[list[str]], widths: list[int], numbers: Sequence[bool]) -> list[str]:
    filled = [cell + [""] * (max(map(len, row)) - len(cell)) for cell in row]
    aligned = [str.rjust if is_number else str.ljust for is_number in numbers]
    return ["| " + " | ".join(put(line, width) for put, line, width in zip(aligned, parts, widths)) + " |" for parts in zip(*filled)]


def _cells(headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> tuple[list[list[list[str]]], list[bool]]:
    numbers = [all(type(row[at]) is int for row in rows) for at in range(len(headings))]
    return [[str(value).splitlines() or [""] for value in row] for row in [headings, *rows]], numbers


def grid(headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table with rules between its rows, whose cells may have several lines. Columns of whole numbers are aligned right."""
    cells, numbers = _cells(headings, rows)
    widths = _widths(cells, headings)
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    first, *others = cells
    body = [part for row in others for part in [*_lines(row, widths, numbers), rule]]
    return "\n".join([rule, *_lines(first, widths, numbers), rule.replace("-", "="), *body])


def plain(headings: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table with one rule, beneath its headings."""
    cells, numbers = _cells(headings, rows)
    widths = _widths(cells, headings)
    rule = "|" + "+".join("-" * (width + 2) for width in widths) + "|"
    first, *others = cells
    return "\n".join([*_lines(first, widths, numbers), rule, *(line for row in others for line in _lines(row, widths, numbers))])
