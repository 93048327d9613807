"""Cross-categorization of tables, learned by subsample annealing."""

from __future__ import annotations

from numbers import Real

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from sklearn_subanneal.columns.models import bind_columns
from sklearn_subanneal.estimators._mcmc import MCMCEstimator, column_hyperparameters
from sklearn_subanneal.estimators._queries import PredictiveQueries
from sklearn_subanneal.estimators._structure import StructureQueries
from sklearn_subanneal.mixtures.predictive import assign_rows, nearest_clusters
from sklearn_subanneal.partitions import PitmanYor
from sklearn_subanneal.posterior import relabel, representative_draw
from sklearn_subanneal.posterior.point_estimate import typical_draw
from sklearn_subanneal.views import kernels
from sklearn_subanneal.views.views_chain import run_chain


class CrossCat(PredictiveQueries, StructureQueries, MCMCEstimator):
    """Pitman-Yor cross-categorization of a table, learned by subsample annealing.

    The columns are partitioned into *views*, and the rows, independently in each view, into clusters: columns that have
    nothing to do with one another need not agree on how the rows are grouped. Numbers of views and clusters are
    learned. Columns may be real, categorical, boolean or counts, and cells may be missing. The posterior is a joint
    density of all columns, of which any conditional may be asked.

    Parameters
    ----------
    concentration : float or None, default=None
        alpha of the Pitman-Yor process of the rows in each view. None: learned, for each view.
    discount : float or None, default=None
        d of the Pitman-Yor process of the rows, in [0, 1); 0 is the Dirichlet process. None: learned, for each view.
    column_concentration, column_discount : float or None, default=None
        The same of the process that partitions the columns.
    view_kernel : str or ViewKernel, default="default"
        "default", or a single move: "prior", "data-driven", "birth-death", "block", "group" or "split-merge".
        How columns move between views; see :class:`sklearn_subanneal.views.kernels.ViewKernel`.
    schedule : {"anneal", "accelerating", "sequential", "prior", "energy"} or Schedule, default="accelerating"
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
        is 2 pi if it is not given).
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
        Whether hyperparameters of columns and of the partitions are sampled, on their grids.
    time_limit : float or None, default=None
        Seconds for each chain. The schedule is stretched or shortened to four fifths of it, the rest is for draws, of
        which there may be fewer than ``n_draws``. All rows are assigned and one draw is made however short it is.
    warm_start : bool, default=False
        Whether a second ``fit``, on the same table, continues the chains until they have ``n_draws`` draws.
    n_jobs : int or None, default=None
        Chains run at once; where there are more jobs than chains, also views swept at once.
    random_state : int, RandomState instance or None, default=None
        The same number gives the same chains bit for bit, whatever ``n_jobs`` is (unless ``time_limit`` cuts them).

    Attributes
    ----------
    column_labels_ : ndarray of int64, shape (n_features,)
        View of each column in the draw that represents the posterior; view 0 has most columns.
    n_views_ : int
        Number of views in it.
    view_labels_ : ndarray of int64, shape (n_samples, n_views)
        Cluster of each training row in each of these views: ``predict_views(X)``.
    view_confidence_ : ndarray of shape (n_samples, n_views)
        How far the draws agree with ``view_labels_``: the mean share of a row's cluster that is still with it.
    labels_ : ndarray of int64, shape (n_samples,)
        Clusters of the training rows in view 0: ``predict(X)``.
    n_clusters_ : int
        Number of clusters in ``labels_``.
    posterior_column_labels_ : ndarray of int32, shape (n_chains, n_draws, n_features)
        Views in every draw; names of views mean nothing across draws.
    posterior_labels_ : ndarray of int32, shape (n_chains, n_draws, n_samples)
        Clusters, in every draw, in the view that holds the first column of view 0.
    dependence_ : ndarray of shape (n_features, n_features)
        Share of the draws in which two columns are in one view.
    log_joint_ : ndarray of shape (n_chains, n_draws)
        Log joint density of partitions and data.
    hyperparameters_ : dict
        "column_concentration" and "column_discount" (n_chains, n_draws); "concentration" and "discount"
        (n_chains, n_draws, n_features), of the view that holds each column; "columns": for each column a dict of its
        hyperparameters.
    trace_ : structured ndarray
        A record for each sweep of each chain: seconds (of rows, views and hyperparameters), progress, rows assigned,
        log joint, numbers of views and clusters, columns moved, ...
    feature_types_ : dict of str to str
        Type of each column, by name and in the order of the columns.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Where X has column names.

    References
    ----------
    F. Obermeyer, J. Glidden, E. Jonas (2014), Scaling Nonparametric Bayesian Inference via Subsample-Annealing,
    AISTATS, section 4. V. Mansinghka et al. (2016), CrossCat: a fully Bayesian nonparametric method for analyzing
    heterogeneous, high dimensional data, JMLR 17.

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

    _parameter_constraints: dict = {
        **MCMCEstimator._parameter_constraints,
        "concentration": [Interval(Real, None, None, closed="neither"), None],
        "discount": [Interval(Real, 0, 1, closed="left"), None],
        "column_concentration": [Interval(Real, None, None, closed="neither"), None],
        "column_discount": [Interval(Real, 0, 1, closed="left"), None],
        "view_kernel": [StrOptions(set(kernels.NAMED)), HasMethods("bind")],
    }
    _chain = staticmethod(run_chain)

    def __init__(
        self,
        concentration: float | None = None,
        discount: float | None = None,
        column_concentration: float | None = None,
        column_discount: float | None = None,
        *,
        view_kernel="default",
        schedule="accelerating",
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
        self.column_concentration = column_concentration
        self.column_discount = column_discount
        self.view_kernel = view_kernel
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

    def _priors(self):
        rows = PitmanYor(self.concentration, self.discount)
        return rows, PitmanYor(self.column_concentration, self.column_discount)

    def _bind(self, table, arrays):
        kernels.resolve(self.view_kernel).check()
        for prior in self._priors():
            prior.bind(self.learn_hyperparameters)
        return bind_columns(
            table.names,
            table.kinds,
            [0 if column.categories is None else len(column.categories) for column in table.columns],
            arrays,
            feature_params=self.feature_params,
            learn=self.learn_hyperparameters,
            grids=self.grids,
        )

    def _recipe(self, models, arrays):
        rows, columns = self._priors()
        chain = {
            "models": models,
            "arrays": arrays,
            "kernel": kernels.resolve(self.view_kernel),
            "learn": self.learn_hyperparameters,
            # What the chains leave of the processors sweeps views at once.
            "n_threads": max(effective_n_jobs(self.n_jobs) // self.n_chains, 1),
        }
        return {"chain": chain, "partition": rows, "column_partition": columns}

    def _summarize(self, arrays):
        self._row_labels = [result.labels for result in self._results]
        self.posterior_column_labels_ = np.array([[d.column_labels for d in draws] for draws in self._draws])
        chain, draw = representative_draw(self.posterior_column_labels_)
        columns = relabel(self.posterior_column_labels_[chain, draw])
        main = np.argmin(columns)
        self.posterior_labels_ = np.stack(
            [
                [labels[draw.column_labels[main]].astype(np.int32) for draw, labels in zip(draws, chain, strict=True)]
                for draws, chain in zip(self._draws, self._row_labels, strict=True)
            ]
        )
        # Of the draws with this partition of the columns, the one whose rows represent the posterior as well.
        same = [
            at
            for at in np.ndindex(self.posterior_column_labels_.shape[:2])
            if np.array_equal(relabel(self.posterior_column_labels_[at]), columns)
        ]
        firsts = np.unique(columns, return_index=True)[1]
        in_order = [self._row_labels[i][k][self.posterior_column_labels_[i, k, firsts]] for i, k in same]
        chain, draw = same[typical_draw(in_order)]
        self.column_labels_, self.n_views_ = columns, int(columns.max()) + 1
        self._representative = self._draws[chain][draw].reordered(columns)
        self._kept, self.view_labels_ = [], np.empty((len(arrays[0]), self.n_views_), np.int64)
        for view in range(self.n_views_):
            # Clusters in the order of their size; those nearest to no row are dropped.
            order = np.argsort(-self._representative.views[view].sizes, kind="stable")
            nearest = nearest_clusters(*self._view(view, arrays), order)
            used, self.view_labels_[:, view] = np.unique(nearest, return_inverse=True)
            self._kept.append(order[used])
        self.labels_ = self.view_labels_[:, 0].copy()
        self.n_clusters_ = len(self._kept[0])
        self.hyperparameters_ = self._hyperparameters()

    def _hyperparameters(self):
        def values(of):
            return np.array([[of(draw) for draw in draws] for draws in self._draws])

        def of_rows(name):
            return values(lambda draw: [draw.views[view].prior[name] for view in draw.column_labels])

        names = ("concentration", "discount")
        out = {f"column_{name}": values(lambda draw, name=name: draw.prior[name]) for name in names}
        out |= {name: of_rows(name) for name in names}
        states = [[draw.column_states() for draw in draws] for draws in self._draws]
        return out | {"columns": column_hyperparameters(self._models, states)}

    def _seen_labels(self, arrays):
        """Clusters of the training rows in each draw, (n_views, n_rows) each, for those who have just this table."""
        self._require_seen(arrays)
        return [labels for chain in self._row_labels for labels in chain]

    def _view(self, view, arrays):
        """Models, draw and cells of one view of the representative draw."""
        members = self._representative.members(view)
        models = [self._models[j] for j in members]
        return models, self._representative.views[view], arrays

    def predict(self, X) -> np.ndarray:
        """The most probable cluster of each row in view 0, by the draw that represents the posterior.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of int64, shape (n_samples,)
        """
        return nearest_clusters(*self._view(0, self._encode(X)), self._kept[0])

    def predict_proba(self, X) -> np.ndarray:
        """Probability of each cluster of view 0 for each row, by the draw that represents the posterior.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_clusters_)
        """
        return np.exp(assign_rows(*self._view(0, self._encode(X)), self._kept[0]))

    def predict_views(self, X) -> np.ndarray:
        """The most probable cluster of each row in each view of the draw that represents the posterior.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        labels : ndarray of int64, shape (n_samples, n_views)
        """
        arrays = self._encode(X)
        return np.column_stack(
            [nearest_clusters(*self._view(view, arrays), kept) for view, kept in enumerate(self._kept)]
        )

    def typed_columns(self, X) -> list[np.ndarray]:
        """The columns of a table as the model reads them.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        columns : list of ndarray of shape (n_samples,)
            Of the types in ``feature_types_``: reals as numbers, cyclic columns as angles in radians, NaN where
            missing; counts, and categories as codes in their sorted order, -1 where missing.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import CrossCat
        >>> X = np.array([[0.5, 7.0], [np.nan, 9.0], [1.5, 7.0]])
        >>> CrossCat(feature_types=["real", "categorical"], n_chains=1, random_state=0).fit(X).typed_columns(X)
        [array([0.5, nan, 1.5]), array([0, 1, 0], dtype=int8)]
        """
        arrays = self._encode(X)
        # The period of a cyclic column is known to its model.
        return [
            model.values(arrays)[:, 0] if kind == "cyclic" else cells
            for model, kind, cells in zip(self._models, self._table.kinds, arrays, strict=True)
        ]
