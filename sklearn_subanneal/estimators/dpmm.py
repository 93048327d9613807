"""SubsampleAnnealedDPMM: its parameters and attributes, and its default schedule; the rest is in MixtureEstimator."""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral

from sklearn_subanneal._core.arguments import LARGEST
from sklearn_subanneal._core.constraints import HasMethods, NumberRange, StrOptions
from sklearn_subanneal.annealing.schedules import NAMED, Accelerating, SubsampleAnneal
from sklearn_subanneal.columns import BagOfWords
from sklearn_subanneal.estimators._mixture_estimator import MixtureEstimator
from sklearn_subanneal.estimators._mixture_streaming import MixtureStreaming
from sklearn_subanneal.estimators._sharded_fit import ShardedFit

# A short schedule, and then sweeps for as long as they gain. Measured against 20 passes of "anneal" and at most 20
# sweeps on tables of 4,400 to 35,000 rows: densities of new rows are as high, within 0.01 nats, or higher. It takes 0.6
# times the CPU time where clusters are well apart, and up to 1.5 times where the log joint density goes on rising.
FAST = Accelerating(passes=20, n_small=3000)
MOST_SWEEPS = 60


class SubsampleAnnealedDPMM(MixtureStreaming, ShardedFit, MixtureEstimator):
    """Pitman-Yor or Dirichlet-process mixture of a table, learned by subsample annealing.

    The number of clusters is learned. Columns may be real, categorical, ordinal, boolean, counts or cyclic, and cells
    may be missing. Each chain learns the mixture on a subsample, whose rows are exchanged while it grows to the whole
    table, and then draws from the exact posterior by Gibbs sampling and split-merge moves.

    Parameters
    ----------
    partition : {"dp", "pitman-yor", "nggp", "nig"} or CRP, PitmanYor, NGGP or NIG, default="pitman-yor"
        Prior of the partition: of a Dirichlet process, a Pitman-Yor process, a normalized generalized gamma process or
        a normalized inverse Gaussian process. A name stands for the object with its default parameters, which are
        learned; see :mod:`sklearn_subanneal.partitions`.
    covariance_type : {"auto", "full", "diag"}, default="auto"
        "full": the real and skewed columns have a covariance matrix in each cluster, and these matrices have a common
        prior with learned correlations; columns that depend linearly on others become real, and the rests of
        semicontinuous ones join them. "diag": all columns are independent within a cluster. "auto": that of the two
        which predicts held-out rows better in a trial, in the sum of their log densities and of the log errors of their
        cells: short chains on three quarters of at most 1,500 rows, in smaller tables in two divisions, and, for up to
        64 such columns, four chains of each type where single ones have many clusters and do not decide clearly. It is
        "diag" in tables of fewer than 20 rows, or too large for "full" (more than 128 real, skewed and semicontinuous
        columns, or more than 1e8 products n_samples n_columns^2 of these), and if ``feature_params`` or
        ``feature_grids`` have an entry for single ones; "full" if they have "gaussian". With ``time_limit`` the trial
        takes up to a fifth of it, in addition.
    moves : "default" or list of Move or str, default="default"
        The moves of a sweep, in their order: one that moves each row (:class:`~sklearn_subanneal.mixtures.Gibbs`,
        :class:`~sklearn_subanneal.mixtures.Slice`), and any number of proposals to split and merge clusters
        (:class:`~sklearn_subanneal.mixtures.SplitMerge`, :class:`~sklearn_subanneal.trees.TreeGuided`,
        :class:`~sklearn_subanneal.trees.TreeGuidedSimilar`). These are exact, in any combination.
        :class:`~sklearn_subanneal.trees.TreeGuidedPaper` is biased, and
        :class:`~sklearn_subanneal.trees.IncrementalHierarchy` gives one point estimate for each chain.
        The default is ``[Gibbs(), SplitMerge()]``.
    schedule : {"auto", "anneal", "accelerating", "tempered", "sequential", "prior", "energy"} or Schedule, \
default="auto"
        Subsample size, or temperature, over time; see :mod:`sklearn_subanneal.annealing`. "auto" is
        "accelerating" with 20 assignments for each of the first 3,000 rows. For documents, and for the sample of a
        table in shards, it is "anneal".
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
        "sigma2" are in the units of transformed data), {"mu", "kappa", "psi", "nu"} ("gaussian": the columns
        with full covariance), {"beta", "base", "repeats"} ("bag-of-words"; see
        :class:`~sklearn_subanneal.columns.BagOfWords`).
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
        is evidence for its clusters and its other cells (``predict``, ``impute``) it is missing, though
        ``impute`` leaves it. "missing": a missing cell everywhere. "error": an error.
    n_chains : int or "auto", default="auto"
        Independent chains; predictions average over them. "auto": two if they agree, which means that they have
        converged, and that clusters in draws of different chains have a mean adjusted Rand index of at least .98. Else
        two more. Four with ``time_limit``, in :meth:`partial_fit`, and for a table in shards.
    n_draws : int, default=10
        Draws kept of each chain, all at full data.
    thin : int or "auto", default="auto"
        Sweeps from one draw to the next. "auto": ``effort`` times 5, in tables of more than 1,000 rows times 5,000 /
        n_samples, but from 1 to 5. It is 1 with ``time_limit``, and for documents.
    learn_hyperparameters : bool, default=True
        Whether the hyperparameters of columns and of the partition are sampled.
    learn_from : int or None, default=None
        Number of rows in the subsample from which on hyperparameters are sampled. None: 64, or a quarter of the rows
        where these are fewer; of documents 512, or a half.
    max_sweeps : int or None, default=None
        Most sweeps of all rows between schedule and draws: they go on while the log joint density rises. None: with
        schedule="auto" ``effort`` times 250, in tables of more than 1,000 rows times 250,000 / n_samples, but at least
        times 60, which is also for documents; else as many as do the work of the schedule once more.
    time_limit : float or None, default=None
        Seconds for each chain, up to one more draw of ``thin`` sweeps. Four fifths are for the schedule, which is
        shortened or stretched to fit, but to at most three times its work, and then for sweeps of all rows that are
        dropped. The rest is for draws, of which there may be fewer than ``n_draws``. All rows are assigned and one draw
        is made however short it is.
    warm_start : bool, default=False
        Whether a second ``fit``, on the same table, continues the chains until they have ``n_draws`` draws.
    window : int, default=10000
        Rows that :meth:`partial_fit` keeps, the latest ones: their clusters may still change. Of rows before these only
        sums are kept.
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
    schedule_ : Schedule
        The schedule of the chains.
    labels_ : ndarray of int64, shape (n_samples,)
        Clusters of the training rows: ``predict(X)``; after :meth:`partial_fit`, of the rows of its last call. They are
        those of the draw that represents the posterior, merged as long as this brings them nearer to those of the other
        draws (variation of information).
    probabilities_ : ndarray of shape (n_samples,)
        Probability of each training row's own cluster: the largest of ``predict_proba(X)``.
    n_clusters_ : int
        Number of clusters in ``labels_``; after :meth:`partial_fit`, of those that any of the latest rows, at most
        1,000 of the ``window``, have, or at least a thousandth of all rows, and three.
    weights_ : ndarray of shape (n_clusters,)
        Probability of each cluster for a new row of which nothing is known, by the draw that represents the posterior.
    means_ : ndarray of shape (n_clusters, n_features)
        Mean of a new row of each cluster, by that draw: the posterior mean of the cluster's mean, in the units of the
        data. Of real, semicontinuous, count and boolean columns (the probability of True); NaN for others, and for
        semicontinuous columns that are transformed.
    covariances_ : ndarray of shape (n_clusters, n_features) or (n_clusters, n_features, n_features)
        Variances, or if ``covariance_type_`` is "full" covariances, of a new row of each cluster, NaN where ``means_``
        are. They include the uncertainty of the cluster's mean.
    posterior_labels_ : ndarray of int32, shape (n_chains, n_draws, n_samples)
        Clusters in every draw; numbers of clusters cannot be compared between draws. After a fit to a
        :class:`~sklearn_subanneal.shards.ShardedTable`, and after :meth:`partial_fit`, those of ``posterior_rows_``
        alone.
    posterior_rows_ : ndarray of int, shape (n_rows,)
        Then: numbers of the rows whose labels are kept with every draw. After such a fit at most 5,000 rows drawn at
        random, after ``partial_fit`` at most 1,000, the latest of all that have come.
    log_evidence_ : float
        After ``partial_fit``: estimate of the log density of all rows that came after the last annealing, or after
        ``fit``, given the rows before; with schedule="sequential" of all rows. In the units of the data.
    n_samples_seen_ : int
        After ``partial_fit``: rows so far, those of ``fit`` included.
    log_joint_ : ndarray of shape (n_chains, n_draws)
        Log joint density of partition and data.
    chain_weights_ : ndarray of shape (n_chains,)
        Weights of the chains in densities, samples, imputations, ``co_clustering`` and the choice of the representative
        draw: by these weights training rows are predicted best, each by the others (Yao et al., 2018). Those with
        missing cells among reals with full covariance are left out; if this leaves none, chains have equal weights.
        After ``partial_fit``: the weights of the particles.
    convergence_ : Convergence
        Whether the log joint density still rises, and how far the chains agree on the clusters; if there is a problem,
        ``fit`` warns. See :class:`~sklearn_subanneal.diagnostics.Convergence`.
    hyperparameters_ : dict
        The parameters of ``partition`` by their names, for instance "concentration" and "discount", and "log_u" for
        "nggp" and "nig", each of shape (n_chains, n_draws); "columns": for each column a dict of its hyperparameters,
        in which a variance too large for float64 is infinite.
    hierarchy_ : Hierarchy
        With moves=["incremental-hierarchy"]: the trees, with ``linkage()`` for SciPy and ``newick()``.
    n_chains_ : int
        Chains that were run.
    n_sweeps_ : ndarray of int, shape (n_chains,)
        All sweeps that each chain has made.
    trace_ : structured ndarray
        A record for each sweep, but for starts that were left: seconds, progress, rows assigned, log joint, ...
    feature_types_, feature_type_reasons_ : dict of str to str
        Type of each column and the reason for it, by name and in the order of the columns.
    part_types_ : dict of str to str
        The same for the modelled columns: a date has several, and a missing indicator is one.
    part_columns_, first_parts_ : ndarray of int, shape (n_parts,) and (n_features,)
        The column to which each of these belongs, and the first of each column.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    References
    ----------
    F. Obermeyer, J. Glidden, E. Jonas (2014), Scaling Nonparametric Bayesian Inference via Subsample-Annealing,
    AISTATS.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal import SubsampleAnnealedDPMM
    >>> X = np.random.default_rng(0).normal(size=(200, 2)) + 8 * (np.arange(200) % 3)[:, None]
    >>> model = SubsampleAnnealedDPMM(n_chains=2, random_state=0).fit(X)
    >>> model.n_clusters_
    3
    >>> model.predict([[16.0, 16.0]]) == model.labels_[2]
    array([ True])
    """

    _parameter_constraints: dict = {
        **MixtureEstimator._parameter_constraints,
        "schedule": [StrOptions({"auto", *NAMED}), HasMethods(["subsample_size", "n_assignments"])],
        "window": [NumberRange(Integral, 1, LARGEST, closed="both")],
    }

    def __init__(
        self,
        partition="pitman-yor",
        *,
        covariance_type: str = "auto",
        moves="default",
        schedule="auto",
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
        window: int = 10_000,
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
        self.window = window

    # No sweep of all rows joins clusters of a large table that are one: the chains on a sample are made longer.
    _SHARDED_SCHEDULE = SubsampleAnneal()

    def _chosen_schedule(self, models, n_rows):
        default = "anneal" if any(isinstance(model, BagOfWords) for model in models) else FAST
        return default if self.schedule == "auto" else self.schedule

    def _of_chain(self, template, number):
        if self.schedule != "auto":
            return template
        most = self._most_sweeps(max(MOST_SWEEPS, self._afforded_sweeps(template.n_rows)))
        return replace(template, max_sweeps=most)
