"""MissingPatterns: which cells of each row of a table are missing, each pattern once."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sklearn_subanneal.tables.cells import is_missing
from sklearn_subanneal.tables.row_copies import row_keys
from sklearn_subanneal.tables.schema import Table


@dataclass(frozen=True, eq=False)
class MissingPatterns:
    """The patterns of missing cells of a table.

    Attributes
    ----------
    bits : ndarray of uint8, shape (n_patterns, n_bytes)
        The ``patterns``, packed: there may be as many as there are rows.
    n_parts : int
        Number of modelled columns.
    of_rows : ndarray of unsigned int, shape (n_rows,)
        The pattern of each row, in the smallest type that will do.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.base import BaseEstimator
    >>> from sklearn_subanneal.columns.binding import KINDS
    >>> from sklearn_subanneal.tables.missing_patterns import MissingPatterns
    >>> from sklearn_subanneal.tables.schema import read_table
    >>> X = np.array([[1.0, np.nan], [2.0, 5.0], [4.0, np.nan]])
    >>> found = MissingPatterns.of(*read_table(BaseEstimator(), X, types=KINDS))
    >>> found.patterns[found.of_rows].tolist()
    [[False, True], [False, False], [False, True]]
    """

    bits: np.ndarray
    n_parts: int
    of_rows: np.ndarray

    @classmethod
    def of(cls, table: Table, arrays: list[np.ndarray]) -> MissingPatterns:
        """The patterns of typed columns; one with a missing indicator, which says so itself, is never missing."""
        cells = np.zeros((len(arrays[0]), len(arrays)), bool)
        for column, at in zip(table.columns, table.places, strict=True):
            if column.indicator is None and column.derivation is None:
                cells[:, at] = is_missing(arrays[at[0]])[:, None]
        bits = np.packbits(cells, axis=1)
        _, firsts, of_rows = np.unique(row_keys(list(bits.T)), return_index=True, return_inverse=True)
        return cls(bits[firsts], len(arrays), of_rows.astype(np.min_scalar_type(max(len(firsts) - 1, 0))))

    @property
    def patterns(self) -> np.ndarray:
        """Whether each modelled column is missing, bool (n_patterns, n_parts)."""
        return np.unpackbits(self.bits, axis=1, count=self.n_parts).astype(bool)

    def take(self, rows: np.ndarray | slice) -> MissingPatterns:
        """The patterns of some of the rows."""
        return replace(self, of_rows=self.of_rows[rows])

    def counts(self) -> np.ndarray:
        """The number of rows in which each modelled column is missing, (n_parts,)."""
        return np.bincount(self.of_rows, minlength=len(self.bits)) @ self.patterns
