"""Similarity of rows in posterior draws: co-clustering, similarity over views, confidence of clusters."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_subanneal._core.arguments import checked_integer
from sklearn_subanneal.posterior.labels import check_draws, encode_labels, pair_codes
from sklearn_subanneal.tables.row_indices import row_indices

# Elements of one block of a matrix of similarities: its comparison and its counts stay in the cache from draw to draw.
_BLOCK_ELEMENTS = 1 << 17
_DRAWS_PER_BYTE = 255


def co_clustering(
    labels: ArrayLike, rows: ArrayLike | None = None, max_rows: int = 5000, weights: ArrayLike | None = None
) -> NDArray[np.float64]:
    """Posterior similarity matrix: the share of draws in which two rows share a cluster.

    Parameters
    ----------
    labels : array-like of shape (..., n_samples)
        Posterior labels, as in `posterior_labels_`; all leading axes (chains, draws) are averaged over.
    rows : array-like of int or bool, default=None
        The rows to compare, as indices or as a mask of shape (n_samples,). None means all.
    max_rows : int, default=5000
        The matrix has a cell for every pair of rows: more rows than this are refused.
    weights : array-like of shape (...), default=None
        Weights of the draws, not negative; None: all are equal.

    Returns
    -------
    ndarray of shape (n_rows, n_rows)
        A symmetric matrix with ones on the diagonal, in the order of `rows`.

    Raises
    ------
    ValueError
        If more than `max_rows` rows are requested, or `rows` are no rows.

    References
    ----------
    Fritsch, A. and Ickstadt, K. (2009). Improved criteria for clustering based on the posterior similarity matrix.
    Bayesian Analysis 4, 367-391. doi:10.1214/09-BA414

    Examples
    --------
    >>> from sklearn_subanneal.posterior import co_clustering
    >>> co_clustering([[0, 0, 1], [1, 0, 0]])
    array([[1. , 0.5, 0. ],
           [0.5, 1. , 0.5],
           [0. , 0.5, 1. ]])
    """
    labels = check_draws(labels)
    labels = labels.reshape(-1, labels.shape[-1])
    checked_integer("max_rows", max_rows)
    if rows is not None:
        labels = labels[:, row_indices("rows", rows, labels.shape[1])]
    n_draws, n_rows = labels.shape
    if n_rows > max_rows:
        raise ValueError(
            f"co_clustering of {n_rows} rows fills a matrix of {n_rows} x {n_rows} cells, and max_rows={max_rows}. "
            "Pass rows= (indices of the rows of interest, or a random subset), or raise max_rows."
        )
    # Narrow integers are compared and counted several at a time.
    narrow = labels.dtype.kind in "iu" and labels.size and labels.min() >= 0 and labels.max() < 1 << 15
    labels = np.ascontiguousarray(labels, dtype=np.int16 if narrow else None)
    weights = np.ones(n_draws) if weights is None else np.ravel(weights)
    # Draws of one weight, such as those of one chain, are counted together.
    groups = [(weights.sum() / weight, labels[weights == weight]) for weight in np.unique(weights[weights > 0])]
    # By the same operations as for a pair that is together in all draws, of which the share is exactly 1.
    always = sum(len(alike) / n_of_such for n_of_such, alike in groups)
    shares = np.empty((n_rows, n_rows))
    block = max(1, _BLOCK_ELEMENTS // max(n_rows, 1))
    for start in range(0, n_rows, block):
        stop = min(start + block, n_rows)
        total = np.zeros((stop - start, n_rows - start))
        for n_of_such, alike in groups:
            counts = np.zeros(total.shape, dtype=np.int32)
            for first in range(0, len(alike), _DRAWS_PER_BYTE):
                counts += _count_together(alike[first : first + _DRAWS_PER_BYTE], start, stop)
            total += counts / n_of_such
        shares[start:stop, start:] = total / always
        shares[start:, start:stop] = shares[start:stop, start:].T
    return shares


def row_similarity(
    row_labels: Sequence[np.ndarray],
    column_labels: np.ndarray,
    rows: np.ndarray,
    others: np.ndarray,
    columns: Sequence[int] | None = None,
    weights: np.ndarray | None = None,
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
    weights : ndarray of shape (n_draws,) or None, default=None
        Weights of the draws; None: all are equal.

    Returns
    -------
    similarity : ndarray of shape (len(rows), len(others))

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.posterior.similarity import row_similarity
    >>> row_labels = [np.array([[0, 0, 1], [0, 1, 1]])]  # one draw of two views of three rows
    >>> column_labels = np.array([[0, 0, 0, 1]])
    >>> row_similarity(row_labels, column_labels, np.array([0]), np.arange(3))
    array([[1. , 0.5, 0. ]])
    >>> row_similarity(row_labels, column_labels, np.array([0]), np.arange(3), columns=[0, 1, 2, 3])
    array([[1.  , 0.75, 0.  ]])
    """
    shares = np.zeros((len(rows), len(others)))
    step = max(_BLOCK_ELEMENTS // max(len(others), 1), 1)
    of_draws = np.ones(len(row_labels)) if weights is None else weights
    for labels, views, weight in zip(row_labels, column_labels, of_draws / of_draws.sum(), strict=True):
        of_views = np.ones(len(labels)) if columns is None else np.bincount(views[list(columns)], minlength=len(labels))
        of_views = weight * of_views / of_views.sum()
        for v in np.flatnonzero(of_views):
            left, right = labels[v, rows], labels[v, others]
            for start in range(0, len(rows), step):
                shares[start : start + step] += of_views[v] * (left[start : start + step, None] == right)
    # Weights add up to 1 except for rounding.
    return np.minimum(shares, 1.0, out=shares)


def consensus_confidence(
    representative_row_labels: ArrayLike,
    representative_column_labels: ArrayLike,
    row_labels: Sequence[np.ndarray],
    column_labels: ArrayLike,
    weights: np.ndarray | None = None,
) -> np.ndarray:
    """Agreement of the draws with a partition on the cluster of each row in each view.

    For a row and a view, take the other rows of its cluster there. Each column of the view belongs to a view of each
    draw: the agreement is the fraction of those rows that share its cluster in that view. The confidence is
    the mean over the columns of the view and over the draws. For a row that is alone in its cluster, the agreement is 1
    if it is alone in the draw as well, and else 0.

    Parameters
    ----------
    representative_row_labels : array-like of int of shape (n_views, n_samples)
        Clusters of the rows in each view of the partition to judge.
    representative_column_labels : array-like of int of shape (n_features,)
        View of each column in the partition to judge.
    row_labels : sequence of ndarray of int, shape (n_views of the draw, n_samples)
        Clusters of the rows in each view, for each draw.
    column_labels : array-like of int of shape (n_draws, n_features)
        View of each column in each draw.
    weights : ndarray of shape (n_draws,) or None, default=None
        Weights of the draws; None: all are equal.

    Returns
    -------
    confidence : ndarray of shape (n_samples, n_views)
        Confidence from 0 to 1. The cost is that of a contingency table for each draw and each pair of views with a
        common column.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.posterior.similarity import consensus_confidence
    >>> draws = [np.array([[0, 0, 0, 1]]), np.array([[0, 0, 1, 1]])]  # two draws of one view of four rows
    >>> consensus_confidence([[0, 0, 0, 1]], [0, 0], draws, [[0, 0], [0, 0]]).ravel()
    array([0.75, 0.75, 0.5 , 0.5 ])
    """
    consensus = np.asarray(representative_row_labels)
    views = np.asarray(representative_column_labels)
    n_views, n_rows = consensus.shape
    confidence = np.zeros((n_rows, n_views))
    weights = np.ones(len(row_labels)) if weights is None else weights
    weights = weights / weights.sum()
    for v, labels in enumerate(consensus):
        own = encode_labels(labels)
        fellows = own.sizes[own.values] - 1
        n_columns = np.count_nonzero(views == v)
        for clusters, views_of_draw, weight in zip(row_labels, np.asarray(column_labels), weights, strict=True):
            held, counts = np.unique(views_of_draw[views == v], return_counts=True)
            for u, count in zip(held, counts, strict=True):
                other = encode_labels(clusters[u])
                common = encode_labels(pair_codes(own, other))
                together = common.sizes[common.values] - 1
                alone = other.sizes[other.values] == 1
                agreement = np.where(fellows > 0, together / np.maximum(fellows, 1), alone)
                confidence[:, v] += weight * count / n_columns * agreement
    return np.minimum(confidence, 1.0)


def _count_together(labels: NDArray, start: int, stop: int) -> NDArray[np.uint8]:
    """In how many of at most 255 draws rows start..stop-1 share a cluster with rows start..n-1."""
    counts = np.zeros((stop - start, labels.shape[1] - start), dtype=np.uint8)
    together = np.empty(counts.shape, dtype=bool)
    for draw in labels:
        np.equal(draw[start:stop, None], draw[None, start:], out=together)
        counts += together.view(np.uint8)
    return counts
