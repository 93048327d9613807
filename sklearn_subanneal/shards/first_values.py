"""FirstValues, the rows in which the values of the columns of a table occur first, from pieces of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sklearn_subanneal._core.arguments import shortened
from sklearn_subanneal.columns.few_levels import MOST_REPEATED

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
    some : pandas.Series or None
        If there are too many, and they are numbers: those by which it is known whether a type takes all of them, the
        least, the greatest, the first ones and the first that is no whole number. None: its values themselves.
    """

    gap: int | None
    n_gaps: int
    values: Any
    some: Any = None

    @property
    def known(self):
        """Its values, or some of them; None: they are not told apart."""
        return self.some if self.values is None else self.values


@dataclass(frozen=True, eq=False)
class FirstValues:
    """Of the columns of a piece of a table, in which rows are numbered from 0.

    Attributes
    ----------
    n_rows : int
    columns : list of FirstRows
    names : list
        Of the columns; in arrays their numbers.
    """

    n_rows: int
    columns: list[FirstRows]
    names: list

    @classmethod
    def of(cls, piece) -> FirstValues:
        """Of an array or a pandas DataFrame."""
        import pandas as pd

        frame = piece.reset_index(drop=True) if hasattr(piece, "iloc") else pd.DataFrame(piece)
        return cls(len(frame), [_of_column(frame.iloc[:, j]) for j in range(frame.shape[1])], list(frame.columns))

    @classmethod
    def joined(cls, pieces: Sequence[FirstValues]) -> FirstValues:
        """Of a table of pieces, one after the other.

        Raises
        ------
        ValueError
            If a piece has other columns than the first one, or the same in another order.
        """
        names = pieces[0].names
        for piece in pieces:
            if piece.names != names:
                raise ValueError(
                    "X must have the same columns in the same order in all its parts, and one that is not the first "
                    f"{other_columns(piece.names, names)}; make them the same"
                )
        starts = np.cumsum([0, *(piece.n_rows for piece in pieces)]).tolist()
        columns = zip(*(piece.columns for piece in pieces), strict=True)
        return cls(starts[-1], [_joined(parts, starts) for parts in columns], names)

    def without(self, known: FirstValues) -> FirstValues:
        """Those that some rows of the table lack, of which the other one is; where there are too many, some of them."""
        columns = [_without(own, other) for own, other in zip(self.columns, known.columns, strict=True)]
        return FirstValues(self.n_rows, columns, self.names)

    def rows(self) -> np.ndarray:
        """All of them, increasing, but for columns of too many values."""
        found = {own.gap for own in self.columns if own.gap is not None}
        for own in self.columns:
            found.update(() if own.values is None else own.values.index.tolist())
        return np.array(sorted(found), np.int64)


def _of_column(column) -> FirstRows:
    missing = column.isna().to_numpy()
    gap = int(missing.argmax()) if missing.any() else None
    return FirstRows(gap, int(missing.sum()), *_told_apart(column[~missing].drop_duplicates()))


def _joined(parts: Sequence[FirstRows], starts: list[int]) -> FirstRows:
    gap = next((start + own.gap for own, start in zip(parts, starts, strict=False) if own.gap is not None), None)
    n_gaps = sum(own.n_gaps for own in parts)
    pairs = [(own.known, start) for own, start in zip(parts, starts, strict=False)]
    if any(values is None for values, _ in pairs):
        return FirstRows(gap, n_gaps, None)
    values = _together([values.set_axis(values.index + start) for values, start in pairs]).drop_duplicates()
    if any(own.values is None for own in parts):
        return FirstRows(gap, n_gaps, None, _some(values))
    return FirstRows(gap, n_gaps, *_told_apart(values))


def _without(own: FirstRows, known: FirstRows) -> FirstRows:
    values = own.known
    # Those of some rows are not too many where those of all are not.
    if values is not None and known.known is not None:
        both = _together([known.known, values])
        values = both[len(known.known) :][~both.duplicated().to_numpy()[len(known.known) :]]
    return FirstRows(own.gap if known.gap is None else None, own.n_gaps, values)


def _together(parts: list):
    """Values of all parts; those without any have no say in the dtype."""
    import pandas as pd

    some = [values for values in parts if len(values)]
    return pd.concat(some) if some else parts[0]


def _told_apart(values) -> tuple:
    """The distinct values; or None and some of them, if they are too many to be those of categories."""
    if len(values) <= MOST_VALUES:
        return values, None
    kind = _kind(values)
    are_codes = kind not in "fmM" or (kind == "f" and bool((values % 1 == 0).all()))
    return (values, None) if are_codes and len(values) <= MOST_CATEGORIES else (None, _some(values))


def _some(values):
    """Of distinct numbers those that ``FirstRows.some`` has, so that those of parts lead to those of the table."""
    if _kind(values) not in "iuf":
        return None
    is_chosen = np.arange(len(values)) < MOST_REPEATED
    is_chosen[[values.argmin(), values.argmax()]] = True
    is_chosen[np.flatnonzero(values % 1 != 0)[:1]] = True
    return values[is_chosen]


def _kind(values) -> str:
    return getattr(values.dtype, "kind", "O")


def other_columns(names: Sequence, first: Sequence) -> str:
    """In what way the columns of a part of a table are not those of the first part."""
    pairs = (("lacks", first, set(names)), ("has in addition", names, set(first)))
    found = {word: [name for name in own if name not in others] for word, own, others in pairs}
    texts = [f"{word} {shortened(columns)}" for word, columns in found.items() if columns]
    return " and ".join(texts) if texts else f"has {shortened(list(names))} in place of {shortened(list(first))}"
