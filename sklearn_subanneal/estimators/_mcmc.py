"""MCMCEstimator, the base class of estimators sampled by Markov chains: reads tables, runs chains, keeps the draws."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Self

import numpy as np
from sklearn.base import BaseEstimator, ClusterMixin, DensityMixin
from sklearn.utils.validation import check_is_fitted

from sklearn_subanneal._core.arguments import LARGEST
from sklearn_subanneal._core.constraints import HasMethods, NumberRange, StrOptions
from sklearn_subanneal._core.fit_decorators import fit_context, with_callbacks
from sklearn_subanneal._core.random_states import RANDOM_STATE
from sklearn_subanneal.annealing import schedules, subsampling
from sklearn_subanneal.annealing.chain_result import ChainResult
from sklearn_subanneal.annealing.continuation import Continuation
from sklearn_subanneal.annealing.reporter import ChainCallbacksMixin, ProgressReporter
from sklearn_subanneal.annealing.runner import ChainContext, contexts_of_chains, spawn_generators
from sklearn_subanneal.annealing.spec import ChainSpec
from sklearn_subanneal.annealing.stationarity import rise_score
from sklearn_subanneal.columns.binding import TYPES
from sklearn_subanneal.columns.derived_columns import modelled_once
from sklearn_subanneal.columns.domains import with_domains
from sklearn_subanneal.columns.type_choice import choose_type
from sklearn_subanneal.diagnostics import Convergence
from sklearn_subanneal.estimators._chain_work import ChainWork
from sklearn_subanneal.estimators._distillation import Distillation
from sklearn_subanneal.estimators._drawn_rows import DrawnRows
from sklearn_subanneal.estimators._enough_chains import AUTO, most_chains, run_enough
from sklearn_subanneal.estimators._evidence import as_evidence
from sklearn_subanneal.estimators._failure import unchanged_on_failure
from sklearn_subanneal.estimators._kept_ensemble import KeptEnsemble
from sklearn_subanneal.estimators._presentation import Presentation
from sklearn_subanneal.estimators._responsibilities import Responsibilities
from sklearn_subanneal.estimators._simulation import PriorSimulation
from sklearn_subanneal.estimators._training_table import TrainingTable, identified
from sklearn_subanneal.shards import ShardedTable
from sklearn_subanneal.tables.empty_columns import warn_of_empty
from sklearn_subanneal.tables.missing_indicators import MISSING_ONLY
from sklearn_subanneal.tables.missing_patterns import MissingPatterns
from sklearn_subanneal.tables.row_copies import RowCopies
from sklearn_subanneal.tables.row_weights import checked_weights, repeated_rows
from sklearn_subanneal.tables.schema import read_table


class MCMCEstimator(
    ChainWork,
    TrainingTable,
    PriorSimulation,
    ChainCallbacksMixin,
    ClusterMixin,
    DensityMixin,
    Responsibilities,
    DrawnRows,
    Distillation,
    KeptEnsemble,
    Presentation,
    BaseEstimator,
):
    """Base of the estimators whose posterior is sampled by annealed chains.

    A subclass gives ``_bind`` (the models of the columns), ``_spec`` (the chains) and ``_summarize`` (the fitted
    attributes that follow from the draws).
    """

    # Of the last fit, for warm starts.
    _results: list[ChainResult] | None = None
    _fitted_identity: dict[str, str] | None = None
    # Whether a fit says that it has not converged, and looks for columns that are functions of others.
    _warns = _finds_functions = True
    # The rows of the table as the chains model them.
    _copies: RowCopies = RowCopies()

    _parameter_constraints: dict = {
        "schedule": [StrOptions(set(schedules.NAMED)), HasMethods(["subsample_size", "n_assignments"])],
        "effort": [NumberRange(Real, 0, LARGEST, closed="right")],
        "subsampling": [StrOptions(set(subsampling.NAMED)), HasMethods("bind")],
        "feature_types": [StrOptions({"auto", "from_dtype"}), dict, "array-like"],
        "feature_params": [dict, None],
        "grids": [StrOptions({"data", "fixed"})],
        "missing_indicator": [StrOptions({MISSING_ONLY}), None, set, "array-like"],
        "feature_grids": [dict, None],
        "unseen": [StrOptions({"novel", "missing", "error"})],
        "n_chains": [NumberRange(Integral, 1, LARGEST, closed="both"), StrOptions({AUTO})],
        "n_draws": [NumberRange(Integral, 1, LARGEST, closed="both")],
        "thin": [NumberRange(Integral, 1, LARGEST, closed="both"), StrOptions({AUTO})],
        "moves": [StrOptions({"default"}), list, tuple],
        "learn_hyperparameters": ["boolean"],
        "learn_from": [NumberRange(Integral, 1, LARGEST, closed="both"), None],
        "max_sweeps": [NumberRange(Integral, 0, LARGEST, closed="both"), None],
        "time_limit": [NumberRange(Real, 0, None, closed="neither"), None],
        "warm_start": ["boolean"],
        "n_jobs": [NumberRange(Integral, -LARGEST, LARGEST, closed="both"), None],
        "sparse_output": ["boolean"],
        "random_state": RANDOM_STATE,
    }

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y=None, sample_weight=None, strata=None) -> Self:
        """Run the chains.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            The table, or a :class:`~sklearn_subanneal.shards.ShardedTable`, a table of many rows in blocks. NaN, None
            and NA are missing cells.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Integers: a row of weight w is modelled as w equal rows, exactly as if X had them, and takes as long. A row
            of weight 0 is left out, and its clusters are predicted. Equal rows are exchangeable: labels of draws are
            those of the first. None: all weights are 1.
        strata : array-like of shape (n_samples,), default=None
            The stratum of each row: strata have shares of their own in the subsample, as
            :class:`~sklearn_subanneal.annealing.StratifiedSubsampling` says. None: those of ``subsampling``, if any.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If the table, weights, strata or a parameter are not as described. The message names it and the remedy.
        """
        self._refuse_classes()
        with unchanged_on_failure(self):
            if isinstance(X, ShardedTable):
                return self._fit_in_shards(X, sample_weight, strata)
            return self._fit(X, checked_weights(X, sample_weight), subsampling.checked_strata(X, strata))

    def _refuse_classes(self) -> None:
        """Raise ValueError if a parameter is a class where an object is wanted."""
        for name, value in self.get_params(deep=False).items():
            if isinstance(value, type):
                raise ValueError(f"{name} must be an object, got the class {value.__name__}; write {value.__name__}()")

    def _fit(self, X, weights, strata):
        table, repeated, arrays = self._read_weighted(X, weights)
        copies = RowCopies.of(repeated, weights)
        modelled = copies.ordered(repeated)
        models = self._bind(table, modelled)
        chooser = subsampling.resolve_subsampling(self.subsampling)
        if strata is not None:
            chooser = chooser.with_strata(strata)
        chooser = chooser.of_copies(copies.rows, len(arrays[0]))
        given = {"sample_weight": weights, "strata": strata, "covariance_type": getattr(self, "covariance_type_", None)}
        continuation = Continuation(self, identified(table), arrays, self._results, self._fitted_identity, given)
        template = self._template(table, models, modelled, chooser)
        specs, n_chains = [], most_chains(self.n_chains)
        for number, generator in enumerate(spawn_generators(self.random_state, n_chains)):
            previous, ended = continuation.chain(number)
            spec = self._of_chain(template, number)
            specs.append(replace(spec, generator=generator, number=number, previous=previous, ended=ended))
        fit = ProgressReporter.of_fit(self, X, n_subtasks=n_chains, sequential=False)
        contexts = partial(self._contexts, fit, table=table, models=models, identity=continuation.saved_identity)
        # With a time limit, chains that run one after the other would take as often as long.
        may_end_early = self.n_chains == AUTO and self.time_limit is None
        results = run_enough(specs, contexts, self.n_jobs, may_end_early)
        self._keep(table, models, arrays, results, copies)
        # The summary stores the labels of their draws anew.
        del results
        self._fitted_identity = continuation.identity
        self._summarize(arrays)
        self._judge_convergence()
        fit.end()
        if self._warns:
            self.convergence_.warn(stacklevel=5)
        return self

    def _template(self, table, models, arrays, chooser) -> ChainSpec:
        """The specification of the chains, checked, but for their random generators."""
        template = self._spec(
            models,
            arrays,
            n_rows=len(arrays[0]),
            schedule=self._schedule(models, len(arrays[0])),
            subsampling=chooser,
            strata=self._strata(chooser, table, arrays),
            n_draws=self.n_draws,
            thin=self._sweeps_apart(len(arrays[0])),
            max_sweeps=self.max_sweeps,
            time_limit=self.time_limit,
        )
        template.check()
        return template

    def _of_chain(self, template: ChainSpec, number: int) -> ChainSpec:
        """The specification of one of the chains, which may get to the posterior in different ways."""
        return template

    def _read_table(self, X, keep_empty=False):
        """The schema of the data given to ``fit``, or of a sample of its rows, and its typed columns."""
        settings = {"missing_indicator": self.missing_indicator, "keep_empty": keep_empty}
        return read_table(self, X, self.feature_types, types=TYPES, choose=choose_type, **settings)

    def _revised(self, table, arrays, n_rows=None):
        """The same as it is modelled; ``n_rows`` if the columns are those of a sample of so many rows."""
        raise NotImplementedError(f"{type(self).__name__} must say what becomes of the types")

    def _read(self, X, keep_empty=True):
        """The schema of the data given to ``fit`` as it is modelled, and its typed columns."""
        table, arrays = self._read_table(X, keep_empty)
        warn_of_empty(table.columns if self._warns else [])
        if not self._finds_functions:
            return self._revised(table, arrays)
        return modelled_once(table, arrays, self._revised, {*(self.feature_params or ()), *(self.feature_grids or ())})

    def _read_weighted(self, X, weights, read=None):
        """The schema, the typed columns of the table of repeated rows, and those of X itself.

        All that is learned from the cells is learned from the repeated rows; ``read`` is ``_read``, if not given.
        """
        read = self._read if read is None else read
        if weights is None:
            table, arrays = read(X)
            return table, arrays, arrays
        table, repeated = read(repeated_rows(X, weights))
        return table, repeated, table.encode(self, X, as_evidence(self.unseen))

    def _bind(self, table, arrays):
        """The models of the columns of a table."""
        raise TypeError(f"{type(self).__name__} must say how its columns are modelled")

    def _spec(self, models, arrays, **settings) -> ChainSpec:
        """The specification shared by the chains of this fit."""
        raise NotImplementedError(f"{type(self).__name__} must specify its chains")

    def _strata(self, chooser, table, arrays):
        """The cells of the column by which the rows are stratified, if one is named."""
        column = chooser.column
        if column is None:
            return None
        if isinstance(column, str) and column in table.names:
            column = table.names.index(column)
        if not isinstance(column, Integral) or not 0 <= column < len(table.columns):
            raise ValueError(
                f"StratifiedSubsampling(column={column!r}) is no column of the table; it has {table.names}"
            )
        cells = arrays[table.places[column][0]]
        if cells.dtype.kind == "i" and table.columns[column].categories is None:
            # Numbers, unlike codes: strata are their quantile bins.
            return np.where(cells < 0, np.nan, cells)
        return cells

    def _contexts(self, fit, specs, table, models, identity) -> list[ChainContext]:
        one = partial(_attributes_of_one_draw, with_domains(table, models), models)
        return contexts_of_chains(fit, specs, one, identity)

    def _keep(self, table, models, arrays, results: list[ChainResult], copies: RowCopies):
        """Store the results of the chains, cut to the number of draws that all of them have."""
        # Of an earlier fit, to a table in shards; of the distilled model that this one was.
        for name in ("posterior_rows_", "distillation_loss_"):
            vars(self).pop(name, None)
        n_draws = min(len(result.draws) for result in results)
        self._table, self._models, self._copies = with_domains(table, models), models, copies
        self._patterns = MissingPatterns.of(table, arrays) if table.columns else None
        self.feature_types_ = dict(zip(table.names, table.kinds, strict=True))
        self.feature_type_reasons_ = table.reasons
        self.part_types_ = {part.name: part.kind for part in table.parts}
        self.part_columns_ = np.repeat(np.arange(len(table.columns)), [len(column.parts) for column in table.columns])
        self.first_parts_ = np.array([at[0] for at in table.places] if table.columns else [], dtype=int)
        self._results = [result.cut(n_draws) for result in results]
        self._draws = [result.draws for result in self._results]
        self.log_joint_ = np.array([[draw.log_joint for draw in draws] for draws in self._draws])
        self.trace_ = np.concatenate([result.trace for result in results])
        self.n_sweeps_ = np.array([result.state.n_sweeps for result in results])
        self.n_chains_ = len(results)

    def _judge_convergence(self):
        views = getattr(self, "posterior_column_labels_", None)
        traces = [result.trace for result in self._results]
        rise_scores = [rise_score(trace, trace["n_assigned"].max()) for trace in traces]
        weights = self.chain_weights_
        self.convergence_ = Convergence.of(self.log_joint_, self._modelled_labels(), views, rise_scores, weights)

    def _draw_weights(self) -> np.ndarray:
        """Weights of the draws in averages, (n_chains, n_draws), those of their chains."""
        return np.repeat(self.chain_weights_[:, None], len(self._draws[0]), axis=1)

    def _flat_draws(self) -> list:
        return [draw for draws in self._draws for draw in draws]

    def _encode(self, X, *, scored: bool = False):
        """New rows as typed arrays; ``scored`` if their density is asked for, which counts unseen categories."""
        check_is_fitted(self)
        return self._table.encode(self, X, self.unseen if scored else as_evidence(self.unseen))

    def fit_predict(self, X, y=None, sample_weight=None, strata=None) -> np.ndarray:
        """Run the chains and give the clusters of the rows, as ``fit(X).labels_``.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        y : None
            Ignored.
        sample_weight, strata : array-like of shape (n_samples,), default=None
            As in :meth:`fit`.

        Returns
        -------
        labels : ndarray of int64, shape (n_samples,)
        """
        return self.fit(X, sample_weight=sample_weight, strata=strata).labels_

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


def _attributes_of_one_draw(table, models, draw, record) -> dict:
    """Attributes of an estimator that is fitted with this draw alone."""
    one = {"_draws": [[draw]], "chain_weights_": np.ones(1)}
    return one | {"_table": table, "_models": models, "n_clusters_": record["n_clusters"]}
