"""Columns of categories and of booleans: frequencies given the cluster, with a Dirichlet prior."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sklearn_subanneal._core.rounding import geometric_grid
from sklearn_subanneal.columns._base import MOST_GRID_VALUES
from sklearn_subanneal.columns._categorical import CategoricalData, CategoricalStatistics
from sklearn_subanneal.columns._cluster_parameters import FrequencyParameters
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.columns.parameters import Hyperparameter, nearest_on_grid

ALPHA_GRID = geometric_grid(0.02, 20.0, 12)
# Where learning of alpha starts, unless the user says. With 1, the first rows of a table of hundreds of clusters are
# taken for few clusters with wide distributions, which most chains never part.
LEARNED_START = 0.5
# The largest alpha of the unseen value: half of the least alpha that a category can learn.
UNSEEN = 0.5 * float(ALPHA_GRID[0])
# Among the values of a row that is sampled: one of the categories, but not the unseen value.
ANY_CATEGORY = -1.0


class Categorical(ColumnModel):
    """A column of codes of categories, and one more value for the categories that ``fit`` did not see.

    The frequencies in a cluster have the prior Dirichlet(alpha_1, ..., alpha_V, unseen). Category v has the predictive
    probability (alpha_v + n_v) / (A + n) given n cells, A being the sum of all alphas, and the unseen value
    unseen / (A + n). It is below that of every category in every cluster, even if a category has no cell there, because
    ``unseen`` is less than every alpha. It is not learned: no cell of the training table has this value, so that the
    likelihood is largest at 0, and learning would only find the lower end of a grid. By default it is half of the least
    alpha that a category can have, at most 0.01.

    The unseen value stands for one more category, not for all that may yet come. With N1 of N cells in categories that
    occur once, all unseen categories together have probability N1 / N (Good, 1953), which in a column of ticket numbers
    is more than that of any seen one. But one unseen category has at most the probability 2 N2 / (N1 N) that Good's
    estimate gives to one that was seen once, N2 being the number of categories seen twice, since there are at least
    N1^2 / (2 N2) of them (Chao, 1984).

    References
    ----------
    I. J. Good (1953), The population frequencies of species and the estimation of population parameters, Biometrika 40,
    237-264. A. Chao (1984), Nonparametric estimation of the number of classes in a population, Scandinavian Journal of
    Statistics 11, 265-270.
    """

    kind, coded, discrete = "categorical", True, True
    hyperparameters = {"alpha": Hyperparameter(one_each=True), "unseen": Hyperparameter(learned=False)}
    dtype, largest = np.int32, 2**31 - 1
    data_class, statistics_class = CategoricalData, CategoricalStatistics
    parameters_class = FrequencyParameters

    @classmethod
    def bind(cls, name, sources, cells, given, *, n_categories, learn, grids):
        alpha = np.asarray(given.get("alpha", LEARNED_START if learn else 1.0), dtype=float)
        if alpha.ndim and alpha.shape != (n_categories,):
            raise ValueError(
                f"alpha of column {name!r} must be a number or one for each of its {n_categories} categories, "
                f"got an array of shape {alpha.shape}"
            )
        model = cls._with(name, sources, np.broadcast_to(alpha, n_categories).copy(), learn)
        least = min(values.min() for values in [alpha, *model.grids.values()])
        unseen = float(given.get("unseen", min(UNSEEN, least / 2.0)))
        model.parameters["unseen"] = unseen
        return model

    @classmethod
    def _with(cls, name, sources, alpha, learn):
        axes = {"alpha": np.tile(ALPHA_GRID, (len(alpha), 1))} if learn else {}
        return cls(name, sources, {"alpha": alpha}, axes)

    def with_grids(self, given, cells):
        model = super().with_grids(given, cells)
        least = min(values.min() for values in [model.parameters["alpha"], *model.grids.values()])
        if (unseen := model.parameters["unseen"]) >= least:
            raise ValueError(
                f"unseen of column {self.name!r} must be less than every alpha of its categories, of which the least "
                f"is {least:g}, got {unseen:g}: lower it by feature_params, or a category that was not seen is no "
                "rarer than one that was"
            )
        return model

    def standard_grid(self, name, values):
        n_categories = len(self.parameters["alpha"])
        if values.ndim == 2 and len(values) != n_categories:
            raise ValueError(
                f"the grid of alpha of column {self.name!r} must be increasing values, or a row of them for each of "
                f"its {n_categories} categories, got an array of shape {values.shape}"
            )
        return np.broadcast_to(values, (n_categories, values.shape[-1])).copy()

    def prior_state(self, parameters):
        """With the first category as the one whose alpha is redrawn next."""
        return {"parameters": parameters, "next_category": 0}

    def admissible(self, values):
        return np.where(np.isnan(values), ANY_CATEGORY, values)

    @property
    def n_values(self):
        return len(self.parameters["alpha"])

    def cluster_expectations(self, column, n_clusters):
        return column.probabilities(n_clusters), None

    def probabilities(self, first):
        known = first[:, : len(self.parameters["alpha"])]
        return known / known.sum(axis=1, keepdims=True)

    def summary(self, first, second):
        """The most probable category, and the probability that it is another."""
        first = self.probabilities(first)
        return first.argmax(axis=1)[:, None], 1.0 - first.max(axis=1)[:, None]


class Boolean(Categorical):
    """A column of two categories, with the prior weights alpha (True) and beta (False), and no unseen value."""

    kind, coded, has_moments = "boolean", False, True
    hyperparameters = {"alpha": Hyperparameter(), "beta": Hyperparameter()}
    dtype, largest = np.int8, 1
    categories = (False, True)
    remedy = "only True, False, 0, 1 and missing are boolean, so declare it 'categorical' in feature_types"

    @classmethod
    def bind(cls, name, sources, cells, given, *, n_categories, learn, grids):
        start = LEARNED_START if learn else 1.0
        alpha = np.array([given.get("beta", start), given.get("alpha", start)], dtype=float)
        return cls._with(name, sources, alpha, learn)

    def with_grids(self, given, cells):
        if not given:
            return self
        rows = [np.asarray(given.get(name, ALPHA_GRID), np.float64) for name in ("beta", "alpha")]
        # The kernel takes as many values of one as of the other. To repeat each equally often is the same prior.
        length = np.lcm(*map(len, rows))
        if length > MOST_GRID_VALUES:
            raise ValueError(
                f"the grids of alpha and beta of column {self.name!r} have {len(rows[1])} and {len(rows[0])} values; "
                "give as many values of the one as of the other"
            )
        grid = np.stack([np.repeat(row, length // len(row)) for row in rows])
        start = {"alpha": nearest_on_grid(grid, self.parameters["alpha"])}
        return replace(self, parameters=self.parameters | start, grids={"alpha": grid})

    def admissible(self, values):
        return values

    def probabilities(self, first):
        return first

    def report(self, parameters):
        return {"alpha": parameters["alpha"][1], "beta": parameters["alpha"][0]}
