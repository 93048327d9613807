"""Summaries of posterior draws: who belongs together, which partition stands for all, and draws by name."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_subanneal.posterior.losses import (
    Loss,
    binder_loss,
    check_draws,
    check_loss,
    encode,
    expected_loss,
    variation_of_information,
)
from sklearn_subanneal.posterior.scalars import scalar_draws, to_arviz

__all__ = [
    "binder_loss",
    "co_clustering",
    "expected_loss",
    "log_mean_exp",
    "point_partition",
    "relabel",
    "representative_draw",
    "scalar_draws",
    "to_arviz",
    "variation_of_information",
]

# Elements of one block of the co-clustering matrix: its comparison and its counts stay in the cache from draw to draw.
_BLOCK_ELEMENTS = 1 << 17
_DRAWS_PER_BYTE = 255


def relabel(labels: ArrayLike, order: Literal["size", "appearance"] = "size") -> NDArray[np.int64]:
    """Rename the clusters of a partition to 0..K-1.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        Labels of any kind that NumPy can sort.
    order : {"size", "appearance"}, default="size"
        Cluster 0 is the largest (ties: the one seen first), or the one seen first.

    Returns
    -------
    ndarray of shape (n_samples,), int64
        The new labels; equal partitions get equal labels.

    Raises
    ------
    ValueError
        If `order` is unknown or `labels` is not one-dimensional.

    Examples
    --------
    >>> from sklearn_subanneal.posterior import relabel
    >>> relabel([7, 3, 3, 9])
    array([1, 0, 0, 2])
    >>> relabel([7, 3, 3, 9], order="appearance")
    array([0, 1, 1, 2])
    """
    if order not in ("size", "appearance"):
        raise ValueError(f"order must be 'size' or 'appearance', got {order!r}.")
    codes, sizes = encode(labels)
    first = np.full(len(sizes), len(codes))
    np.minimum.at(first, codes, np.arange(len(codes)))
    by_rank = np.lexsort((first, -sizes)) if order == "size" else np.argsort(first)
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[by_rank] = np.arange(len(sizes))
    return rank[codes]


def co_clustering(labels: ArrayLike, rows: ArrayLike | None = None, max_rows: int = 5000) -> NDArray[np.float64]:
    """Posterior similarity matrix: the share of draws in which two rows share a cluster.

    Parameters
    ----------
    labels : array-like of shape (..., n_samples)
        Posterior labels, as in `posterior_labels_`; all leading axes (chains, draws) are averaged over.
    rows : array-like of int or bool, default=None
        The rows to compare, as indices or as a mask of shape (n_samples,). None means all.
    max_rows : int, default=5000
        The matrix has a cell for every pair of rows: more rows than this are refused.

    Returns
    -------
    ndarray of shape (n_rows, n_rows)
        A symmetric matrix with ones on the diagonal, in the order of `rows`.

    Raises
    ------
    ValueError
        If more than `max_rows` rows are asked for.

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
    if rows is not None:
        labels = labels[:, np.asarray(rows)]
    n_draws, n_rows = labels.shape
    if n_rows > max_rows:
        raise ValueError(
            f"co_clustering of {n_rows} rows fills a matrix of {n_rows} x {n_rows} cells, and max_rows={max_rows}. "
            "Pass rows= (indices of the rows of interest, or a random subset), or raise max_rows."
        )
    # Narrow integers are compared and counted several at a time.
    narrow = labels.dtype.kind in "iu" and labels.size and labels.min() >= 0 and labels.max() < 1 << 15
    labels = np.ascontiguousarray(labels, dtype=np.int16 if narrow else None)
    shares = np.empty((n_rows, n_rows))
    block = max(1, _BLOCK_ELEMENTS // max(n_rows, 1))
    for start in range(0, n_rows, block):
        stop = min(start + block, n_rows)
        counts = np.zeros((stop - start, n_rows - start), dtype=np.int32)
        for first in range(0, n_draws, _DRAWS_PER_BYTE):
            counts += _count_together(labels[first : first + _DRAWS_PER_BYTE], start, stop)
        shares[start:stop, start:] = counts / n_draws
        shares[start:, start:stop] = shares[start:stop, start:].T
    return shares


def representative_draw(
    labels: ArrayLike, loss: Loss = "vi", n_candidates: int = 50, n_references: int = 200
) -> tuple[int, int]:
    """The posterior draw of the partition with the least posterior expected loss.

    Among at most `n_candidates` draws, evenly thinned over all chains, the one whose mean loss against at most
    `n_references` evenly thinned draws is least; ties go to the earlier draw. No randomness is involved.

    Parameters
    ----------
    labels : array-like of shape (n_chains, n_draws, n_samples)
        Posterior labels, as in `posterior_labels_`.
    loss : {"vi", "binder"} or callable, default="vi"
        As in :func:`expected_loss`. The variation of information prefers fewer small clusters than Binder's loss.
    n_candidates : int, default=50
        How many draws are candidates.
    n_references : int, default=200
        How many draws the candidates are judged by. The cost is n_candidates x n_references contingency tables.

    Returns
    -------
    chain, draw : int
        The place of the draw in `labels`.

    Raises
    ------
    ValueError
        If the shape, the loss or a number is out of range.

    References
    ----------
    Wade, S. and Ghahramani, Z. (2018). Bayesian cluster analysis: point estimation and credible balls.
    Bayesian Analysis 13, 559-626. doi:10.1214/17-BA1073

    Examples
    --------
    >>> from sklearn_subanneal.posterior import representative_draw
    >>> representative_draw([[[0, 1, 2], [0, 0, 1]], [[1, 1, 0], [0, 0, 0]]])
    (0, 1)
    """
    check_loss(loss)
    labels = check_draws(labels)
    if labels.ndim != 3:
        raise ValueError(f"labels must have shape (n_chains, n_draws, n_samples), got {labels.shape}; add axes to it.")
    for name, value in (("n_candidates", n_candidates), ("n_references", n_references)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}.")
    n_draws = labels.shape[1]
    flat = labels.reshape(-1, labels.shape[-1])
    candidates = _evenly(len(flat), n_candidates)
    losses = expected_loss(flat[candidates], flat[_evenly(len(flat), n_references)], loss)
    chain, draw = divmod(int(candidates[np.argmin(losses)]), n_draws)
    return chain, draw


def point_partition(
    labels: ArrayLike,
    loss: Loss = "vi",
    n_candidates: int = 50,
    n_references: int = 200,
    order: Literal["size", "appearance"] = "size",
) -> NDArray[np.int64]:
    """Labels of the representative draw, renamed to 0..K-1.

    Parameters
    ----------
    labels : array-like of shape (n_chains, n_draws, n_samples)
        Posterior labels, as in `posterior_labels_`.
    loss, n_candidates, n_references
        As in :func:`representative_draw`.
    order : {"size", "appearance"}, default="size"
        As in :func:`relabel`.

    Returns
    -------
    ndarray of shape (n_samples,), int64
        The point estimate of the partition.

    Raises
    ------
    ValueError
        As in :func:`representative_draw` and :func:`relabel`.

    Examples
    --------
    >>> from sklearn_subanneal.posterior import point_partition
    >>> point_partition([[[0, 1, 2], [1, 0, 0]], [[0, 1, 1], [0, 0, 0]]])
    array([1, 0, 0])
    """
    chain, draw = representative_draw(labels, loss, n_candidates, n_references)
    return relabel(np.asarray(labels)[chain, draw], order)


def log_mean_exp(
    log_densities: ArrayLike, axis: int | tuple[int, ...] | None = None
) -> NDArray[np.float64] | np.float64:
    """Logarithm of the mean of densities given by their logarithms, without overflow or underflow.

    Parameters
    ----------
    log_densities : array-like
        Log densities; -inf (density 0) is allowed.
    axis : int, tuple of int or None, default=None
        The axes to average over, such as chains and draws; None means all.

    Returns
    -------
    ndarray or float
        log(mean(exp(log_densities), axis)); -inf where all are -inf.

    Raises
    ------
    ValueError
        If there is nothing to average over.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.posterior import log_mean_exp
    >>> log_mean_exp([[-1000.0, -1000.0], [np.log(0.2), np.log(0.4)]], axis=1).round(4)
    array([-1000.   ,    -1.204])
    """
    log_densities = np.asarray(log_densities, dtype=np.float64)
    if log_densities.size == 0:
        raise ValueError(f"log_densities must not be empty, got shape {log_densities.shape}.")
    largest = log_densities.max(axis=axis, keepdims=True)
    # The largest itself may be infinite, and inf - inf is not a number.
    shift = np.where(np.isfinite(largest), largest, 0.0)
    with np.errstate(divide="ignore"):
        mean = np.log(np.exp(log_densities - shift).mean(axis=axis, keepdims=True)) + shift
    return mean.squeeze(axis=axis)[()]


def _count_together(labels: NDArray, start: int, stop: int) -> NDArray[np.uint8]:
    """In how many of at most 255 draws rows start..stop-1 share a cluster with rows start..n-1."""
    counts = np.zeros((stop - start, labels.shape[1] - start), dtype=np.uint8)
    together = np.empty(counts.shape, dtype=bool)
    for draw in labels:
        np.equal(draw[start:stop, None], draw[None, start:], out=together)
        counts += together.view(np.uint8)
    return counts


def _evenly(n_total: int, n_kept: int) -> NDArray[np.intp]:
    """Indices of at most `n_kept` of `n_total` things, evenly spaced, each the middle of its stretch."""
    n_kept = min(n_kept, n_total)
    return ((np.arange(n_kept) + 0.5) * n_total / n_kept).astype(np.intp)
