"""What the estimators of one mixture share: how columns are modelled, the fitted attributes, and what users ask."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sklearn_subanneal.columns.models import bind_columns
from sklearn_subanneal.estimators._mcmc import MCMCEstimator, column_hyperparameters
from sklearn_subanneal.mixtures import Gibbs, SplitMerge
from sklearn_subanneal.mixtures.mixture_chain import run_chain
from sklearn_subanneal.mixtures.predictive import assign_rows, impute_rows, nearest_clusters, sample_rows, score_rows
from sklearn_subanneal.posterior import representative_draw


class MixtureEstimator(MCMCEstimator):
    """Base of the estimators whose model is one mixture over all columns.

    A subclass gives ``_prior`` (the prior of the partition, as a parameter object) and ``covariance_type``.
    """

    _chain = staticmethod(run_chain)

    def _bind(self, table, arrays):
        self._prior().bind(self.learn_hyperparameters)
        return bind_columns(
            table.names,
            table.kinds,
            [0 if column.categories is None else len(column.categories) for column in table.columns],
            arrays,
            covariance_type=self.covariance_type,
            feature_params=self.feature_params,
            learn=self.learn_hyperparameters,
            grids=self.grids,
        )

    def _recipe(self, models, arrays):
        moves = (Gibbs(), SplitMerge())
        chain = {"models": models, "arrays": arrays, "learn": self.learn_hyperparameters, "moves": moves}
        return {"chain": chain, "partition": self._prior()}

    def _summarize(self, arrays):
        self.posterior_labels_ = np.stack([result.labels for result in self._results])
        # The results keep views of the one array, not copies.
        self._results = [
            replace(result, labels=list(labels))
            for result, labels in zip(self._results, self.posterior_labels_, strict=True)
        ]
        self.hyperparameters_ = {
            name: np.array([[draw.prior[name] for draw in chain] for chain in self._draws])
            for name in self._draws[0][0].prior
        }
        self.hyperparameters_["columns"] = column_hyperparameters(
            self._models, [[draw.columns for draw in chain] for chain in self._draws]
        )
        chain, draw = representative_draw(self.posterior_labels_)
        self._representative = self._draws[chain][draw]
        # Clusters in the order of their size, so that label 0 is the largest; those nearest to no row are dropped.
        order = np.argsort(-self._representative.sizes, kind="stable")
        nearest = nearest_clusters(self._models, self._representative, arrays, order)
        used, self.labels_ = np.unique(nearest, return_inverse=True)
        self._kept = order[used]
        self.n_clusters_ = len(used)

    def predict(self, X) -> np.ndarray:
        """The most probable cluster of each row, by the draw that represents the posterior.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of int64, shape (n_samples,)
        """
        arrays = self._encode(X)
        return nearest_clusters(self._models, self._representative, arrays, self._kept)

    def predict_proba(self, X) -> np.ndarray:
        """Probability of each cluster for each row, by the draw that represents the posterior.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_clusters_)
        """
        arrays = self._encode(X)
        return np.exp(assign_rows(self._models, self._representative, arrays, self._kept))

    def score_samples(self, X) -> np.ndarray:
        """Log posterior predictive density of each row, averaged over draws and chains, in the units of the data.

        Missing cells are marginalised; a category, boolean or count has a probability, a real a density.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
        """
        arrays = self._encode(X)
        return score_rows(self._models, self._flat_draws(), arrays)

    def sample(self, n_samples: int = 1, random_state=None):
        """Draw rows from the posterior predictive distribution.

        Parameters
        ----------
        n_samples : int, default=1
        random_state : int, RandomState instance or None, default=None

        Returns
        -------
        X : ndarray or DataFrame of shape (n_samples, n_features)
            What ``fit`` was given.
        """
        check_is_fitted(self)
        generator = self._sampling_generator(n_samples, random_state)
        rows = sample_rows(self._models, self._flat_draws(), n_samples, len(self._table.columns), generator)
        return self._table.decode(rows)

    def _sampling_generator(self, n_samples, random_state) -> np.random.Generator:
        if not isinstance(n_samples, Integral) or n_samples < 1:
            raise ValueError(f"n_samples must be an integer of at least 1, got {n_samples!r}")
        seed = check_random_state(random_state).randint(0, 2**32, size=4, dtype=np.uint32)
        return np.random.Generator(np.random.PCG64(seed))

    def impute(self, X, return_uncertainty: bool = False):
        """Fill the missing cells of X, given the other cells of their rows.

        Reals are filled by their posterior mean (of the direction, where they are cyclic), counts by the mean rounded,
        categories by the most probable one, each
        row as one that ``fit`` has not seen, by the conditional of the density that ``score_samples`` reports.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        return_uncertainty : bool, default=False

        Returns
        -------
        filled : ndarray or DataFrame of shape (n_samples, n_features)
        uncertainty : ndarray of shape (n_samples, n_features)
            Only if asked for: posterior standard deviation of reals and counts (the variance of a cluster with fewer
            than three degrees of freedom is taken as for three), and for categories the probability that the value is
            another; 0 where the cell was observed.
        """
        arrays = self._encode(X)
        filled, uncertainty = impute_rows(self._models, self._flat_draws(), arrays)
        filled = self._table.decode(filled, like=X)
        return (filled, np.column_stack(uncertainty)) if return_uncertainty else filled
