"""Displays of a partition and of its posterior: the sizes of clusters, and who belongs together."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.cluster.hierarchy import leaves_list, linkage, optimal_leaf_ordering
from scipy.spatial.distance import squareform
from sklearn.base import BaseEstimator

from sklearn_subanneal.plotting.style import BAR_COLOR, DARK, axes_for, tidy
from sklearn_subanneal.posterior import co_clustering, point_partition, relabel
from sklearn_subanneal.posterior.losses import check_draws, encode

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_ROWS = 5000
_INTERVAL = (0.05, 0.5, 0.95)


class ClusterSizesDisplay:
    """Sizes of the clusters, largest first, with their spread over the posterior draws.

    Make it by :meth:`from_estimator` or :meth:`from_labels`.

    Parameters
    ----------
    sizes : ndarray of shape (n_clusters,)
        Sizes of the clusters of the point estimate, in decreasing order.
    quantiles : ndarray of shape (3, n_ranks), default=None
        5 %, 50 % and 95 % quantiles over the draws of the size of the largest cluster, of the second largest and so on;
        0 in draws with fewer clusters.

    Attributes
    ----------
    bars_ : matplotlib BarContainer
        Sizes of the point estimate.
    errors_ : matplotlib ErrorbarContainer or None
        Medians and intervals of the draws.
    ax_ : matplotlib Axes
        The axes with the bars.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> from sklearn_subanneal.plotting import ClusterSizesDisplay
    >>> display = ClusterSizesDisplay.from_labels([0, 1, 1, 1, 2], [[[0, 1, 1, 1, 1], [0, 1, 1, 1, 2]]])
    >>> display.sizes, display.quantiles[1]
    (array([3, 1, 1]), array([3.5, 1. , 0.5]))
    """

    def __init__(self, sizes: NDArray, quantiles: NDArray | None = None) -> None:
        self.sizes = sizes
        self.quantiles = quantiles

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, *, ax: "Axes | None" = None, **kwargs: Any
    ) -> "ClusterSizesDisplay":
        """Plot the sizes of the clusters of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            With `labels_`, and `posterior_labels_` if it has them.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        ClusterSizesDisplay

        Raises
        ------
        ValueError
            If the estimator is not fitted.
        """
        if not hasattr(estimator, "labels_"):
            raise ValueError(f"estimator must have labels_, {type(estimator).__name__} has none; fit it first.")
        return cls.from_labels(estimator.labels_, getattr(estimator, "posterior_labels_", None), ax=ax, **kwargs)

    @classmethod
    def from_labels(
        cls, labels: ArrayLike, draws: ArrayLike | None = None, *, ax: "Axes | None" = None, **kwargs: Any
    ) -> "ClusterSizesDisplay":
        """Plot the sizes of the clusters of a partition.

        Parameters
        ----------
        labels : array-like of shape (n_samples,)
            Labels of the point estimate.
        draws : array-like of shape (..., n_samples), default=None
            Labels of posterior draws.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        ClusterSizesDisplay

        Raises
        ------
        ValueError
            If the shapes are wrong.
        """
        quantiles = None
        if draws is not None:
            draws = check_draws(draws, "draws")
            ranked = [_ranked_sizes(draw) for draw in draws.reshape(-1, draws.shape[-1])]
            by_rank = np.zeros((len(ranked), max(map(len, ranked))))
            for row, sizes in zip(by_rank, ranked, strict=True):
                row[: len(sizes)] = sizes
            quantiles = np.quantile(by_rank, _INTERVAL, axis=0)
        return cls(_ranked_sizes(labels), quantiles).plot(ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, *, max_clusters: int = 40, **bar_kw: Any) -> "ClusterSizesDisplay":
        """Draw the sizes.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        max_clusters : int, default=40
            How many of the largest clusters to show.
        **bar_kw
            Passed to :meth:`matplotlib.axes.Axes.bar`.

        Returns
        -------
        ClusterSizesDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        from matplotlib.ticker import MaxNLocator

        ax = axes_for(self, ax)
        sizes = self.sizes[:max_clusters]
        style = {"color": BAR_COLOR, "width": 0.8, "label": "point estimate", **bar_kw}
        self.bars_ = ax.bar(np.arange(1, len(sizes) + 1), sizes, **style)
        self.errors_ = None
        if self.quantiles is not None:
            # Ranks that most draws do not reach would only trail along the axis.
            n_shown = min(max(int((self.quantiles[2] > 0).sum()), 1), max_clusters)
            low, middle, high = self.quantiles[:, :n_shown]
            self.errors_ = ax.errorbar(
                np.arange(1, n_shown + 1),
                middle,
                yerr=[middle - low, high - middle],
                fmt="o",
                color=DARK,
                markersize=3.5,
                elinewidth=1.2,
                label="draws: median, 5 % to 95 %",
            )
            ax.legend(frameon=False, fontsize="small")
        hidden = len(self.sizes) - len(sizes)
        ax.set(xlabel="cluster, by size" + (f" ({hidden} smaller ones not shown)" if hidden else ""), ylabel="rows")
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.set_ylim(bottom=0)
        tidy(ax)
        return self


class CoClusteringDisplay:
    """The share of draws in which two rows share a cluster, rows ordered by cluster.

    Make it by :meth:`from_estimator` or :meth:`from_labels`.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_rows)
        As :func:`~sklearn_subanneal.posterior.co_clustering` gives.
    labels : ndarray of shape (n_rows,)
        The point estimate of the partition, which orders the rows.

    Attributes
    ----------
    order_ : ndarray of shape (n_rows,)
        The order of the rows shown: similar clusters side by side, and within a cluster its core first.
    image_ : matplotlib AxesImage
        The matrix.
    ax_ : matplotlib Axes
        The axes with the matrix.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> from sklearn_subanneal.plotting import CoClusteringDisplay
    >>> display = CoClusteringDisplay.from_labels([[[0, 1, 0, 1], [0, 1, 0, 0]]], [0, 1, 0, 1])
    >>> display.matrix[0]
    array([1. , 0. , 1. , 0.5])
    """

    def __init__(self, matrix: NDArray, labels: NDArray) -> None:
        self.matrix = matrix
        self.labels = labels

    @classmethod
    def from_estimator(
        cls,
        estimator: BaseEstimator,
        rows: ArrayLike | None = None,
        *,
        max_rows: int = 1000,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> "CoClusteringDisplay":
        """Plot the posterior similarity of the rows a fitted estimator was trained on.

        Parameters
        ----------
        estimator : fitted estimator
            With `posterior_labels_` and `labels_`.
        rows, max_rows, ax, **kwargs
            As in :meth:`from_labels`.

        Returns
        -------
        CoClusteringDisplay

        Raises
        ------
        ValueError
            If the estimator keeps no posterior draws.
        """
        for name in ("posterior_labels_", "labels_"):
            if not hasattr(estimator, name):
                raise ValueError(f"estimator must have {name}, {type(estimator).__name__} has none; fit it first.")
        return cls.from_labels(estimator.posterior_labels_, estimator.labels_, rows, max_rows=max_rows, ax=ax, **kwargs)

    @classmethod
    def from_labels(
        cls,
        draws: ArrayLike,
        labels: ArrayLike | None = None,
        rows: ArrayLike | None = None,
        *,
        max_rows: int = 1000,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> "CoClusteringDisplay":
        """Plot the posterior similarity of rows.

        Parameters
        ----------
        draws : array-like of shape (n_chains, n_draws, n_samples)
            Labels of posterior draws.
        labels : array-like of shape (n_samples,), default=None
            The partition that orders the rows; None takes the representative draw.
        rows : array-like of int or bool, default=None
            The rows to show. None takes all, or if there are more than `max_rows`, so many evenly spaced ones.
        max_rows : int, default=1000
            How many rows to take if `rows` is None.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        CoClusteringDisplay

        Raises
        ------
        ValueError
            If the shapes are wrong.
        """
        draws = check_draws(draws, "draws")
        labels = point_partition(draws) if labels is None else np.asarray(labels)
        n_samples = draws.shape[-1]
        if labels.shape != (n_samples,):
            raise ValueError(f"labels must have shape ({n_samples},), as the draws have, got {labels.shape}.")
        if rows is None:
            n_shown = min(max_rows, n_samples)
            rows = np.arange(n_shown) * n_samples // n_shown
        rows = np.asarray(rows)
        return cls(co_clustering(draws, rows, max_rows=max(max_rows, _MAX_ROWS)), labels[rows]).plot(ax, **kwargs)

    def plot(
        self, ax: "Axes | None" = None, *, boundaries: bool = True, colorbar: bool = True, **image_kw: Any
    ) -> "CoClusteringDisplay":
        """Draw the matrix.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        boundaries : bool, default=True
            Whether to frame the clusters of the point estimate.
        colorbar : bool, default=True
            Whether to add a colour bar.
        **image_kw
            Passed to :meth:`matplotlib.axes.Axes.imshow`.

        Returns
        -------
        CoClusteringDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        ax = axes_for(self, ax)
        self.order_, sizes = _block_order(self.matrix, self.labels)
        style = {"cmap": "Blues", "vmin": 0.0, "vmax": 1.0, "interpolation": "nearest", **image_kw}
        self.image_ = ax.imshow(self.matrix[np.ix_(self.order_, self.order_)], **style)
        if boundaries:
            edges = np.concatenate([[0], np.cumsum(sizes)]) - 0.5
            for low, high in pairwise(edges):
                ax.plot([low, high, high, low, low], [low, low, high, high, low], color=DARK, linewidth=0.6)
        if colorbar:
            bar = self.figure_.colorbar(self.image_, ax=ax, label="share of draws in the same cluster", shrink=0.85)
            bar.outline.set_visible(False)
        n_rows = len(self.order_)
        ax.set(xlabel="rows, by cluster", xticks=[], yticks=[], xlim=(-0.5, n_rows - 0.5), ylim=(n_rows - 0.5, -0.5))
        tidy(ax, "top", "right", "bottom", "left")
        return self


def _ranked_sizes(labels: ArrayLike) -> NDArray[np.int64]:
    """Sizes of the clusters in decreasing order."""
    return np.sort(encode(labels).sizes)[::-1]


def _block_order(matrix: NDArray, labels: NDArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The order of rows that puts similar clusters side by side, and the sizes of the clusters in that order."""
    labels = relabel(labels)
    n_clusters = labels.max() + 1
    member = np.zeros((n_clusters, len(labels)))
    member[labels, np.arange(len(labels))] = 1.0
    member /= member.sum(axis=1, keepdims=True)
    to_clusters = member @ matrix
    position = np.arange(n_clusters)
    if n_clusters > 2:
        distance = 1.0 - to_clusters @ member.T
        np.fill_diagonal(distance, 0.0)
        condensed = squareform(distance, checks=False)
        tree = optimal_leaf_ordering(linkage(condensed, "average"), condensed)
        leaves = leaves_list(tree)
        # Of the two directions of reading, the one with the larger clusters first.
        position[leaves if leaves[0] < leaves[-1] else leaves[::-1]] = np.arange(n_clusters)
    strength = to_clusters[labels, np.arange(len(labels))]
    order = np.lexsort((-strength, position[labels]))
    return order, np.bincount(position[labels])
