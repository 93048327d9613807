"""Gaussian, the model of a block of reals with full covariance: hyperparameters, grids and units (see `_mvnormal`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from sklearn_subanneal._core.rounding import geometric_grid, rounded
from sklearn_subanneal.columns._base import ColumnStatistics
from sklearn_subanneal.columns._gaussian_parameters import GaussianParameters
from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics
from sklearn_subanneal.columns.cell_ranges import (
    cell_range,
    limits_of_drawn,
    limits_of_missing,
    restored_moments,
    standard_limits,
)
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.columns.few_levels import are_whole, few_levels
from sklearn_subanneal.columns.parameters import Hyperparameter, nearest_on_grid
from sklearn_subanneal.columns.real import KAPPA_GRID, NARROW, SIGMA2_GRID, sigma2_grid
from sklearn_subanneal.columns.transforms import IDENTITY, Transform
from sklearn_subanneal.columns.units import check_reach, standard_units

# In standard deviations of the prior: a matrix must not lose its rank in float64.
MOST_DISTANCE = 1e7
# Degrees of freedom before anything is learned, beyond those that the width takes.
START_NU = 3.0
# A cluster's prior standard deviation in a column is at least this share of the spread of the column. A narrower one
# suits only values that repeat, and makes regressions on such a column as steep as they are wrong.
LEAST_SHARE = 0.04
# Coordinates of a column's vector that columns share, at most, and those that it has alone.
N_SHARED, N_OWN = 12, 2
SPREAD_GRID = geometric_grid(0.25, 20.0, 12)
# As in the kernel: correlations of the prior are at most this.
SHRINKAGE = 1.0 - 1e-4


@dataclass(frozen=True)
class Gaussian(ColumnModel):
    """All real and skewed columns of a table as one block, in standard units as single ones are.

    Skewed columns are modelled after their transformations, as :class:`~sklearn_subanneal.columns.skewed.Skewed` does.
    Predictions and imputations are those of the transformed data, transformed back.

    Attributes
    ----------
    ends : ndarray of shape (2, n_columns)
        Range of the training cells of each column, in standard units; at least one unit wide.
    """

    ends: np.ndarray = field(default_factory=lambda: np.array([[-np.inf], [np.inf]]))

    kind, declared, single, has_moments = "gaussian", False, False, True
    hyperparameters = {
        "mu": Hyperparameter("finite", one_each=True),
        "kappa": Hyperparameter(),
        "psi": Hyperparameter("finite", one_each=True, learned=False),
        "sigma2": Hyperparameter("positive", one_each=True, given=False),
        "nu": Hyperparameter(),
    }
    data_class, statistics_class = GaussianData, GaussianStatistics
    parameters_class = GaussianParameters

    @classmethod
    def bind(cls, name, sources, cells, given, *, n_categories, learn, grids, transform: Transform = IDENTITY):
        d, levels, whole = len(sources), tuple(map(few_levels, cells.T)), tuple(map(are_whole, cells.T))
        drawn_between = limits_of_drawn(cells)
        cells = transform.forward(cells)
        center, scale = standard_units(cells, learn, grids)
        z = (cells - center) / scale
        start = {"mu": np.zeros(d), "kappa": 0.1, "psi": START_NU * _start_share(d) * np.eye(d), "nu": d - 1 + START_NU}
        if not learn or grids == "fixed":
            given = {"mu": np.zeros(d), "kappa": 0.1, "psi": np.eye(d), "nu": d + 2.0} | given
        start |= {
            key: np.asarray(value, dtype=float) if key in ("mu", "psi") else float(value)
            for key, value in given.items()
        }
        _check_shapes(start, d)
        start["mu"] = np.broadcast_to(start["mu"], d)
        if "mu" in given:
            start["mu"] = (start["mu"] - center) / scale
        if "psi" in given:
            start["psi"] = start["psi"] / scale / scale[:, None]
        check_reach("the block of reals", z, start["mu"], np.diag(start["psi"]), MOST_DISTANCE)
        axes, limits = {}, None
        if learn:
            start |= _factored(start["psi"], None if "psi" in given else _start_correlation(z))
            n_mu = 20
            if grids == "data":
                mu, limits = np.linspace(np.nanmin(z, axis=0), np.nanmax(z, axis=0), n_mu).T, limits_of_missing(z)
                sigma2 = np.stack([_variance_grid(column) for column in z.T])
            else:
                mu, sigma2 = np.tile(np.linspace(-3.0, 3.0, n_mu), (d, 1)), np.tile(SIGMA2_GRID, (d, 1))
            axes = {
                "mu": mu,
                "kappa": KAPPA_GRID,
                "sigma2": sigma2,
                "nu": d - 1 + geometric_grid(0.5, 100.0 + 5 * d, 20),
                "spread": SPREAD_GRID,
            }
        stateful = bool(np.isnan(z).any())
        settings = {
            "stateful": stateful,
            "transform": transform,
            "ends": cell_range(z),
            "limits": limits,
            "levels": levels,
            "whole": whole,
            "drawn_between": drawn_between,
        }
        return cls(name, sources, start, axes, center, scale, **settings)

    def with_grids(self, given, cells):
        if not given:
            return self
        d = len(self.sources)
        grids = self.grids | {
            name: self.standard_grid(name, np.asarray(values, np.float64)) for name, values in given.items()
        }
        if grids["nu"][0] <= d - 1:
            raise ValueError(f"feature_grids['gaussian']['nu'] must be above {d - 1}, got {given['nu']!r}")
        start, z = dict(self.parameters), (self.transform.forward(cells) - self.center) / self.scale
        unit = start["nu"] - d + 1
        sigma2 = np.diag(start["psi"]) / unit
        correlation = start["psi"] / unit / np.sqrt(np.outer(sigma2, sigma2))
        start |= {name: nearest_on_grid(grids[name], start[name]) for name in given if name != "sigma2"}
        if "sigma2" in given:
            sigma2 = nearest_on_grid(grids["sigma2"], sigma2)
        start["psi"] = (start["nu"] - d + 1) * correlation * np.sqrt(np.outer(sigma2, sigma2))
        least = grids["sigma2"].min(axis=1) * (grids["nu"][0] - d + 1)
        check_reach("the block of reals", z, np.abs(grids["mu"]).max(axis=1), least, MOST_DISTANCE)
        return replace(self, parameters=start, grids=grids)

    def standard_grid(self, name, values):
        if name not in ("mu", "sigma2"):
            return values
        d = len(self.sources)
        if values.ndim == 2 and len(values) != d:
            raise ValueError(
                f"feature_grids['gaussian'][{name!r}] must be increasing values, or a row of them for each of the {d} "
                f"columns of the block, got an array of shape {values.shape}"
            )
        values, scale = np.broadcast_to(values, (d, values.shape[-1])), self.scale[:, None]
        return (values - self.center[:, None]) / scale if name == "mu" else values / scale / scale

    def draw_parameters(self, generator):
        """Vectors are normal, and determine the correlations; the other hyperparameters are uniform on their grids."""
        drawn, d = super().draw_parameters(generator), len(self.sources)
        if not self.grids:
            return drawn
        sigma2 = drawn.pop("sigma2")
        vectors = draw_vectors(*drawn["vectors"].shape, drawn["n_shared"], drawn["spread"], generator)
        correlation = correlation_of(vectors, drawn["n_shared"])
        psi = (drawn["nu"] - d + 1) * correlation * np.sqrt(np.outer(sigma2, sigma2))
        return drawn | {"vectors": vectors, "psi": psi}

    def prior_state(self, parameters):
        """Of psi, that of the nearest factor model."""
        if not self.grids:
            return {"parameters": parameters}
        factored = _factored(parameters["psi"])
        vectors = {name: own for name, own in factored.items() if name != "psi"}
        return {"parameters": parameters | {"psi": factored["psi"]}, **vectors}

    def data(self, arrays):
        return GaussianData(self.values(arrays), self.limits)

    @property
    def with_moments(self):
        if self.transform == IDENTITY:
            return super().with_moments
        return self.transform.is_identity

    def units(self, arrays):
        # The block's missing cells are part of the state, and so of its density: in the units of the transformed data.
        own = -np.log(self.scale).sum()
        if self.transform == IDENTITY:
            return own
        slopes = self.transform.log_slope(self.transform.forward(self._cells(arrays)))
        return own + np.nan_to_num(slopes).sum(axis=1)

    def report(self, parameters):
        # A covariance in squares of huge units is infinite.
        with np.errstate(over="ignore"):
            psi = parameters["psi"] * np.outer(self.scale, self.scale)
        return {
            "mu": parameters["mu"] * self.scale + self.center,
            "kappa": parameters["kappa"],
            "psi": psi,
            "nu": parameters["nu"],
        }

    def expectations(self, column, values, weights):
        return column.mixed_moments(values, np.ascontiguousarray(weights))

    def limits_of_means(self, far):
        return standard_limits(self.drawn_between, self.transform, self.center, self.scale) if far else self.ends

    def summary(self, first, second):
        if self.transform == IDENTITY:
            return super().summary(first, second)
        low, high = np.where(self.transform.is_identity, [[-np.inf], [np.inf]], self.ends)
        return restored_moments(self.restore, first, second, low, high)


def settle(columns: Sequence[ColumnStatistics], settled: bool) -> None:
    """Say whether a chain has all its rows, and is not tempered: then blocks move all vectors of their columns at once.

    In a chain that is annealed, correlations that are learned so soon would keep clusters from forming.
    """
    for column in columns:
        if isinstance(column, GaussianStatistics):
            column.settled = settled


def correlation_of(vectors: np.ndarray, n_shared: int) -> np.ndarray:
    """The correlation matrix of a factor model in which each column has a vector.

    Parameters
    ----------
    vectors : ndarray of shape (n_columns, n_coordinates)
        Their lengths do not matter.
    n_shared : int
        Number of coordinates, the first ones, that columns share.

    Returns
    -------
    correlation : ndarray of shape (n_columns, n_columns)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.columns.gaussian import correlation_of
    >>> correlation_of(np.array([[3.0, 4.0], [1.0, 0.0]]), n_shared=1).round(3)
    array([[1. , 0.6],
           [0.6, 1. ]])
    """
    shared = vectors[:, :n_shared] / np.linalg.norm(vectors, axis=1)[:, None]
    # Without BLAS, whose last bits depend on the machine.
    correlation = SHRINKAGE * np.einsum("ik,jk->ij", shared, shared)
    np.fill_diagonal(correlation, 1.0)
    return correlation


def observed_correlation(cells: np.ndarray) -> np.ndarray:
    """Correlations of the columns of a table, of the rows in which both are observed.

    Parameters
    ----------
    cells : ndarray of shape (n_rows, n_columns)
        NaN is a missing cell.

    Returns
    -------
    correlation : ndarray of shape (n_columns, n_columns)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.columns.gaussian import observed_correlation
    >>> observed_correlation(np.array([[0.0, 1.0], [1.0, 0.0], [2.0, np.nan]])).shape
    (2, 2)
    """
    seen = ~np.isnan(cells)
    centred = np.where(seen, cells - np.nanmean(cells, axis=0), 0.0)
    covariance = centred.T @ centred / np.maximum(seen.T.astype(float) @ seen, 1.0)
    deviation = np.sqrt(np.diag(covariance))
    deviation[deviation == 0.0] = 1.0
    return rounded(np.clip(covariance / np.outer(deviation, deviation), -1.0, 1.0))


def draw_vectors(
    n_columns: int, n_coordinates: int, n_shared: int, spread: float, generator: np.random.Generator
) -> np.ndarray:
    """Vectors of columns from their prior, (n_columns, n_coordinates): normal, of deviation 1 or ``spread``."""
    vectors = generator.standard_normal((n_columns, n_coordinates))
    vectors[:, n_shared:] *= spread
    return vectors


def _start_share(d):
    """Variance within a cluster before anything is learned, as a share of the variance of the table.

    In few columns, narrow clusters are best: too many of them are merged sooner than too few are split. In many
    columns, the first rows would all be clusters of one row, and a shared matrix that suits such clusters keeps them.
    """
    return min(NARROW * d**1.3, 1.0)


def _variance_grid(z):
    """Grid of sigma2 of one column; its spread is taken from the quartiles, since outliers raise the variance."""
    low, high = np.nanquantile(z, (0.25, 0.75))
    spread = min((high - low) / 1.349, 1.0) if high > low else 1.0
    return geometric_grid(max(sigma2_grid(z)[0], (LEAST_SHARE * spread) ** 2), 4.0, 20)


def _start_correlation(z):
    """Correlations within a cluster before anything is learned.

    In few columns they are taken as 0, since many correlations of the table are those of the places of clusters; in
    many columns, which a cluster of few rows cannot learn alone, they are those of the table.
    """
    d = z.shape[1]
    share = np.clip((d - 3) / 6, 0.0, 1.0)
    return share * observed_correlation(z) + (1.0 - share) * np.eye(d)


def _factored(psi: np.ndarray, correlation: np.ndarray | None = None) -> dict:
    """Vectors of the columns, and psi with their correlations; near to ``correlation``; None: to that of psi."""
    deviation = np.sqrt(np.diag(psi))
    out = _vectors_like(psi / np.outer(deviation, deviation) if correlation is None else correlation)
    return out | {"psi": correlation_of(out["vectors"], out["n_shared"]) * np.outer(deviation, deviation)}


def _vectors_like(correlation):
    """Vectors of the leading factors of a correlation matrix."""
    d = len(correlation)
    n_shared = min(N_SHARED, d)
    values, directions = np.linalg.eigh(correlation)
    # The sign of an eigenvector depends on the machine.
    directions = directions * np.where(directions.sum(axis=0) < 0.0, -1.0, 1.0)
    shared = (directions * np.sqrt(np.maximum(values, 0.0)))[:, ::-1][:, :n_shared]
    common = (shared**2).sum(axis=1)[:, None]
    # No column starts as a function of the others.
    shared *= np.sqrt(np.minimum(1.0, 0.98 / np.maximum(common, 1e-300)))
    own = np.sqrt((1.0 - (shared**2).sum(axis=1))[:, None] / N_OWN)
    vectors = rounded(np.sqrt(n_shared + N_OWN) * np.hstack([shared, np.tile(own, N_OWN)]))
    return {"vectors": vectors, "n_shared": n_shared, "spread": float(SPREAD_GRID[4])}


def _check_shapes(start, d):
    if start["mu"].shape not in ((), (d,)):
        raise ValueError(f"feature_params['gaussian']['mu'] must have shape ({d},), got {start['mu'].shape}")
    if start["psi"].shape != (d, d):
        raise ValueError(f"feature_params['gaussian']['psi'] must have shape ({d}, {d}), got {start['psi'].shape}")
    if not np.allclose(start["psi"], start["psi"].T) or np.linalg.eigvalsh(start["psi"]).min() <= 0:
        raise ValueError("feature_params['gaussian']['psi'] must be symmetric and positive definite")
    if start["nu"] <= d - 1:
        raise ValueError(f"feature_params['gaussian']['nu'] must be above {d - 1}, got {start['nu']}")
