"""Reading of strings that spell numbers: "3.5", "1,200", "12 %", "$4.99"."""

from __future__ import annotations

import re
import sys
from dataclasses import replace

import numpy as np

from sklearn_subanneal._core.arguments import shortened
from sklearn_subanneal.tables.cells import Cells
from sklearn_subanneal.tables.value_order import is_number

_CURRENCY = r"(?:[$€£¥]|USD|EUR|GBP)"
# A number does not begin with 0 and another digit: "01067" is a postcode.
_DIGITS = r"(?:(?:0|[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d*)(?:\.\d*)?|\.\d+)"
_NUMERAL = re.compile(
    rf"\s*(?P<sign>[+-]?)\s*(?:{_CURRENCY}\s*)?(?P<number>{_DIGITS}(?:[eE][+-]?\d+)?)\s*(?:%|{_CURRENCY})?\s*"
)


def parse_number(text: str) -> float | None:
    """The number that a string spells, or None.

    A sign, commas between thousands, a decimal point, an exponent, a currency and a percent sign are read; 12 % is 12.

    Examples
    --------
    >>> from sklearn_subanneal.tables.numerals import parse_number
    >>> parse_number("-1,200.50"), parse_number("12 %"), parse_number("$4"), parse_number("01067"), parse_number("1,2")
    (-1200.5, 12.0, 4.0, None, None)
    """
    match = _NUMERAL.fullmatch(text)
    if match is None:
        return None
    number = float(match["sign"] + match["number"].replace(",", ""))
    return number if np.isfinite(number) else None


def numeric_cells(cells: Cells, marks: tuple[str, ...] | None = None) -> tuple[Cells, tuple[str, ...]]:
    """The cells of a column of strings as the numbers that they spell.

    Parameters
    ----------
    cells : Cells
        The column. Cells that are numbers already stay as they are.
    marks : tuple of str or None
        The strings that mean a missing cell; None: all that spell no number.

    Returns
    -------
    cells : Cells
        With float64 values.
    marks : tuple of str
        The strings that were read as missing cells.

    Raises
    ------
    ValueError
        If a string neither spells a number nor is one of ``marks``.
    """
    if cells.codes is None:
        return cells, ()
    numbers, found = np.full(len(cells.values) + 1, np.nan), []
    for code, value in enumerate(cells.values):
        number = parse_number(value) if isinstance(value, str) else value
        if number is None:
            if marks is not None and value not in marks:
                raise ValueError(
                    f"Column {cells.name!r} holds the numbers that its strings spell, but {value!r} spells none: "
                    "correct the cell, or mark it as missing."
                )
            found.append(value)
        elif not is_number(number) or abs(number) > sys.float_info.max:
            raise ValueError(
                f"Column {cells.name!r} holds the numbers that its strings spell, but {shortened(value)} of type "
                f"{type(value).__name__} is none in the range of floating point: convert it to a number."
            )
        else:
            numbers[code] = number
    # Numbers come back as numbers: polars and pandas spell their dtype differently.
    dtype = "Float64" if cells.dtype[0].isupper() else "float64"
    return replace(cells, dtype=dtype, values=numbers[cells.codes], codes=None), tuple(found)
