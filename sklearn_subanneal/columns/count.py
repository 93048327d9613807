"""Columns of counts: Poisson given the cluster, with a gamma prior."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal.columns._count import CountData, CountStatistics
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.columns.parameters import Hyperparameter

SHAPE_GRID = np.geomspace(0.05, 100.0, 20)
RATE_GRID = np.geomspace(0.005, 100.0, 20)


class Count(ColumnModel):
    """A column of counts."""

    kind = "count"
    hyperparameters = {"shape": Hyperparameter(), "rate": Hyperparameter()}
    dtype, largest = np.int32, 2**31 - 1
    remedy = (
        f"counts are integers from 0 to {largest}, so declare it 'real' or 'categorical' in feature_types, "
        "or correct the value"
    )
    data_class, statistics_class = CountData, CountStatistics

    @classmethod
    def bind(cls, name, sources, cells, given, *, n_categories, learn, grids):
        mean = max(float(cells[cells >= 0].mean()), 0.1) if learn and grids == "data" else 1.0
        start = {"shape": float(given.get("shape", 1.0)), "rate": float(given.get("rate", 1.0 / mean))}
        axes = {"shape": SHAPE_GRID, "rate": RATE_GRID / mean} if learn else {}
        return cls(name, sources, start, axes)

    def imputed(self, value, first):
        return np.rint(value)
