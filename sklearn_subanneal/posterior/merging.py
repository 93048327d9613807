"""Merges of the clusters of a partition that posterior draws do not separate."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from sklearn_subanneal.posterior.labels import check_draws, encode_labels
from sklearn_subanneal.posterior.losses import VALUATIONS, check_loss

# More rows, and more draws, hardly change the expected loss.
MOST_ROWS, MOST_DRAWS = 2000, 60


def merged_clusters(
    labels: ArrayLike,
    draws: ArrayLike,
    loss: str = "vi",
    weights: ArrayLike | None = None,
    n_clusters: int | None = None,
) -> NDArray[np.int64]:
    """Merge clusters of a partition as long as this lowers its posterior expected loss.

    Of all pairs, the one that lowers it most is merged first. A draw of many clusters has small ones that other draws
    place elsewhere; in the estimate they are parts of larger clusters.

    Parameters
    ----------
    labels : array-like of int, shape (n_samples,)
        The partition, usually a representative draw; clusters are numbered from 0.
    draws : array-like of shape (..., n_samples)
        Labels of the posterior draws; the leading axes (chains, draws) are flattened.
    loss : {"vi", "binder"}, default="vi"
        As in :func:`expected_loss`.
    weights : array-like of shape (...), default=None
        Weights of the draws, not negative; None: all are equal.
    n_clusters : int or None, default=None
        Number of clusters; those that no row has are not merged. None: as many as ``labels`` has.

    Returns
    -------
    ndarray of shape (n_clusters,), int64
        For each cluster the number of the merged cluster, 0, 1, ..., that it is part of.

    Notes
    -----
    Of many rows and draws, evenly spaced ones are judged.

    References
    ----------
    Wade, S. and Ghahramani, Z. (2018). Bayesian cluster analysis: point estimation and credible balls.
    Bayesian Analysis 13, 559-626. doi:10.1214/17-BA1073 (section 4.2: a greedy search for the partition of least
    expected loss)

    Examples
    --------
    >>> from sklearn_subanneal.posterior.merging import merged_clusters
    >>> merged_clusters([0, 0, 1, 2, 2], [[0, 0, 0, 1, 1], [0, 0, 1, 1, 1], [0, 0, 0, 2, 2]])
    array([0, 0, 1])
    """
    check_loss(loss)
    labels = np.asarray(labels)
    n_clusters = int(labels.max()) + 1 if n_clusters is None else n_clusters
    draws = check_draws(draws, "draws").reshape(-1, len(labels))
    weights = np.ones(len(draws)) if weights is None else np.ravel(weights).astype(float)
    rows = slice(None, None, -(-len(labels) // MOST_ROWS))
    some = np.unique(np.linspace(0, len(draws) - 1, MOST_DRAWS).astype(int))
    some = some[weights[some] > 0.0]
    codes, sizes = encode_labels(labels[rows])
    overlaps = Overlaps(codes, sizes, draws[some, rows], weights[some] / weights[some].sum(), loss)
    merged = np.arange(len(sizes))
    while (pair := overlaps.best_pair()) is not None:
        overlaps.merge(*pair)
        merged[merged == pair[1]] = pair[0]
    groups, judged = np.arange(n_clusters), np.unique(labels[rows])
    groups[judged] = judged[merged]
    return np.unique(groups, return_inverse=True)[1]


class Overlaps:
    """Rows that the clusters of a partition have in common with those of all draws, and what each merge would change.

    A merge of clusters a and b changes the expected loss, times its scale, by h(n_a, n_b) - 2 sum_c w_c h(n_ac, n_bc),
    h(x, y) = f(x + y) - f(x) - f(y), with the f of `losses`, over the clusters c of all draws with their weights w_c.

    Parameters
    ----------
    codes, sizes : ndarray of int
        As :func:`encode_labels` gives them.
    draws : ndarray of int, shape (n_draws, n_samples)
    weights : ndarray of shape (n_draws,)
    loss : {"vi", "binder"}
    """

    def __init__(self, codes, sizes, draws, weights, loss):
        self.value = VALUATIONS[loss].value
        self.sizes = sizes.astype(float)
        of_draws = [encode_labels(draw) for draw in draws]
        n_each = [len(draw.sizes) for draw in of_draws]
        columns = np.concatenate(
            [draw.values + first for draw, first in zip(of_draws, np.cumsum([0, *n_each[:-1]]), strict=True)]
        )
        rows = np.tile(codes, len(draws))
        # Duplicate entries of a sparse matrix are added up: these are contingency tables, side by side.
        self.shared = sparse.csc_array((np.ones(len(rows)), (rows, columns)), shape=(len(sizes), sum(n_each)))
        self.weights = np.repeat(weights, n_each)
        self.changes = np.array([self._changes(a) for a in range(len(sizes))])

    def _excess(self, x, y):
        return self.value(x + y) - self.value(x) - self.value(y)

    def _changes(self, a):
        """Of the merges of one cluster with each other one; infinite for itself."""
        own = self.shared[[a]].tocoo()
        others = self.shared[:, own.col]
        n_in_column = np.diff(others.indptr)
        gains = np.repeat(self.weights[own.col], n_in_column) * self._excess(
            np.repeat(own.data, n_in_column), others.data
        )
        out = self._excess(self.sizes[a], self.sizes)
        out -= 2.0 * np.bincount(others.indices, gains, minlength=len(out))
        out[a] = np.inf
        return out

    def best_pair(self) -> tuple[int, int] | None:
        """The two clusters whose merge lowers the expected loss most; None if no merge lowers it."""
        pair = divmod(int(self.changes.argmin()), len(self.changes))
        # Differences of rounding are no gain.
        return (min(pair), max(pair)) if self.changes[pair] < -1e-9 * self.sizes.sum() else None

    def merge(self, a: int, b: int) -> None:
        """Let cluster b be part of cluster a."""
        own = self.shared.tocoo()
        rows = np.where(own.row == b, a, own.row)
        self.shared = sparse.csc_array((own.data, (rows, own.col)), shape=own.shape)
        self.sizes[a] += self.sizes[b]
        self.sizes[b] = 0.0
        self.changes[a] = self.changes[:, a] = self._changes(a)
        self.changes[b] = self.changes[:, b] = np.inf
