"""ClusterSizesDisplay: sizes of the clusters of a partition, with their spread over posterior draws."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from sklearn_subanneal.plotting.checks import require_attributes
from sklearn_subanneal.plotting.drawn_rows import labels_of_drawn_rows
from sklearn_subanneal.plotting.style import BAR_COLOR, DARK, axes_for, tidy
from sklearn_subanneal.posterior.labels import check_draws, encode_labels

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INTERVAL = (0.05, 0.5, 0.95)


class ClusterSizesDisplay:
    """Sizes of the clusters, largest first, with their spread over the posterior draws.

    Make it by :meth:`from_estimator` or :meth:`from_labels`.

    Parameters
    ----------
    sizes : ndarray of shape (n_clusters,)
        Sizes of the clusters of the point estimate, in decreasing order.
    quantiles : ndarray of shape (3, n_ranks), default=None
        5 %, 50 % and 95 % quantiles over the draws, by their weights, of the size of the largest cluster, of the second
        largest and so on; 0 in draws with fewer clusters.

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
            With `labels_`, and `posterior_labels_` if it has them: then the sizes are of the rows of the draws, which
            after `partial_fit` and for tables in shards are some of all (`posterior_rows_`). Chains count by
            `chain_weights_`.
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
        require_attributes(estimator, "labels_")
        draws = getattr(estimator, "posterior_labels_", None)
        if draws is None:
            return cls.from_labels(estimator.labels_, ax=ax, **kwargs)
        weights = getattr(estimator, "chain_weights_", None)
        return cls.from_labels(labels_of_drawn_rows(estimator), draws, chain_weights=weights, ax=ax, **kwargs)

    @classmethod
    def from_labels(
        cls,
        labels: ArrayLike,
        draws: ArrayLike | None = None,
        *,
        chain_weights: ArrayLike | None = None,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> "ClusterSizesDisplay":
        """Plot the sizes of the clusters of a partition.

        Parameters
        ----------
        labels : array-like of shape (n_samples,)
            Labels of the point estimate.
        draws : array-like of shape (..., n_samples), default=None
            Labels of posterior draws.
        chain_weights : array-like of shape (n_chains,), default=None
            How much the draws of each chain, the first axis of `draws`, count; None: equally.
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
            If the shapes are wrong, or no chain has weight.
        """
        quantiles = None
        if draws is not None:
            draws = check_draws(draws, "draws")
            weights = _weights_of_draws(draws, chain_weights)
            draws = draws.reshape(-1, draws.shape[-1])[weights > 0.0]
            ranked = [_ranked_sizes(draw) for draw in draws]
            by_rank = np.zeros((len(ranked), max(map(len, ranked))))
            for row, sizes in zip(by_rank, ranked, strict=True):
                row[: len(sizes)] = sizes
            quantiles = np.transpose([_weighted_quantiles(sizes, weights[weights > 0.0]) for sizes in by_rank.T])
        return cls(_ranked_sizes(labels), quantiles).plot(ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, *, max_clusters: int = 40, **bar_kw: Any) -> "ClusterSizesDisplay":
        """Draw the sizes.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        max_clusters : int, default=40
            The most clusters to show, the largest first.
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
            # Ranks that nearly no draw reaches are left out.
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


def _ranked_sizes(labels: ArrayLike) -> NDArray[np.int64]:
    """Sizes of the clusters in decreasing order."""
    return np.sort(encode_labels(labels).sizes)[::-1]


def _weights_of_draws(draws: NDArray, chain_weights: ArrayLike | None) -> NDArray[np.float64]:
    """The weight of each draw, those of a chain one after the other."""
    if chain_weights is None:
        return np.ones(draws[..., 0].size)
    weights = np.asarray(chain_weights, dtype=np.float64)
    if weights.shape != draws.shape[:1] or not (np.isfinite(weights) & (weights >= 0.0)).all() or not weights.any():
        raise ValueError(
            f"chain_weights must be {draws.shape[0]} numbers of at least 0, not all 0, one for each chain of draws, "
            f"got {chain_weights!r}."
        )
    return np.repeat(weights, draws[0, ..., 0].size)


def _weighted_quantiles(values: NDArray, weights: NDArray) -> NDArray[np.float64]:
    """Quantiles of values with weights above 0; those of ``numpy.quantile`` where all weights are equal."""
    order = np.argsort(values, kind="stable")
    values, weights = values[order], weights[order]
    rank, below = np.arange(len(values)), np.cumsum(weights) - weights
    places = rank * weights + (len(values) - 1) * below
    return np.interp(_INTERVAL, places / max(places[-1], np.finfo(float).tiny), values)
