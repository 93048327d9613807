"""ClusterMoments, the attributes of a mixture that are named as those of scikit-learn's mixtures: a mixin."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_subanneal.columns.atom_split import AtomSplit
from sklearn_subanneal.mixtures.group_moments import group_moments, group_shares
from sklearn_subanneal.tables.column import Column
from sklearn_subanneal.tables.derivation import FunctionOfCodes

# A column of these is modelled by several, none of which has its units.
NOT_OF_ONE_PART = "datetime"


class ClusterMoments:
    """Weights, means and covariances of the clusters of ``labels_``: a mixin.

    It reads ``_models``, ``_table``, ``_representative``, ``_groups``, ``_has_documents`` and ``covariance_type_``.
    """

    @property
    def weights_(self) -> np.ndarray:
        """Probability of each cluster for a new row of which nothing is known, (n_clusters,).

        By the draw that represents the posterior: (n_k - d) / (n - d K) for a cluster of n_k rows in one of K clusters
        under a Pitman-Yor prior with discount d. A new row is supposed to belong to one of the clusters. They are
        ``predict_proba`` of a row whose cells are all missing.
        """
        check_is_fitted(self)
        return group_shares(self._representative, self._groups).sum(axis=1)

    @property
    def means_(self) -> np.ndarray:
        """Mean of a new row of each cluster, (n_clusters, n_features), in the units of the data.

        The posterior mean of the cluster's mean, given the clusters and the hyperparameters of the draw that represents
        the posterior. Of real, semicontinuous, count and boolean columns (the probability of True); NaN for others, and
        for columns that are transformed, or functions of others that are not linear.
        """
        return self._group_moments("means_", full=False)[0]

    @property
    def covariances_(self) -> np.ndarray:
        """Variances (n_clusters, n_features) or covariances (n_clusters, n_features, n_features) of a new row.

        The latter if ``covariance_type_`` is "full". They are those of the predictive distribution of a cluster, a t
        distribution for reals, and so include the uncertainty of its mean; of three degrees of freedom or fewer, the
        variance is that of three. In the units of the data; NaN for columns whose ``means_`` are. Beyond the range of
        floating point, variances are infinite.
        """
        return self._group_moments("covariances_", full=getattr(self, "covariance_type_", None) == "full")[1]

    def _group_moments(self, name: str, full: bool) -> tuple[np.ndarray, np.ndarray]:
        check_is_fitted(self)
        if self._has_documents:
            raise AttributeError(f"{name} are those of tables; feature_types='bag-of-words' has documents")
        table = self._table
        n_parts, atoms = len(table.parts), {}
        at = np.array([places[0] for places in table.places])
        for j, places in enumerate(table.places):
            column = table.modelled(j)
            if isinstance(column.split, AtomSplit):
                which, at[j] = places[:2]
                atoms[int(at[j])] = int(which), column.split.atoms
        means, covariances = group_moments(self._models, self._representative, self._groups, n_parts, full, atoms)
        means, covariances = means[:, at], covariances[:, at][:, :, at] if full else covariances[:, at]
        lines = [_line(column, table.modelled(j)) for j, column in enumerate(table.columns)]
        intercepts, slopes = np.array(lines).T
        means = intercepts + slopes * means
        covariances = slopes[:, None] * covariances * slopes if full else slopes**2 * covariances
        return means, covariances


def _line(column: Column, source: Column) -> tuple[float, float]:
    """Intercept and slope of a column as a linear function of the part by which it is modelled; NaN if it is none."""
    if column.kind == NOT_OF_ONE_PART:
        return np.nan, np.nan
    if column.derivation is None:
        return 0.0, 1.0
    function = column.derivation.function
    if isinstance(function, FunctionOfCodes):
        if {column.kind, source.kind} != {"boolean"}:
            return np.nan, np.nan
        return (1.0, -1.0) if function.order[0] else (0.0, 1.0)
    if function.shape != "linear":
        return np.nan, np.nan
    if function.is_inverse:
        return -function.intercept / function.slope, 1.0 / function.slope
    return function.intercept, function.slope
