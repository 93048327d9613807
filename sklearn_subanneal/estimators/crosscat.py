"""CrossCat: cross-categorization of tables, learned by subsample annealing."""

from __future__ import annotations

from numbers import Integral

from sklearn_subanneal import partitions
from sklearn_subanneal._core.arguments import LARGEST
from sklearn_subanneal._core.constraints import HasMethods, NumberRange, StrOptions
from sklearn_subanneal._core.workers import n_workers
from sklearn_subanneal.annealing.schedules import NAMED as NAMED_SCHEDULES
from sklearn_subanneal.columns.atom_split import split_atoms
from sklearn_subanneal.columns.binding import bind_table
from sklearn_subanneal.columns.joint_real import affordable_covariance
from sklearn_subanneal.columns.joint_types import revised_types
from sklearn_subanneal.estimators._contradictions import ContradictionQueries
from sklearn_subanneal.estimators._enough_chains import AUTO, FIRST
from sklearn_subanneal.estimators._mcmc import MCMCEstimator
from sklearn_subanneal.estimators._novelty import NoveltyQueries
from sklearn_subanneal.estimators._queries import PredictiveQueries
from sklearn_subanneal.estimators._sharded_fit import ShardedViewsFit
from sklearn_subanneal.estimators._structure import StructureQueries
from sklearn_subanneal.estimators._training_rows import TrainingRows
from sklearn_subanneal.estimators._view_clusters import ViewClusters
from sklearn_subanneal.estimators._views_chains import ViewsChains
from sklearn_subanneal.estimators._views_streaming import ViewsStreaming
from sklearn_subanneal.estimators._views_summary import ViewsSummary
from sklearn_subanneal.mixtures import Gibbs, SplitMerge, resolve_moves
from sklearn_subanneal.views import NAMED, ColumnGibbs, ColumnGroups, ColumnPacing, ViewSplitMerge
from sklearn_subanneal.views.column_start import STARTS
from sklearn_subanneal.views.views_spec import ViewsSpec

DEFAULT_MOVES = (Gibbs(), SplitMerge(), ColumnGibbs(), ColumnGroups(), ViewSplitMerge())


class CrossCat(
    ViewsChains,
    ViewsStreaming,
    ViewsSummary,
    TrainingRows,
    ViewClusters,
    PredictiveQueries,
    NoveltyQueries,
    StructureQueries,
    ContradictionQueries,
    ShardedViewsFit,
    MCMCEstimator,
):
    """Pitman-Yor cross-categorization of a table, learned by subsample annealing.

    The columns are partitioned into *views*, and the rows, independently in each view, into clusters: columns that have
    nothing to do with one another need not agree on how the rows are grouped. Numbers of views and clusters are
    learned. The posterior is a joint density of all columns, of which any conditional may be asked.

    Parameters
    ----------
    row_partition : {"dp", "pitman-yor"} or CRP or PitmanYor, default="pitman-yor"
        Prior of the partition of the rows in each view; its parameters are learned for each view. A name stands for the
        object with its default parameters; see :mod:`sklearn_subanneal.partitions`.
    column_partition : {"dp", "pitman-yor"} or CRP or PitmanYor, default="pitman-yor"
        Prior of the partition of the columns into views.
    covariance_type : {"auto", "diag", "full"}, default="auto"
        Dependence of the real and skewed columns of a view within a cluster: "diag", independent; "full", a normal with
        a full covariance matrix, whose prior has correlations that all clusters share; cells whose values repeat are
        spread over short intervals. "full" describes correlated measurements much better, but its time grows with the
        square of the number of columns, and with its cube where many cells are missing. "auto": "full" for up to 128
        such columns if the number of rows times the square of theirs is at most 10^8, else "diag", as in a
        ``ShardedTable``.
    moves : "default" or list of Move or str, default="default"
        The moves of a sweep, in their order: one that moves each row in each view
        (:class:`~sklearn_subanneal.mixtures.Gibbs` or, with CRP, :class:`~sklearn_subanneal.mixtures.Slice`), and any
        number of others: :class:`~sklearn_subanneal.mixtures.SplitMerge` of clusters within views, and those of
        columns, :class:`~sklearn_subanneal.views.ColumnGibbs`, :class:`~sklearn_subanneal.views.ColumnBirthDeath`,
        :class:`~sklearn_subanneal.views.ColumnBlocks`, :class:`~sklearn_subanneal.views.ColumnGroups` and
        :class:`~sklearn_subanneal.views.ViewSplitMerge`. All are exact, in any combination. The default is
        ``[Gibbs(), SplitMerge(), ColumnGibbs(), ColumnGroups(), ViewSplitMerge()]``.
    column_start : {"separate", "together", "prior"} or None, default=None
        Initial partition of the columns: each in a separate view, all in one view, or a draw from the prior. None:
        separate, but with full covariance real and skewed columns are in one view if they are connected by significant
        rank correlations, directly or by way of others. Without such columns, and if ``schedule`` and ``column_pacing``
        are the defaults too, the second of every four chains starts with all in one view,
        unless a ``time_limit`` is too short for that.
    column_pacing : ColumnPacing or None, default=None
        How often columns move; None: :class:`~sklearn_subanneal.views.ColumnPacing` with its default parameters.
    schedule : str or Schedule, default="auto"
        Subsample size and temperature over time: "anneal", "accelerating", "tempered", "sequential", "prior", "energy",
        or an object; see :mod:`sklearn_subanneal.annealing`. "auto": "tempered" if there are real or skewed columns
        with full covariance, or a categorical or ordinal column of 16 or more levels; else "accelerating". The second
        of every four chains then anneals in another way, and the third and fourth, in small tables of up to 64 real
        and skewed columns, begin with all rows, in clusters drawn from the prior, or assigned one after the other.
    effort : float, default=1.0
        Work of each chain before its draws: 5 makes five times the row assignments of the schedule and, where
        ``max_sweeps`` is None, up to five times the sweeps after it. Without effect if ``time_limit`` sets the work.
    subsampling : {"cyclic", "random"} or Subsampling, default="cyclic"
        Which row leaves the subsample next, and which enters; see :mod:`sklearn_subanneal.annealing`.
    feature_types : {"auto", "from_dtype"}, array-like of str or dict, default="auto"
        "real", "categorical", "boolean", "count", "cyclic" (angles, hours of the day), "ordinal" (grades, ratings),
        "semicontinuous" (reals of which some values repeat, such as zeros), "skewed" (reals that are modelled after a
        transformation such as the logarithm) or "datetime" (modelled by a real trend in days and cyclic columns) for
        each column, or a dict from names or indices to these. "auto" chooses by dtype, values and evidence: see
        :func:`~sklearn_subanneal.columns.choose_type`. "from_dtype" takes numbers as real, bool as boolean, strings and
        categories as categorical, dates as datetime. Of columns whose types were chosen, and that are one-to-one
        functions of one another, such as an amount and its logarithm, one is modelled, and says what the others are.
    feature_params : dict or None, default=None
        Hyperparameters to start from, or to fix if ``learn_hyperparameters`` is False, in the units of the data: a dict
        from a type or a column's name to {"mu", "kappa", "sigma2", "nu"} ("real"), {"alpha"} ("categorical"), {"alpha",
        "beta"} ("boolean"), {"shape", "rate", "dispersion"} ("count"), {"period", "mu", "kappa", "r"} ("cyclic"; the
        period is 2 pi by default), {"location", "spread", "free", "mass", "cuts"} ("ordinal", in levels from 0), those
        of "real" with {"alpha", "atoms", "transform"} ("semicontinuous") or with {"transform"} ("skewed"; "mu" and
        "sigma2" are in the units of transformed data).
    grids : {"data", "fixed"}, default="data"
        Whether the grids of the hyperparameters are in units of the training data, or absolute.
    missing_indicator : None, "missing-only", or array-like or set of str or int, default=None
        Columns of which a boolean column, modelled as well, says which cells are missing, which may have a reason.
        "missing-only": all with missing cells. ``sample`` then leaves cells out as well.
    feature_grids : dict or None, default=None
        Grids in place of these: a dict like ``feature_params``, from a type or a column's name to the values, in the
        units of the data, that a hyperparameter may take, all with the same prior probability. Period, cut points,
        atoms, transforms and the weight of unseen categories are not learned, and have none. With full covariance, the
        real columns share the grids of "kappa" and "nu".
    unseen : {"novel", "missing", "error"}, default="novel"
        A category that ``fit`` did not see, and that no categorical dtype declared. "novel": densities
        (``score_samples``, ``surprisal``, ``novelty``) count it as one more value, which is rarer than every category
        in every cluster; where a row is evidence for its clusters and its other cells (``predict``, ``impute``,
        ``predict_column``) it is missing, though ``impute`` leaves it. "missing": a missing cell everywhere. "error":
        an error.
    n_chains : int or "auto", default="auto"
        Independent chains; predictions average over them. "auto": two if they agree, which means that they have
        converged, and that views, and the clusters in each view, have a mean adjusted Rand index of at least .98 in
        draws of different chains. Else two more. Four with ``time_limit``, in :meth:`partial_fit`, and for a table in
        shards.
    n_draws : int, default=10
        Draws kept of each chain, all at full data.
    thin : int or "auto", default="auto"
        Sweeps from one draw to the next. "auto": ``effort`` times 5, in tables of more than 1,000 rows times 5,000 /
        n_samples, but from 1 to 5. It is 1 with ``time_limit``.
    learn_hyperparameters : bool, default=True
        Whether the hyperparameters of columns and of the partitions are sampled.
    learn_from : int or None, default=None
        Number of rows in the subsample from which on hyperparameters are sampled and columns move. None: 32, or half of
        the rows where these are fewer.
    max_sweeps : int or None, default=None
        Most sweeps of all rows between schedule and draws: they go on while the log joint density rises. None: as many
        as do the work of the schedule once more; with ``schedule="auto"``, four times.
    time_limit : float or None, default=None
        Seconds for each chain, up to one more draw of ``thin`` sweeps. Four fifths are for the schedule, which is
        shortened or stretched to fit, but to at most three times its work, and then for sweeps of all rows that are
        dropped. The rest is for the draws, one or more.
    warm_start : bool, default=False
        Whether another ``fit`` to the same table continues the chains until they have ``n_draws`` draws.
    window : int, default=10000
        Rows that :meth:`partial_fit` keeps, the latest ones: their clusters may still change. Of rows before these only
        sums are kept.
    n_jobs : int or None, default=None
        Chains run at once; where there are more jobs than chains, also views swept at once.
    sparse_output : bool, default=False
        Whether ``transform`` returns CSR, in which probabilities below 1e-6 are left out.
    random_state : int, RandomState instance, Generator or None, default=None
        The same number gives the same chains bit for bit, whatever ``n_jobs`` is, unless ``time_limit`` ends them.

    Attributes
    ----------
    chain_weights_ : ndarray of shape (n_chains,)
        Weights of the chains in all answers but ``posterior_...``, ``log_joint_`` and ``hyperparameters_``, which have
        the draws: by these weights training rows are predicted best, each by the others (Yao et al., 2018). After
        :meth:`partial_fit`: the weights of the particles.
    column_labels_, n_views_ : ndarray of int64, shape (n_parts,), int
        View of each modelled column (``part_types_``) in the draw that represents the posterior, of which view 0 has
        the most; the number of views in that draw.
    view_labels_ : ndarray of int64, shape (n_samples, n_views)
        Cluster of each training row in each of these views: ``predict_views(X)``. Clusters of the draw are merged as
        long as this brings them nearer to those of the other draws (variation of information). After
        :meth:`partial_fit`, of the rows of its last call; so ``labels_`` and ``probabilities_``.
    view_confidence_ : ndarray of shape (n_samples, n_views)
        The mean fraction of the other members of a row's cluster in ``view_labels_`` that share its cluster in a draw.
    labels_, probabilities_, n_clusters_ : ndarray of int64 and of float, shape (n_samples,), int
        Cluster of each training row in view 0, ``predict(X)``, and its probability; the number of these clusters, after
        :meth:`partial_fit` of those that any of the latest rows, at most 1,000 of the ``window``, have, or at least a
        thousandth of all rows, and three.
    posterior_column_labels_ : ndarray of int32, shape (n_chains, n_draws, n_parts)
        Views in every draw, with other numbers in each.
    posterior_labels_ : ndarray of int32, shape (n_chains, n_draws, n_samples)
        Clusters, in every draw, in the view that holds the first column of view 0; of ``posterior_rows_`` alone after a
        fit to a :class:`~sklearn_subanneal.shards.ShardedTable`: numbers of at most 5,000 of its rows; and after
        ``partial_fit``: of at most 1,000, the latest of all that have come.
    log_evidence_, n_samples_seen_ : float, int
        After ``partial_fit``: estimate of the log density of all rows that came after the last annealing, or after
        ``fit``, given the rows before; with schedule="sequential" of all rows; in the units of the data. Rows so far.
    dependence_ : ndarray of shape (n_features, n_features)
        Fraction of the draws in which two columns are in the same view.
    log_joint_ : ndarray of shape (n_chains, n_draws)
        Log joint density of partitions and data.
    convergence_ : Convergence
        Whether the log joint density still rises, and how far the chains agree on views and clusters; if there is a
        problem, ``fit`` warns. See :class:`~sklearn_subanneal.diagnostics.Convergence`.
    hyperparameters_ : dict
        The parameters of ``column_partition``, "column_concentration" and "column_discount", (n_chains, n_draws); those
        of ``row_partition``, "concentration" and "discount", (n_chains, n_draws, n_parts), of the view that holds each
        part; "columns": for each part a dict of its hyperparameters, infinite where a variance is too large.
    n_chains_ : int
        Chains that were run.
    n_sweeps_, trace_ : ndarray of int of shape (n_chains,), structured ndarray
        All sweeps that each chain has made. A record for each of them, but for starts that were left: seconds,
        progress, rows assigned, log joint, ...
    covariance_type_, schedule_ : {"diag", "full"}, Schedule
        Those of the model, and of its first chain.
    feature_types_, feature_type_reasons_ : dict of str to str
        Type of each column and the reason for it, by name and in the order of the columns.
    part_types_, part_columns_, first_parts_ : dict of str to str, two ndarray of int
        Types of the modelled columns, of which a date has several and a missing indicator is one; the column of each;
        the first for each column.
    n_features_in_, feature_names_in_ : int, ndarray of str
        The names where X has them.

    References
    ----------
    F. Obermeyer, J. Glidden, E. Jonas (2014), Scaling Nonparametric Bayesian Inference via Subsample-Annealing,
    AISTATS, section 4. V. Mansinghka et al. (2016), CrossCat: a fully Bayesian nonparametric method for analyzing
    heterogeneous, high dimensional data, JMLR 17. Y. Yao, A. Vehtari, D. Simpson, A. Gelman (2018), Using stacking to
    average Bayesian predictive distributions, Bayesian Analysis 13, 917-1007.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal import CrossCat
    >>> rng = np.random.default_rng(0)
    >>> one, other = rng.integers(3, size=(2, 300, 1))
    >>> X = np.hstack([9 * one + rng.normal(size=(300, 3)), 9 * other + rng.normal(size=(300, 2))])
    >>> model = CrossCat(n_chains=1, random_state=0).fit(X)
    >>> model.column_labels_
    array([0, 0, 0, 1, 1])
    >>> model.view_labels_.shape
    (300, 2)
    """

    _main_display = "DependenceDisplay"
    _parameter_constraints: dict = {
        **MCMCEstimator._parameter_constraints,
        "row_partition": [StrOptions(set(partitions.NAMED)), HasMethods("bind")],
        "column_partition": [StrOptions(set(partitions.NAMED)), HasMethods("bind")],
        "covariance_type": [StrOptions({"auto", "diag", "full"})],
        "schedule": [StrOptions({"auto", *NAMED_SCHEDULES}), HasMethods(["subsample_size", "n_assignments"])],
        "column_start": [StrOptions(set(STARTS)), None],
        "column_pacing": [HasMethods("interval"), None],
        "window": [NumberRange(Integral, 1, LARGEST, closed="both")],
    }

    def __init__(
        self,
        row_partition="pitman-yor",
        column_partition="pitman-yor",
        *,
        covariance_type: str = "auto",
        moves="default",
        column_start: str | None = None,
        column_pacing: ColumnPacing | None = None,
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
        self.row_partition = row_partition
        self.column_partition = column_partition
        self.covariance_type = covariance_type
        self.moves = moves
        self.column_start = column_start
        self.column_pacing = column_pacing
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
        self.window = window
        self.n_jobs = n_jobs
        self.sparse_output = sparse_output
        self.random_state = random_state

    def _partitions(self):
        """The priors of the partitions of the rows and of the columns."""
        names = "row_partition", "column_partition"
        return tuple(partitions.resolve_partition(getattr(self, name), name) for name in names)

    def _revised(self, table, arrays, n_rows=None):
        self.covariance_type_ = self.covariance_type
        if self.covariance_type == "auto":
            self.covariance_type_ = affordable_covariance(len(arrays[0]), [part.kind for part in table.parts])
        if self.covariance_type_ == "diag":
            return table, arrays
        return split_atoms(*revised_types(table, arrays), self.feature_params or {})

    def _bind(self, table, arrays):
        return bind_table(
            table,
            arrays,
            covariance_type=self.covariance_type_,
            in_views=True,
            feature_params=self.feature_params,
            learn=self.learn_hyperparameters,
            grids=self.grids,
            feature_grids=self.feature_grids,
        )

    def _spec(self, models, arrays, **settings):
        rows, columns = self._partitions()
        return ViewsSpec(
            models=models,
            arrays=arrays,
            column_partition=columns,
            row_partition=rows,
            moves=resolve_moves(self.moves, DEFAULT_MOVES, NAMED),
            pacing=ColumnPacing() if self.column_pacing is None else self.column_pacing,
            start=self.column_start,
            learn=self.learn_hyperparameters,
            learn_from=self.learn_from,
            # Processors that the chains leave idle sweep several views at once.
            n_threads=max(n_workers(self.n_jobs) // (FIRST if self.n_chains == AUTO else self.n_chains), 1),
            **settings,
        )
