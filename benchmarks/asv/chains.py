"""Timings of mixture sweeps by column type and move, and of a round of column moves between views."""

import time

import numpy as np
from scipy import sparse

from sklearn_subanneal.columns._bag_data import BagOfWordsData
from sklearn_subanneal.columns._bag_of_words import BagOfWordsStatistics
from sklearn_subanneal.columns._categorical import CategoricalData, CategoricalStatistics
from sklearn_subanneal.columns._count import CountData, CountStatistics
from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics
from sklearn_subanneal.columns._normal import NormalData, NormalStatistics
from sklearn_subanneal.columns._vonmises import VonMisesData, VonMisesStatistics
from sklearn_subanneal.mixtures._gibbs import churn
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.mixtures._slice import SliceKernel
from sklearn_subanneal.mixtures._split_merge import SplitMergeKernel
from sklearn_subanneal.partitions import NGGP, PitmanYor
from sklearn_subanneal.trees._tree_guided import TreeGuidedKernel
from sklearn_subanneal.views import ColumnGibbs, ColumnGroups, ViewSplitMerge
from sklearn_subanneal.views._views import Views

N_ROWS, N_CLUSTERS = 2000, 16


def real(labels, rng):
    cells = rng.normal(4.0 * rng.normal(size=N_CLUSTERS)[labels]) / 4.0
    return NormalStatistics(NormalData(cells.astype(np.float32)), {"mu": 0.0, "kappa": 0.1, "sigma2": 0.1, "nu": 2.0})


def categorical(labels, rng):
    codes = (rng.integers(5, size=N_CLUSTERS)[labels] + rng.integers(2, size=len(labels))) % 5
    return CategoricalStatistics(CategoricalData(codes.astype(np.int8)), {"alpha": np.ones(5)})


def count(labels, rng):
    cells = rng.poisson(rng.gamma(2.0, 5.0, N_CLUSTERS)[labels])
    return CountStatistics(CountData(cells.astype(np.int32)), {"shape": 1.0, "rate": 0.2})


def cyclic(labels, rng):
    cells = rng.vonmises(rng.uniform(-np.pi, np.pi, N_CLUSTERS)[labels], 4.0) % (2.0 * np.pi)
    return VonMisesStatistics(VonMisesData(cells), {"mu": 0.0, "kappa": 4.0, "r": 0.5})


def gaussian(labels, rng, width=6):
    cells = rng.normal(6.0 * rng.normal(size=(N_CLUSTERS, width))[labels])
    prior = {"mu": np.zeros(width), "kappa": 0.05, "psi": np.eye(width) * (width + 2.0), "nu": width + 2.0}
    return GaussianStatistics(GaussianData(cells), prior)


def multinomial(labels, rng, n_words=500):
    cells = rng.poisson(0.2 * rng.gamma(0.1, 10.0, (N_CLUSTERS, n_words))[labels])
    return BagOfWordsStatistics(BagOfWordsData(sparse.csr_array(cells)), {"beta": 0.1, "n_words": n_words})


KINDS = {
    "real": (real, 8),
    "categorical": (categorical, 8),
    "count": (count, 8),
    "cyclic": (cyclic, 2),
    "gaussian": (gaussian, 1),
    "multinomial": (multinomial, 1),
}
MOVES = {"split-merge": SplitMergeKernel, "tree-guided": TreeGuidedKernel, "slice": SliceKernel}


def planted(kind):
    """Columns of one kind, and the labels of their clusters."""
    rng = np.random.default_rng(0)
    labels = rng.integers(N_CLUSTERS, size=N_ROWS).astype(np.int32)
    make, n_columns = KINDS[kind]
    return [make(labels, rng) for _ in range(n_columns)], labels


def started(mixture, labels, generator):
    """The mixture after a sweep from these labels."""
    mixture.set_labels(labels, generator)
    mixture.redraw_auxiliary(generator)
    rows = np.arange(N_ROWS, dtype=np.int32)
    churn(mixture, rows, rows, 1.0, generator)
    return rows


class Gibbs:
    """Gibbs sampling of all rows."""

    params, param_names, timer = list(KINDS), ["kind"], time.process_time

    def setup(self, kind):
        columns, labels = planted(kind)
        self.generator = np.random.default_rng(1)
        self.mixture = Mixture(columns, PitmanYor(1.0, 0.2).bind(learn=False), N_ROWS)
        self.rows = started(self.mixture, labels, self.generator)

    def time_sweep(self, kind):
        churn(self.mixture, self.rows, self.rows, 1.0, self.generator)


class Churn:
    """Exchange of the two halves of the rows: every row is removed and assigned."""

    params, param_names, timer = list(KINDS), ["kind"], time.process_time

    def setup(self, kind):
        Gibbs.setup(self, kind)
        self.first, self.second = np.split(self.rows, 2)
        churn(self.mixture, self.second, np.full_like(self.second, -1), 1.0, self.generator)

    def time_halves(self, kind):
        churn(self.mixture, self.first, self.second, 1.0, self.generator)
        churn(self.mixture, self.second, self.first, 1.0, self.generator)


class Moves:
    """Gaussian clusters under a normalized generalized gamma process: twenty proposals, or a sweep."""

    params, param_names, timer = list(MOVES), ["move"], time.process_time

    def setup(self, move):
        columns, labels = planted("gaussian")
        self.generator = np.random.default_rng(1)
        self.mixture = Mixture(columns, NGGP(1.0, 0.25).bind(learn=False), N_ROWS)
        self.rows = started(self.mixture, labels, self.generator)
        self.move = MOVES[move](columns, N_ROWS)

    def time_move(self, move):
        if move == "slice":
            self.move.sweep(self.mixture, 1.0, self.generator)
        else:
            self.move.propose(self.mixture, 20, 1.0, self.generator, self.rows)


class ViewsOfColumns:
    """A cross-categorization of eight real and eight categorical columns."""

    timer = time.process_time

    def setup(self):
        rng, self.generator = np.random.default_rng(0), np.random.default_rng(1)
        labels = rng.integers(N_CLUSTERS, size=(2, N_ROWS))
        columns = [make(own, rng) for own in labels for make in (real, categorical) for _ in range(4)]
        self.views = Views(columns, PitmanYor(1.0).bind(learn=False), PitmanYor(1.0, 0.2).bind(learn=False), N_ROWS)
        self.rows = np.arange(N_ROWS, dtype=np.int32)
        self.churn(np.full_like(self.rows, -1))
        self.column_moves = [
            (move, move.bind(columns, N_ROWS)) for move in (ColumnGibbs(), ColumnGroups(), ViewSplitMerge())
        ]
        for _ in range(3):
            self.time_columns()
            self.churn(self.rows)

    def churn(self, leaving):
        self.views.churn(leaving, self.rows, 1.0, [self.generator] * self.views.n_views)

    def time_columns(self):
        for move, kernel in self.column_moves:
            kernel.propose(self.views, move.count(self.views.n_columns), 1.0, self.generator)

    def time_rows(self):
        self.churn(self.rows)
