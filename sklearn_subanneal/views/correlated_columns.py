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
    ranks = rankdata(cells[:MOST_ROWS], axis=0, nan_policy="omit")
    present = (~np.isnan(ranks)).astype(float)
    centred = np.nan_to_num(ranks - np.nansum(ranks, axis=0) / np.maximum(present.sum(axis=0), 1.0))
    squares, n = centred.T**2 @ present, present.T @ present
    scale = np.sqrt(squares * squares.T)
    correlations = np.divide(centred.T @ centred, scale, out=np.zeros_like(scale), where=scale > 0)
    n_pairs = max(n_columns * (n_columns - 1) / 2, 1)
    # Fisher's transform of a rank correlation has about 1.06 / (n - 3) as variance.
    z = np.arctanh(np.clip(correlations, -1.0 + 1e-12, 1.0 - 1e-12)) * np.sqrt(np.maximum(n - 3.0, 0.0) / 1.06)
    return connected_components(np.abs(z) > norm.isf(LEVEL / 2 / n_pairs), directed=False)[1]
