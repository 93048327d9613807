"""FirstValues, the rows in which the values of the columns of a table occur first, from pieces of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

# A column with more values than so many is no column of categories.
MOST_VALUES = 10_000


class FirstRows(NamedTuple):
    """Of one column.

    Attributes
    ----------
    gap : int or None
        The first row in which it is missing.
    values : dict or None
        The first row of each value; None: there are too many.
    """

    gap: int | None
    values: dict | None


@dataclass(frozen=True, eq=False)
class FirstValues:
    """Of the columns of a piece of a table, in which rows are numbered from 0.

    Attributes
    ----------
    n_rows : int
    columns : list of FirstRows
    """

    n_rows: int
    columns: list[FirstRows]

    @classmethod
    def of(cls, piece) -> FirstValues:
        """Of an array or a pandas DataFrame."""
        import pandas as pd

        frame = piece.reset_index(drop=True) if hasattr(piece, "iloc") else pd.DataFrame(piece)
        return cls(len(frame), [_of_column(frame.iloc[:, j]) for j in range(frame.shape[1])])

    @classmethod
    def joined(cls, pieces: Sequence[FirstValues]) -> FirstValues:
        """Of a table of pieces, one after the other."""
        starts = np.cumsum([0, *(piece.n_rows for piece in pieces)]).tolist()
        columns = zip(*(piece.columns for piece in pieces), strict=True)
        return cls(starts[-1], [_joined(parts, starts) for parts in columns])

    def rows(self) -> np.ndarray:
        """All of them, increasing."""
        found = {own.gap for own in self.columns if own.gap is not None}
        for own in self.columns:
            found.update(() if own.values is None else own.values.values())
        return np.array(sorted(found), np.int64)


def _of_column(column) -> FirstRows:
    missing = column.isna()
    gap = int(missing.to_numpy().argmax()) if missing.any() else None
    values = column[~missing].drop_duplicates()
    if len(values) > MOST_VALUES:
        return FirstRows(gap, None)
    return FirstRows(gap, {value: int(at) for at, value in values.items()})


def _joined(parts: Sequence[FirstRows], starts: list[int]) -> FirstRows:
    gap = next((start + own.gap for own, start in zip(parts, starts, strict=False) if own.gap is not None), None)
    values: dict = {}
    for own, start in zip(parts, starts, strict=False):
        if own.values is None:
            return FirstRows(gap, None)
        if start:
            values |= {value: start + at for value, at in own.values.items() if value not in values}
        else:
            values = dict(own.values)
        if len(values) > MOST_VALUES:
            return FirstRows(gap, None)
    return FirstRows(gap, values)
