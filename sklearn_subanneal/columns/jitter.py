"""Jittering: cells of a column of reals whose values repeat, spread over the intervals for which the values stand."""

from __future__ import annotations

import numpy as np

# Cells are jittered if the distinct values of their column are at most this share of its cells, ...
MOST_DISTINCT = 0.9
# ... and if so many cells have their value: it takes that many to form clusters of single values.
FEWEST = 5
# Quantiles between which the average density of a column is taken: outliers do not count.
INNER = 0.1, 0.9


def jittered(cells: np.ndarray) -> np.ndarray:
    """Spread the cells of each value that repeats over the interval for which the value stands.

    The interval of a value holds the numbers that are nearer to it than to the other values of the column; at the ends
    of the column it is as long to the one side as to the other. It is at most as long as the range that as many cells
    have at the average density of the column. The cells of the value are spaced evenly over it, in a random order that
    is the same at each call. A density of the jittered cells then integrates over the interval to the probability of
    the value. Without jittering, a normal distribution would shrink to a value that repeats: its density is unbounded
    and predicts nothing, and clusters would form by such values alone.

    Parameters
    ----------
    cells : ndarray of float64 of shape (n_rows, n_columns)
        NaN where missing.

    Returns
    -------
    spread : ndarray of shape (n_rows, n_columns)
        Cells are as they were if fewer than five have their value, or if more than 90 % of the values of their column
        are distinct.

    References
    ----------
    M. Denuit, P. Lambert (2005), Constraints on concordance measures in bivariate discrete data, Journal of
    Multivariate Analysis 93, 40-57 (section 2: continued random variables). doi:10.1016/j.jmva.2004.01.004

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.columns.jitter import jittered
    >>> grades = np.repeat([[1.0], [2.0], [4.0]], 5, axis=0)
    >>> np.sort(jittered(grades), axis=0).ravel().round(2).tolist()
    [0.6, 0.8, 1.0, 1.2, 1.4, 1.61, 1.84, 2.06, 2.29, 2.51, 3.5, 3.75, 4.0, 4.25, 4.5]
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
        low, high = _intervals(column[rows], values, counts)
        rank = np.empty(len(rows))
        rank[np.argsort(place, kind="stable")] = np.arange(len(rows)) - np.repeat(np.cumsum(counts) - counts, counts)
        spread = low[place] + (rank + 0.5) / counts[place] * (high - low)[place]
        out[rows, j] = np.where(counts[place] >= FEWEST, spread, column[rows])
    return out


def _intervals(cells, values, counts):
    """The ends of the interval of each value."""
    half = 0.5 * np.diff(values)
    ends = np.quantile(cells, INNER)
    length = (ends[1] - ends[0]) / ((INNER[1] - INNER[0]) * len(cells)) or (values[-1] - values[0]) / len(cells)
    most = 0.5 * length * counts
    low = values - np.minimum(np.append(half[:1], half), most)
    return low, values + np.minimum(np.append(half, half[-1:]), most)
