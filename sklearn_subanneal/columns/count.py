"""Columns of counts: Poisson given the cluster, with a gamma prior."""

from __future__ import annotations

import numpy as np
from scipy.special import betainc

from sklearn_subanneal._core.rounding import geometric_grid
from sklearn_subanneal.columns._cluster_parameters import RateParameters
from sklearn_subanneal.columns._count import CountData, CountStatistics
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.columns.parameters import Hyperparameter

SHAPE_GRID = geometric_grid(0.05, 100.0, 20)
RATE_GRID = geometric_grid(0.005, 100.0, 20)


class Count(ColumnModel):
    """A column of counts."""

    kind, has_moments = "count", True
    hyperparameters = {"shape": Hyperparameter(), "rate": Hyperparameter()}
    dtype, largest = np.int32, 2**31 - 1
    remedy = (
        f"counts are integers from 0 to {largest}, so declare it 'real' or 'categorical' in feature_types, "
        "or correct the value"
    )
    data_class, statistics_class = CountData, CountStatistics
    parameters_class = RateParameters

    @classmethod
    def bind(cls, name, sources, cells, given, *, n_categories, learn, grids):
        mean = max(float(cells[cells >= 0].mean()), 0.1) if learn and grids == "data" else 1.0
        start = {"shape": float(given.get("shape", 1.0)), "rate": float(given.get("rate", 1.0 / mean))}
        axes = {"shape": SHAPE_GRID, "rate": RATE_GRID / mean} if learn else {}
        return cls(name, sources, start, axes)

    def interval_probabilities(self, column, intervals, n_clusters):
        # The integers of an interval are those from `least` to before `end`.
        least = [np.ceil(own.low) if own.has_low else np.floor(own.low) + 1.0 for own in intervals]
        end = [np.floor(own.high) + 1.0 if own.has_high else np.ceil(own.high) for own in intervals]
        state = column.get_state(n_clusters)
        shape = state["parameters"]["shape"] + state["total"]
        share = 1.0 / (1.0 + state["parameters"]["rate"] + state["count"])
        return np.maximum(_at_least(least, shape, share) - _at_least(end, shape, share), 0.0)

    def imputed(self, value, first):
        return np.minimum(np.rint(value), self.largest)


def _at_least(least, shape, share):
    """Probabilities (n, n_clusters) of at least so much of gamma mixtures of Poisson counts: negative binomial ones."""
    least = np.array(least)[:, None]
    tail = betainc(np.where(np.isfinite(least), np.maximum(least, 1.0), 1.0), shape, share)
    return np.where(least <= 0.0, 1.0, np.where(least < np.inf, tail, 0.0))
