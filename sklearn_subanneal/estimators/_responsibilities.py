"""Responsibilities: a fitted mixture as a transformer, from rows to the probabilities of their clusters."""

from __future__ import annotations

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted


class Responsibilities(TransformerMixin):
    """``transform`` and the names of its columns: a mixin.

    It reads ``_responsibilities(X)``, a list of arrays (n_samples, n_clusters), one for each partition of the rows, and
    ``_n_groups``, their numbers of clusters.
    """

    def transform(self, X) -> np.ndarray:
        """Probabilities of the clusters of each row, by the draw that represents the posterior.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        responsibilities : ndarray of shape (n_samples, n_features_out)
            Those of ``predict_proba``; of a cross-categorization for each view, side by side. A row adds up to 1 in
            each of them.
        """
        check_is_fitted(self)
        return np.hstack(self._responsibilities(X))

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
