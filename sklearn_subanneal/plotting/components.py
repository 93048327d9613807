"""ComponentsDisplay: components of a factorial mixture, as images side by side, or as rows of one image."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from sklearn_subanneal.plotting.style import SHADE, axes_for, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class ComponentsDisplay:
    """Components as images side by side, or as the rows of one image.

    Made by :meth:`from_estimator`.

    Parameters
    ----------
    images : ndarray of shape (n_images, height, width)
        The components; of components that are no images one image, (1, n_components, n_features).

    Attributes
    ----------
    mosaic_ : ndarray of shape (n_rows * (height + 1) - 1, n_columns * (width + 1) - 1)
        The images, row after row; nan between them.
    image_ : matplotlib AxesImage
        The mosaic.
    ax_ : matplotlib Axes
        The axes with the mosaic.
    figure_ : matplotlib Figure
        The figure of these axes.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal import VariationalTemperingFMM
    >>> from sklearn_subanneal.plotting import ComponentsDisplay
    >>> X = np.random.default_rng(0).normal(size=(50, 6))
    >>> model = VariationalTemperingFMM(n_components=3, max_iter=9, random_state=0).fit(X)
    >>> ComponentsDisplay.from_estimator(model, shape=(2, 3), n_columns=3).mosaic_.shape
    (2, 11)
    """

    def __init__(self, images: NDArray) -> None:
        self.images = images

    @classmethod
    def from_estimator(
        cls, estimator: BaseEstimator, shape: tuple[int, int] | None = None, *, ax: "Axes | None" = None, **kwargs: Any
    ) -> "ComponentsDisplay":
        """Plot the components of a model of images.

        Parameters
        ----------
        estimator : fitted estimator
            With `components_`, such as :class:`~sklearn_subanneal.VariationalTemperingFMM`.
        shape : tuple of int, default=None
            Height and width of an image, whose rows of cells follow one another in a row of the data. None: the
            features are no image, and the components are the rows of a single one.
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        **kwargs
            Passed to :meth:`plot`.

        Returns
        -------
        ComponentsDisplay

        Raises
        ------
        ValueError
            If the estimator is not fitted, or images of this shape have not as many cells as it has features.
        """
        if not hasattr(estimator, "components_"):
            raise ValueError(f"estimator must have components_, {type(estimator).__name__} has none; fit it first.")
        components = np.asarray(estimator.components_)
        if shape is None:
            return cls(components[None]).plot(ax, **{"aspect": "auto", **kwargs})
        if len(shape) != 2 or shape[0] < 1 or shape[0] * shape[1] != components.shape[1]:
            raise ValueError(
                f"shape must be a height and a width whose product is the number of features, {components.shape[1]}, "
                f"got {shape!r}."
            )
        return cls(components.reshape(-1, *shape)).plot(ax, **kwargs)

    def plot(
        self, ax: "Axes | None" = None, *, n_columns: int | None = None, colorbar: bool = True, **image_kw: Any
    ) -> "ComponentsDisplay":
        """Draw the images.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to plot; None makes a new figure.
        n_columns : int, default=None
            Images side by side; None makes the whole about square.
        colorbar : bool, default=True
            Whether to add a colour bar.
        **image_kw
            Passed to :meth:`matplotlib.axes.Axes.imshow`.

        Returns
        -------
        ComponentsDisplay
            Itself.

        Raises
        ------
        ImportError
            If matplotlib is not installed.
        ValueError
            If `n_columns` is not positive.
        """
        n_images, height, width = self.images.shape
        if n_columns is None:
            n_columns = max(1, round((n_images * height / width) ** 0.5))
        if n_columns < 1:
            raise ValueError(f"n_columns must be at least 1, got {n_columns}.")
        n_columns = min(n_columns, n_images)
        ax = axes_for(self, ax)
        n_rows = -(-n_images // n_columns)
        self.mosaic_ = np.full((n_rows * (height + 1) - 1, n_columns * (width + 1) - 1), np.nan)
        for number, image in enumerate(self.images):
            top, left = (height + 1) * (number // n_columns), (width + 1) * (number % n_columns)
            self.mosaic_[top : top + height, left : left + width] = image
        # White is zero, so that the sign of a cell shows.
        largest = np.abs(self.images).max() or 1.0
        style = {"cmap": "RdBu_r", "vmin": -largest, "vmax": largest, "interpolation": "nearest", **image_kw}
        self.image_ = ax.imshow(self.mosaic_, **style)
        if colorbar:
            self.figure_.colorbar(self.image_, ax=ax, shrink=0.85).outline.set_visible(False)
        ax.set(xticks=[], yticks=[], facecolor=SHADE)
        tidy(ax, "top", "right", "bottom", "left")
        return self
