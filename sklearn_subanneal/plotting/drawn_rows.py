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
    if not hasattr(estimator, "posterior_rows_"):
        return estimator.labels_
    if hasattr(estimator, "n_samples_seen_"):
        # After partial_fit, labels_ has the rows of the last call, and each once, whatever its weight.
        return point_partition(estimator.posterior_labels_)
    return estimator.labels_[estimator.posterior_rows_]
