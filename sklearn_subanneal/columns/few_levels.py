"""What numbers a column has: a few, each in many cells, or whole ones. Imputed cells are such numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Numbers of at most so many values, each in so many cells on average, may be grades or codes.
MOST_REPEATED, FEWEST_CELLS_A_LEVEL = 20, 5.0


def few_levels(cells: NDArray) -> NDArray | None:
    """The distinct numbers of a column, sorted, if they are few and repeat; else None.

    Parameters
    ----------
    cells : ndarray of shape (n_rows,)
        NaN where missing.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.columns.few_levels import few_levels
    >>> few_levels(np.repeat([1997.0, 1998.0, 2000.0], 10))
    array([1997., 1998., 2000.])
    >>> few_levels(np.arange(30.0)) is None
    True
    """
    present = cells[~np.isnan(cells)]
    levels = np.unique(present)
    return levels if 0 < len(levels) <= min(MOST_REPEATED, len(present) / FEWEST_CELLS_A_LEVEL) else None


def are_whole(cells: NDArray) -> bool:
    """Whether all numbers of a column, NaN where missing, are whole."""
    return bool(np.all(np.isnan(cells) | (cells == np.rint(cells))))


def nearest_levels(values: NDArray, levels: NDArray | None, whole: bool) -> NDArray:
    """The level that is nearest to each value; without levels, the nearest whole number, or the value itself.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.columns.few_levels import nearest_levels
    >>> nearest_levels(np.array([1997.2, 2005.0]), np.array([1997.0, 1998.0, 2000.0]), whole=True)
    array([1997., 2000.])
    """
    if levels is None:
        return np.rint(values) if whole else values
    return levels[np.searchsorted(0.5 * (levels[1:] + levels[:-1]), values)]
