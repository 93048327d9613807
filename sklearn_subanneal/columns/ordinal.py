"""Columns of ordered levels (grades, ratings): normals between cut points, with probability mass."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal._core.rounding import geometric_grid
from sklearn_subanneal.columns._categorical import CategoricalData
from sklearn_subanneal.columns._cluster_parameters import OrdinalParameters
from sklearn_subanneal.columns._ordinal import OrdinalStatistics
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.columns.parameters import MOST, Hyperparameter

# Beyond, a column is a number rather than one of few levels, and each change of a cluster is slow.
MOST_LEVELS = 100
MASS_GRID = geometric_grid(0.3, 300.0, 10)
FREE_GRID = np.array([0.01, 0.03, 0.1, 0.3, 0.6, 0.9])


class Ordinal(ColumnModel):
    """A column of few values with an order, its levels.

    The frequencies of the levels in a cluster are of one of two kinds. In the first, a level has the probability that a
    normal variable falls between two cut points; its mean and standard deviation are on a grid, and are summed out. In
    the second, of prior probability ``free``, the frequencies have no order (Dirichlet).
    """

    kind, coded, ordered, discrete = "ordinal", True, True, True
    hyperparameters = {
        "location": Hyperparameter("finite"),
        "spread": Hyperparameter(),
        "free": Hyperparameter("share"),
        "mass": Hyperparameter(),
        "cuts": Hyperparameter("finite", one_each=True, learned=False),
    }
    dtype, largest = np.int32, MOST_LEVELS - 1
    data_class, statistics_class = CategoricalData, OrdinalStatistics
    parameters_class = OrdinalParameters

    @classmethod
    def bind(cls, name, sources, cells, given, *, n_categories, learn, grids):
        if n_categories > MOST_LEVELS:
            raise ValueError(
                f"column {name!r} has {n_categories} values, but an ordinal column at most {MOST_LEVELS}: declare it "
                "'real', 'count' or 'categorical' in feature_types, or bin its values"
            )
        top = n_categories - 1.0
        seen = cells[cells >= 0]
        start = {"location": seen.mean() if learn and grids == "data" else top / 2.0, "spread": n_categories / 2.0}
        start |= {"free": 0.1, "mass": float(n_categories)}
        start |= {key: float(value) for key, value in given.items() if key != "cuts"}
        if abs(start["location"]) > MOST:
            raise ValueError(f"location of column {name!r} must be within {MOST:g} of 0, got {start['location']!r}")
        cuts = np.asarray(given.get("cuts", np.arange(top) + 0.5), dtype=float)
        if cuts.shape != (n_categories - 1,) or np.any(np.diff(cuts) <= 0.0):
            raise ValueError(
                f"cuts of column {name!r} must be {n_categories - 1} increasing numbers, one between each two of its "
                f"{n_categories} levels, got {given['cuts']!r}"
            )
        axes = {
            "location": np.linspace(-1.0, top + 1.0, 13),
            "spread": geometric_grid(0.2, 2.0 * n_categories, 10),
            "free": FREE_GRID,
            "mass": MASS_GRID,
        }
        return cls(name, sources, start | {"cuts": cuts}, axes if learn else {})

    def standard_grid(self, name, values):
        if name == "location" and np.abs(values).max() > MOST:
            raise ValueError(f"the grid of location of column {self.name!r} must be within {MOST:g} of 0")
        return values

    @property
    def n_values(self):
        return len(self.parameters["cuts"]) + 1

    def cluster_expectations(self, column, n_clusters):
        return column.probabilities(n_clusters), None

    def summary(self, first, second):
        """The median level, and the probability that it is another."""
        median = (first.cumsum(axis=1) < 0.5 * first.sum(axis=1, keepdims=True)).sum(axis=1)[:, None]
        return median, 1.0 - np.take_along_axis(first, median, axis=1)
