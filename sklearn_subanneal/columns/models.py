"""From a typed column of the table to what a chain works with: encoded cells, a prior, its grids, and the way back.

A chain sees reals in standard units (z = (x - center) / scale), which costs nothing in exactness: the model is
equivariant. Hyperparameters given by a user, and those reported to one, are in the units of the data.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sklearn_subanneal.columns._base import ColumnData, ColumnStatistics
from sklearn_subanneal.columns._categorical import CategoricalData, CategoricalStatistics
from sklearn_subanneal.columns._count import CountData, CountStatistics
from sklearn_subanneal.columns._multinomial import MultinomialData, MultinomialStatistics
from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics
from sklearn_subanneal.columns._normal import NormalData, NormalStatistics
from sklearn_subanneal.columns.parameters import checked_params

# Near-deterministic columns want tiny variances, outliers huge ones: grids that are too narrow cost density.
KAPPA_GRID = np.geomspace(1e-4, 10.0, 20)
SIGMA2_GRID = np.geomspace(1e-6, 4.0, 20)
NU_GRID = np.geomspace(0.3, 100.0, 20)
ALPHA_GRID = np.geomspace(0.02, 20.0, 12)
SHAPE_GRID = np.geomspace(0.05, 100.0, 20)
RATE_GRID = np.geomspace(0.005, 100.0, 20)
# Variance within a cluster before anything is learned, as a share of the variance of the table.
NARROW = 0.05
# In standard deviations of the prior: squares must not overflow in float32, nor a matrix lose its rank in float64.
MOST_DISTANCE = {"real": 1e15, "gaussian": 1e7}


@dataclass(frozen=True)
class ColumnModel:
    """One column of a mixture, or one block of columns: its encoding and its prior.

    Attributes
    ----------
    kind : str
        "real", "categorical", "boolean", "count", "gaussian" (a block of reals with full covariance) or "multinomial"
        (bags of words).
    name : str
        Of the column; of a block, its kind.
    sources : tuple of int
        The columns of the table.
    parameters : dict
        Hyperparameters at the start, in standard units.
    grids : dict
        Hyperparameters to learn, in standard units.
    center, scale : ndarray of shape (len(sources),)
        Units of the reals.
    """

    kind: str
    name: str
    sources: tuple[int, ...]
    parameters: dict
    grids: dict
    center: np.ndarray = field(default_factory=lambda: np.zeros(1))
    scale: np.ndarray = field(default_factory=lambda: np.ones(1))

    def data(self, arrays: list[np.ndarray]) -> ColumnData:
        """Encode the columns of a table for the kernels."""
        if self.kind == "gaussian":
            return GaussianData(self.values(arrays))
        if self.kind == "multinomial":
            return MultinomialData(arrays[self.sources[0]].counts)
        cells = arrays[self.sources[0]]
        if self.kind == "real":
            return NormalData(((cells - self.center[0]) / self.scale[0]).astype(np.float32))
        return CountData(cells) if self.kind == "count" else CategoricalData(cells)

    def statistics(self, data: ColumnData | None = None, parameters: dict | None = None) -> ColumnStatistics:
        """Empty statistics of this column."""
        kernel = {
            "real": NormalStatistics,
            "gaussian": GaussianStatistics,
            "count": CountStatistics,
            "multinomial": MultinomialStatistics,
        }.get(self.kind, CategoricalStatistics)
        return kernel(data, self.parameters if parameters is None else parameters, self.grids)

    def values(self, arrays: list[np.ndarray]) -> np.ndarray:
        """The columns as float64 (n_rows, width) in standard units, missing cells NaN; bags as they are."""
        if self.kind == "multinomial":
            return arrays[self.sources[0]]
        values = np.column_stack([arrays[j] for j in self.sources]).astype(np.float64, copy=False)
        if self.kind in ("real", "gaussian"):
            return (values - self.center) / self.scale
        return np.where(values < 0, np.nan, values)

    def cells_per_row(self, arrays: list[np.ndarray]) -> float:
        """How many cells of a row there are to score."""
        if self.kind == "multinomial":
            return arrays[self.sources[0]].counts.nnz / max(len(arrays[self.sources[0]]), 1)
        return len(self.sources)

    def restore(self, values: np.ndarray) -> np.ndarray:
        """Standard units back to those of the data, (n_rows, width)."""
        return values * self.scale + self.center

    def log_jacobian(self, values: np.ndarray) -> np.ndarray | float:
        """log |dz / dx| of the observed cells of each row."""
        return np.where(np.isnan(values), 0.0, -np.log(self.scale)).sum(axis=1) if np.any(self.scale != 1) else 0.0

    def report(self, parameters: dict) -> dict:
        """Hyperparameters in the units of the data, under the names that ``feature_params`` uses."""
        if self.kind == "real":
            return {
                "mu": parameters["mu"] * self.scale[0] + self.center[0],
                "kappa": parameters["kappa"],
                "sigma2": parameters["sigma2"] * self.scale[0] ** 2,
                "nu": parameters["nu"],
            }
        if self.kind == "gaussian":
            return {
                "mu": parameters["mu"] * self.scale + self.center,
                "kappa": parameters["kappa"],
                "psi": parameters["psi"] * np.outer(self.scale, self.scale),
                "nu": parameters["nu"],
            }
        if self.kind == "boolean":
            return {"alpha": parameters["alpha"][1], "beta": parameters["alpha"][0]}
        if self.kind == "multinomial":
            return {"beta": parameters["beta"]}
        return dict(parameters)


def bind_columns(
    names: list[str],
    kinds: list[str],
    n_categories: list[int],
    arrays: list[np.ndarray],
    *,
    covariance_type: str = "diag",
    feature_params: dict | None = None,
    learn: bool = True,
    grids: str = "data",
) -> list[ColumnModel]:
    """The column models of a table.

    Parameters
    ----------
    names, kinds : list of str
        Of each column.
    n_categories : list of int
        Of each column; used where the kind is "categorical".
    arrays : list of ndarray
        Typed columns: reals float64 with NaN, codes and counts as integers with -1 for a missing cell.
    covariance_type : {"diag", "full"}
        "full": all reals are one block.
    feature_params : dict or None
        Hyperparameters to fix or to start from, by type or by name of a column; the name wins.
    learn : bool
        Give the models grids. Without, nothing is standardised but for the arithmetic.
    grids : {"data", "fixed"}
        Grids in units of the training data, or absolute ones.

    Returns
    -------
    models : list of ColumnModel
    """
    given = checked_params(feature_params, names, kinds, covariance_type)
    block = tuple(j for j, kind in enumerate(kinds) if kind == "real") if covariance_type == "full" else ()
    models = []
    for j, (name, kind) in enumerate(zip(names, kinds, strict=True)):
        if j in block:
            continue
        chosen = {**given.get(kind, {}), **given.get(name, {})}
        if kind == "real":
            models.append(_real(name, j, arrays[j], chosen, learn, grids))
        elif kind == "count":
            models.append(_count(name, j, arrays[j], chosen, learn, grids))
        else:
            models.append(_categorical(name, kind, j, n_categories[j], chosen, learn))
    if block:
        cells = np.column_stack([arrays[j] for j in block])
        models.append(_gaussian(block, cells, given.get("gaussian", {}), learn, grids))
    return models


def bind_bags(n_words: int, *, feature_params: dict | None = None, learn: bool = True) -> list[ColumnModel]:
    """The model of a table whose only column are bags of words.

    Parameters
    ----------
    n_words : int
        Length of the vocabulary.
    feature_params : dict or None
        {"multinomial": {"beta": value}}: the hyperparameter to fix or to start from.
    learn : bool
        Whether it is learned.

    Returns
    -------
    models : list of one ColumnModel
    """
    given = checked_params(feature_params, ["multinomial"], ["multinomial"], "diag").get("multinomial", {})
    start = {"beta": float(given.get("beta", 0.1)), "n_words": n_words}
    return [ColumnModel("multinomial", "multinomial", (0,), start, {"beta": ALPHA_GRID} if learn else {})]


def _standard_units(values, learn, grids):
    """(center, scale) of each column of ``values``; without learning they serve the arithmetic alone."""
    if learn and grids == "fixed":
        return np.zeros(values.shape[1]), np.ones(values.shape[1])
    top = np.nanmax(np.abs(values), axis=0)
    # A power of two costs no accuracy, and keeps squares from overflow and underflow.
    unit = np.ldexp(1.0, np.frexp(top)[1] - 1)
    center = np.nanmean(values / unit, axis=0)
    spread = np.nanstd(values / unit, axis=0)
    # A constant column has no units but its own value; rounding may leave it some spread.
    scale = np.where(spread > 1e-13, spread * unit, np.where(top > 0, top, 1.0))
    return center * unit, scale


def _check_reach(kind, name, z, mu, sigma2):
    """Refuse reals too far from their prior for the arithmetic of the kernels."""
    reach, most = np.nanmax(np.abs(z), axis=0) + np.abs(mu), MOST_DISTANCE[kind]
    if not np.all((sigma2 < np.inf) & (reach <= most * np.sqrt(sigma2))):
        raise ValueError(
            f"{name} has values too far from the prior: more than {most:g} of its standard deviations. Give mu and "
            "sigma2 (or psi) in the units of the data by feature_params, rescale the "
            'data, or learn the hyperparameters with grids="data"'
        )


def _location_grid(z):
    """20 values over the range of the data, half of them where the data are dense."""
    z = z[~np.isnan(z)]
    spread = np.linspace(z.min(), z.max(), 11)
    dense = np.quantile(z, np.linspace(0.05, 0.95, 10))
    return np.unique(np.concatenate([spread, dense]).round(6))


def _sigma2_grid(z):
    """The grid of sigma2, from the variance that rounding has left where the values are rounded ones.

    Without that end a cluster would shrink to each of the values: an unbounded density that predicts nothing.
    """
    z = z[~np.isnan(z)]
    values = np.unique(z)
    if not 1 < len(values) <= len(z) / 2:
        return SIGMA2_GRID
    # A low quantile, for values that ought to be equal and differ by errors of arithmetic.
    step = np.quantile(np.diff(values), 0.1)
    return np.geomspace(max(SIGMA2_GRID[0], step**2 / 12.0), SIGMA2_GRID[-1], len(SIGMA2_GRID))


def _real(name, j, cells, chosen, learn, grids):
    center, scale = _standard_units(cells[:, None], learn, grids)
    z = (cells - center[0]) / scale[0]
    # Clusters much narrower than the table: too many small ones at first are merged sooner than too few are split.
    start = {"mu": 0.0, "kappa": 0.1, "sigma2": NARROW, "nu": 5.0}
    if not learn or grids == "fixed":
        chosen = {"mu": 0.0, "kappa": 0.1, "sigma2": 1.0, "nu": 2.0} | chosen
    start |= {key: float(value) for key, value in chosen.items()}
    if "mu" in chosen:
        start["mu"] = (start["mu"] - center[0]) / scale[0]
    if "sigma2" in chosen:
        start["sigma2"] = start["sigma2"] / scale[0] / scale[0]
    _check_reach("real", f"column {name!r}", z, start["mu"], start["sigma2"])
    axes = {}
    if learn:
        mu, sigma2 = np.linspace(-3.0, 3.0, 20), SIGMA2_GRID
        if grids == "data":
            mu, sigma2 = _location_grid(z), _sigma2_grid(z)
        axes = {"mu": mu, "kappa": KAPPA_GRID, "sigma2": sigma2, "nu": NU_GRID}
    return ColumnModel("real", name, (j,), start, axes, center, scale)


def _gaussian(block, cells, chosen, learn, grids):
    d = len(block)
    center, scale = _standard_units(cells, learn, grids)
    z = (cells - center) / scale
    start = {"mu": np.zeros(d), "kappa": 0.1, "psi": NARROW * (d + 2) * np.eye(d), "nu": d + 2.0}
    if not learn or grids == "fixed":
        chosen = {"mu": np.zeros(d), "kappa": 0.1, "psi": np.eye(d), "nu": d + 2.0} | chosen
    start |= {
        key: np.asarray(value, dtype=float) if key in ("mu", "psi") else float(value) for key, value in chosen.items()
    }
    if start["mu"].shape not in ((), (d,)):
        raise ValueError(f"feature_params['gaussian']['mu'] must have shape ({d},), got {start['mu'].shape}")
    start["mu"] = np.broadcast_to(start["mu"], d)
    if start["psi"].shape != (d, d):
        raise ValueError(f"feature_params['gaussian']['psi'] must have shape ({d}, {d}), got {start['psi'].shape}")
    if not np.allclose(start["psi"], start["psi"].T) or np.linalg.eigvalsh(start["psi"]).min() <= 0:
        raise ValueError("feature_params['gaussian']['psi'] must be symmetric and positive definite")
    if start["nu"] <= d - 1:
        raise ValueError(f"feature_params['gaussian']['nu'] must be above {d - 1}, got {start['nu']}")
    if "mu" in chosen:
        start["mu"] = (start["mu"] - center) / scale
    if "psi" in chosen:
        start["psi"] = start["psi"] / scale / scale[:, None]
    _check_reach("gaussian", "the block of reals", z, start["mu"], np.diag(start["psi"]))
    axes = {}
    if learn:
        start["psi"] = np.diag(np.diag(start["psi"]))
        n_mu = 20
        mu = np.linspace(np.nanmin(z, axis=0), np.nanmax(z, axis=0), n_mu).T
        if grids == "fixed":
            mu = np.tile(np.linspace(-3.0, 3.0, n_mu), (d, 1))
        axes = {
            "mu": mu,
            "kappa": KAPPA_GRID,
            "psi": np.tile((d + 2) * np.geomspace(1e-5, 4.0, 20), (d, 1)),
            "nu": d - 1 + np.geomspace(0.5, 100.0 + 5 * d, 20),
        }
    return ColumnModel("gaussian", "gaussian", block, start, axes, center, scale)


def _categorical(name, kind, j, n_categories, chosen, learn):
    n_categories = 2 if kind == "boolean" else n_categories
    if kind == "boolean":
        alpha = np.array([chosen.get("beta", 1.0), chosen.get("alpha", 1.0)], dtype=float)
    else:
        alpha = np.asarray(chosen.get("alpha", 1.0), dtype=float)
        if alpha.ndim and alpha.shape != (n_categories,):
            raise ValueError(
                f"alpha of column {name!r} must be a number or one for each of its {n_categories} categories, "
                f"got an array of shape {alpha.shape}"
            )
        alpha = np.broadcast_to(alpha, n_categories).copy()
    axes = {"alpha": np.tile(ALPHA_GRID, (n_categories, 1))} if learn else {}
    return ColumnModel(kind, name, (j,), {"alpha": alpha}, axes)


def _count(name, j, cells, chosen, learn, grids):
    mean = max(float(cells[cells >= 0].mean()), 0.1) if learn and grids == "data" else 1.0
    start = {"shape": float(chosen.get("shape", 1.0)), "rate": float(chosen.get("rate", 1.0 / mean))}
    axes = {"shape": SHAPE_GRID, "rate": RATE_GRID / mean} if learn else {}
    return ColumnModel("count", name, (j,), start, axes)
