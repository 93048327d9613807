"""DistinctRows: rows as models take them, in which values that occur often are kept once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.parts import Part


@dataclass(frozen=True)
class DistinctRows:
    """Some rows of a table as models take them; values that occur in many rows are kept once.

    Attributes
    ----------
    n_rows : int
    values : list of ndarray, shape (n_rows, width) or (n_distinct, width)
        Values for each model, as returned by :meth:`ColumnModel.values`. A single row stands for all rows.
    places : list of (ndarray of int, shape (n_rows,)) or None
        For each model, the index in its values of each row; None if it is i for row i, or if there is one value.
    rows : ndarray of int, shape (n_rows,), or None
        Positions of these rows in the table that an ensemble knows; None: they are the first ones.
    """

    n_rows: int
    values: list[np.ndarray]
    places: list[np.ndarray | None]
    rows: np.ndarray | None = None

    @classmethod
    def of(cls, models: list[ColumnModel], arrays: list[np.ndarray], rows: np.ndarray | None = None) -> DistinctRows:
        """The cells of typed columns."""
        n_rows = len(arrays[0])
        values, places = [], []
        for model in models:
            cells, place = model.values(arrays), None
            if model.single:
                distinct, inverse = np.unique(cells[:, 0], return_inverse=True)
                if 2 * len(distinct) <= n_rows or len(distinct) == 1:
                    cells, place = distinct[:, None], inverse if len(distinct) > 1 else None
            values.append(cells)
            places.append(place)
        return cls(n_rows, values, places, rows)

    @cached_property
    def observed(self) -> list[np.ndarray | None]:
        """For each model whether each row has a cell that is not missing, or one for all rows; None: all have."""
        return [self.observed_in(m) for m in range(len(self.values))]

    def observed_in(self, model: int) -> np.ndarray | None:
        """The same for one model."""
        cells = self.values[model]
        # Bags of words are never missing.
        some = ~np.isnan(cells).all(axis=1) if isinstance(cells, np.ndarray) else np.ones(1, bool)
        return None if some.all() else self.spread(model, some)

    def rows_with(self, members: Iterable[int]) -> np.ndarray | None:
        """Indices of the rows that have a cell of some models; None: most have one."""
        if any(self.observed[m] is None for m in members):
            return None
        some = np.broadcast_to(np.any(np.broadcast_arrays(*(self.observed[m] for m in members)), axis=0), self.n_rows)
        rows = np.flatnonzero(some)
        return rows if 2 * len(rows) < self.n_rows else None

    def take(self, rows: np.ndarray, members: Iterable[int]) -> DistinctRows:
        """Some rows, with the cells of some models alone."""
        values, places = [self.values[0][:0]] * len(self.values), [None] * len(self.values)
        for m in members:
            single = len(self.values[m]) == 1
            if self.places[m] is None:
                values[m] = self.values[m] if single else self.values[m][rows]
            else:
                values[m], places[m] = self.values[m], self.places[m][rows]
        return DistinctRows(len(rows), values, places, rows if self.rows is None else self.rows[rows])

    def of_part(self, part: Part) -> tuple[np.ndarray, np.ndarray | None]:
        """Values of the members of one part side by side, and the place of each row in them, as in ``places``."""
        if not part.is_block:
            (m,) = part.members
            return self.values[m], self.places[m]
        columns = [self.spread(m, self.values[m][:, 0]) for m in part.members]
        return np.column_stack(np.broadcast_arrays(*columns)), None

    def of_parts(self, parts: list[Part]) -> tuple[list[np.ndarray], list[np.ndarray | None], int]:
        """Values and places of several parts, and the number of rows: 1 if all rows are equal in all of them."""
        values, places = [], []
        for part in parts:
            own, at = self.of_part(part)
            values.append(own)
            places.append(at)
        differ = any(at is not None for at in places) or any(len(own) > 1 for own in values)
        return values, places, self.n_rows if differ else min(self.n_rows, 1)

    def spread(self, model: int, table: np.ndarray) -> np.ndarray:
        """From one row for each value to one for each row of the table; one row alone stays so."""
        return table if self.places[model] is None else table[self.places[model]]
