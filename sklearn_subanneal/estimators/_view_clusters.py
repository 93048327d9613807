"""Assignment of rows to the clusters of the views of a fitted cross-categorization."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal.mixtures.predictive import assign_rows, nearest_groups
from sklearn_subanneal.posterior.jaccard import jaccard_indices


class ViewClusters:
    """Clusters of new rows in the views of the draw that represents the posterior.

    Clusters of the draw that the other draws do not separate are merged.

    A mixin for an estimator whose draws are those of views. It reads ``_models``, ``_draws``, ``_row_labels``,
    ``_representative``, ``_groups`` and ``_encode(X)``.
    """

    def _labels_of_view_with(self, column, row_labels):
        """Clusters of rows, (n_chains, n_draws, n_rows), in the view of each draw that holds a column.

        ``row_labels`` are those in all views of the draws of each chain.
        """
        return np.stack(
            [
                [labels[draw.column_labels[column]].astype(np.int32) for draw, labels in zip(draws, chain, strict=True)]
                for draws, chain in zip(self._draws, row_labels, strict=True)
            ]
        )

    def _modelled_labels(self):
        """Those in ``posterior_labels_``, of the rows that the chains saw: weights repeat or leave out some."""
        labels = [result.labels for result in self._results]
        return self._labels_of_view_with(np.argmin(self.column_labels_), labels)

    def _view(self, view, arrays):
        """Models, draw and cells of one view of the representative draw."""
        members = self._representative.members(view)
        models = [self._models[j] for j in members]
        return models, self._representative.views[view], arrays

    def predict(self, X) -> np.ndarray:
        """The most probable cluster of each row in view 0 (``labels_``), by the draw that represents the posterior.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of int64, shape (n_samples,)
        """
        return nearest_groups(*self._view(0, self._encode(X)), self._groups[0])

    def predict_proba(self, X) -> np.ndarray:
        """Probability of each cluster of view 0 for each row, by the draw that represents the posterior.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_clusters)
        """
        return np.exp(assign_rows(*self._view(0, self._encode(X)), self._groups[0]))

    def predict_views(self, X) -> np.ndarray:
        """The most probable cluster of each row in each view of the draw that represents the posterior.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of int64, shape (n_samples, n_views)
        """
        arrays = self._encode(X)
        return np.column_stack(
            [nearest_groups(*self._view(view, arrays), groups) for view, groups in enumerate(self._groups)]
        )

    def _groups_of_view(self, view):
        """The cluster of each component of a view of the representative draw."""
        return self._groups[view]

    def _labels_of_view(self, view):
        """Clusters of the training rows in a view."""
        return self.view_labels_[:, view]

    def _view_like(self, other, view):
        """The view whose columns are most like those of a view of another fit of the same table."""
        return _most_like(other.column_labels_ == view, self.column_labels_)[0]

    def _mixtures_like(self, view):
        """Of each draw, the view that is most like a view: models, mixture, labels of training rows, and how like."""
        return [
            [self._mixture_like(self.column_labels_ == view, *drawn) for drawn in zip(draws, chain, strict=True)]
            for draws, chain in zip(self._draws, self._row_labels, strict=True)
        ]

    def _mixture_like(self, columns, draw, labels):
        at, likeness = _most_like(columns, draw.column_labels)
        return [self._models[j] for j in draw.members(at)], draw.views[at], labels[at], likeness

    @property
    def _n_groups(self) -> list[int]:
        return [int(groups.max()) + 1 for groups in self._groups]

    def _mixture_of_view(self, view):
        """The models of the columns of a view, and its mixture in the representative draw."""
        return self._view(view, None)[:2]

    def _responsibilities(self, arrays) -> list[np.ndarray]:
        return [np.exp(assign_rows(*self._view(view, arrays), groups)) for view, groups in enumerate(self._groups)]


def _most_like(columns, column_labels) -> tuple[int, float]:
    """The view whose Jaccard index with these columns, a mask, is the largest, and this index."""
    indices = jaccard_indices(columns.astype(int), column_labels)[1]
    return int(indices.argmax()), float(indices.max())
