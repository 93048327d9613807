"""Jaccard indices of the clusters of two partitions of the same rows."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def jaccard_indices(labels: ArrayLike, others: ArrayLike, weights: ArrayLike | None = None) -> NDArray[np.float64]:
    """Rows that two clusters share, as a fraction of the rows that at least one of them has.

    Parameters
    ----------
    labels, others : array-like of int, shape (n_samples,)
        Two partitions, their clusters numbered from 0; numbers that no row has are empty clusters.
    weights : array-like of shape (n_samples,), default=None
        What each row counts, not negative; None: 1.

    Returns
    -------
    ndarray of shape (n_clusters, n_others)
        Of each cluster of ``labels`` with each of ``others``; 0 if both are empty.

    Raises
    ------
    ValueError
        If the partitions are not of the same rows.

    References
    ----------
    Jaccard, P. (1901). Distribution de la flore alpine dans le bassin des Dranses et dans quelques régions voisines.
    Bulletin de la Société Vaudoise des Sciences Naturelles 37, 241-272.

    Examples
    --------
    >>> from sklearn_subanneal.posterior import jaccard_indices
    >>> jaccard_indices([0, 0, 0, 1], [0, 0, 1, 1])
    array([[0.66666667, 0.25      ],
           [0.        , 0.5       ]])
    """
    labels, others = np.asarray(labels, np.int64), np.asarray(others, np.int64)
    if labels.ndim != 1 or labels.shape != others.shape or labels.size == 0:
        raise ValueError(
            f"labels and others must be labels of the same rows, got the shapes {labels.shape} and {others.shape}."
        )
    shape = (int(labels.max()) + 1, int(others.max()) + 1)
    shared = np.bincount(labels * shape[1] + others, weights, shape[0] * shape[1]).reshape(shape).astype(np.float64)
    either = shared.sum(axis=1)[:, None] + shared.sum(axis=0) - shared
    return np.divide(shared, either, out=np.zeros(shape), where=either > 0.0)
