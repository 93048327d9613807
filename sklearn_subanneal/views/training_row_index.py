"""TrainingRowIndex: rows found again among those of the training table, by their cells."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sklearn_subanneal.tables.row_copies import row_keys
from sklearn_subanneal.views.seen_rows import SeenRows


@dataclass(frozen=True, eq=False)
class TrainingRowIndex:
    """Training rows by a hash of their cells.

    Attributes
    ----------
    keys : ndarray of uint64, shape (n_distinct,)
        Sorted hashes.
    rows : ndarray of int, shape (n_distinct,)
        The first row of the table that has each.
    seen : SeenRows
        All rows of the table, as the draws have them.
    """

    keys: np.ndarray
    rows: np.ndarray
    seen: SeenRows

    @classmethod
    def of(cls, arrays: list[np.ndarray], seen: SeenRows) -> TrainingRowIndex:
        """The index of a table.

        Parameters
        ----------
        arrays : list of ndarray of shape (n_rows,)
            Its typed columns.
        seen : SeenRows
        """
        return cls(*np.unique(row_keys(arrays), return_index=True), seen)

    def places(self, arrays: list[np.ndarray]) -> np.ndarray:
        """The training row that has the cells of each row, (n_rows,); -1 if there is none."""
        keys = row_keys(arrays)
        at = np.searchsorted(self.keys, keys).clip(max=len(self.keys) - 1)
        return np.where(self.keys[at] == keys, self.rows[at], -1)

    def judged(self, arrays: list[np.ndarray], judge: Callable) -> np.ndarray:
        """Values of rows by ``judge(cells, seen)``: of new rows with None, of training rows with their places in draws.

        Parameters
        ----------
        arrays : list of ndarray of shape (n_rows,)
        judge : callable
            Gives an array (n_rows, ...).

        Returns
        -------
        values : ndarray of shape (n_rows, ...)
        """
        places, parts, rows = self.places(arrays), [], []
        for some, is_new in ((np.flatnonzero(places < 0), True), (np.flatnonzero(places >= 0), False)):
            if some.size:
                cells = [array[some] for array in arrays]
                parts.append(judge(cells, None if is_new else self.seen.take(places[some])))
                rows.append(some)
        return np.concatenate(parts)[np.argsort(np.concatenate(rows))]
