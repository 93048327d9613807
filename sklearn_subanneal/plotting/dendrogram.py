"""DendrogramDisplay: the tree of a hierarchical clustering of the rows, with its clusters in colours."""

from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.cluster.hierarchy import dendrogram
from sklearn.base import BaseEstimator

from sklearn_subanneal.plotting.checks import require_attributes
from sklearn_subanneal.plotting.style import CHAIN_COLORS, DARK, axes_for, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class DendrogramDisplay:
    """The tree over the rows, with the clusters in colours.

    Make it by :meth:`from_estimator` or :meth:`from_hierarchy`. The height of a merge is minus the log probability of
    one cluster; above log 2, the dashed line, two clusters are more probable.

    Parameters
    ----------
    hierarchy : Hierarchy
        The tree.

    Attributes
    ----------
    order_ : ndarray of shape (n_rows,)
        The rows from left to right; set only if the whole tree is drawn.
    ax_ : matplotlib Axes
        The axes with the tree.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.plotting import DendrogramDisplay
    >>> from sklearn_subanneal.trees.hierarchy import Hierarchy
    >>> tree = Hierarchy(np.arange(3), np.array([[0, 2], [1, 3]]), np.array([-1.5, 2.0]), n_clusters=2)
    >>> DendrogramDisplay.from_hierarchy(tree).order_
    array([1, 0, 2])
    """

    def __init__(self, hierarchy: Any) -> None:
        self.hierarchy = hierarchy

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, *, ax: "Axes | None" = None, **kwargs: Any
    ) -> "DendrogramDisplay":
        """Plot the tree of a fitted estimator that keeps one.

        Parameters
        ----------
        estimator : fitted estimator
            With `hierarchy_`: :class:`~sklearn_subanneal.TreeGuidedNRMM` with ``moves=["incremental-hierarchy"]``.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        DendrogramDisplay

        Raises
        ------
        ValueError
            If the estimator has no tree.
        """
        require_attributes(estimator, "hierarchy_", remedy='fit a TreeGuidedNRMM with moves=["incremental-hierarchy"]')
        return cls.from_hierarchy(estimator.hierarchy_, ax=ax, **kwargs)

    @classmethod
    def from_hierarchy(cls, hierarchy: Any, *, ax: "Axes | None" = None, **kwargs: Any) -> "DendrogramDisplay":
        """Plot a tree.

        Parameters
        ----------
        hierarchy : Hierarchy
            The tree, of two rows or more.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        DendrogramDisplay
        """
        return cls(hierarchy).plot(ax=ax, **kwargs)

    def plot(self, ax: "Axes | None" = None, *, max_leaves: int = 200, names=None) -> "DendrogramDisplay":
        """Draw the tree; the scale of heights is linear below 1 and logarithmic above.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        max_leaves : int, default=200
            The most leaves; of a larger tree only the top with this many leaves is drawn.
        names : sequence of str, default=None
            Name of each row of the table; None: the numbers of the rows if there are at most 50.

        Returns
        -------
        DendrogramDisplay
            The object itself.
        """
        ax = axes_for(self, ax)
        tree, n_rows = self.hierarchy, len(self.hierarchy.rows)
        if names is not None and len(names) <= tree.rows.max():
            raise ValueError(
                f"names must have one for each row of the table, at least {tree.rows.max() + 1}, got {len(names)}"
            )
        linkage = tree.linkage()
        color_of = self._colors(linkage)
        drawn = dendrogram(
            linkage,
            p=max_leaves,
            truncate_mode="lastp" if n_rows > max_leaves else None,
            labels=tree.rows if names is None else np.asarray(names)[tree.rows],
            no_labels=n_rows > (50 if names is None else max_leaves),
            link_color_func=color_of,
            ax=ax,
        )
        if n_rows <= max_leaves:
            self.order_ = tree.rows[drawn["leaves"]]
        ax.axhline(log(2.0), color=DARK, linewidth=0.8, linestyle="--")
        ax.set_yscale("symlog", linthresh=1.0)
        ax.set(xlabel="Rows", ylabel="− log probability of one cluster")
        tidy(ax, "top", "right", "bottom")
        return self

    def _colors(self, linkage):
        """The colour of each merge: that of its cluster, dark if it joins clusters."""
        n_rows, labels = len(self.hierarchy.rows), self.hierarchy.labels
        label_of = np.append(labels, np.full(n_rows - 1, -1))
        for merge, (a, b) in enumerate(linkage[:, :2].astype(int)):
            label_of[n_rows + merge] = label_of[a] if label_of[a] == label_of[b] else -1
        return lambda node: DARK if label_of[node] < 0 else CHAIN_COLORS[label_of[node] % (len(CHAIN_COLORS) - 1)]
