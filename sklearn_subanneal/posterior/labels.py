"""Cluster labels of rows: checks, encoding as 0..K-1, and renumbering of clusters."""

from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class LabelCodes(NamedTuple):
    """Labels as codes 0..K-1, of any integer type, and the size of every cluster."""

    values: NDArray[np.integer]
    sizes: NDArray[np.int64]


def check_draws(labels: ArrayLike, name: str = "labels") -> NDArray:
    """Posterior labels as an array of shape (..., n_samples); raise ValueError if there is no draw or no row."""
    labels = np.asarray(labels)
    if labels.ndim < 2 or labels.size == 0:
        raise ValueError(f"{name} must have shape (..., n_samples) with at least one draw, got {labels.shape}.")
    return labels


def encode_labels(labels: ArrayLike) -> LabelCodes:
    """Code arbitrary labels of shape (n_samples,) by 0..K-1 in sorted order, none empty."""
    labels = np.asarray(labels)
    if labels.ndim != 1 or labels.size == 0:
        raise ValueError(f"labels of one partition must have shape (n_samples,), n_samples >= 1, got {labels.shape}.")
    if labels.dtype.kind in "iu" and labels.min() >= 0 and labels.max() <= 4 * labels.size + 1024:
        # Counting is several times as fast as the sort of np.unique, and labels are nearly always small integers.
        sizes = np.bincount(labels)
        used = sizes > 0
        # Codes are of the type of the labels, which is narrow where there are many draws of many rows.
        if not used.all():
            labels = (np.cumsum(used) - 1).astype(labels.dtype)[labels]
            sizes = sizes[used]
        return LabelCodes(labels, sizes)
    _, values, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    return LabelCodes(values.ravel(), sizes)


def pair_codes(a: LabelCodes, b: LabelCodes) -> NDArray[np.intp]:
    """Codes of the pairs of labels that the rows have in two partitions; pairs that no row has leave gaps."""
    codes = np.multiply(a.values, len(b.sizes), dtype=np.intp)
    codes += b.values
    return codes


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
    codes, sizes = encode_labels(labels)
    first = np.full(len(sizes), len(codes))
    np.minimum.at(first, codes, np.arange(len(codes)))
    by_rank = np.lexsort((first, -sizes)) if order == "size" else np.argsort(first)
    rank = np.empty(len(sizes), dtype=np.int64)
    rank[by_rank] = np.arange(len(sizes))
    return rank[codes]
