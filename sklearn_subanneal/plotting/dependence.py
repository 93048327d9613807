"""DependenceDisplay: the matrix of the fraction of draws in which two columns are in the same view."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from sklearn_subanneal.plotting.checks import require_attributes
from sklearn_subanneal.plotting.matrix_order import block_order, tree_order
from sklearn_subanneal.plotting.style import DARK, axes_for, fit_names, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_INCHES_PER_COLUMN, _LEAST_INCHES, _MOST_INCHES = 0.13, 6.0, 14.0


class DependenceDisplay:
    """The share of draws in which two columns are in one view, columns ordered by view.

    Make it by :meth:`from_estimator` or :meth:`from_matrix`.

    Parameters
    ----------
    matrix : ndarray of shape (n_features, n_features)
        As `dependence_`, or another symmetric matrix with values in [0, 1] and ones on the diagonal.
    names : sequence of str
        Name of each column.
    labels : ndarray of shape (n_features,) or None
        The view of each column, which orders them; None orders them by hierarchical clustering of 1 - matrix.

    Attributes
    ----------
    order_ : ndarray of shape (n_features,)
        The columns from left to right.
    image_ : matplotlib AxesImage
        The matrix.
    ax_ : matplotlib Axes
        The axes with the matrix.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.plotting import DependenceDisplay
    >>> matrix = np.array([[1.0, 0.1, 0.8], [0.1, 1.0, 0.3], [0.8, 0.3, 1.0]])
    >>> DependenceDisplay.from_matrix(matrix, ["size", "colour", "price"]).order_
    array([1, 2, 0])
    """

    def __init__(self, matrix: NDArray, names: Sequence[str], labels: NDArray | None = None) -> None:
        self.matrix = matrix
        self.names = names
        self.labels = labels

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, *, order: str = "views", ax: "Axes | None" = None, **kwargs: Any
    ) -> "DependenceDisplay":
        """Plot `dependence_` of a fitted estimator.

        Parameters
        ----------
        estimator : fitted CrossCat
            With `dependence_`, `column_labels_`, `feature_types_` and `first_parts_`.
        order : {"views", "hierarchical"}, default="views"
            Whether columns are ordered by the views of the representative draw, which are framed, or by hierarchical
            clustering.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        DependenceDisplay

        Raises
        ------
        ValueError
            If the estimator has no views, or `order` is unknown.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import CrossCat
        >>> from sklearn_subanneal.plotting import DependenceDisplay
        >>> rng = np.random.default_rng(0)
        >>> one, other = rng.integers(3, size=(2, 300, 1))
        >>> X = np.hstack([9 * one + rng.normal(size=(300, 3)), 9 * other + rng.normal(size=(300, 2))])
        >>> model = CrossCat(n_chains=1, random_state=0).fit(X)
        >>> DependenceDisplay.from_estimator(model).matrix[0]
        array([1., 1., 1., 0., 0.])
        """
        require_attributes(estimator, "dependence_", "feature_types_", remedy="fit it first, and use CrossCat")
        if order not in ("views", "hierarchical"):
            raise ValueError(f"order must be 'views' or 'hierarchical', got {order!r}.")
        labels = None
        if order == "views":
            # Of a column with several parts, the view of the first.
            labels = estimator.column_labels_[estimator.first_parts_]
        return cls.from_matrix(estimator.dependence_, list(estimator.feature_types_), labels, ax=ax, **kwargs)

    @classmethod
    def from_matrix(
        cls,
        matrix: ArrayLike,
        names: Sequence[str],
        labels: ArrayLike | None = None,
        *,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> "DependenceDisplay":
        """Plot a matrix of dependence, for example that of `CrossCat.relatedness_matrix`.

        Parameters
        ----------
        matrix, names, labels
            As of the class.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        DependenceDisplay

        Raises
        ------
        ValueError
            If the shapes of the arguments differ.
        """
        matrix, n_features = np.asarray(matrix), len(names)
        if matrix.shape != (n_features, n_features):
            raise ValueError(
                f"matrix must have shape ({n_features}, {n_features}), a row for each name, got {matrix.shape}."
            )
        if labels is not None and np.shape(labels) != (n_features,):
            raise ValueError(f"labels must have shape ({n_features},), a view for each name, got {np.shape(labels)}.")
        return cls(matrix, names, labels).plot(ax, **kwargs)

    def plot(
        self,
        ax: "Axes | None" = None,
        *,
        boundaries: bool = True,
        colorbar: bool = True,
        label: str = "share of draws in the same view",
        **image_kw: Any,
    ) -> "DependenceDisplay":
        """Draw the matrix.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure, as large as the names need.
        boundaries : bool, default=True
            Whether to frame the views, if columns are ordered by them.
        colorbar : bool, default=True
            Whether to add a colour bar.
        label : str, default="share of draws in the same view"
            The quantity, for the colour bar.
        **image_kw
            Passed to :meth:`matplotlib.axes.Axes.imshow`.

        Returns
        -------
        DependenceDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        is_new, ax = ax is None, axes_for(self, ax)
        n_features = len(self.names)
        if is_new:
            inches = np.clip(2.0 + _INCHES_PER_COLUMN * n_features, _LEAST_INCHES, _MOST_INCHES)
            self.figure_.set_size_inches(1.1 * inches, inches)
        if self.labels is None:
            self.order_, sizes = tree_order(self.matrix), []
        else:
            self.order_, sizes = block_order(self.matrix, self.labels)
        style = {"cmap": "Blues", "vmin": 0.0, "vmax": 1.0, "interpolation": "nearest", **image_kw}
        self.image_ = ax.imshow(self.matrix[np.ix_(self.order_, self.order_)], **style)
        if boundaries:
            from matplotlib.patches import Rectangle

            for size, end in zip(sizes, np.cumsum(sizes), strict=True):
                corner = (end - size - 0.5, end - size - 0.5)
                ax.add_patch(Rectangle(corner, size, size, fill=False, edgecolor=DARK, linewidth=0.8, clip_on=False))
        if colorbar:
            bar = self.figure_.colorbar(self.image_, ax=ax, label=label, shrink=0.85)
            bar.outline.set_visible(False)
        names = [self.names[j] for j in self.order_]
        for _ in range(2):
            for axis in (ax.xaxis, ax.yaxis):
                fit_names(axis, range(n_features), names, n_features)
            # Labels make the matrix smaller: once their size is known, they are fitted again.
            self.figure_.draw_without_rendering()
        tidy(ax, "top", "right", "bottom", "left")
        return self
