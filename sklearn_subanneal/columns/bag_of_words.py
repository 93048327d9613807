"""Columns of bags of words: multinomial given the cluster, with a symmetric Dirichlet prior."""

from __future__ import annotations

from sklearn_subanneal.columns._bag_data import BagOfWordsData
from sklearn_subanneal.columns._bag_of_words import BagOfWordsStatistics
from sklearn_subanneal.columns.categorical import ALPHA_GRID
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.columns.parameters import Hyperparameter


class BagOfWords(ColumnModel):
    """A column of bags of words."""

    kind, declared, single = "bag-of-words", False, False
    hyperparameters = {"beta": Hyperparameter()}
    data_class, statistics_class = BagOfWordsData, BagOfWordsStatistics

    @classmethod
    def bind(cls, name, sources, cells, given, *, n_categories, learn, grids):
        start = {"beta": float(given.get("beta", 0.1)), "n_words": n_categories}
        return cls(name, sources, start, {"beta": ALPHA_GRID} if learn else {})

    def data(self, arrays):
        return BagOfWordsData(arrays[self.sources[0]].counts)

    def values(self, arrays):
        """The bags, which have no units."""
        return arrays[self.sources[0]]

    def cells_per_row(self, arrays):
        return arrays[self.sources[0]].counts.nnz / max(len(arrays[self.sources[0]]), 1)

    def log_masses(self, column, values, n_clusters):
        return column.log_densities(values, n_clusters)

    def report(self, parameters):
        return {"beta": parameters["beta"]}
