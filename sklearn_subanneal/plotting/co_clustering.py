"""CoClusteringDisplay: the matrix of the fraction of posterior draws in which two rows share a cluster."""

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from sklearn_subanneal.plotting.checks import require_attributes
from sklearn_subanneal.plotting.drawn_rows import labels_of_drawn_rows
from sklearn_subanneal.plotting.matrix_order import block_order
from sklearn_subanneal.plotting.style import DARK, axes_for, tidy
from sklearn_subanneal.posterior import co_clustering, point_partition
from sklearn_subanneal.posterior.labels import check_draws
from sklearn_subanneal.tables.row_indices import drawn_indices

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MAX_ROWS = 5000


class CoClusteringDisplay:
    """The share of draws in which two rows share a cluster, rows ordered by cluster.

    Make it by :meth:`from_estimator` or :meth:`from_labels`.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_rows)
        Shares of draws, as of :func:`~sklearn_subanneal.posterior.co_clustering`.
    labels : ndarray of shape (n_rows,)
        The point estimate of the partition, which orders the rows.

    Attributes
    ----------
    order_ : ndarray of shape (n_rows,)
        The order of the rows shown: similar clusters side by side, the core of each cluster first.
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
            With `posterior_labels_` and `labels_`; chains count by `chain_weights_`.
        rows : array-like of int or bool, default=None
            Rows of the training table to show; after `partial_fit` and for tables in shards, some of `posterior_rows_`.
            None: as in :meth:`from_labels`.
        max_rows, ax, **kwargs
            As in :meth:`from_labels`.

        Returns
        -------
        CoClusteringDisplay

        Raises
        ------
        ValueError
            If the estimator keeps no posterior draws, or these do not have the rows.
        """
        require_attributes(estimator, "posterior_labels_", "labels_")
        draws, weights = estimator.posterior_labels_, getattr(estimator, "chain_weights_", None)
        rows = None if rows is None else drawn_indices("rows", rows, estimator, draws.shape[-1])
        labels = labels_of_drawn_rows(estimator)
        return cls.from_labels(draws, labels, rows, chain_weights=weights, max_rows=max_rows, ax=ax, **kwargs)

    @classmethod
    def from_labels(
        cls,
        draws: ArrayLike,
        labels: ArrayLike | None = None,
        rows: ArrayLike | None = None,
        *,
        chain_weights: ArrayLike | None = None,
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
            The rows to show; None: all, or `max_rows` evenly spaced ones if there are more.
        chain_weights : array-like of shape (n_chains,), default=None
            How much the draws of each chain count; None: equally.
        max_rows : int, default=1000
            The most rows to show if `rows` is None.
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
        weights = None if chain_weights is None else np.repeat(np.asarray(chain_weights)[:, None], draws.shape[1], 1)
        matrix = co_clustering(draws, rows, max_rows=max(max_rows, _MAX_ROWS), weights=weights)
        return cls(matrix, labels[rows]).plot(ax, **kwargs)

    def plot(
        self, ax: "Axes | None" = None, *, boundaries: bool = True, colorbar: bool = True, **image_kw: Any
    ) -> "CoClusteringDisplay":
        """Draw the matrix.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        boundaries : bool, default=True
            Whether to draw a frame around each cluster of the point estimate.
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
        self.order_, sizes = block_order(self.matrix, self.labels)
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
