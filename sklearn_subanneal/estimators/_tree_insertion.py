"""TreeInsertion, rows that are inserted into trees one batch after the other, and trees over given rows: a mixin."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Self

import numpy as np
from sklearn.base import clone

from sklearn_subanneal import partitions
from sklearn_subanneal._core.fit_decorators import fit_context
from sklearn_subanneal.annealing.runner import ChainContext, spawn_generators
from sklearn_subanneal.annealing.subsampling import TableOrder
from sklearn_subanneal.estimators._evidence import as_evidence
from sklearn_subanneal.estimators._failure import unchanged_on_failure
from sklearn_subanneal.estimators._settled_parameters import OF_MODELS, SettledParameters
from sklearn_subanneal.mixtures.predictive import nearest_groups
from sklearn_subanneal.tables.growing_columns import GrowingColumns
from sklearn_subanneal.tables.row_copies import RowCopies
from sklearn_subanneal.tables.row_weights import checked_weights, joined_weights
from sklearn_subanneal.trees import Hierarchy, IncrementalHierarchy
from sklearn_subanneal.trees.forest_chain import ForestSpec, hierarchy_of


class TreeInsertion(SettledParameters):
    """``partial_fit`` and ``hierarchy`` of a mixture, by incremental Bayesian hierarchical clustering.

    It reads what ``MixtureEstimator`` has, and is to be named before it.
    """

    # State from which ``partial_fit`` continues: typed columns and weights of all earlier rows, and a generator.
    _online: tuple | None = None
    # The prior of the partitions of the last fit, by which further trees grow, whatever ``partition`` is set to since.
    _partition: partitions.Partition | None = None

    def _keep(self, table, models, arrays, results, copies):
        super()._keep(table, models, arrays, results, copies)
        self._partition, self._given = self._given_partition(), self._copied(OF_MODELS)

    def _given_partition(self) -> partitions.Partition:
        return clone(partitions.resolve_partition(self.partition), safe=False)

    def _partition_of_draws(self):
        return self._partition

    def _summarize(self, arrays):
        super()._summarize(arrays)
        self._online = GrowingColumns.of(arrays), self._copies.weights, spawn_generators(self.random_state, 1)[0]

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y=None, sample_weight=None) -> Self:
        """Insert rows into the trees of incremental Bayesian hierarchical clustering, whatever ``moves`` is.

        The first rows determine the units, and the first hyperparameters, which are redrawn after each call. The trees
        continue those of the last call, or of ``fit`` with moves=["incremental-hierarchy"]; after ``fit`` with other
        moves its rows are inserted first. The model is valid after every call, with one draw; ``fit`` starts anew,
        also with ``warm_start``.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            The next rows.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Integers, as in :meth:`fit`; the weights of the rows before remain.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If X or the weights are not as ``fit`` takes them, X is not like the rows before, these were a
            ``ShardedTable``, or a parameter of the model is not as it was for them.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import TreeGuidedNRMM
        >>> X = np.random.default_rng(0).normal(size=(300, 2)) + 8 * (np.arange(300) % 3)[:, None]
        >>> model = TreeGuidedNRMM(random_state=0)
        >>> for rows in np.split(X, 3):
        ...     model = model.partial_fit(rows)
        >>> model.n_clusters_, model.hierarchy_.rows.size
        (3, 300)
        """
        self._refuse_classes()
        self._refuse_changes()
        with unchanged_on_failure(self):
            return self._insert(X, checked_weights(X, sample_weight))

    def _insert(self, X, weights):
        if hasattr(self, "posterior_rows_"):
            raise ValueError("X cannot be inserted after a fit to a ShardedTable, whose rows are not kept; fit it anew")
        hierarchy, given = vars(self).get("hierarchy_"), dict(self._given)
        if self._online is not None:
            (columns, old_weights, generator), table, models = self._online, self._table, self._models
            new = table.encode(self, X, as_evidence(self.unseen))
            weights = joined_weights(old_weights, columns.n_rows, weights, len(new[0]))
            columns = columns.extended(new)
        else:
            # A column without a value now may have some in a later batch.
            table, repeated, arrays = self._read_weighted(X, weights, partial(self._read, keep_empty=False))
            columns = GrowingColumns.of(arrays)
            models, generator = self._bind(table, repeated), spawn_generators(self.random_state, 1)[0]
        # In the order of the table: the trees depend on it, and their leaves are numbered by it.
        copies, arrays = RowCopies(weights), columns.arrays
        modelled = [array[copies.rows] for array in arrays]
        if hierarchy is not None:
            hierarchy = replace(hierarchy, rows=np.arange(len(hierarchy.rows), dtype=np.int32))
        settings = {"learn": self.learn_hyperparameters, "learn_from": self.learn_from, "hierarchy": hierarchy}
        spec = self._forest_spec(models, modelled, partition=self._given_partition(), generator=generator, **settings)
        spec.check()
        result = spec.run(ChainContext())
        self._keep(table, models, arrays, [result], copies)
        # The chains and the table of an earlier fit are gone: warm start continues none, and X is not compared with it.
        self._fitted_identity, self._given = None, self._given | given
        self._summarize(arrays)
        self._judge_convergence()
        self.hierarchy_, self._online = hierarchy_of(result, copies), (columns, weights, generator)
        return self

    def hierarchy(self, X) -> Hierarchy:
        """A tree over the rows of X, by the draw that represents the posterior.

        Its clusters are those in which the rows most probably are by this draw. Within each the rows are inserted one
        after the other; then the two clusters are joined, again and again, whose dissimilarity is the smallest.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        hierarchy : Hierarchy
            The tree, with ``linkage()`` for ``scipy.cluster.hierarchy.dendrogram``, and ``newick()``.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import TreeGuidedNRMM
        >>> X = np.random.default_rng(0).normal(size=(200, 2)) + 8 * (np.arange(200) % 3)[:, None]
        >>> tree = TreeGuidedNRMM(n_chains=2, random_state=0).fit(X).hierarchy(X[:50])
        >>> tree.n_clusters, tree.linkage().shape
        (3, (49, 4))
        """
        arrays = self._encode(X)
        every = np.arange(len(self._representative.sizes))
        labels = nearest_groups(self._models, self._representative, arrays, every)
        settings = {"partition": self._partition, "learn": False, "groups": labels}
        spec = self._forest_spec(self._models, arrays, generator=spawn_generators(0, 1)[0], **settings)
        return hierarchy_of(spec.run(ChainContext()))

    def _forest_spec(self, models, arrays, **settings) -> ForestSpec:
        """Trees over some rows, in their order and with the hyperparameters of the representative draw, if any."""
        return ForestSpec(
            n_rows=len(arrays[0]),
            models=models,
            arrays=arrays,
            moves=(IncrementalHierarchy(n_rebuilds=0),),
            subsampling=TableOrder(),
            start=self._representative,
            **settings,
        )
