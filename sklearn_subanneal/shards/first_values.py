"""FirstValues, the rows in which the values of the columns of a table occur first, from pieces of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

# A column of fractions, or of dates, with more values than so many is no column of categories. Whole numbers and
# strings may be codes; more of them than the other number are not told apart.
MOST_VALUES, MOST_CATEGORIES = 10_000, 100_000


class FirstRows(NamedTuple):
    """Of one column.

    Attributes
    ----------
    gap : int or None
        The first row in which it is missing.
    n_gaps : int
        In how many it is.
    values : pandas.Series or None
        Its values, in the order in which they occur first, and these rows as the index; None: there are too many.
    """

    gap: int | None
    n_gaps: int
    values: Any


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

    def without(self, known: FirstValues) -> FirstValues:
        """Those that some rows of the table lack, of which the other one is."""
        return FirstValues(
            self.n_rows, [_without(own, other) for own, other in zip(self.columns, known.columns, strict=True)]
        )

    def rows(self) -> np.ndarray:
        """All of them, increasing."""
        found = {own.gap for own in self.columns if own.gap is not None}
        for own in self.columns:
            found.update(() if own.values is None else own.values.index.tolist())
        return np.array(sorted(found), np.int64)


def _of_column(column) -> FirstRows:
    missing = column.isna().to_numpy()
    gap = int(missing.argmax()) if missing.any() else None
    return FirstRows(gap, int(missing.sum()), _if_few(column[~missing].drop_duplicates()))


def _joined(parts: Sequence[FirstRows], starts: list[int]) -> FirstRows:
    gap = next((start + own.gap for own, start in zip(parts, starts, strict=False) if own.gap is not None), None)
    n_gaps = sum(own.n_gaps for own in parts)
    if any(own.values is None for own in parts):
        return FirstRows(gap, n_gaps, None)
    shifted = [own.values.set_axis(own.values.index + start) for own, start in zip(parts, starts, strict=False)]
    return FirstRows(gap, n_gaps, _if_few(_together(shifted).drop_duplicates()))


def _without(own: FirstRows, known: FirstRows) -> FirstRows:
    values = own.values
    # Those of some rows are not too many where those of all are not.
    if values is not None and known.values is not None:
        both = _together([known.values, values])
        values = both[len(known.values) :][~both.duplicated().to_numpy()[len(known.values) :]]
    return FirstRows(own.gap if known.gap is None else None, own.n_gaps, values)


def _together(parts: list):
    """Values of all parts; those without any have no say in the dtype."""
    import pandas as pd

    some = [values for values in parts if len(values)]
    return pd.concat(some) if some else parts[0]


def _if_few(values):
    """The distinct values, or None if they are too many to be those of categories."""
    if len(values) <= MOST_VALUES:
        return values
    kind = getattr(values.dtype, "kind", "O")
    are_codes = kind not in "fmM" or (kind == "f" and bool((values % 1 == 0).all()))
    return values if are_codes and len(values) <= MOST_CATEGORIES else None
