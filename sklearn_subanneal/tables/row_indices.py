"""Rows of a table that an argument asks for, by index or mask, and where they are among those that draws have."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_subanneal._core.arguments import shortened


def row_indices(parameter: str, rows, n_samples: int, table: str = "the training table") -> np.ndarray:
    """Indices of rows given by index, indices or mask.

    Parameters
    ----------
    parameter : str
        Name of the argument, for the message.
    rows : int, or array-like of int or bool
    n_samples : int
        Rows of the table.
    table : str
        Which one it is.

    Returns
    -------
    indices : ndarray of intp

    Raises
    ------
    ValueError
        If they are no indices from 0 to n_samples - 1, and no mask of shape (n_samples,).

    Examples
    --------
    >>> from sklearn_subanneal.tables.row_indices import row_indices
    >>> row_indices("rows", [True, False, True], 3)
    array([0, 2])
    """
    try:
        found = np.atleast_1d(np.asarray(rows))
    except (ValueError, TypeError, OverflowError):
        # Lists of unequal length.
        found = np.empty((0, 0))
    if found.dtype.kind == "b" and found.shape == (n_samples,):
        return np.flatnonzero(found)
    if found.ndim == 1 and not found.size and isinstance(rows, list | tuple | np.ndarray | range):
        return found.astype(np.intp)
    if found.ndim == 1 and found.dtype.kind in "iu" and 0 <= found.min() and found.max() < n_samples:
        return found.astype(np.intp)
    raise ValueError(
        f"{parameter} must be indices from 0 to {n_samples - 1} of rows of {table}, or a mask of shape "
        f"({n_samples},), got {shortened(rows)}."
    )


def drawn_indices(parameter: str, rows, estimator: BaseEstimator, n_drawn: int) -> np.ndarray:
    """Where rows of the training table are among those whose clusters are kept with every draw.

    Parameters
    ----------
    parameter : str
        Name of the argument, for the message.
    rows : int, or array-like of int or bool
        As :func:`row_indices` takes them.
    estimator : estimator
        Fitted. After ``partial_fit``, or for a table in shards, its ``posterior_rows_`` are the numbers of those rows,
        increasing; else these are all.
    n_drawn : int
        How many these are.

    Returns
    -------
    indices : ndarray of intp

    Raises
    ------
    ValueError
        If they are no rows of the table, or not among those that are kept.
    """
    kept = getattr(estimator, "posterior_rows_", None)
    if kept is None:
        return row_indices(parameter, rows, n_drawn)
    # After partial_fit, labels_ has the rows of the last call alone.
    n_rows = getattr(estimator, "n_samples_seen_", len(estimator.labels_))
    asked = row_indices(parameter, rows, n_rows)
    found = np.searchsorted(kept, asked)
    is_gone = kept[np.minimum(found, n_drawn - 1)] != asked
    if is_gone.any():
        raise ValueError(
            f"{parameter} must be among posterior_rows_, the {n_drawn:,} of {n_rows:,} rows whose clusters are kept "
            f"with every draw, got {asked[is_gone][0]}; take some of these: posterior_rows_[:10], say"
        )
    return found
