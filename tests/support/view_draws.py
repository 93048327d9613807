"""A posterior draw of a cross-categorization made from given partitions, without a chain."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics
from sklearn_subanneal.mixtures.mixture_chain import Draw
from sklearn_subanneal.partitions import PitmanYor
from sklearn_subanneal.views.draws import ViewsDraw


def make_draw(models, arrays, column_labels, row_labels, concentration=0.7, discount=0.2, parameters=None):
    """A draw with these views of the columns, and these clusters of the rows, an array (n_rows,) for each view.

    `parameters` has the hyperparameters of each column in standard units; None: those that its model starts with.
    """
    prior = PitmanYor(concentration, discount).bind(False)
    views = []
    for view, labels in enumerate(row_labels):
        labels = np.asarray(labels, dtype=np.int32)
        states = []
        for j in np.flatnonzero(np.equal(column_labels, view)):
            statistics = models[j].statistics(models[j].data(arrays), None if parameters is None else parameters[j])
            statistics.rebuild(labels)
            states.append(statistics.get_state(labels.max() + 1))
        weights = (prior.offset, prior.new_base, prior.new_slope)
        views.append(Draw(np.bincount(labels).astype(np.int32), weights, prior.parameters, states, 0.0))
    return ViewsDraw(np.array(column_labels, np.int32), views, prior.parameters, 0.0)


def block_state(cells, labels, parameters):
    """State of the statistics of a block of joint reals, from its complete cells in standard units."""
    statistics = GaussianStatistics(GaussianData(cells), parameters)
    statistics.rebuild(labels)
    return statistics.get_state(labels.max() + 1)
