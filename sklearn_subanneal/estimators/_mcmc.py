"""What the estimators that learn by Markov chains share: reading the table, running the chains, keeping the draws."""

from __future__ import annotations

import warnings
from functools import partial
from numbers import Integral, Real

import joblib
import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, DensityMixin, _fit_context
from sklearn.callback import CallbackSupportMixin, with_callbacks
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from sklearn_subanneal import posterior
from sklearn_subanneal.annealing import schedules, subsampling
from sklearn_subanneal.annealing.chain import ChainResult, n_sweeps
from sklearn_subanneal.annealing.checkpoint import Checkpoint, SavedChain
from sklearn_subanneal.annealing.runner import CancelFlag, ChainContext, run_chains, spawn_generators
from sklearn_subanneal.estimators._failure import unchanged_on_failure
from sklearn_subanneal.tables.schema import read_table

# What may change between fits under ``warm_start``: how long chains go on, not what they draw from.
CHANGEABLE = {"schedule", "n_draws", "thin", "time_limit", "warm_start", "unseen", "n_jobs", "random_state"}
# Of these, what must not change where a chain was interrupted: it is in the midst of them.
UNDER_WAY = ("schedule", "thin", "time_limit", "random_state")


class MCMCEstimator(CallbackSupportMixin, ClusterMixin, DensityMixin, BaseEstimator):
    """Base of the estimators whose posterior is sampled by annealed chains.

    A subclass gives ``_chain`` (a function of a recipe and a context), ``_recipe`` (what one chain needs) and
    ``_summarize`` (the fitted attributes that follow from the draws).
    """

    _parameter_constraints: dict = {
        "schedule": [StrOptions(set(schedules.NAMED)), HasMethods(["subsample_size", "n_assignments"])],
        "subsampling": [StrOptions(set(subsampling.NAMED)), HasMethods("bind")],
        "feature_types": [StrOptions({"from_dtype"}), dict, "array-like"],
        "feature_params": [dict, None],
        "grids": [StrOptions({"data", "fixed"})],
        "unseen": [StrOptions({"missing", "error"})],
        "n_chains": [Interval(Integral, 1, None, closed="left")],
        "n_draws": [Interval(Integral, 1, None, closed="left")],
        "thin": [Interval(Integral, 1, None, closed="left")],
        "learn_hyperparameters": ["boolean"],
        "time_limit": [Interval(Real, 0, None, closed="neither"), None],
        "warm_start": ["boolean"],
        "n_jobs": [Integral, None],
        "random_state": ["random_state"],
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None):
        """Run the chains.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            The table. NaN, None and NA are missing cells.
        y : None
            Ignored.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If the table or a parameter is not as described. The message names it and the remedy.
        """
        for name, value in self.get_params(deep=False).items():
            if isinstance(value, type):
                raise ValueError(f"{name} must be an object, got the class {value.__name__}; write {value.__name__}()")
        with unchanged_on_failure(self):
            return self._fit(X)

    def _fit(self, X):
        table, arrays = self._read(X)
        models = self._bind(table, arrays)
        identity = self._identity(table, arrays)
        previous = self._results_to_continue(identity)
        saved_identity = self._saved_identity(identity)
        saved = self._saved_chains(saved_identity)
        generators = spawn_generators(self.random_state, self.n_chains)
        chooser = subsampling.resolve(self.subsampling)
        run = {
            "schedule": schedules.resolve(self.schedule),
            "n_draws": self.n_draws,
            "thin": self.thin,
            "time_limit": self.time_limit,
        }
        # What may be refused is refused here, before any chain has started.
        run["schedule"].n_assignments(len(arrays[0]))
        strata = self._strata(chooser, table, arrays)
        chooser.strata(len(arrays[0]), strata)
        recipe = self._recipe(models, arrays) | {"run": run, "subsampling": chooser, "strata": strata}
        recipes = [
            recipe
            | {"chain": recipe["chain"] | {"number": number}, "generator": generator}
            | {"previous": saved[number].result if number in saved else previous and previous[number]}
            | {"ended": number in saved and (saved[number].ended_at or 0) >= self.n_draws}
            for number, generator in enumerate(generators)
        ]
        root = self._init_callback_context(max_subtasks=self.n_chains, sequential_subtasks=False)
        root.call_on_fit_task_begin(estimator=self, X=X)
        contexts = self._contexts(root, X, table, models, recipes, saved_identity)
        results = run_chains(partial(_reported, self._chain, self, X), recipes, contexts, self.n_jobs)
        self._keep(table, models, results)
        self._fitted_identity = identity
        self._summarize(arrays)
        root.call_on_fit_task_end(estimator=self, X=X)
        return self

    def _read(self, X):
        """The schema of the data given to ``fit``, and their typed columns."""
        return read_table(self, X, self.feature_types)

    def _bind(self, table, arrays):
        raise TypeError(f"{type(self).__name__} must say how its columns are modelled")

    def _strata(self, chooser, table, arrays):
        """The column by which the rows are stratified, if one is named."""
        column = getattr(chooser, "column", None)
        if column is None:
            return None
        if isinstance(column, str) and column in table.names:
            column = table.names.index(column)
        if not isinstance(column, Integral) or not 0 <= column < len(arrays):
            raise ValueError(f"Stratified(column={column!r}) is no column of the table; it has {table.names}")
        if arrays[column].dtype.kind == "i" and table.columns[column].categories is None:
            # Numbers, unlike codes: strata are their quantile bins.
            return np.where(arrays[column] < 0, np.nan, arrays[column])
        return arrays[column]

    def _contexts(self, root, X, table, models, recipes, identity):
        """One context a chain; reports are made only where somebody listens."""
        cancel = CancelFlag()
        if not getattr(self, "_skl_callbacks", []):
            return [ChainContext(cancel) for _ in recipes]
        contexts = []
        for number, recipe in enumerate(recipes):
            task = root.subcontext(
                task_name="chain", task_id=number, max_subtasks=self._n_sweeps(recipe), sequential_subtasks=True
            )
            contexts.append(ChainContext(cancel, _Reporter(self, task, X, table, models, identity)))
        return contexts

    def _n_sweeps(self, recipe):
        """Sweeps of a chain, where its work and not the clock ends it."""
        if self.time_limit is not None:
            return None
        if recipe["ended"]:
            return 0
        n_rows = len(recipe["chain"]["arrays"][0])
        return n_sweeps(recipe["run"]["schedule"], self.n_draws, self.thin, n_rows, recipe["previous"])

    def _identity(self, table, arrays):
        """Digests of all that chains must have in common with those that they continue."""
        fixed = {name: value for name, value in self.get_params(deep=False).items() if name not in CHANGEABLE}
        return {name: _digest(value) for name, value in fixed.items()} | {"X": _digest([table.names, arrays])}

    def _require_seen(self, arrays):
        """Refuse typed columns of any table but the one that ``fit`` was given."""
        if _digest([self._table.names, arrays]) != self._fitted_identity["X"]:
            raise ValueError(
                "seen=True needs X to be the very table that fit was given, all rows in their order, and it is not; "
                "pass that table, or seen=False for new rows"
            )

    def _checkpoints(self) -> list[Checkpoint]:
        return [callback for callback in getattr(self, "_skl_callbacks", []) if isinstance(callback, Checkpoint)]

    def _saved_identity(self, identity):
        """The same of chains that may have been interrupted anywhere, where chains are saved."""
        if not self._checkpoints():
            return None
        under_way = {name: _digest(getattr(self, name)) for name in UNDER_WAY}
        return {"estimator": type(self).__name__} | identity | under_way

    def _saved_chains(self, identity) -> dict[int, SavedChain]:
        """The chains that checkpoints have kept, by their numbers."""
        saved = {}
        for checkpoint in self._checkpoints():
            saved |= checkpoint.load(identity)
        n_draws = max((len(chain.result.draws) for chain in saved.values()), default=0)
        if self.n_draws < n_draws:
            raise ValueError(
                f"n_draws={self.n_draws} must be at least the {n_draws} draws in the folder of the Checkpoint; raise "
                "it, or give this fit a folder of its own"
            )
        return saved

    def _results_to_continue(self, identity):
        """The chains to continue under ``warm_start``, or None; refused on another table or model."""
        previous = getattr(self, "_results", None)
        if not self.warm_start or previous is None:
            return None
        if changed := [name for name, digest in identity.items() if digest != self._fitted_identity.get(name)]:
            raise ValueError(
                f"warm_start=True continues the chains of the last fit, but {', '.join(changed)} changed since; "
                "set warm_start=False to start anew"
            )
        n_draws = len(previous[0].draws)
        if self.n_draws < n_draws:
            raise ValueError(
                f"n_draws={self.n_draws} must be at least the {n_draws} draws that there are, since warm_start=True; "
                "raise it, or set warm_start=False to start anew"
            )
        if self.n_draws == n_draws:
            warnings.warn("Continuing chains without raising n_draws makes no new draws.", stacklevel=6)
        return previous

    def _keep(self, table, models, results: list[ChainResult]):
        """Store what the chains made; a chain that had less time for draws sets the number for all."""
        n_draws = min(len(result.draws) for result in results)
        self._table, self._models = table, models
        self.feature_types_ = dict(zip(table.names, table.kinds, strict=True))
        self._results = [result.cut(n_draws) for result in results]
        self._draws = [result.draws for result in self._results]
        self.log_joint_ = np.array([[draw.log_joint for draw in draws] for draws in self._draws])
        self.trace_ = np.concatenate([result.trace for result in results])

    def _flat_draws(self) -> list:
        return [draw for draws in self._draws for draw in draws]

    def _encode(self, X):
        """New rows as typed arrays."""
        check_is_fitted(self)
        return self._table.encode(self, X, self.unseen)

    def fit_predict(self, X, y=None):
        """Run the chains and give the clusters of the rows, as ``fit(X).labels_``.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        y : None
            Ignored.

        Returns
        -------
        labels : ndarray of int64, shape (n_samples,)
        """
        return self.fit(X).labels_

    def score(self, X, y=None) -> float:
        """Mean log posterior predictive density of the rows of X.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        y : None
            Ignored.

        Returns
        -------
        score : float
        """
        return float(np.mean(self.score_samples(X)))

    def co_clustering(self, rows=None, max_rows: int = 5000) -> np.ndarray:
        """Share of the draws in which two rows of the training table are in one cluster.

        Parameters
        ----------
        rows : array-like of int or bool, default=None
            The rows to compare; None: all.
        max_rows : int, default=5000
            More rows than this are refused.

        Returns
        -------
        similarity : ndarray of shape (n_rows, n_rows)
        """
        check_is_fitted(self)
        return posterior.co_clustering(self.posterior_labels_, rows, max_rows)


def column_hyperparameters(models, states: list[list[list[dict]]]) -> dict:
    """Values of the hyperparameters of each column, (n_chains, n_draws, ...), in the units of the data.

    ``states`` has the state of every column in every draw of every chain.
    """
    out = {}
    for m, model in enumerate(models):
        reports = [[model.report(columns[m]["parameters"]) for columns in chain] for chain in states]
        out[model.name] = {
            name: np.array([[report[name] for report in chain] for chain in reports]) for name in reports[0][0]
        }
    return out


def _digest(value) -> str:
    """A digest of a parameter; of an object by its parameters, for its class need not be one that pickles."""
    if hasattr(value, "get_params"):
        value = (type(value).__module__, type(value).__qualname__, value.get_params(deep=False))
    return joblib.hash(value)


def _reported(chain, estimator, X, recipe, context):
    """Run a chain within its task, if there are callbacks, unless it had come to its end before."""
    report = context.report
    if report:
        report.task.call_on_fit_task_begin(estimator=estimator, X=X)
    result = recipe["previous"] if recipe["ended"] else chain(recipe, context)
    if report:
        saved = None if recipe["ended"] else {"chain": report.saved(lambda: result, recipe["run"]["n_draws"])}
        report.task.call_on_fit_task_end(estimator=estimator, X=X, metadata=saved)
    return result


class _Reporter:
    """Tells scikit-learn's callbacks of every sweep; picklable, for chains in other processes."""

    def __init__(self, estimator, task, X, table, models, identity):
        self.estimator, self.task, self.X, self.table, self.models = estimator, task, X, table, models
        self.identity = identity

    def __call__(self, record: dict, state, result) -> bool:
        sweep = self.task.subcontext(task_name="sweep")
        sweep.call_on_fit_task_begin(estimator=self.estimator, X=self.X)
        return sweep.call_on_fit_task_end(
            estimator=self.estimator,
            X=self.X,
            metadata={"trace": record, "chain": self.saved(result)},
            reconstruction_attributes=lambda: {
                "_table": self.table,
                "_models": self.models,
                "_draws": [[state()]],
                "n_clusters_": record["n_clusters"],
            },
        )

    def saved(self, result, ended_at=None):
        """A function that describes the chain as it is to be saved: made only where a callback asks for it."""
        return lambda: SavedChain(self.task.task_id, self.identity, result(), ended_at)
