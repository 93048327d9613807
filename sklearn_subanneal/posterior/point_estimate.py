"""Point estimates of a partition: the draw with the smallest expected loss, and the labels of this draw."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_subanneal.posterior.labels import check_draws, encode_labels, relabel
from sklearn_subanneal.posterior.losses import Loss, check_loss, expected_loss, mean_losses
from sklearn_subanneal.posterior.merging import MOST_DRAWS, MOST_ROWS, merged_clusters


def representative_draw(
    labels: ArrayLike,
    loss: Loss = "vi",
    n_candidates: int = 50,
    n_references: int = 200,
    weights: ArrayLike | None = None,
) -> tuple[int, int]:
    """The posterior draw of the partition with the smallest posterior expected loss.

    Among at most `n_candidates` draws, evenly thinned over all chains, the one whose mean loss against at most
    `n_references` evenly thinned draws is least; ties go to the earlier draw. No randomness is involved.

    Parameters
    ----------
    labels : array-like of shape (n_chains, n_draws, n_samples)
        Posterior labels, as in `posterior_labels_`.
    loss : {"vi", "binder"} or callable, default="vi"
        As in :func:`expected_loss`. The variation of information prefers fewer small clusters than Binder's loss.
    n_candidates : int, default=50
        Maximum number of candidates.
    n_references : int, default=200
        Maximum number of draws with which candidates are compared. The cost is n_candidates x n_references contingency
        tables.
    weights : array-like of shape (n_chains, n_draws), default=None
        Weights of the draws, not negative; None: all are equal.

    Returns
    -------
    chain, draw : int
        Indices of the draw in `labels`.

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
    references = _evenly(len(flat), n_references)
    # Draws of many rows are large: they are judged without a copy.
    judged, by = ([flat[i] for i in some] for some in (candidates, references))
    losses = mean_losses(judged, by, loss, _of_some(weights, references))
    chain, draw = divmod(int(candidates[np.argmin(losses)]), n_draws)
    return chain, draw


def point_partition(
    labels: ArrayLike,
    loss: Loss = "vi",
    n_candidates: int = 50,
    n_references: int = 200,
    order: Literal["size", "appearance"] = "size",
) -> NDArray[np.int64]:
    """Labels of the representative draw, its clusters merged as far as this lowers the loss, renamed to 0..K-1.

    With a callable loss, clusters are not merged.

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

    References
    ----------
    Wade, S. and Ghahramani, Z. (2018). Bayesian cluster analysis: point estimation and credible balls.
    Bayesian Analysis 13, 559-626. doi:10.1214/17-BA1073

    Examples
    --------
    >>> from sklearn_subanneal.posterior import point_partition
    >>> point_partition([[[0, 1, 2], [1, 0, 0]], [[0, 1, 1], [0, 0, 0]]])
    array([1, 0, 0])
    """
    labels = check_draws(labels)
    found = encode_labels(labels[representative_draw(labels, loss, n_candidates, n_references)]).values
    return relabel(found if callable(loss) else merged_clusters(found, labels, loss)[found], order)


def typical_draw_with_views(
    columns: NDArray,
    column_labels: NDArray,
    row_labels: Sequence[Sequence[NDArray]],
    weights: NDArray | None = None,
) -> tuple[int, int]:
    """Among the draws with given views, the one whose partitions of the rows are the most typical.

    Parameters
    ----------
    columns : ndarray of int, shape (n_columns,)
        View of each column, as :func:`relabel` numbers them; at least one draw has these views.
    column_labels : ndarray of int, shape (n_chains, n_draws, n_columns)
        View of each column in each draw.
    row_labels : sequence of sequence of ndarray of int, shape (n_views, n_samples)
        Clusters of the rows in each view, for each draw of each chain.
    weights : ndarray of shape (n_chains, n_draws) or None, default=None
        Weights of the draws; None: all are equal.

    Returns
    -------
    chain, draw : int
    """
    same, labels, weights = _with_views(columns, column_labels, row_labels, weights)
    return same[typical_draw(labels, weights=weights)]


def merged_in_views(
    columns: NDArray,
    column_labels: NDArray,
    row_labels: Sequence[Sequence[NDArray]],
    chosen: tuple[int, int],
    n_clusters: Sequence[int],
    weights: NDArray | None = None,
) -> list[NDArray]:
    """Merges, as of :func:`merged_clusters`, of the clusters of one draw in each view, by the draws with its views.

    Parameters
    ----------
    columns, column_labels, row_labels, weights
        As in :func:`typical_draw_with_views`.
    chosen : tuple of int
        Chain and index of the draw.
    n_clusters : sequence of int
        Of the draw in each view: some of its clusters may have none of these rows.

    Returns
    -------
    list of ndarray of shape (n_clusters,)
        For each view, in the order of ``columns``.
    """
    same, labels, weights = _with_views(columns, column_labels, row_labels, weights)
    own = labels[same.index(chosen)]
    # Only what is judged is copied.
    rows = slice(None, None, -(-own.shape[1] // MOST_ROWS))
    some = np.unique(np.linspace(0, len(labels) - 1, MOST_DRAWS).astype(int))
    return [
        merged_clusters(
            own[v, rows],
            np.array([labels[i][v, rows] for i in some]),
            weights=_of_some(weights, some),
            n_clusters=n_clusters[v],
        )
        for v in range(len(own))
    ]


def _with_views(columns, column_labels, row_labels, weights):
    """The draws with given views, the clusters of the rows in these, (n_views, n_samples), and their weights."""
    same = [at for at in np.ndindex(column_labels.shape[:2]) if np.array_equal(relabel(column_labels[at]), columns)]
    firsts = np.unique(columns, return_index=True)[1]
    labels = [row_labels[i][k][column_labels[i, k, firsts]] for i, k in same]
    return same, labels, None if weights is None else np.array([weights[at] for at in same])


def typical_draw(
    row_labels: Sequence[np.ndarray], n_candidates: int = 20, n_references: int = 60, weights: NDArray | None = None
) -> int:
    """The draw of least expected variation of information, summed over views, among draws with the same views.

    Parameters
    ----------
    row_labels : sequence of ndarray of int, shape (n_views, n_samples)
        Clusters of the rows in each view, views in the same order, for each draw.
    n_candidates, n_references : int
        The most candidates and the most draws they are compared with, evenly spaced. Large tables are thinned to some
        of their rows.
    weights : ndarray of shape (n_draws,) or None, default=None
        Weights of the draws; None: all are equal.

    Returns
    -------
    draw : int
        Index of the draw.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.posterior.point_estimate import typical_draw
    >>> typical_draw([np.array([[0, 1, 2], [0, 0, 1]]), np.array([[0, 0, 1], [0, 0, 1]]), np.array([[0, 0, 1]] * 2)])
    1
    """
    rows = slice(None, None, -(-row_labels[0].shape[1] // MOST_ROWS))
    candidates, references = (
        np.unique(np.linspace(0, len(row_labels) - 1, n).astype(int)) for n in (n_candidates, n_references)
    )
    losses = np.zeros(len(candidates))
    for v in range(len(row_labels[0])):
        judged, by = (np.array([row_labels[i][v, rows] for i in draws]) for draws in (candidates, references))
        losses += expected_loss(judged, by, weights=_of_some(weights, references))
    return int(candidates[np.argmin(losses)])


def _of_some(weights: ArrayLike | None, draws: NDArray) -> NDArray | None:
    """The weights of some draws, which are numbered chain after chain."""
    return None if weights is None else np.ravel(weights)[draws]


def _evenly(n_total: int, n_kept: int) -> NDArray[np.intp]:
    """Indices of at most `n_kept` of `n_total` items: the middles of equal intervals."""
    n_kept = min(n_kept, n_total)
    return ((np.arange(n_kept) + 0.5) * n_total / n_kept).astype(np.intp)
