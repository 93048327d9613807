"""Column type of a block of reals: hyperparameters, grids and units of a full-covariance normal (see `_mvnormal`)."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.columns.parameters import Hyperparameter
from sklearn_subanneal.columns.real import KAPPA_GRID, NARROW
from sklearn_subanneal.columns.units import check_reach, standard_units

# In standard deviations of the prior: a matrix must not lose its rank in float64.
MOST_DISTANCE = 1e7


class Gaussian(ColumnModel):
    """All reals of a table as one block, in standard units as single reals are."""

    kind, declared, single = "gaussian", False, False
    hyperparameters = {
        "mu": Hyperparameter("finite", one_each=True),
        "kappa": Hyperparameter(),
        "psi": Hyperparameter("finite", one_each=True),
        "nu": Hyperparameter(),
    }
    data_class, statistics_class = GaussianData, GaussianStatistics

    @classmethod
    def bind(cls, name, sources, cells, given, *, n_categories, learn, grids):
        d = len(sources)
        center, scale = standard_units(cells, learn, grids)
        z = (cells - center) / scale
        start = {"mu": np.zeros(d), "kappa": 0.1, "psi": NARROW * (d + 2) * np.eye(d), "nu": d + 2.0}
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
        return cls(name, sources, start, axes, center, scale, stateful=bool(np.isnan(z).any()))

    def data(self, arrays):
        return GaussianData(self.values(arrays))

    def units(self, arrays):
        # The block's missing cells are part of the state, and so of its density.
        return -np.log(self.scale).sum()

    def report(self, parameters):
        return {
            "mu": parameters["mu"] * self.scale + self.center,
            "kappa": parameters["kappa"],
            "psi": parameters["psi"] * np.outer(self.scale, self.scale),
            "nu": parameters["nu"],
        }

    def expectations(self, column, values, weights):
        mean, variance = column.conditional_moments(values, weights.shape[1])
        return np.einsum("nk,nkj->nj", weights, mean), np.einsum("nk,nkj->nj", weights, variance + mean**2)


def _check_shapes(start, d):
    if start["mu"].shape not in ((), (d,)):
        raise ValueError(f"feature_params['gaussian']['mu'] must have shape ({d},), got {start['mu'].shape}")
    if start["psi"].shape != (d, d):
        raise ValueError(f"feature_params['gaussian']['psi'] must have shape ({d}, {d}), got {start['psi'].shape}")
    if not np.allclose(start["psi"], start["psi"].T) or np.linalg.eigvalsh(start["psi"]).min() <= 0:
        raise ValueError("feature_params['gaussian']['psi'] must be symmetric and positive definite")
    if start["nu"] <= d - 1:
        raise ValueError(f"feature_params['gaussian']['nu'] must be above {d - 1}, got {start['nu']}")
