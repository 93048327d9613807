"""correlated_columns: which columns of reals are connected by rank correlations."""

from __future__ import annotations

import numpy as np
from scipy.sparse.csgraph import connected_components
from scipy.stats import norm, rankdata

# Probability that any two columns of independent reals are connected; rows by which the correlations are estimated.
# With many more rows, dependence too weak to matter would connect all columns.
LEVEL, MOST_ROWS = 0.01, 1000


def correlated_columns(cells: np.ndarray) -> np.ndarray:
    """Groups of columns connected by significant rank correlations, directly or by way of others.

    The ranks are those of the cells and of their distances from the median: a product of two columns is correlated with
    neither, but its size is correlated with theirs.

    Parameters
    ----------
    cells : float array of shape (n_rows, n_columns)
        NaN is a missing cell. The first 1,000 rows count.

    Returns
    -------
    labels : int array of shape (n_columns,)
        Group of each column, 0..n_groups-1.
    """
    n_columns = cells.shape[1]
    ranks = _centred_ranks(cells[:MOST_ROWS])
    ranks = np.hstack([ranks, _centred_ranks(np.abs(ranks))])
    present = (~np.isnan(ranks)).astype(float)
    centred = np.nan_to_num(ranks)
    squares, n = centred.T**2 @ present, present.T @ present
    scale = np.sqrt(squares * squares.T)
    correlations = np.divide(centred.T @ centred, scale, out=np.zeros_like(scale), where=scale > 0)
    # Fisher's transform of a rank correlation has about 1.06 / (n - 3) as variance.
    z = np.arctanh(np.clip(correlations, -1.0 + 1e-12, 1.0 - 1e-12)) * np.sqrt(np.maximum(n - 3.0, 0.0) / 1.06)
    n_tests = max(2 * n_columns * (n_columns - 1), 1)
    connected = np.abs(z) > norm.isf(LEVEL / 2 / n_tests)
    return connected_components(connected.reshape(2, n_columns, 2, n_columns).any(axis=(0, 2)), directed=False)[1]


def _centred_ranks(cells):
    ranks = rankdata(cells, axis=0, nan_policy="omit")
    return ranks - (np.sum(~np.isnan(ranks), axis=0) + 1.0) / 2
