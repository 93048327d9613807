"""LeftOutRows: training rows, each of which is predicted by the others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_subanneal.views.seen_rows import SeenRows


@dataclass(frozen=True, eq=False)
class LeftOutRows:
    """Some training rows, each of which is predicted by the other rows.

    Attributes
    ----------
    seen : SeenRows
        The rows in all draws, those of the first chain first.
    arrays : list of ndarray of shape (n_rows,)
        Their typed columns.
    counts : ndarray of int, shape (n_rows,)
        How often each counts.
    """

    seen: SeenRows
    arrays: list[np.ndarray]
    counts: np.ndarray

    def some(self, most: int) -> LeftOutRows:
        """At most so many of the rows, evenly spaced."""
        return self.take(np.linspace(0, len(self.counts) - 1, min(len(self.counts), most)).astype(int))

    def take(self, rows: np.ndarray) -> LeftOutRows:
        """Those at some places."""
        return LeftOutRows(self.seen.take(rows), [array[rows] for array in self.arrays], self.counts[rows])
