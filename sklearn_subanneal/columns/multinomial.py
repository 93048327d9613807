"""Bags of words as the one column of a table: multinomial given the cluster, with a symmetric Dirichlet prior."""

from __future__ import annotations

from sklearn_subanneal.columns._multinomial import MultinomialData, MultinomialStatistics
from sklearn_subanneal.columns.categorical import ALPHA_GRID
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.columns.parameters import Hyperparameter


class Multinomial(ColumnModel):
    """A column of bags of words."""

    kind, declared, single = "multinomial", False, False
    hyperparameters = {"beta": Hyperparameter()}
    data_class, statistics_class = MultinomialData, MultinomialStatistics

    @classmethod
    def bind(cls, name, sources, cells, given, *, n_categories, learn, grids):
        start = {"beta": float(given.get("beta", 0.1)), "n_words": n_categories}
        return cls(name, sources, start, {"beta": ALPHA_GRID} if learn else {})

    def data(self, arrays):
        return MultinomialData(arrays[self.sources[0]].counts)

    def values(self, arrays):
        """Bags as they are."""
        return arrays[self.sources[0]]

    def cells_per_row(self, arrays):
        return arrays[self.sources[0]].counts.nnz / max(len(arrays[self.sources[0]]), 1)

    def report(self, parameters):
        return {"beta": parameters["beta"]}
