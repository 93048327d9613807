"""Responsibilities: a fitted mixture as a transformer, from rows to the probabilities of their clusters."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from sklearn_subanneal.estimators._cluster_stability import ClusterStabilityQueries
from sklearn_subanneal.estimators._merged_components import ComponentMerging
from sklearn_subanneal.mixtures.ensemble import chunks
from sklearn_subanneal.shards import ShardedTable
from sklearn_subanneal.tables.unreadable import no_array

# Probabilities below are left out of sparse output.
LEAST_PROBABILITY = 1e-6


def _without_small(probabilities: np.ndarray) -> sparse.csr_array:
    return sparse.csr_array(np.where(probabilities < LEAST_PROBABILITY, 0.0, probabilities))


class Responsibilities(ClusterStabilityQueries, ComponentMerging, TransformerMixin):
    """``transform`` and the names of its columns: a mixin.

    It reads ``_encode(X)``, ``_responsibilities(arrays)``, a list of arrays (n_samples, n_clusters), one for each
    partition of the rows, and ``_n_groups``, their numbers of clusters.
    """

    def transform(self, X) -> np.ndarray | sparse.csr_array:
        """Probabilities of the clusters of each row, by the draw that represents the posterior.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        responsibilities : ndarray or csr_array of shape (n_samples, n_features_out)
            Those of ``predict_proba``; of a cross-categorization for each view, side by side. A row adds up to 1 in
            each of them. With ``sparse_output``, probabilities below 1e-6 are left out: nearly all of them, where there
            are many clusters that do not overlap.
        """
        arrays = self._encode(X)
        if not self.sparse_output:
            return np.hstack(self._responsibilities(arrays))
        # In parts, so that they are never dense together.
        parts = [
            _without_small(np.hstack(self._responsibilities([array[rows] for array in arrays])))
            for rows in chunks(len(arrays[0]), sum(self._n_groups))
        ]
        return sparse.vstack(parts, format="csr")

    def fit_transform(self, X, y=None, **fit_params) -> np.ndarray | sparse.csr_array:
        """Run the chains, and give the probabilities of the clusters of the rows.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
        y : None
            Ignored.
        **fit_params
            Passed to ``fit``.

        Returns
        -------
        responsibilities : ndarray or csr_array of shape (n_samples, n_features_out)
            As of :meth:`transform`.
        """
        if isinstance(X, ShardedTable):
            # Before a fit that may take hours.
            raise no_array(X)
        return super().fit_transform(X, y, **fit_params)

    def get_feature_names_out(self, input_features=None) -> np.ndarray:
        """Names of the columns of ``transform``.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        names : ndarray of str objects
            "cluster0", "cluster1", ...; if there are several views, "view0_cluster0", ....
        """
        check_is_fitted(self)
        several = len(self._n_groups) > 1
        return np.array(
            [
                f"view{view}_cluster{cluster}" if several else f"cluster{cluster}"
                for view, n_clusters in enumerate(self._n_groups)
                for cluster in range(n_clusters)
            ],
            dtype=object,
        )
