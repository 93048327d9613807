"""RowCopies: the correspondence between the rows of a table and the rows that a chain models."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sklearn_subanneal.tables.documents import Documents


@dataclass(frozen=True, eq=False)
class RowCopies:
    """The rows that a chain models: those of a table, each as often as its weight says.

    Attributes
    ----------
    weights : ndarray of int64, shape (n_rows,), or None
        How often each row of the table is modelled; None: each once.
    order : ndarray of int, shape (n_copies,), or None
        Order in which the copies are modelled, as indices into the table of repeated rows; None: as they are there.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.tables.row_copies import RowCopies
    >>> copies = RowCopies(np.array([2, 0, 1]))
    >>> copies.rows
    array([0, 0, 2])
    >>> copies.of_table(np.array([5, 6, 7]), absent=-1)  # the first copy stands for a row
    array([ 5, -1,  7])
    """

    weights: np.ndarray | None = None
    order: np.ndarray | None = None

    @classmethod
    def of(cls, arrays: Sequence[np.ndarray | Documents], weights: np.ndarray | None = None) -> RowCopies:
        """The copies of a fit, in an order of their own if any two are equal.

        A table with repeated rows and the same table with weights are one model, whatever the order of their rows. By
        an order that depends only on the cells of the rows, they also have the same chains.

        Parameters
        ----------
        arrays : list of ndarray or Documents of n_copies rows
            Typed columns of the table of repeated rows.
        weights : ndarray of int64, shape (n_rows,), or None
            The weights by which they are repeated; None: the table has no weights.
        """
        keys = row_keys(arrays)
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        return cls(weights, order if (keys[1:] == keys[:-1]).any() else None)

    @property
    def rows(self) -> np.ndarray | slice:
        """The row of the table of which each modelled row is a copy; a slice where they are the same."""
        if self.weights is None:
            return slice(None) if self.order is None else self.order
        rows = np.repeat(np.arange(len(self.weights)), self.weights)
        return rows if self.order is None else rows[self.order]

    def n_rows(self, n_copies: int) -> int:
        """Number of rows of the table of which ``n_copies`` rows are modelled."""
        return n_copies if self.weights is None else len(self.weights)

    @property
    def absent(self) -> np.ndarray:
        """The rows of the table that are not modelled, since their weight is 0."""
        return np.empty(0, np.intp) if self.weights is None else np.flatnonzero(self.weights == 0)

    def ordered(self, arrays: Sequence[np.ndarray | Documents]) -> list[np.ndarray | Documents]:
        """Typed columns of the table of repeated rows in the order in which the rows are modelled."""
        return list(arrays) if self.order is None else [array[self.order] for array in arrays]

    def distinct(self, arrays: Sequence[np.ndarray | Documents]) -> tuple[np.ndarray, np.ndarray]:
        """One row of the table for each different row that is modelled, and how often that is modelled.

        Parameters
        ----------
        arrays : list of ndarray or Documents of n_rows rows
            Typed columns of the table.

        Returns
        -------
        rows : ndarray of int
            Indices into the table, in the order in which the rows are modelled.
        counts : ndarray of int
        """
        rows = np.arange(len(arrays[0]))[self.rows]
        if self.order is None and self.weights is None:
            return rows, np.ones(len(rows), int)
        keys = row_keys([array[rows] for array in arrays])
        starts = np.flatnonzero(np.append(True, keys[1:] != keys[:-1]))
        return rows[starts], np.diff(np.append(starts, len(rows)))

    def some_distinct(
        self, arrays: Sequence[np.ndarray | Documents], most: int, among: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """At most so many of the rows that :meth:`distinct` gives, evenly spaced, and how often each is modelled.

        They are drawn from the rows of the table that ``among``, an array of bool, marks; None: from all.
        """
        rows, counts = self.distinct(arrays)
        if among is not None:
            rows, counts = rows[among[rows]], counts[among[rows]]
        some = np.linspace(0, len(rows) - 1, min(len(rows), most)).astype(int)
        return rows[some], counts[some]

    def independent(self, arrays: Sequence[np.ndarray | Documents]) -> np.ndarray:
        """Which rows of the table, (n_rows,) bool, are predicted by the other modelled rows as new rows are.

        Of equal rows, this is about the one that :meth:`distinct` gives. Its copies are among the others. If it has a
        real cell that no other row has, they tell it: where cells are not rounded, equal rows are not several records
        that agree, but one that has a weight. In a table of discrete or rounded records, few rows have such a cell. Of
        a single column nothing can be said.
        """
        rows, counts = self.distinct(arrays)
        out = np.ones(len(arrays[0]), bool)
        if len(arrays) == 1 or (counts == 1).all():
            return out
        for array in arrays:
            if array.dtype.kind == "f":
                cells = array[rows]
                _, places, n_rows = np.unique(cells, return_inverse=True, return_counts=True)
                out[rows[(n_rows[places] == 1) & ~np.isnan(cells) & (counts > 1)]] = False
        return out

    def of_table(self, values: np.ndarray, absent) -> np.ndarray:
        """Values of the rows of the table, (..., n_rows), from those of the modelled rows, (..., n_copies).

        A row has the value of its first copy in the table of repeated rows, and ``absent`` if it has none.
        """
        if self.order is not None:
            place = np.empty(len(self.order), np.intp)
            place[self.order] = np.arange(len(self.order))
            values = values[..., place]
        if self.weights is None:
            return values
        firsts = np.minimum(np.cumsum(self.weights) - self.weights, values.shape[-1] - 1)
        return np.where(self.weights > 0, values[..., firsts], np.asarray(absent, values.dtype))


def row_keys(arrays: Sequence[np.ndarray | Documents]) -> np.ndarray:
    """A hash of each row, uint64 (n_rows,), that depends on its cells alone.

    Keys of different rows are equal with a probability of 2**-64. Only the order of such rows depends on it.
    """
    keys = np.zeros(len(arrays[0]), np.uint64)
    for array in arrays:
        keys = _mixed(keys ^ (_bag_keys(array) if isinstance(array, Documents) else _bits(array)))
    return keys


def _bits(cells: np.ndarray) -> np.ndarray:
    """Cells as uint64, equal for equal cells."""
    if cells.dtype.kind != "f":
        return cells.astype(np.int64).view(np.uint64)
    # The sum has no negative zero.
    return np.where(np.isnan(cells), np.nan, cells + 0.0).astype(np.float64).view(np.uint64)


def _bag_keys(documents: Documents) -> np.ndarray:
    """A hash of each bag: the sum over its words, each mixed with its count."""
    counts = documents.counts
    words = _mixed(_bits(counts.indices) ^ _mixed(_bits(counts.data)))
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(words, dtype=np.uint64)])
    return np.diff(sums[counts.indptr])


def _mixed(keys: np.ndarray) -> np.ndarray:
    """One step of SplitMix64, a bijection of uint64 in which each bit depends on all.

    References
    ----------
    G. L. Steele, D. Lea, C. H. Flood (2014), Fast splittable pseudorandom number generators, OOPSLA, 453-472.
    doi:10.1145/2660193.2660195
    """
    keys = keys + np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))
