"""Skewed columns: reals that are normal, given the cluster, after a transformation learned from the training data."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from sklearn_subanneal._core.rounding import geometric_grid
from sklearn_subanneal.columns.parameters import Hyperparameter
from sklearn_subanneal.columns.real import Real
from sklearn_subanneal.columns.transform_choice import choose_transform
from sklearn_subanneal.columns.transforms import Transform

# Predictive distributions are averaged over draws at this many quantiles of the training data, and beyond them.
N_QUANTILES = 129
TAIL = geometric_grid(0.1, 1e4, 16)
# The median, and the quantiles that are one standard deviation from it in a normal.
LOW, MEDIAN, HIGH = 0.15865525393145707, 0.5, 0.8413447460685429


@dataclass(frozen=True)
class Skewed(Real):
    """A column of positive or skewed reals: :class:`Real` after a transformation.

    The transformation is chosen by :func:`choose_transform` on the training data: none, the logarithm (of cells that
    are all positive), log(x + shift) (if some are 0), or that of Yeo and Johnson. ``feature_params`` may fix it:
    ``"transform"`` is "identity", "log" or "yeo-johnson"; shift and power are then chosen still. Its Jacobian is part
    of every density, so that log scores are in the units of the data. New cells that a logarithm does not take are
    refused.

    ``mu`` and ``sigma2`` are in the units of the transformed data.

    The mean of an exponentiated t distribution is infinite. Predictions and imputations are therefore medians, and the
    uncertainty is half the distance between the quantiles 0.159 and 0.841, which in a normal is the standard deviation.
    Both are read off the distribution function, averaged over clusters, draws and chains at 129 quantiles of the
    training data and 32 points beyond, and interpolated between them; quantiles go through increasing transformations
    as they are.

    Attributes
    ----------
    points : ndarray of shape (n_points,)
        Where distribution functions are averaged, in standard units.
    """

    kind, has_moments = "skewed", False
    hyperparameters = {
        **Real.hyperparameters,
        "transform": Hyperparameter("choice", choices=("identity", "log", "yeo-johnson"), learned=False),
    }

    points: np.ndarray = field(default_factory=lambda: np.empty(0))

    @classmethod
    def bind(cls, name, sources, cells, given, *, n_categories, learn, grids):
        transform = checked_transform(name, cells, given.get("transform"))
        own = {key: value for key, value in given.items() if key != "transform"}
        model = cls._bound(name, sources, cells, own, learn, grids, transform)
        return replace(model, points=points_between(model.values([cells] * (sources[0] + 1))))

    def cluster_expectations(self, column, n_clusters):
        """The distribution function at ``points``."""
        return column.cumulative(self.points, n_clusters), None

    def summary(self, first, second):
        """Median, and half the distance between the quantiles 0.159 and 0.841."""
        return median_and_spread(self, first)


def checked_transform(name: str, cells: np.ndarray, wanted: str | None) -> Transform:
    """The transformation of a column, of the family ``wanted`` or, if that is None, of the best one.

    Raises
    ------
    ValueError
        If that family does not take the cells.
    """
    transform = choose_transform(cells, wanted and (wanted,))
    if transform is None:
        raise ValueError(
            f"feature_params: the transform {wanted!r} does not suit column {name!r}, which holds "
            f"{np.nanmin(cells).item()!r}; choose 'yeo-johnson', or leave it out."
        )
    return transform


def points_between(z: np.ndarray) -> np.ndarray:
    """Where distribution functions are averaged, given the training cells in standard units: quantiles, and beyond."""
    inner = np.quantile(z[~np.isnan(z)], np.linspace(0.0, 1.0, N_QUANTILES))
    return np.concatenate([inner[0] - TAIL[::-1], inner, inner[-1] + TAIL])


def median_and_spread(model: Real, distribution: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Median, and half the distance between the quantiles 0.159 and 0.841, (n_rows, 1) in the units of the data.

    Of distribution functions (n_rows, n_points) at the ``points`` of a model.
    """
    quantiles = (quantile(model.points, distribution, p)[:, None] for p in (LOW, MEDIAN, HIGH))
    low, median, high = map(model.restore, quantiles)
    return median, 0.5 * (high - low)


def quantile(points: np.ndarray, distribution: np.ndarray, p: float) -> np.ndarray:
    """Where distribution functions reach ``p``, interpolated between their values (n_rows, n_points) at ``points``."""
    at = np.clip((distribution < p).sum(axis=1), 1, len(points) - 1)
    rows = np.arange(len(distribution))
    before, after = distribution[rows, at - 1], distribution[rows, at]
    step = np.where(after > before, after - before, 1.0)
    return points[at - 1] + np.clip((p - before) / step, 0.0, 1.0) * (points[at] - points[at - 1])
