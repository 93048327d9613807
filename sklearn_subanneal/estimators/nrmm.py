"""TreeGuidedNRMM: normalized random measure mixtures of tables and documents, with moves guided by trees."""

from __future__ import annotations

from dataclasses import replace

from sklearn_subanneal.estimators._mixture_estimator import MixtureEstimator
from sklearn_subanneal.estimators._sharded_fit import ShardedFit
from sklearn_subanneal.estimators._tree_insertion import TreeInsertion
from sklearn_subanneal.mixtures import Gibbs
from sklearn_subanneal.trees import TreeGuided


class TreeGuidedNRMM(TreeInsertion, ShardedFit, MixtureEstimator):
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
    covariance_type : {"auto", "full", "diag"}, default="auto"
        "full": the real and skewed columns have a covariance matrix in each cluster, and these matrices have a common
        prior with learned correlations. "diag": all columns are independent within a cluster. "auto": that of the two
        which predicts held-out rows better in a short trial, as in :class:`SubsampleAnnealedDPMM`.
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
        categories as categorical, dates as datetime. "bag-of-words" takes X as documents: sparse or dense word
        counts. Of columns whose types were chosen, and that are one-to-one functions of one another, such as an amount
        and its logarithm, one is modelled, and says what the others are.
    feature_params : dict or None, default=None
        Hyperparameters to start from, or to fix if ``learn_hyperparameters`` is False, in the units of the data: a dict
        from a type or a column's name to {"mu", "kappa", "sigma2", "nu"} ("real"), {"alpha"} ("categorical"), {"alpha",
        "beta"} ("boolean"), {"shape", "rate", "dispersion"} ("count"), {"period", "mu", "kappa", "r"} ("cyclic"; the
        period is 2 pi by default), {"location", "spread", "free", "mass", "cuts"} ("ordinal", in levels from 0), those
        of "real" with {"alpha", "atoms", "transform"} ("semicontinuous") or with {"transform"} ("skewed"; "mu" and
        "sigma2" are in the units of transformed data), {"mu", "kappa", "psi", "nu"} ("gaussian": the columns with full
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
        is evidence for its clusters and its other cells (``predict``, ``impute``, ``partial_fit``) it is missing,
        though ``impute`` leaves it. "missing": a missing cell everywhere. "error": an error.
    n_chains : int or "auto", default="auto"
        Independent chains; predictions average over them. "auto": two, and two more unless these agree, as in
        :class:`SubsampleAnnealedDPMM`.
    n_draws : int, default=10
        Draws kept of each chain, all at full data; moves=["incremental-hierarchy"] makes one draw a chain.
    thin : int or "auto", default="auto"
        Sweeps from one draw to the next. "auto": as in :class:`SubsampleAnnealedDPMM`.
    learn_hyperparameters : bool, default=True
        Whether the hyperparameters of columns and of the partition are sampled.
    learn_from : int or None, default=None
        Number of rows in the subsample from which on hyperparameters are sampled. None: 64, or a quarter of the rows
        where these are fewer; of documents 512, or a half.
    max_sweeps : int or None, default=None
        Most sweeps of all rows between schedule and draws: they go on while the log joint density rises. None: as many
        as do the work of the schedule once more; in small tables ``effort`` times 250, but times 250,000 / n_samples,
        unless the rows are documents.
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
    covariance_type_ : {"full", "diag"}
        The covariance of the reals that ``covariance_type`` stands for; not for documents.
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
        draw: by these weights training rows are predicted best, each by the others (Yao et al., 2018). Those with
        missing cells among reals with full covariance are left out; if this leaves none, chains have equal weights.
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
    part_types_, part_columns_, first_parts_ : dict of str to str, two ndarray of int
        Types of the modelled columns, of which a date has several and a missing indicator is one; the column of each;
        the first for each column.
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

    def __init__(
        self,
        partition="nggp",
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

    def _of_chain(self, template, number):
        most = max(self._most_sweeps(self._afforded_sweeps(template.n_rows)), template.most_sweeps)
        return template if self.max_sweeps is not None else replace(template, max_sweeps=most)
