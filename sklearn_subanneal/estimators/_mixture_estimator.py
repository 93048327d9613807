"""MixtureEstimator, the base class of SubsampleAnnealedDPMM and TreeGuidedNRMM: fitted attributes and predictions."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_subanneal import partitions
from sklearn_subanneal._core.arguments import checked_flag
from sklearn_subanneal._core.constraints import HasMethods, StrOptions
from sklearn_subanneal.columns.binding import bind_bags, bind_table
from sklearn_subanneal.estimators._absent_rows import fill_labels
from sklearn_subanneal.estimators._cluster_moments import ClusterMoments
from sklearn_subanneal.estimators._covariance_choice import CovarianceChoice
from sklearn_subanneal.estimators._document_parameters import refuse_of_tables
from sklearn_subanneal.estimators._hyperparameters import mixture_hyperparameters
from sklearn_subanneal.estimators._mcmc import MCMCEstimator
from sklearn_subanneal.estimators._mixture_imputations import MixtureImputations
from sklearn_subanneal.estimators._sampling import sampling_generator, with_missing_cells
from sklearn_subanneal.mixtures import Gibbs, Move, Slice, SplitMerge, resolve_moves
from sklearn_subanneal.mixtures.ensemble import Ensemble
from sklearn_subanneal.mixtures.limited_rows import limited_rows
from sklearn_subanneal.mixtures.mixture_chain import Draw, MixtureSpec
from sklearn_subanneal.mixtures.predictive import (
    assign_rows,
    ensemble_of_mixtures,
    nearest_groups,
    nearest_of_training,
    sample_bags,
)
from sklearn_subanneal.mixtures.stacking import MOST_LEFT_OUT, chain_weights_of_mixtures, known_rows, weighted
from sklearn_subanneal.posterior import representative_draw
from sklearn_subanneal.posterior.merging import merged_clusters
from sklearn_subanneal.tables.documents import DocumentTable, read_documents
from sklearn_subanneal.trees import NAMED, IncrementalHierarchy, TreeGuidedPaper
from sklearn_subanneal.trees.forest_chain import ForestSpec, hierarchy_of

BAG_OF_WORDS = "bag-of-words"


class MixtureEstimator(MixtureImputations, ClusterMoments, CovarianceChoice, MCMCEstimator):
    """Mixture of the rows of a table, or of documents, with any prior of the partition and any moves.

    The named estimators have this model and these methods, and differ by the defaults of their parameters. A subclass
    gives ``_default_moves``.
    """

    _main_display = "ClusterSizesDisplay"
    _default_moves: tuple[Move, ...] = (Gibbs(), SplitMerge())
    # Set by a fit: the draw that represents the posterior, and the lengths of training documents.
    _representative: Draw | None = None
    _lengths: np.ndarray | None = None

    _parameter_constraints: dict = {
        **MCMCEstimator._parameter_constraints,
        "partition": [StrOptions(set(partitions.NAMED)), HasMethods("bind")],
        "covariance_type": [StrOptions({"auto", "diag", "full"})],
        "feature_types": [StrOptions({"auto", "from_dtype", BAG_OF_WORDS}), dict, "array-like"],
    }

    def __init__(
        self,
        partition="pitman-yor",
        *,
        covariance_type: str = "auto",
        moves="default",
        schedule="anneal",
        effort: float = 1.0,
        subsampling="cyclic",
        feature_types="auto",
        feature_params: dict | None = None,
        grids: str = "data",
        missing_indicator=None,
        feature_grids: dict | None = None,
        unseen: str = "novel",
        n_chains: int | str = "auto",
        n_draws: int = 10,
        thin: int | str = "auto",
        learn_hyperparameters: bool = True,
        learn_from: int | None = None,
        max_sweeps: int | None = None,
        time_limit: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        sparse_output: bool = False,
        random_state=None,
    ):
        self.partition = partition
        self.covariance_type = covariance_type
        self.moves = moves
        self.schedule = schedule
        self.effort = effort
        self.subsampling = subsampling
        self.feature_types = feature_types
        self.feature_params = feature_params
        self.grids = grids
        self.missing_indicator = missing_indicator
        self.feature_grids = feature_grids
        self.unseen = unseen
        self.n_chains = n_chains
        self.n_draws = n_draws
        self.thin = thin
        self.learn_hyperparameters = learn_hyperparameters
        self.learn_from = learn_from
        self.max_sweeps = max_sweeps
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.sparse_output = sparse_output
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        if self._has_documents:
            tags.input_tags.allow_nan = tags.input_tags.categorical = False
            tags.input_tags.sparse = tags.input_tags.positive_only = True
        return tags

    @property
    def _has_documents(self) -> bool:
        return isinstance(self.feature_types, str) and self.feature_types == BAG_OF_WORDS

    def _resolved_moves(self) -> tuple[Move, ...]:
        return resolve_moves(self.moves, self._default_moves, NAMED)

    def _read_table(self, X, keep_empty=False):
        if not self._has_documents:
            return super()._read_table(X, keep_empty)
        refuse_of_tables(self)
        return DocumentTable(), read_documents(self, X, reset=True)

    def _revised(self, table, arrays, n_rows=None):
        return (table, arrays) if self._has_documents else self._with_covariance(table, arrays, n_rows)

    def _bind(self, table, arrays):
        if self._has_documents:
            given = {"feature_params": self.feature_params, "feature_grids": self.feature_grids}
            return bind_bags(self.n_features_in_, arrays[0], learn=self.learn_hyperparameters, **given)
        return self._models_with(self.covariance_type_, table, arrays)

    def _models_with(self, covariance_type: str, table, arrays):
        """The models of the columns, with this covariance of the reals."""
        return bind_table(
            table,
            arrays,
            covariance_type=covariance_type,
            feature_params=self.feature_params,
            learn=self.learn_hyperparameters,
            grids=self.grids,
            feature_grids=self.feature_grids,
        )

    def _strata(self, chooser, table, arrays):
        if self._has_documents and chooser.column is not None:
            raise ValueError(
                f"StratifiedSubsampling(column={chooser.column!r}) is no column: documents have none; use labels= "
                "instead"
            )
        return super()._strata(chooser, table, arrays)

    def _spec(self, models, arrays, **settings):
        moves = self._resolved_moves()
        if any(isinstance(move, TreeGuidedPaper) for move in moves):
            warnings.warn(
                "TreeGuidedPaper() does not leave the posterior invariant: draws have too few clusters. Take "
                "TreeGuided() for anything but reproducing the paper and searching for a mode.",
                UserWarning,
                stacklevel=6,
            )
        makes_forest = any(isinstance(move, IncrementalHierarchy) for move in moves)
        return (ForestSpec if makes_forest else MixtureSpec)(
            models=models,
            arrays=arrays,
            partition=partitions.resolve_partition(self.partition),
            moves=moves,
            learn=self.learn_hyperparameters,
            learn_from=self.learn_from,
            **settings,
        )

    def _modelled_labels(self):
        """Those in ``posterior_labels_``, of the rows that the chains saw: weights repeat or leave out some."""
        return np.array([result.labels for result in self._results], np.int32)

    def _summarize(self, arrays):
        modelled = self._modelled_labels()
        # The results keep views of the one array, not copies.
        self._results = [
            replace(result, labels=list(labels)) for result, labels in zip(self._results, modelled, strict=True)
        ]
        self.posterior_labels_ = self._copies.of_table(modelled, -1)
        for labels, draws in zip(self.posterior_labels_, self._draws, strict=True):
            fill_labels(labels, self._models, draws, arrays, self._copies.absent)
        self.chain_weights_ = self._weights_of_chains(arrays)
        self._draws = weighted(self._draws, self.chain_weights_)
        self.hyperparameters_ = mixture_hyperparameters(self._models, self._draws, self._partition_of_draws())
        chain, draw = representative_draw(modelled, weights=self._draw_weights())
        self._representative = self._draws[chain][draw]
        n_clusters = len(self._representative.sizes)
        groups = merged_clusters(modelled[chain, draw], modelled, weights=self._draw_weights(), n_clusters=n_clusters)
        self._groups, self.labels_, self.probabilities_ = nearest_of_training(
            self._models, self._representative, arrays, groups, self._copies.absent
        )
        self.n_clusters_ = int(self._groups.max()) + 1
        self._lengths = arrays[0].lengths[self._copies.rows] if self._has_documents else None
        vars(self).pop("hierarchy_", None)
        if any(isinstance(move, IncrementalHierarchy) for move in self._resolved_moves()):
            # Of the chain whose log joint density is the largest.
            self.hierarchy_ = hierarchy_of(self._results[int(np.argmax(self.log_joint_[:, 0]))], self._copies)
        self._warn_of_overflows()

    def _partition_of_draws(self) -> partitions.Partition:
        """The prior of the partitions that are drawn."""
        return partitions.resolve_partition(self.partition)

    def _weights_of_chains(self, arrays) -> np.ndarray:
        among = known_rows(self._models, arrays) & self._copies.independent(arrays)
        rows, counts = self._copies.some_distinct(arrays, MOST_LEFT_OUT, among)
        return chain_weights_of_mixtures(
            self._models, self._draws, self.posterior_labels_[:, :, rows], [array[rows] for array in arrays], counts
        )

    def _warn_of_overflows(self):
        n_overflows = int(self.trace_["n_overflows"].sum())
        for move in self._resolved_moves():
            if n_overflows and isinstance(move, Slice):
                warnings.warn(
                    f"In {n_overflows} sweeps there were more than max_atoms={move.max_atoms} empty atoms, of which "
                    "the smallest were left out: draws are not exact. Raise max_atoms of Slice(), or take Gibbs() in "
                    "its place.",
                    UserWarning,
                    stacklevel=7,
                )

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
        return nearest_groups(self._models, self._representative, arrays, self._groups)

    def predict_proba(self, X) -> np.ndarray:
        """Probability of each cluster for each row, by the draw that represents the posterior.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_clusters)
        """
        (probabilities,) = self._responsibilities(self._encode(X))
        return probabilities

    @property
    def _n_groups(self) -> list[int]:
        return [self.n_clusters_]

    def _mixture_of_view(self, view):
        return self._models, self._representative

    def _groups_of_view(self, view):
        return self._groups

    def _labels_of_view(self, view):
        return self.labels_

    def _view_like(self, other, view):
        return 0

    def _mixtures_like(self, view):
        return [
            [(self._models, *drawn, 1.0) for drawn in zip(draws, labels, strict=True)]
            for draws, labels in zip(self._draws, self.posterior_labels_, strict=True)
        ]

    def _responsibilities(self, arrays) -> list[np.ndarray]:
        return [np.exp(assign_rows(self._models, self._representative, arrays, self._groups))]

    def score_samples(self, X) -> np.ndarray:
        """Log posterior predictive density of each row, averaged over draws and chains, in the units of the data.

        Missing cells are marginalised; a category, boolean or count has a probability, a real a density. All categories
        that ``fit`` did not see are one value: with the known ones, their probabilities add up to 1. A date has the
        product of the densities of its parts, per day.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        log_density : ndarray of shape (n_samples,)
        """
        return self._by_rows(Ensemble.score, self._encode(X, scored=True))

    def _new_average(self):
        return ensemble_of_mixtures(self._models, self._flat_draws())

    def sample(self, n_samples: int = 1, random_state=None, *, keep_missing: bool = False):
        """Draw rows of the posterior predictive, numbers at most their range beyond the training cells, whole as these.

        Parameters
        ----------
        n_samples : int, default=1
        random_state : int, RandomState instance, Generator or None, default=None
        keep_missing : bool, default=False
            Whether cells are missing as in the training table. False: no cell is, but for columns with a missing
            indicator. True: those of other columns are as well, each row with the pattern of missing cells of a
            training row that is drawn from the same cluster, or from all rows if its cluster is a new one.

        Returns
        -------
        X : ndarray, DataFrame or sparse matrix of shape (n_samples, n_features)
            In the container that ``fit`` was given.

        Raises
        ------
        ValueError
            If ``n_samples`` is no positive integer, or cells of documents are to be missing.
        """
        check_is_fitted(self)
        keep_missing = checked_flag("keep_missing", keep_missing)
        generator = sampling_generator(n_samples, random_state)
        if self._has_documents:
            if keep_missing:
                raise ValueError("keep_missing=True does not suit documents, in which nothing is missing")
            # The lengths of documents are not modelled: they are drawn from those of the training documents.
            lengths = generator.choice(self._lengths, n_samples)
            return sample_bags(self._models, self._flat_draws(), lengths, generator)
        made = np.ones((1, len(self._table.parts)), bool)
        with self._average() as average:
            rows = limited_rows(average, n_samples, generator)[: len(self._table.parts)]
            if keep_missing:
                rows, made = with_missing_cells(self, average, rows, made, None, generator)
        return self._table.decode(rows, made=made)
