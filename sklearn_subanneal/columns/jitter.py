"""Jittering: cells of a column of reals whose values repeat, spread over the intervals for which the values stand."""

from __future__ import annotations

import numpy as np

# Cells are jittered if the distinct values of their column are at most this share of its cells.
MOST_DISTINCT = 0.9


def jittered(cells: np.ndarray) -> np.ndarray:
    """Spread the cells of each value that repeats over the interval for which the value stands.

    The interval of a value holds the numbers that are nearer to it than to the other values of the column; at the ends
    of the column it is as long to the one side as to the other. Its cells are spaced evenly over it, in a random order that
    is the same at each call. A density of the jittered cells then integrates over the interval to
    the probability of the value. Without jittering, a normal distribution would shrink to a value that repeats: its
    density is unbounded and predicts nothing, and clusters would form by such values alone.

    Parameters
    ----------
    cells : ndarray of float64 of shape (n_rows, n_columns)
        NaN where missing.

    Returns
    -------
    spread : ndarray of shape (n_rows, n_columns)
        Cells that are the only ones of their value are as they were, and so are columns in which more than 90 % of the
        values are distinct.

    References
    ----------
    M. Denuit, P. Lambert (2005), Constraints on concordance measures in bivariate discrete data, Journal of
    Multivariate Analysis 93, 40-57 (section 2: continued random variables). doi:10.1016/j.jmva.2004.01.004

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.columns.jitter import jittered
    >>> np.sort(jittered(np.array([[1.0], [2.0], [2.0], [4.0], [4.0], [4.0]])), axis=0).ravel().round(2).tolist()
    [1.0, 1.88, 2.62, 3.33, 4.0, 4.67]
    """
    out = np.array(cells)
    generator = np.random.Generator(np.random.PCG64(0))
    for j, column in enumerate(cells.T):
        # Another order in each column: in equal orders, columns that repeat in the same rows would become collinear.
        order = generator.permutation(len(cells))
        rows = order[~np.isnan(column[order])]
        values, place, counts = np.unique(column[rows], return_inverse=True, return_counts=True)
        if not 1 < len(values) <= MOST_DISTINCT * len(rows):
            continue
        half = 0.5 * np.diff(values)
        low, high = values - np.append(half[:1], half), values + np.append(half, half[-1:])
        rank = np.empty(len(rows))
        rank[np.argsort(place, kind="stable")] = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        spread = low[place] + (rank + 0.5) / counts[place] * (high - low)[place]
        out[rows, j] = np.where(counts[place] > 1, spread, column[rows])
    return out
