"""Dirichlet-process and Pitman-Yor mixtures of tables, learned by subsample annealing."""

from __future__ import annotations

from numbers import Real

from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from sklearn_subanneal.estimators._mixture import MixtureEstimator
from sklearn_subanneal.partitions import PitmanYor


class SubsampleAnnealedDPMM(MixtureEstimator):
    """Pitman-Yor or Dirichlet-process mixture of a table, learned by subsample annealing.

    The number of clusters is learned. Columns may be real, categorical, boolean or counts, and cells may be missing.
    Each chain learns the mixture over a subsample that churns while it grows to the whole table, and then draws from
    the exact posterior by Gibbs sampling and split-merge moves.

    Parameters
    ----------
    concentration : float or None, default=None
        alpha of the Pitman-Yor process. None: learned.
    discount : float or None, default=None
        d of the Pitman-Yor process, in [0, 1); 0 is the Dirichlet process. None: learned.
    covariance_type : {"diag", "full"}, default="diag"
        Whether the reals are independent within a cluster, or have a full covariance matrix.
    partition : CRP, PitmanYor, NGGP, NIG or None, default=None
        A prior of the partition, in place of ``concentration`` and ``discount``.
    schedule : {"anneal", "accelerating", "sequential", "prior", "energy"} or Schedule, default="anneal"
        Subsample size, or temperature, over time; see :mod:`sklearn_subanneal.annealing.schedules`.
    subsampling : {"cyclic", "random"} or Subsampling, default="cyclic"
        Which row leaves the subsample next, and which enters; see :mod:`sklearn_subanneal.annealing.subsampling`.
    feature_types : "from_dtype", array-like of str or dict, default="from_dtype"
        "real", "categorical", "boolean", "count" or "cyclic" (angles, hours of the day) for each column, or a dict
        from names or indices to these.
        "from_dtype" takes numbers as real, bool as boolean, strings and pandas or polars categories as categorical.
    feature_params : dict or None, default=None
        Hyperparameters to start from, or to fix if ``learn_hyperparameters`` is False, in the units of the data: a
        dict from a type or a column's name to {"mu", "kappa", "sigma2", "nu"} ("real"), {"alpha"} ("categorical"),
        {"alpha", "beta"} ("boolean"), {"shape", "rate"} ("count"), {"period", "mu", "kappa", "r"} ("cyclic"; the period
        is 2 pi if it is not given), {"mu", "kappa", "psi", "nu"} ("gaussian": the reals under
        covariance_type="full").
    grids : {"data", "fixed"}, default="data"
        Grids of the hyperparameters in units of the training data, or absolute.
    unseen : {"missing", "error"}, default="missing"
        What a category is that ``fit`` did not see.
    n_chains : int, default=4
        Independent chains; predictions average over them.
    n_draws : int, default=10
        Draws kept of each chain, all at full data.
    thin : int, default=1
        Sweeps between draws.
    learn_hyperparameters : bool, default=True
        Whether hyperparameters of columns and of the partition are sampled, on their grids.
    time_limit : float or None, default=None
        Seconds for each chain. The schedule is stretched or shortened to four fifths of it, the rest is for draws, of
        which there may be fewer than ``n_draws``. All rows are assigned and one draw is made however short it is.
    warm_start : bool, default=False
        Whether a second ``fit``, on the same table, continues the chains until they have ``n_draws`` draws.
    n_jobs : int or None, default=None
        Chains run at once.
    random_state : int, RandomState instance or None, default=None
        The same number gives the same chains bit for bit, whatever ``n_jobs`` is (unless ``time_limit`` cuts them).

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_samples,)
        Clusters of the training rows: ``predict(X)``.
    n_clusters_ : int
        Number of clusters in ``labels_``.
    posterior_labels_ : ndarray of int32, shape (n_chains, n_draws, n_samples)
        Clusters in every draw; names of clusters mean nothing across draws.
    log_joint_ : ndarray of shape (n_chains, n_draws)
        Log joint density of partition and data.
    hyperparameters_ : dict
        "concentration" and "discount", or what the ``partition`` has, (n_chains, n_draws); "columns": for each column
        a dict of its hyperparameters.
    trace_ : structured ndarray
        A record for each sweep of each chain: seconds, progress, rows assigned, log joint, number of clusters, ...
    feature_types_ : dict of str to str
        Type of each column, by name and in the order of the columns.
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
        "concentration": [Interval(Real, None, None, closed="neither"), None],
        "discount": [Interval(Real, 0, 1, closed="left"), None],
        "covariance_type": [StrOptions({"diag", "full"})],
        "partition": [HasMethods("bind"), None],
    }

    def __init__(
        self,
        concentration: float | None = None,
        discount: float | None = None,
        *,
        covariance_type: str = "diag",
        partition=None,
        schedule="anneal",
        subsampling="cyclic",
        feature_types="from_dtype",
        feature_params: dict | None = None,
        grids: str = "data",
        unseen: str = "missing",
        n_chains: int = 4,
        n_draws: int = 10,
        thin: int = 1,
        learn_hyperparameters: bool = True,
        time_limit: float | None = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state=None,
    ):
        self.concentration = concentration
        self.discount = discount
        self.covariance_type = covariance_type
        self.partition = partition
        self.schedule = schedule
        self.subsampling = subsampling
        self.feature_types = feature_types
        self.feature_params = feature_params
        self.grids = grids
        self.unseen = unseen
        self.n_chains = n_chains
        self.n_draws = n_draws
        self.thin = thin
        self.learn_hyperparameters = learn_hyperparameters
        self.time_limit = time_limit
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _prior(self):
        return PitmanYor(self.concentration, self.discount) if self.partition is None else self.partition
