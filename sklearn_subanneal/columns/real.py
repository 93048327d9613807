"""Columns of reals: normal given the cluster, with a normal-inverse-chi-squared prior.

A chain sees reals in standard units (z = (x - center) / scale), which costs nothing in exactness: the model is
equivariant. Hyperparameters are given and reported in the units of the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt

import numpy as np

from sklearn_subanneal._core.rounding import geometric_grid
from sklearn_subanneal.columns._base import ColumnStatistics
from sklearn_subanneal.columns._cluster_parameters import NormalParameters
from sklearn_subanneal.columns._normal import NormalData, NormalStatistics
from sklearn_subanneal.columns.cell_ranges import limits_of_drawn, standard_limits
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.columns.few_levels import are_whole, few_levels
from sklearn_subanneal.columns.intervals import Interval
from sklearn_subanneal.columns.parameters import Hyperparameter
from sklearn_subanneal.columns.t_boxes import t_interval_probabilities
from sklearn_subanneal.columns.transforms import IDENTITY
from sklearn_subanneal.columns.truncated_t import truncated_t
from sklearn_subanneal.columns.units import check_reach, rounding_variance, standard_units

# Near-deterministic columns want tiny variances, outliers huge ones: grids that are too narrow cost density.
KAPPA_GRID = geometric_grid(1e-4, 10.0, 20)
SIGMA2_GRID = geometric_grid(1e-6, 4.0, 20)
NU_GRID = geometric_grid(0.3, 100.0, 20)
# Variance within a cluster before anything is learned, as a share of the variance of the table: in few columns, and in
# views, which columns leave that do not suit their clusters, too many small clusters are merged sooner than too few are
# split. Where all columns share the clusters, the first rows would all stay alone if most columns are the same in all
# clusters, or if there are many columns: hyperparameters that suit such clusters keep them.
NARROW, WIDE = 0.05, 0.5
# From so many columns on, a new cluster expects the variance of the table, else its rows might never leave the first
# one; and the correlation of two cells of a cluster falls like one over the root of the number of columns, so that two
# rows do not pay more for being together where columns tell nothing.
MANY_COLUMNS = 40
# In standard deviations of the prior: squares must not overflow in float32.
MOST_DISTANCE = 1e15


class Real(ColumnModel):
    """A column of reals."""

    kind, has_moments = "real", True
    hyperparameters = {
        "mu": Hyperparameter("finite"),
        "kappa": Hyperparameter(),
        "sigma2": Hyperparameter("positive"),
        "nu": Hyperparameter(),
    }
    remedy = "declare it 'categorical' in feature_types, or convert it to numbers"
    data_class, statistics_class = NormalData, NormalStatistics
    parameters_class = NormalParameters

    @classmethod
    def bind(cls, name, sources, cells, given, *, n_categories, learn, grids):
        return cls._bound(name, sources, cells, given, learn, grids, IDENTITY)

    @classmethod
    def _bound(cls, name, sources, cells, given, learn, grids, transform):
        values = transform.forward(cells)
        center, scale = standard_units(values[:, None], learn, grids)
        start, axes = normal_prior(name, (values - center[0]) / scale[0], center[0], scale[0], given, learn, grids)
        found = {"levels": (few_levels(cells),), "whole": (are_whole(cells),), "drawn_between": limits_of_drawn(cells)}
        return cls(name, sources, start, axes, center, scale, transform=transform, **found)

    def with_wide_clusters(self, given: dict, n_columns: int) -> Real:
        """The same model, to start with wide clusters, unless ``given``, what the user gives, says how wide.

        ``n_columns``: how many such columns share the clusters.
        """
        if "sigma2" in given or not self.grids:
            return self
        many, start = n_columns / MANY_COLUMNS, self.parameters
        sigma2 = max(start["sigma2"], 1.0 - (1.0 - WIDE) / sqrt(max(many, 1.0)))
        wide = {"sigma2": sigma2}
        if "kappa" not in given and sigma2 < 1.0:
            wide["kappa"] = max(start["kappa"], min(many, 1.0) * sigma2 / (1.0 - sigma2))
        return replace(self, parameters=start | wide)

    def data(self, arrays):
        return NormalData(self.values(arrays)[:, 0].astype(np.float32))

    def with_grids(self, given, cells):
        if not given:
            return self
        model = super().with_grids(given, cells)
        z = (self.transform.forward(cells) - self.center[0]) / self.scale[0]
        grids = model.grids
        check_reach(f"column {self.name!r}", z, np.abs(grids["mu"]).max(), grids["sigma2"].min(), MOST_DISTANCE)
        return model

    def standard_grid(self, name, values):
        if name == "mu":
            return (values - self.center[0]) / self.scale[0]
        return values / self.scale[0] / self.scale[0] if name == "sigma2" else values

    def standard_ends(self, intervals: Sequence[Interval]) -> np.ndarray:
        """The lower and the upper ends, (2, n_intervals) in standard units, of what is drawn as cells in intervals.

        Drawn cells are rounded where all cells of ``fit`` were whole numbers.
        """
        return self._ends([own.before_rounding() for own in intervals] if any(self.whole) else intervals)

    def _ends(self, intervals):
        """The ends of intervals of cells, in standard units."""
        ends = np.array([[own.low for own in intervals], [own.high for own in intervals]])
        out, known = np.where(ends <= self.transform.lowest, -np.inf, np.inf), np.isfinite(ends)
        known &= ends > self.transform.lowest
        # What is too large in standard units is infinite.
        with np.errstate(over="ignore", invalid="ignore"):
            out[known] = (self.transform.forward(ends[known]) - self.center[0]) / self.scale[0]
        return out

    def interval_probabilities(self, column, intervals, n_clusters):
        location, square, free = (a[0] for a in column.conditional_t(np.empty((1, 1)), n_clusters))
        low, high = self.standard_ends(intervals)[:, :, None]
        return t_interval_probabilities(location[:, 0], np.sqrt(square[:, 0]), free, low, high)

    def draws_between(self, column: ColumnStatistics, slots: np.ndarray, generator: np.random.Generator) -> np.ndarray:
        """A cell from each of these slots given that it is within ``drawn_between``, (n, 1) in standard units."""
        location, scale, free = self._t_in_slots(column, slots)
        low, high = standard_limits(self.drawn_between, self.transform, self.center, self.scale)
        return truncated_t(location, scale, free, low, high, generator.random(len(slots)))[:, None]

    def _t_in_slots(self, column, slots):
        """Locations, scales and degrees of freedom of the t distributions of a new cell in each of these slots."""
        location, square, free = (a[0] for a in column.conditional_t(np.empty((1, 1)), int(slots.max()) + 1))
        return location[slots, 0], np.sqrt(square[slots, 0]), free[slots]

    def report(self, parameters):
        # A variance in squares of huge units is infinite.
        with np.errstate(over="ignore"):
            sigma2 = parameters["sigma2"] * self.scale[0] ** 2
        return {
            "mu": parameters["mu"] * self.scale[0] + self.center[0],
            "kappa": parameters["kappa"],
            "sigma2": sigma2,
            "nu": parameters["nu"],
        }


def normal_prior(
    name: str, z: np.ndarray, center: float, scale: float, given: dict, learn: bool, grids: str
) -> tuple[dict, dict]:
    """Hyperparameters at the start, and their grids, of a column of reals with the values ``z`` in standard units.

    See :meth:`ColumnModel.bind` for the other arguments; ``given`` is in the units from which ``center`` and ``scale``
    lead to those of ``z``.
    """
    start = {"mu": 0.0, "kappa": 0.1, "sigma2": NARROW, "nu": 5.0}
    if not learn or grids == "fixed":
        given = {"mu": 0.0, "kappa": 0.1, "sigma2": 1.0, "nu": 2.0} | given
    start |= {key: float(value) for key, value in given.items()}
    if "mu" in given:
        start["mu"] = (start["mu"] - center) / scale
    if "sigma2" in given:
        start["sigma2"] = start["sigma2"] / scale / scale
    check_reach(f"column {name!r}", z, start["mu"], start["sigma2"], MOST_DISTANCE)
    axes = {}
    if learn:
        mu, sigma2 = np.linspace(-3.0, 3.0, 20), SIGMA2_GRID
        if grids == "data":
            mu, sigma2 = _location_grid(z), sigma2_grid(z)
        axes = {"mu": mu, "kappa": KAPPA_GRID, "sigma2": sigma2, "nu": NU_GRID}
    return start, axes


def _location_grid(z):
    """20 values over the range of the data, half of them where the data are dense."""
    z = z[~np.isnan(z)]
    spread = np.linspace(z.min(), z.max(), 11)
    dense = np.quantile(z, np.linspace(0.05, 0.95, 10))
    return np.unique(np.concatenate([spread, dense]).round(6))


def sigma2_grid(z: np.ndarray) -> np.ndarray:
    """Prior variances within a cluster, in standard units; none is far below that of rounding."""
    rounding = rounding_variance(z)
    if not rounding:
        return SIGMA2_GRID
    return geometric_grid(max(SIGMA2_GRID[0], rounding), SIGMA2_GRID[-1], len(SIGMA2_GRID))
