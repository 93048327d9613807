"""Who belongs together under posterior draws of cross-categorization: similarity of rows, confidence in a consensus."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from sklearn_subanneal.posterior.losses import encode, expected_loss

# Cells of one block of a matrix of similarities, whose comparison stays in the cache.
BLOCK_CELLS = 1 << 17
# The variation of information hardly differs on more rows than these.
MOST_ROWS_JUDGED = 2000


def row_similarity(
    row_labels: Sequence[np.ndarray],
    column_labels: np.ndarray,
    rows: np.ndarray,
    others: np.ndarray,
    columns: Sequence[int] | None = None,
) -> np.ndarray:
    """Share of the draws and their views in which two rows are in one cluster.

    Parameters
    ----------
    row_labels : sequence of ndarray of int, shape (n_views, n_samples)
        Clusters of the rows in each view, for each draw.
    column_labels : ndarray of int, shape (n_draws, n_features)
        View of each column.
    rows, others : ndarray of int
        Indices of the rows to compare.
    columns : sequence of int, default=None
        A view counts by how many of these columns it holds; None: all views count equally.

    Returns
    -------
    similarity : ndarray of shape (len(rows), len(others))

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.views.similarity import row_similarity
    >>> row_labels = [np.array([[0, 0, 1], [0, 1, 1]])]  # one draw of two views of three rows
    >>> column_labels = np.array([[0, 0, 0, 1]])
    >>> row_similarity(row_labels, column_labels, np.array([0]), np.arange(3))
    array([[1. , 0.5, 0. ]])
    >>> row_similarity(row_labels, column_labels, np.array([0]), np.arange(3), columns=[0, 1, 2, 3])
    array([[1.  , 0.75, 0.  ]])
    """
    shares = np.zeros((len(rows), len(others)))
    step = max(BLOCK_CELLS // max(len(others), 1), 1)
    for labels, views in zip(row_labels, column_labels, strict=True):
        weights = np.ones(len(labels)) if columns is None else np.bincount(views[list(columns)], minlength=len(labels))
        weights = weights / (weights.sum() * len(row_labels))
        for v in np.flatnonzero(weights):
            left, right = labels[v, rows], labels[v, others]
            for start in range(0, len(rows), step):
                shares[start : start + step] += weights[v] * (left[start : start + step, None] == right)
    # Weights add up to 1 but for rounding.
    return np.minimum(shares, 1.0, out=shares)


def consensus_confidence(
    representative_row_labels: ArrayLike,
    representative_column_labels: ArrayLike,
    row_labels: Sequence[np.ndarray],
    column_labels: ArrayLike,
) -> np.ndarray:
    """How far the draws agree with a consensus on where each row belongs in each of its views.

    Take a row, a view of the consensus, and the row's fellows there, the other rows of its cluster. In a draw, each
    column of the view is in some view of the draw: what counts is the share of the fellows who are in one cluster with
    the row there. The confidence is the mean over the columns of the view and over the draws. A row without fellows
    counts 1 where it is alone in the draw as well, and else 0.

    Parameters
    ----------
    representative_row_labels : array-like of int of shape (n_views, n_samples)
        Clusters of the rows in each view of the consensus.
    representative_column_labels : array-like of int of shape (n_features,)
        View of each column in the consensus.
    row_labels : sequence of ndarray of int, shape (n_views of the draw, n_samples)
        Clusters of the rows in each view, for each draw.
    column_labels : array-like of int of shape (n_draws, n_features)
        View of each column in each draw.

    Returns
    -------
    confidence : ndarray of shape (n_samples, n_views)
        From 0 to 1. The cost is that of a contingency table for each draw and each pair of views with a common column.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.views.similarity import consensus_confidence
    >>> draws = [np.array([[0, 0, 0, 1]]), np.array([[0, 0, 1, 1]])]  # two draws of one view of four rows
    >>> consensus_confidence([[0, 0, 0, 1]], [0, 0], draws, [[0, 0], [0, 0]]).ravel()
    array([0.75, 0.75, 0.5 , 0.5 ])
    """
    consensus = np.asarray(representative_row_labels)
    views = np.asarray(representative_column_labels)
    n_views, n_rows = consensus.shape
    confidence = np.zeros((n_rows, n_views))
    for v, labels in enumerate(consensus):
        own = encode(labels)
        fellows = own.sizes[own.values] - 1
        n_columns = np.count_nonzero(views == v)
        for clusters, views_of_draw in zip(row_labels, np.asarray(column_labels), strict=True):
            held, counts = np.unique(views_of_draw[views == v], return_counts=True)
            for u, count in zip(held, counts, strict=True):
                other = encode(clusters[u])
                common = encode(own.values * len(other.sizes) + other.values)
                together = common.sizes[common.values] - 1
                alone = other.sizes[other.values] == 1
                confidence[:, v] += count / n_columns * np.where(fellows > 0, together / np.maximum(fellows, 1), alone)
    return confidence / len(row_labels)


def typical_draw(row_labels: Sequence[np.ndarray], n_candidates: int = 20, n_references: int = 60) -> int:
    """Which of some draws of the same views represents the rows: least variation of information, summed over views.

    Parameters
    ----------
    row_labels : sequence of ndarray of int, shape (n_views, n_samples)
        Clusters of the rows in each view, views in the same order, for each draw.
    n_candidates, n_references : int
        How many draws, evenly spaced, are judged, and by how many. A large table is judged by some of its rows.

    Returns
    -------
    draw : int

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.views.similarity import typical_draw
    >>> typical_draw([np.array([[0, 1, 2], [0, 0, 1]]), np.array([[0, 0, 1], [0, 0, 1]]), np.array([[0, 0, 1]] * 2)])
    1
    """
    rows = slice(None, None, -(-row_labels[0].shape[1] // MOST_ROWS_JUDGED))
    candidates, references = (
        np.unique(np.linspace(0, len(row_labels) - 1, n).astype(int)) for n in (n_candidates, n_references)
    )
    losses = np.zeros(len(candidates))
    for v in range(len(row_labels[0])):
        judged, by = (np.array([row_labels[i][v, rows] for i in draws]) for draws in (candidates, references))
        losses += expected_loss(judged, by)
    return int(candidates[np.argmin(losses)])
