"""Weights of the rows of a table: their check, and tables in which each row is repeated as often as its weight says."""

from __future__ import annotations

from numbers import Real

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse
from sklearn.utils import check_array, check_consistent_length

from sklearn_subanneal.tables.unreadable import read_array, refuse_equal_labels, refuse_unreadable

# A weighted row is modelled as so many equal rows: weights that make more rows than this, and more than X has, are
# refused, since they are mostly meant in another way.
MOST_COPIES = 10_000_000


def checked_weights(X, sample_weight) -> np.ndarray | None:
    """The weights of the rows of X as integers; None if all are 1.

    Parameters
    ----------
    X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
    sample_weight : array-like of shape (n_samples,) or None

    Returns
    -------
    weights : ndarray of int64, shape (n_samples,), or None

    Raises
    ------
    ValueError
        If the weights are not one for each row, not integers from 0, all zero, or of too large a sum.

    Examples
    --------
    >>> from sklearn_subanneal.tables.row_weights import checked_weights
    >>> checked_weights([[1.5], [2.5]], [2.0, 0.0])
    array([2, 0])
    >>> checked_weights([[1.5], [2.5]], [1, 1]) is None
    True
    """
    if sample_weight is None:
        return None
    if isinstance(sample_weight, Real):
        raise ValueError(f"sample_weight must have one weight for each row of X, got {sample_weight!r}")
    refuse_unreadable(sample_weight, "sample_weight", "give a whole number for each row")
    weights = check_array(sample_weight, dtype=np.float64, ensure_2d=False, input_name="sample_weight")
    if weights.ndim != 1:
        raise ValueError(f"sample_weight must have shape (n_samples,), got {weights.shape}; pass one column of weights")
    is_frame = nw.dependencies.is_into_dataframe(nw.to_native(X, pass_through=True))
    check_consistent_length(X if is_frame else read_array(X, objects=True), weights)
    wrong = np.flatnonzero((weights < 0) | (weights != np.floor(weights)))
    if wrong.size:
        value = weights[wrong[0]].item()
        remedy = (
            "a weight is a number of rows; drop this row, or give it the weight 0"
            if value < 0
            else "a weight w stands for w equal rows, so it cannot be a fraction; scale the weights so that their sum "
            "is the number of rows they are worth, and round them"
        )
        raise ValueError(f"sample_weight must be integers from 0, got {value!r} for row {wrong[0]}: {remedy}")
    if not weights.any():
        raise ValueError("sample_weight is zero for all rows, so that there is nothing to fit; give some row a weight")
    if (total := weights.sum()) > max(MOST_COPIES, len(weights)):
        raise ValueError(
            f"sample_weight has the sum {total:.0f}, and a row of weight w is modelled as w rows: at most "
            f"{MOST_COPIES} are admitted. Divide the weights by a common factor and round them; the posterior is then "
            "that of so many fewer rows."
        )
    return None if (weights == 1.0).all() else weights.astype(np.int64)


def joined_weights(one: np.ndarray | None, n_one: int, other: np.ndarray | None, n_other: int) -> np.ndarray | None:
    """Weights of the rows of two tables, one below the other; None if all are 1."""
    if one is None and other is None:
        return None
    parts = (one, n_one), (other, n_other)
    return np.concatenate([np.ones(n, np.int64) if weights is None else weights for weights, n in parts])


def repeated_rows(X, weights: np.ndarray):
    """A table with each row as often as its weight says, in the container of X.

    Parameters
    ----------
    X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
    weights : ndarray of int64, shape (n_samples,)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.tables.row_weights import repeated_rows
    >>> repeated_rows([[1.5], [2.5], [3.5]], np.array([2, 0, 1]))
    [[1.5], [1.5], [3.5]]
    """
    rows = np.repeat(np.arange(len(weights)), weights)
    X = nw.to_native(X, pass_through=True)
    if nw.dependencies.is_into_dataframe(X):
        refuse_equal_labels(X)
        return nw.from_native(X, eager_only=True)[rows].to_native()
    if sparse.issparse(X):
        return X.tocsr()[rows]
    if isinstance(X, list | tuple):
        return [X[row] for row in rows]
    return np.asarray(X)[rows]
