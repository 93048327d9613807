"""ViewsSummary: the fitted attributes that follow from the draws of a cross-categorization."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal.estimators._absent_rows import fill_labels_of_views
from sklearn_subanneal.estimators._hyperparameters import view_hyperparameters
from sklearn_subanneal.mixtures.predictive import nearest_of_training
from sklearn_subanneal.mixtures.stacking import MOST_LEFT_OUT, weighted
from sklearn_subanneal.posterior import relabel, representative_draw
from sklearn_subanneal.posterior.point_estimate import merged_in_views, typical_draw_with_views
from sklearn_subanneal.views.chain_weights import chain_weights


class ViewsSummary:
    """Weights of the chains, the draw that represents the posterior, and its clusters in each view.

    A mixin for an estimator whose draws are those of views. It reads ``_models``, ``_draws``, ``_results``,
    ``_copies``, ``_warns``, ``_partitions()``, ``_view(view, arrays)``, ``_draw_weights()``,
    ``_some_seen_rows(arrays, n, independent)`` and ``_warn_of_contradictions(arrays, stacklevel)``.
    """

    def _summarize(self, arrays):
        modelled = [result.labels for result in self._results]
        self._row_labels = [[self._copies.of_table(labels, -1) for labels in chain] for chain in modelled]
        for labels, draws in zip(self._row_labels, self._draws, strict=True):
            fill_labels_of_views(labels, self._models, draws, arrays, self._copies.absent)
        self.chain_weights_ = self._weights_of_chains(arrays)
        self._draws = weighted(self._draws, self.chain_weights_)
        self.posterior_column_labels_ = np.array([[d.column_labels for d in draws] for draws in self._draws])
        weights = self._draw_weights()
        chain, draw = representative_draw(self.posterior_column_labels_, weights=weights)
        columns = relabel(self.posterior_column_labels_[chain, draw])
        self.posterior_labels_ = self._labels_of_view_with(np.argmin(columns), self._row_labels)
        # Among the draws with this partition of the columns, choose one with representative partitions of the rows.
        chain, draw = typical_draw_with_views(columns, self.posterior_column_labels_, modelled, weights)
        self.column_labels_, self.n_views_ = columns, int(columns.max()) + 1
        self._representative = self._draws[chain][draw].reordered(columns)
        sizes = [len(view.sizes) for view in self._representative.views]
        merged = merged_in_views(columns, self.posterior_column_labels_, modelled, (chain, draw), sizes, weights)
        judged = [
            nearest_of_training(*self._view(view, arrays), groups, self._copies.absent)
            for view, groups in enumerate(merged)
        ]
        self._groups = [groups for groups, _, _ in judged]
        self.view_labels_ = self._kept_view_labels = np.column_stack([labels for _, labels, _ in judged])
        _, self.labels_, self.probabilities_ = judged[0]
        self.n_clusters_ = int(self._groups[0].max()) + 1
        self.hyperparameters_ = view_hyperparameters(self._models, self._draws, *self._partitions())
        if self._warns:
            self._warn_of_contradictions(arrays, stacklevel=6)

    def _weights_of_chains(self, arrays) -> np.ndarray:
        seen, cells, counts = self._some_seen_rows(arrays, MOST_LEFT_OUT, independent=True)
        return chain_weights(self._models, self._draws, seen, cells, None, counts)
