"""ViewsDisplay: a table as blocks of columns by view, with the rows sorted by cluster in each block."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from sklearn_subanneal.plotting.checks import require_attributes
from sklearn_subanneal.plotting.style import DARK, LARGEST_FONT, axes_for, fit_names, pitch, tidy
from sklearn_subanneal.posterior import relabel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_POINTS_PER_LETTER = 6.0
_INCHES_PER_COLUMN, _LEAST_WIDTH, _MOST_WIDTH = 0.17, 6.4, 18.0
# Standard deviations from the mean at the ends of the colour map, and the types that have colours of another kind.
_MOST_DEVIATIONS = 2.5
_WITHOUT_DEVIATIONS = frozenset({"categorical", "boolean", "cyclic"})
# The colour map of categories has 20 colours, which further categories repeat.
_CATEGORY_COLORS, _BOOLEAN_COLORS, _MISSING = "tab20", ("#CFE2F1", "#1F4E79"), "#B0B0B0"
# A colour map whose ends have the same colour.
_CYCLIC_COLORS, _TURN = "twilight", 2.0 * np.pi


class ViewsDisplay:
    """A table clustered by views: the columns of each view side by side, its rows sorted by their cluster there.

    Each view has its own order of the rows, from its largest cluster to its smallest. Make it by :meth:`from_estimator`
    or :meth:`from_arrays`.

    Parameters
    ----------
    arrays : sequence of ndarray of shape (n_rows,)
        The columns: numbers, NaN where missing (angles in radians if cyclic), or codes and counts, -1 where missing.
    kinds : sequence of {"real", "categorical", "boolean", "count", "cyclic", "ordinal", "semicontinuous", "skewed"}
        The type of each column.
    names : sequence of str
        Name of each column.
    column_labels : ndarray of int of shape (n_features,)
        View of each column, 0..n_views-1.
    row_labels : ndarray of int of shape (n_rows, n_views)
        Cluster of each row in each view.

    Attributes
    ----------
    column_order_ : ndarray of shape (n_features,)
        The columns from left to right.
    row_orders_ : list of ndarray of shape (n_rows,)
        The rows from top to bottom, for each view.
    image_ : matplotlib AxesImage
        The cells, with empty space between views.
    lines_ : list of matplotlib LineCollection
        The boundaries of clusters, for each view.
    ax_ : matplotlib Axes
        The axes with the table.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.plotting import ViewsDisplay
    >>> columns = [np.array([0.1, 5.2, 0.3, 4.9]), np.array([1, 1, 0, 0]), np.array([7.0, 3.0, 6.8, np.nan])]
    >>> display = ViewsDisplay.from_arrays(
    ...     columns, ["real", "boolean", "real"], ["size", "old", "price"], [0, 1, 0], [[0, 0], [1, 0], [0, 1], [1, 1]]
    ... )
    >>> display.column_order_
    array([0, 2, 1])
    >>> display.row_orders_
    [array([0, 2, 1, 3]), array([0, 1, 2, 3])]
    """

    def __init__(
        self,
        arrays: Sequence[NDArray],
        kinds: Sequence[str],
        names: Sequence[str],
        column_labels: NDArray,
        row_labels: NDArray,
    ) -> None:
        self.arrays = arrays
        self.kinds = kinds
        self.names = names
        self.column_labels = column_labels
        self.row_labels = row_labels

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, X: ArrayLike, *, max_rows: int = 1000, ax: "Axes | None" = None, **kwargs: Any
    ) -> "ViewsDisplay":
        """Plot a table by the views of the representative draw.

        Parameters
        ----------
        estimator : fitted CrossCat
            With `column_labels_`, `part_types_`, `typed_columns` and `predict_views`.
        X : array-like or DataFrame of shape (n_samples, n_features)
            The training table, or new rows.
        max_rows : int, default=1000
            The most rows to show; of more rows, this many evenly spaced ones are taken.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        ViewsDisplay

        Raises
        ------
        ValueError
            If the estimator has no views, or X does not have the columns of the training table.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import CrossCat
        >>> from sklearn_subanneal.plotting import ViewsDisplay
        >>> rng = np.random.default_rng(0)
        >>> one, other = rng.integers(3, size=(2, 300, 1))
        >>> X = np.hstack([9 * one + rng.normal(size=(300, 3)), 9 * other + rng.normal(size=(300, 2))])
        >>> display = ViewsDisplay.from_estimator(CrossCat(n_chains=1, random_state=0).fit(X), X)
        >>> display.column_order_
        array([0, 1, 2, 3, 4])
        """
        require_attributes(estimator, "column_labels_", "part_types_", remedy="fit it first, and use CrossCat")
        n_samples = X.shape[0] if hasattr(X, "shape") else len(X)
        n_shown = min(max_rows, n_samples)
        if n_shown < n_samples:
            X = _rows_of(X, np.arange(n_shown) * n_samples // n_shown)
        return cls.from_arrays(
            estimator.typed_columns(X),
            list(estimator.part_types_.values()),
            list(estimator.part_types_),
            estimator.column_labels_,
            estimator.predict_views(X),
            ax=ax,
            **kwargs,
        )

    @classmethod
    def from_arrays(
        cls,
        arrays: Sequence[NDArray],
        kinds: Sequence[str],
        names: Sequence[str],
        column_labels: ArrayLike,
        row_labels: ArrayLike,
        *,
        ax: "Axes | None" = None,
        **kwargs: Any,
    ) -> "ViewsDisplay":
        """Plot typed columns by views.

        Parameters
        ----------
        arrays, kinds, names, column_labels, row_labels
            As of the class.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        ViewsDisplay

        Raises
        ------
        ValueError
            If the shapes of the arguments differ.
        """
        column_labels, row_labels = np.asarray(column_labels), np.asarray(row_labels)
        n_features, n_rows = len(arrays), len(arrays[0])
        if column_labels.shape != (n_features,):
            raise ValueError(
                f"column_labels must have shape ({n_features},), a view for each column, got {column_labels.shape}."
            )
        if row_labels.shape != (n_rows, column_labels.max() + 1):
            raise ValueError(
                f"row_labels must have shape ({n_rows}, {column_labels.max() + 1}), a column for each view, got "
                f"{row_labels.shape}."
            )
        return cls(arrays, kinds, names, column_labels, row_labels).plot(ax, **kwargs)

    def plot(
        self, ax: "Axes | None" = None, *, boundaries: bool = True, colorbar: bool = True, **image_kw: Any
    ) -> "ViewsDisplay":
        """Draw the table.

        Numbers and levels are coloured by their distance from the mean of the rows shown, in standard deviations,
        cyclic values by their share of the period, categories each by its own colour, booleans light and dark, missing
        cells grey.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure, as wide as the table needs.
        boundaries : bool, default=True
            Whether to draw lines between clusters.
        colorbar : bool, default=True
            Whether to add a colour bar for numbers, and another for cyclic columns.
        **image_kw
            Passed to :meth:`matplotlib.axes.Axes.imshow`; `cmap` is the colour map of the numbers.

        Returns
        -------
        ViewsDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        """
        is_new, ax = ax is None, axes_for(self, ax)
        n_rows, n_views = self.row_labels.shape
        self.column_order_ = np.argsort(self.column_labels, kind="stable")
        # One empty column separates two views.
        places = np.arange(len(self.column_order_)) + self.column_labels[self.column_order_]
        width = places[-1] + 1
        if is_new:
            inches = np.clip(_INCHES_PER_COLUMN * width, _LEAST_WIDTH, _MOST_WIDTH)
            self.figure_.set_size_inches(inches, self.figure_.get_size_inches()[1])
        style = {"cmap": "RdBu_r", "interpolation": "nearest", "aspect": "auto", **image_kw}
        palette = style.pop("cmap")
        cells = np.zeros((n_rows, width, 4))
        self.row_orders_, self.lines_ = [], []
        for view in range(n_views):
            labels = relabel(self.row_labels[:, view])
            order = np.argsort(labels, kind="stable")
            self.row_orders_.append(order)
            here = self.column_labels[self.column_order_] == view
            for place, j in zip(places[here], self.column_order_[here], strict=True):
                cells[:, place] = _colors(self.arrays[j], self.kinds[j], palette)[order]
            left, right = places[here][0] - 0.5, places[here][-1] + 0.5
            if boundaries:
                edges = np.cumsum(np.bincount(labels))[:-1] - 0.5
                self.lines_.append(ax.hlines(edges, left, right, color=DARK, linewidth=0.7))
        self.image_ = ax.imshow(cells, **style)
        if colorbar and set(self.kinds) - _WITHOUT_DEVIATIONS:
            label = "numbers: standard deviations from the mean"
            _add_colorbar(ax, palette, (-_MOST_DEVIATIONS, _MOST_DEVIATIONS), label, extend="both")
        if colorbar and "cyclic" in self.kinds:
            _add_colorbar(ax, _CYCLIC_COLORS, (0.0, 1.0), "cyclic columns: share of the period")
        fit_names(ax.xaxis, places, [self.names[j] for j in self.column_order_], width)
        self._name_views(ax, places)
        ax.set(yticks=[], ylabel="rows, by cluster in each view", xlim=(-0.5, width - 0.5), ylim=(n_rows - 0.5, -0.5))
        tidy(ax, "top", "right", "bottom", "left")
        return self

    def _name_views(self, ax, places):
        """Write the number of each view above its columns if it fits, after the word "view" if that fits everywhere."""
        in_order = self.column_labels[self.column_order_]
        points = pitch(ax.xaxis, places[-1] + 1) * (np.bincount(in_order) + 1)
        word = "view " if points.min() > _POINTS_PER_LETTER * len("view 00") else ""
        for view in np.flatnonzero(points > _POINTS_PER_LETTER * len(str(len(points)))):
            ax.text(
                places[in_order == view].mean(),
                1.01,
                f"{word}{view}",
                transform=ax.get_xaxis_transform(),
                ha="center",
                va="bottom",
                fontsize=LARGEST_FONT,
            )
        if not word:
            ax.set_title("views", fontsize=LARGEST_FONT, pad=18)


def _colors(cells: NDArray, kind: str, palette) -> NDArray:
    """Colours (n_rows, 4) of the cells of a column."""
    from matplotlib import colormaps
    from matplotlib.colors import to_rgba, to_rgba_array

    gaps = np.isnan(cells) if cells.dtype.kind == "f" else cells < 0
    if kind == "boolean":
        colors = to_rgba_array(_BOOLEAN_COLORS)[np.maximum(cells, 0).astype(int)]
    elif kind == "categorical":
        map_of_codes = colormaps[_CATEGORY_COLORS]
        colors = map_of_codes(cells.astype(int) % map_of_codes.N)
    elif kind == "cyclic":
        colors = colormaps[_CYCLIC_COLORS](np.where(gaps, 0.0, cells) % _TURN / _TURN)
    else:
        values = np.where(gaps, np.nan, cells.astype(float))
        seen = values[~gaps]
        spread = seen.std() if len(seen) else 0.0
        shift = (values - seen.mean()) / spread if spread > 0 else np.zeros(len(cells))
        colors = colormaps.get_cmap(palette)(np.nan_to_num(0.5 + 0.5 * shift / _MOST_DEVIATIONS).clip(0.0, 1.0))
    colors[gaps] = to_rgba(_MISSING)
    return colors


def _rows_of(X, rows: NDArray):
    """These rows of an array, a DataFrame of any library, or a list."""
    if nw.dependencies.is_into_dataframe(X):
        return nw.from_native(X, eager_only=True)[rows].to_native()
    return X[rows] if hasattr(X, "shape") else [X[i] for i in rows]


def _add_colorbar(ax: "Axes", palette, limits: tuple[float, float], label: str, extend: str = "neither"):
    from matplotlib.cm import ScalarMappable
    from matplotlib.colors import Normalize

    colors = ScalarMappable(Normalize(*limits), palette)
    bar = ax.figure.colorbar(colors, ax=ax, label=label, shrink=0.7, extend=extend, pad=0.02)
    bar.outline.set_visible(False)
