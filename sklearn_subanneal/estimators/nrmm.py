"""TreeGuidedNRMM: normalized random measure mixtures of tables and documents, with moves guided by trees."""

from __future__ import annotations

from dataclasses import replace
from typing import Self

import numpy as np

from sklearn_subanneal import partitions
from sklearn_subanneal._core.fit_decorators import fit_context
from sklearn_subanneal.annealing.runner import ChainContext, spawn_generators
from sklearn_subanneal.annealing.subsampling import TableOrder
from sklearn_subanneal.estimators._evidence import as_evidence
from sklearn_subanneal.estimators._failure import unchanged_on_failure
from sklearn_subanneal.estimators._mixture_estimator import MixtureEstimator
from sklearn_subanneal.estimators._sharded_fit import ShardedFit
from sklearn_subanneal.mixtures import Gibbs
from sklearn_subanneal.mixtures.predictive import nearest_groups
from sklearn_subanneal.tables.growing_columns import GrowingColumns
from sklearn_subanneal.tables.row_copies import RowCopies
from sklearn_subanneal.tables.row_weights import checked_weights, joined_weights
from sklearn_subanneal.trees import Hierarchy, IncrementalHierarchy, TreeGuided
from sklearn_subanneal.trees.forest_chain import ForestSpec, hierarchy_of


class TreeGuidedNRMM(ShardedFit, MixtureEstimator):
    """Normalized random measure mixture of a table or of documents, sampled with the guidance of trees.

    The number of clusters is learned. After each sweep of Gibbs sampling, trees over rows of a cluster propose how to
    split it. Chains are annealed as those of :class:`SubsampleAnnealedDPMM`, which is the same model with other
    defaults; rows can be learned one batch after the other by :meth:`partial_fit`.

    Parameters
    ----------
    partition : {"dp", "pitman-yor", "nggp", "nig"} or CRP, PitmanYor, NGGP or NIG, default="nggp"
        Prior of the partition: of a Dirichlet process, a Pitman-Yor process, a normalized generalized gamma process or
        a normalized inverse Gaussian process. A name stands for the object with its default parameters, which are
        learned; see :mod:`sklearn_subanneal.partitions`.
    covariance_type : {"full", "diag"}, default="full"
        Whether the reals are independent within a cluster, or have a full covariance matrix. The covariance matrices of
        all clusters have a common prior with learned correlations.
    moves : "default" or list of Move or str, default="default"
        The moves of a sweep, in their order: one that moves each row (:class:`~sklearn_subanneal.mixtures.Gibbs`,
        :class:`~sklearn_subanneal.mixtures.Slice`), and any number of proposals to split and merge clusters
        (:class:`~sklearn_subanneal.mixtures.SplitMerge`, :class:`~sklearn_subanneal.trees.TreeGuided`,
        :class:`~sklearn_subanneal.trees.TreeGuidedSimilar`). These are exact, in any combination.
        :class:`~sklearn_subanneal.trees.TreeGuidedPaper` is biased, and
        :class:`~sklearn_subanneal.trees.IncrementalHierarchy` gives one point estimate for each chain.
        The default is ``[Gibbs(), TreeGuided()]``.
    schedule : {"anneal", "accelerating", "tempered", "sequential", "prior", "energy"} or Schedule, default="anneal"
        Subsample size, or temperature, over time; see :mod:`sklearn_subanneal.annealing`.
    effort : float, default=1.0
        Work of each chain before its draws: 5 makes five times the row assignments of the schedule and, where
        ``max_sweeps`` is None, up to five times the sweeps after it. Without effect if ``time_limit`` sets the work.
    subsampling : {"cyclic", "random"} or Subsampling, default="cyclic"
        Which row leaves the subsample next, and which enters; see :mod:`sklearn_subanneal.annealing`.
    feature_types : {"auto", "from_dtype", "bag-of-words"}, array-like of str or dict, default="auto"
        "real", "categorical", "boolean", "count", "cyclic" (angles, hours of the day), "ordinal" (grades, ratings),
        "semicontinuous" (reals of which some values repeat, such as zeros), "skewed" (reals that are modelled after a
        transformation such as the logarithm) or "datetime" (modelled by a real trend in days and cyclic columns) for
        each column, or a dict from names or indices to these. "auto" chooses by dtype, values and evidence: see
        :func:`~sklearn_subanneal.columns.choose_type`. "from_dtype" takes numbers as real, bool as boolean, strings and
        categories as categorical, dates as datetime. "bag-of-words" takes X as documents: sparse or dense word counts.
    feature_params : dict or None, default=None
        Hyperparameters to start from, or to fix if ``learn_hyperparameters`` is False, in the units of the data: a dict
        from a type or a column's name to {"mu", "kappa", "sigma2", "nu"} ("real"), {"alpha"} ("categorical"), {"alpha",
        "beta"} ("boolean"), {"shape", "rate", "dispersion"} ("count"), {"period", "mu", "kappa", "r"} ("cyclic"; the
        period is 2 pi by default), {"location", "spread", "free", "mass", "cuts"} ("ordinal", in levels from 0), those
        of "real" with {"alpha", "atoms", "transform"} ("semicontinuous") or with {"transform"} ("skewed"; "mu" and
        "sigma2" are in the units of transformed data), {"mu", "kappa", "psi", "nu"} ("gaussian": the reals under "full"
        covariance), {"beta", "base", "repeats"} (see :class:`~sklearn_subanneal.columns.BagOfWords`).
    grids : {"data", "fixed"}, default="data"
        Whether the grids of the hyperparameters are in units of the training data, or absolute.
    missing_indicator : None, "missing-only", or array-like or set of str or int, default=None
        Columns beside which a boolean column is modelled that says which cells are missing: for cells that are missing
        for a reason. "missing-only": all columns with missing cells. ``sample`` then leaves cells out as well, and
        ``score_samples`` counts that a cell is missing or is not.
    feature_grids : dict or None, default=None
        Grids in place of these: a dict like ``feature_params``, from a type or a column's name to the values, in the
        units of the data, that a hyperparameter may take, all with the same prior probability. With "gaussian" it is
        "sigma2", the variance psi_jj / (nu - n_columns + 1) of a column, that has a grid, and not "psi". Period, cut
        points, atoms, transforms and the weight of unseen categories are not learned, and have none.
    unseen : {"novel", "missing", "error"}, default="novel"
        A category that ``fit`` did not see, and that no categorical dtype declared. "novel": densities
        (``score_samples``) count it as one more value, which is rarer than every category in every cluster; where a row
        is evidence for its clusters and its other cells (``predict``, ``impute``, ``partial_fit``) it is missing.
        "missing": a missing cell everywhere. "error": an error.
    n_chains : int or "auto", default="auto"
        Independent chains; predictions average over them. "auto": two, and two more unless these agree, as in
        :class:`SubsampleAnnealedDPMM`.
    n_draws : int, default=10
        Draws kept of each chain, all at full data; moves=["incremental-hierarchy"] makes one draw a chain.
    thin : int, default=1
        Sweeps from one draw to the next.
    learn_hyperparameters : bool, default=True
        Whether the hyperparameters of columns and of the partition are sampled.
    learn_from : int or None, default=None
        Number of rows in the subsample from which on hyperparameters are sampled. None: 64, or a quarter of the rows
        where these are fewer; of documents 512, or a half.
    max_sweeps : int or None, default=None
        Most sweeps of all rows between schedule and draws: they go on while the log joint density rises. None: as many
        as do the work of the schedule once more.
    time_limit : float or None, default=None
        Seconds for each chain, up to one more draw of ``thin`` sweeps. Four fifths are for the schedule, shortened or
        stretched to fit, but to at most three times its work, and then for sweeps of all rows that are dropped; the
        rest is for draws, fewer than ``n_draws`` if need be. All rows are assigned and one draw is made in any case.
    warm_start : bool, default=False
        Whether a second ``fit``, on the same table, continues the chains until they have ``n_draws`` draws.
    n_jobs : int or None, default=None
        Chains run at once.
    sparse_output : bool, default=False
        Whether ``transform`` returns CSR, in which probabilities below 1e-6 are left out.
    random_state : int, RandomState instance, Generator or None, default=None
        The same number gives the same chains bit for bit, whatever ``n_jobs`` is, unless ``time_limit`` ends them.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_samples,)
        Clusters of the training rows: ``predict(X)``. They are those of the draw that represents the posterior, merged
        as long as this brings them nearer to those of the other draws (variation of information).
    probabilities_ : ndarray of shape (n_samples,)
        Probability of each training row's own cluster: the largest of ``predict_proba(X)``.
    weights_, means_, covariances_ : ndarray
        Of the clusters; see :class:`SubsampleAnnealedDPMM`.
    n_clusters_ : int
        Number of clusters in ``labels_``.
    posterior_labels_ : ndarray of int32, shape (n_chains, n_draws, n_samples)
        Clusters in every draw; numbers of clusters cannot be compared between draws. After a fit to a
        :class:`~sklearn_subanneal.shards.ShardedTable`, those of ``posterior_rows_`` alone, at most 5,000 of its rows.
    log_joint_ : ndarray of shape (n_chains, n_draws)
        Log joint density of partition and data; the auxiliary variable u is integrated out.
    chain_weights_ : ndarray of shape (n_chains,)
        Weights of the chains in densities, samples, imputations, ``co_clustering`` and the choice of the representative
        draw: by these weights training rows are predicted best, each by the others (Yao et al., 2018). Equal if reals
        with full covariance have missing cells.
    convergence_ : Convergence
        Whether the log joint density still rises, and how far the chains agree on the clusters; if there is a problem,
        ``fit`` warns. See :class:`~sklearn_subanneal.diagnostics.Convergence`.
    hyperparameters_ : dict
        The parameters of ``partition`` by their names, for instance "concentration" and "discount", and "log_u" for
        "nggp" and "nig", each of shape (n_chains, n_draws); "columns": for each column a dict of its hyperparameters,
        in which a variance too large for float64 is infinite.
    hierarchy_ : Hierarchy
        With moves=["incremental-hierarchy"] and after ``partial_fit``: the trees, with ``linkage()`` for SciPy and
        ``newick()``.
    n_chains_, n_sweeps_, schedule_ : int, ndarray of int of shape (n_chains,), Schedule
        Chains that were run, all sweeps that each of them has made, and their schedule.
    trace_ : structured ndarray
        A record for each sweep, but for starts that were left: seconds, progress, rows assigned, log joint, ...
    feature_types_, feature_type_reasons_ : dict of str to str
        Type of each column and the reason for it, by name and in the order of the columns.
    part_types_, part_columns_ : dict of str to str, ndarray of int of shape (n_parts,)
        Types of the modelled columns, of which a date has several and a missing indicator is one; the column of each.
    n_features_in_, feature_names_in_ : int, ndarray of str
        The names where X has them.

    References
    ----------
    J. Lee, S. Choi (2015), Tree-guided MCMC inference for normalized random measure mixture models, NeurIPS.
    S. Favaro, Y. W. Teh (2013), MCMC for normalized random measure mixture models, Statistical Science 28, 335-359.
    doi:10.1214/13-STS422

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal import TreeGuidedNRMM
    >>> X = np.random.default_rng(0).normal(size=(200, 2)) + 8 * (np.arange(200) % 3)[:, None]
    >>> model = TreeGuidedNRMM(n_chains=2, random_state=0).fit(X)
    >>> model.n_clusters_
    3
    >>> trees = TreeGuidedNRMM(moves=["incremental-hierarchy"], n_chains=1, random_state=0).fit(X).hierarchy_
    >>> trees.n_clusters, trees.linkage().shape
    (3, (199, 4))
    """

    _default_moves = (Gibbs(), TreeGuided())
    # State from which ``partial_fit`` continues: typed columns and weights of all earlier rows, and a generator.
    _online: tuple | None = None

    def __init__(
        self,
        partition="nggp",
        *,
        covariance_type: str = "full",
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
        thin: int = 1,
        learn_hyperparameters: bool = True,
        learn_from: int | None = None,
        max_sweeps: int | None = None,
        time_limit: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        sparse_output: bool = False,
        random_state=None,
    ):
        super().__init__(
            partition,
            covariance_type=covariance_type,
            moves=moves,
            schedule=schedule,
            effort=effort,
            subsampling=subsampling,
            feature_types=feature_types,
            feature_params=feature_params,
            grids=grids,
            missing_indicator=missing_indicator,
            feature_grids=feature_grids,
            unseen=unseen,
            n_chains=n_chains,
            n_draws=n_draws,
            thin=thin,
            learn_hyperparameters=learn_hyperparameters,
            learn_from=learn_from,
            max_sweeps=max_sweeps,
            time_limit=time_limit,
            warm_start=warm_start,
            n_jobs=n_jobs,
            sparse_output=sparse_output,
            random_state=random_state,
        )

    def _summarize(self, arrays):
        super()._summarize(arrays)
        self._online = GrowingColumns.of(arrays), self._copies.weights, spawn_generators(self.random_state, 1)[0]

    @fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X, y=None, sample_weight=None) -> Self:
        """Insert rows into the trees of incremental Bayesian hierarchical clustering, whatever ``moves`` is.

        The first rows determine the units, and the first hyperparameters, which are redrawn after each call. The trees
        continue those of the last call, or of ``fit`` with moves=["incremental-hierarchy"]; after ``fit`` with other
        moves its rows are inserted first. The model is valid after every call, with one draw; ``fit`` starts anew.

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
            If X or the weights are not as ``fit`` takes them, or X is not like the rows before, or these were a
            ``ShardedTable``.

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
        with unchanged_on_failure(self):
            return self._insert(X, checked_weights(X, sample_weight))

    def _insert(self, X, weights):
        if hasattr(self, "posterior_rows_"):
            raise ValueError("X cannot be inserted after a fit to a ShardedTable, whose rows are not kept; fit it anew")
        hierarchy = vars(self).get("hierarchy_")
        if self._online is not None:
            (columns, old_weights, generator), table, models = self._online, self._table, self._models
            new = table.encode(self, X, as_evidence(self.unseen))
            weights = joined_weights(old_weights, columns.n_rows, weights, len(new[0]))
            columns = columns.extended(new)
        else:
            table, repeated, arrays = self._read_weighted(X, weights)
            columns = GrowingColumns.of(arrays)
            models, generator = self._bind(table, repeated), spawn_generators(self.random_state, 1)[0]
        # In the order of the table: the trees depend on it, and their leaves are numbered by it.
        copies, arrays = RowCopies(weights), columns.arrays
        modelled = [array[copies.rows] for array in arrays]
        if hierarchy is not None:
            hierarchy = replace(hierarchy, rows=np.arange(len(hierarchy.rows), dtype=np.int32))
        settings = {"learn": self.learn_hyperparameters, "learn_from": self.learn_from, "hierarchy": hierarchy}
        spec = self._forest_spec(models, modelled, generator=generator, **settings)
        spec.check()
        result = spec.run(ChainContext())
        self._keep(table, models, arrays, [result], copies)
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
        settings = {"learn": False, "groups": np.unique(labels, return_inverse=True)[1]}
        spec = self._forest_spec(self._models, arrays, generator=spawn_generators(0, 1)[0], **settings)
        return hierarchy_of(spec.run(ChainContext()))

    def _forest_spec(self, models, arrays, **settings) -> ForestSpec:
        """Trees over some rows, in their order and with the hyperparameters of the representative draw, if any."""
        return ForestSpec(
            n_rows=len(arrays[0]),
            models=models,
            arrays=arrays,
            partition=partitions.resolve_partition(self.partition),
            moves=(IncrementalHierarchy(),),
            subsampling=TableOrder(),
            start=self._representative,
            **settings,
        )
