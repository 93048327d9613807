"""MergedCells: the ranges of a sheet that its author merged into one cell, and the cells of a table filled by them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sklearn_subanneal.files.sheet_archive import sheet_blocks

if TYPE_CHECKING:
    import pandas as pd

_RANGE = re.compile(rb"""<(?:\w+:)?mergeCell\s[^>]*?ref=["']([A-Z]+)([0-9]+):([A-Z]+)([0-9]+)["']""")
# In the file of a sheet, merged cells are told behind all others.
_BEHIND = b"</sheetData>"


@dataclass(frozen=True)
class MergedCells:
    """A range of merged cells, of which the first has the value; rows and columns count from 0.

    Attributes
    ----------
    top, left, bottom, right : int
    """

    top: int
    left: int
    bottom: int
    right: int


def merged_cells(content: bytes, sheet: str) -> list[MergedCells]:
    """The merged cells of a sheet of an xlsx file; none if the file does not say where its sheets are.

    The reader of pandas leaves them out, since it keeps no more than a row of cells at a time.

    Parameters
    ----------
    content : bytes
    sheet : str
        Its name.
    """
    tail = b""
    for block in sheet_blocks(content, sheet):
        tail += block
        at = tail.find(_BEHIND)
        tail = tail[at if at >= 0 else -len(_BEHIND) :]
    return [
        MergedCells(int(top) - 1, _column(left), int(bottom) - 1, _column(right))
        for left, top, right, bottom in _RANGE.findall(tail)
    ]


def filled_down(cells: pd.DataFrame, ranges: Iterable[MergedCells], notes: list[str]) -> pd.DataFrame:
    """Cells in which each row of merged cells has their value, in their first column.

    Beside the first, a value would come into columns to which it does not belong, as that of a remark over a row.
    """
    values, gaps, count = cells.to_numpy(object), cells.isna().to_numpy(), 0
    for own in ranges:
        if own.bottom > own.top and own.top < len(values) and own.left < values.shape[1]:
            rows = np.arange(own.top + 1, min(own.bottom + 1, len(values)))
            rows = rows[gaps[rows, own.left]]
            if len(rows) and not gaps[own.top, own.left]:
                values[rows, own.left] = values[own.top, own.left]
                count += 1
    if not count:
        return cells
    notes.append(f"the value of merged cells, of which there are {count}, is that of each of their rows")
    return type(cells)(values, cells.index, cells.columns, dtype=object)


def filled_along(names: pd.Series, ranges: Iterable[MergedCells], notes: list[str]) -> pd.Series:
    """A row of names, labelled by their columns, in which merged cells name each of these."""
    out, names_of = names.copy(), [own for own in ranges if own.top <= names.name <= own.bottom]
    for own in names_of:
        columns = [at for at in names.index if own.left < at <= own.right and names[at] != names[at]]
        if own.left in names.index and columns:
            out[columns] = names[own.left]
    if not out.equals(names):
        notes.append("names in merged cells are those of each of their columns")
    return out


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + letter - ord("A") + 1
    return number - 1
