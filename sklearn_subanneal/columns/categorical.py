"""Columns of categories and of booleans: frequencies given the cluster, with a Dirichlet prior."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal.columns._categorical import CategoricalData, CategoricalStatistics
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.columns.parameters import Hyperparameter

ALPHA_GRID = np.geomspace(0.02, 20.0, 12)


class Categorical(ColumnModel):
    """A column of codes of categories."""

    kind, coded, discrete = "categorical", True, True
    hyperparameters = {"alpha": Hyperparameter(one_each=True)}
    dtype, largest = np.int32, 2**31 - 1
    data_class, statistics_class = CategoricalData, CategoricalStatistics

    @classmethod
    def bind(cls, name, sources, cells, given, *, n_categories, learn, grids):
        alpha = np.asarray(given.get("alpha", 1.0), dtype=float)
        if alpha.ndim and alpha.shape != (n_categories,):
            raise ValueError(
                f"alpha of column {name!r} must be a number or one for each of its {n_categories} categories, "
                f"got an array of shape {alpha.shape}"
            )
        return cls._with(name, sources, np.broadcast_to(alpha, n_categories).copy(), learn)

    @classmethod
    def _with(cls, name, sources, alpha, learn):
        axes = {"alpha": np.tile(ALPHA_GRID, (len(alpha), 1))} if learn else {}
        return cls(name, sources, {"alpha": alpha}, axes)

    @property
    def n_values(self):
        return len(self.parameters["alpha"])

    def expectations(self, column, values, weights):
        return weights @ column.probabilities(weights.shape[1]), None

    def summary(self, first, second):
        """The most probable category, and the probability that it is another."""
        return first.argmax(axis=1)[:, None], 1.0 - first.max(axis=1)[:, None]


class Boolean(Categorical):
    """A column of two categories, with the prior weights alpha (True) and beta (False)."""

    kind, coded = "boolean", False
    hyperparameters = {"alpha": Hyperparameter(), "beta": Hyperparameter()}
    dtype, largest = np.int8, 1
    categories = (False, True)
    remedy = "only True, False, 0, 1 and missing are boolean, so declare it 'categorical' in feature_types"

    @classmethod
    def bind(cls, name, sources, cells, given, *, n_categories, learn, grids):
        alpha = np.array([given.get("beta", 1.0), given.get("alpha", 1.0)], dtype=float)
        return cls._with(name, sources, alpha, learn)

    def report(self, parameters):
        return {"alpha": parameters["alpha"][1], "beta": parameters["alpha"][0]}
