"""The range of the training cells of columns, and how far beyond it missing cells and predictions may be."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sklearn_subanneal.columns.transforms import Transform

# Missing cells are at most so many times the range of their column beyond it.
MOST_RANGES = 10.0


def cell_range(cells: np.ndarray) -> np.ndarray:
    """The ends of the range of each column, (2, n_columns); at least one unit wide, as a single value says nothing.

    Parameters
    ----------
    cells : ndarray of shape (n_rows, n_columns)
        In standard units; NaN is a missing cell. A column without cells has no ends.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.columns.cell_ranges import cell_range
    >>> cell_range(np.array([[-1.0, 2.0, np.nan], [3.0, np.nan, np.nan]]))
    array([[-1. ,  1.5, -inf],
           [ 3. ,  2.5,  inf]])
    """
    low, high = _ends(cells)
    with np.errstate(invalid="ignore"):
        room = np.maximum(0.5 * (1.0 - (high - low)), 0.0)
    return np.where(low <= high, [low - room, high + room], [[-np.inf], [np.inf]])


def limits_of_missing(cells: np.ndarray) -> np.ndarray:
    """The least and the largest value that missing cells of each column can have, (2, n_columns).

    Parameters
    ----------
    cells : ndarray of shape (n_rows, n_columns)
        As of :func:`cell_range`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.columns.cell_ranges import limits_of_missing
    >>> limits_of_missing(np.array([[-1.0], [2.0], [np.nan]])).tolist()
    [[-31.0], [32.0]]
    """
    low, high = np.where(np.isnan(cells).all(axis=0), 0.0, _ends(cells))
    room = MOST_RANGES * np.maximum(high - low, 1.0)
    return np.array([low - room, high + room])


def limits_of_drawn(cells: np.ndarray) -> np.ndarray:
    """The least and the largest cell of rows that are drawn, (2, n_columns): as far beyond the cells as their range.

    The predictive distributions of clusters of few rows, and of new ones, have tails so heavy that their moments are
    infinite. A transformation back makes of them cells beyond any number.

    Parameters
    ----------
    cells : ndarray of shape (n_rows,) or (n_rows, n_columns)
        In the units of the data. A column whose cells are all equal or missing has no limits.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.columns.cell_ranges import limits_of_drawn
    >>> limits_of_drawn(np.array([-1.0, 2.0, np.nan])).tolist()
    [[-4.0], [5.0]]
    """
    low, high = _ends(cells[:, None] if cells.ndim == 1 else cells)
    # The ends of a column may be so far apart that their distance is infinite.
    with np.errstate(over="ignore", invalid="ignore"):
        room = high - low
        return np.where(room > 0.0, [low - room, high + room], [[-np.inf], [np.inf]])


def standard_limits(limits: np.ndarray, transform: Transform, center: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Limits of drawn cells in standard units of the transformed data, (2, n_columns).

    Parameters
    ----------
    limits : ndarray of shape (2, n_columns)
        Of :func:`limits_of_drawn`.
    transform : Transform
    center, scale : ndarray of shape (n_columns,)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.columns.cell_ranges import standard_limits
    >>> from sklearn_subanneal.columns.transforms import Logarithm
    >>> standard_limits(np.array([[-4.0], [1.0]]), Logarithm(), np.zeros(1), np.ones(1)).tolist()
    [[-inf], [0.0]]
    """
    with np.errstate(all="ignore"):
        ends = (transform.forward(limits) - center) / scale
    return np.where(limits > transform.lowest, ends, [[-np.inf], [np.inf]])


def _ends(cells):
    seen = ~np.isnan(cells)
    return np.min(cells, axis=0, where=seen, initial=np.inf), np.max(cells, axis=0, where=seen, initial=-np.inf)


def limited_moments(
    first: np.ndarray, second: np.ndarray | None, weight: np.ndarray, ends: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray | None]:
    """``weight`` times the first two moments of cells, with the mean in their range and the deviation as long at most.

    The regression within a cluster of few rows may predict cells far from any that were seen. A mean that is put at the
    end of the range is as uncertain as it is far from the predicted one.

    Parameters
    ----------
    first, second : ndarray of shape (n_rows, n_columns)
        The moments times ``weight``.
    weight : ndarray of shape (n_rows, 1) or (1, 1)
    ends : ndarray of shape (2, n_columns) or None
        Of the range. None: the moments stay.
    """
    if ends is None:
        return first, second
    low, high = ends
    unit = np.where(weight > 0.0, weight, 1.0)
    # Squares of such cells may be beyond the range of floating point.
    with np.errstate(over="ignore", invalid="ignore"):
        mean, variance = first / unit, (second - first**2 / unit) / unit
        limited = np.clip(mean, low, high)
        variance = variance + (mean - limited) ** 2
    mean, variance = limited, np.clip(np.where(np.isnan(variance), np.inf, variance), 0.0, (high - low) ** 2)
    return mean * weight, (variance + mean**2) * weight


def restored_moments(
    restore: Callable[[np.ndarray], np.ndarray],
    first: np.ndarray,
    second: np.ndarray,
    low: np.ndarray | float = -np.inf,
    high: np.ndarray | float = np.inf,
) -> tuple[np.ndarray, np.ndarray]:
    """The mean of transformed cells, transformed back, and half the distance of the points a deviation away from it.

    Parameters
    ----------
    restore : callable
        Transforms cells in standard units, (n_rows, n_columns), back.
    first, second : ndarray of shape (n_rows, n_columns)
        Moments.
    low, high : ndarray of shape (n_columns,) or float
        The points are between these: a little beyond the range, the transformation back can be many times the largest
        cell.
    """
    deviation = np.sqrt(np.maximum(second - first**2, 0.0))
    upper = np.minimum(first + deviation, np.maximum(high, first))
    lower = np.maximum(first - deviation, np.minimum(low, first))
    return restore(first), 0.5 * restore(upper) - 0.5 * restore(lower)
