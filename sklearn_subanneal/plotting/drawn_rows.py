"""labels_of_drawn_rows: the point estimate of the rows that posterior draws have."""

from __future__ import annotations

from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from sklearn_subanneal.posterior import point_partition


def labels_of_drawn_rows(estimator: BaseEstimator) -> NDArray:
    """Labels of the rows of which an estimator has draws: all of its rows, or fewer of a stream or a table in shards.

    Parameters
    ----------
    estimator : fitted estimator
        With `labels_`, and `posterior_rows_` and `posterior_labels_` where draws have fewer rows.

    Returns
    -------
    labels : ndarray of shape (n_rows,)
    """
    labels, rows = estimator.labels_, getattr(estimator, "posterior_rows_", None)
    if rows is None:
        return labels
    # After partial_fit, labels_ has the rows of the last call.
    return labels[rows] if len(labels) > rows.max() else point_partition(estimator.posterior_labels_)
