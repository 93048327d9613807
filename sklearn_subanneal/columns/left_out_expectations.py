"""change_without_cells: what clusters say of the cells of their rows, each cell taken out of its own cluster."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal.columns._base import ColumnStatistics
from sklearn_subanneal.columns.column_model import ColumnModel

# So many quantities of clusters without a cell are held at once: 8 MB.
MOST_AT_ONCE = 1_000_000


def change_without_cells(
    model: ColumnModel, column: ColumnStatistics, cells: np.ndarray, rows: np.ndarray, slots: np.ndarray
) -> tuple[np.ndarray, np.ndarray | None]:
    """What :meth:`ColumnModel.expectations` averages, of the clusters of rows without the row, less that with it.

    Parameters
    ----------
    model : ColumnModel
        Of a single column.
    column : ColumnStatistics
    cells : ndarray of shape (n_rows,)
        Of these rows, all observed; there is one at least.
    rows, slots : ndarray of int32, shape (n_rows,)
        Rows of the data, and their clusters, which have other rows, too.

    Returns
    -------
    first, second : ndarray of shape (n_rows, n_values) each; ``second`` may be None
    """
    # Rows of one cluster with the same value leave the same cluster.
    values, codes = np.unique(cells, return_inverse=True)
    # Many clusters times many values are beyond int32.
    pairs = slots.astype(np.int64) * len(values) + codes
    _, some, places = np.unique(pairs, return_index=True, return_inverse=True)
    whole = model.cluster_expectations(column, int(slots.max(initial=0)) + 1)
    n_values = whole[0].shape[1]
    step, parts = max(MOST_AT_ONCE // n_values, 1), []
    for at in range(0, len(some), step):
        own = some[at : at + step]
        alone = model.cluster_expectations(column.without_rows(rows[own], slots[own]), len(own))
        parts.append([None if a is None else a - w[slots[own]] for a, w in zip(alone, whole, strict=True)])
    first, second = zip(*parts, strict=True)
    return np.concatenate(first)[places], None if second[0] is None else np.concatenate(second)[places]
