"""change_without_cell: what a cluster says of a cell, when the cell itself is taken out of it."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal.columns._base import ColumnStatistics
from sklearn_subanneal.columns.column_model import ColumnModel


def change_without_cell(
    model: ColumnModel, column: ColumnStatistics, rows: np.ndarray, slots: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None] | None:
    """What :meth:`ColumnModel.expectations` averages, of the clusters of rows without the row, less that with it.

    Parameters
    ----------
    model : ColumnModel
        Real, skewed or a count; of other types there is no answer, None.
    column : ColumnStatistics
    rows, slots : ndarray of int32, shape (n_rows,)
        Rows of the data whose cells are observed, and their clusters, which have other rows, too.

    Returns
    -------
    first, second : ndarray of shape (n_rows, n_values) each; ``second`` is None for a skewed column
    """
    if not hasattr(column, "moments_left_out"):
        return None
    n_clusters = int(slots.max(initial=0)) + 1
    if model.kind == "skewed":
        whole = column.cumulative(model.points, n_clusters)[slots]
        return column.cumulative_left_out(model.points, rows, slots) - whole, None
    mean, variance = (own[0, slots, 0] for own in column.conditional_moments(np.empty((1, 1)), n_clusters))
    alone, of_others = column.moments_left_out(rows, slots)
    return (alone - mean)[:, None], (of_others + alone**2 - variance - mean**2)[:, None]
