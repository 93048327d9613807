"""TargetColumns, the base of CrossCatClassifier and CrossCatRegressor: targets as the last columns of a CrossCat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_consistent_length
from sklearn.utils.validation import check_is_fitted

from sklearn_subanneal._core.constraints import HasMethods
from sklearn_subanneal._core.random_states import RANDOM_STATE
from sklearn_subanneal.annealing.reporter import ChainCallbacksMixin, ForwardedCallback, ProgressReporter, callbacks_of
from sklearn_subanneal.annealing.subsampling import Subsampling
from sklearn_subanneal.columns.binding import KINDS, TYPES
from sklearn_subanneal.columns.derived_columns import modelled_once
from sklearn_subanneal.columns.type_choice import choose_type
from sklearn_subanneal.estimators._evidence import as_evidence
from sklearn_subanneal.estimators._inner_model import unfitted_inner
from sklearn_subanneal.estimators._presentation import Presentation
from sklearn_subanneal.tables.chosen_type import AUTO
from sklearn_subanneal.tables.column import Column
from sklearn_subanneal.tables.datetimes import Datetime
from sklearn_subanneal.tables.derivation import FunctionOfNumbers
from sklearn_subanneal.tables.empty_columns import warn_of_empty
from sklearn_subanneal.tables.row_weights import repeated_rows
from sklearn_subanneal.tables.schema import Table, read_table


class TargetColumns(ChainCallbacksMixin, Presentation, BaseEstimator):
    """Base of the estimators that fit a ``CrossCat`` on [X | y] and predict the columns of y.

    Callbacks set on these estimators hear of the chains of the inner one, as do callbacks set on the inner one.
    """

    # Weights of chains, levels of intervals and powers of columns are found from at most so many rows, evenly spaced.
    _most_left_out = 500

    _parameter_constraints: dict = {
        "estimator": [HasMethods(["fit", "predict_column"]), None],
        "random_state": RANDOM_STATE,
    }

    def __init__(self, estimator=None, *, random_state=None) -> None:
        self.estimator = estimator
        self.random_state = random_state

    @property
    def _presented(self):
        return self.crosscat_

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _fit(self, X, targets, of_rows, present, kind, categories=None, names=("y",)):
        """Fit the table, whose last columns are the typed targets; the others as of :func:`present_rows`."""
        weights = of_rows.get("sample_weight")
        inner = unfitted_inner(self, present)
        repeated = X if weights is None else repeated_rows(X, weights)
        self._table, arrays = read_table(
            self,
            repeated,
            inner.feature_types,
            types=TYPES,
            choose=choose_type,
            missing_indicator=inner.missing_indicator,
            keep_empty=True,
        )
        warn_of_empty(self._table.columns)
        if all(given is None for given in (inner.missing_indicator, inner.feature_params, inner.feature_grids)):
            # What says the same as another column is no column of the joint table.
            self._table, arrays = modelled_once(self._table, arrays, _unchanged)
        if weights is not None:
            arrays = self._table.encode(self, X)
        check_consistent_length(arrays[0], *targets)
        modelled = [column for column in self._table.columns if column.derivation is None]
        coded = {
            c.derivation.source for c in self._table.columns if c.derivation is not None and c.categories is not None
        }
        fixed = {self._table.names[j] for j in coded}
        own = (AUTO if column.revisable and column.name not in fixed else column.kind for column in modelled)
        inner.set_params(
            feature_types=[*own, *[kind] * len(targets)],
            subsampling=_of_joint(inner.subsampling, self._table, len(targets)),
        )
        container = self._table.container
        # Arrays are numeric, and hold the codes of the classes.
        if categories is not None and container == "array":
            categories = np.arange(len(categories))
        dtype = ("Object" if container == "polars" else "object") if categories is not None else "float64"
        names = _free_names(self._table, names)
        columns = [*modelled, *(Column(name, KINDS[kind], categories, dtype) for name in names)]
        joined = Table(columns, container, [column.name for column in columns]).decode([*arrays, *targets])
        self._n_targets = len(targets)
        # Callbacks may predict before the chains have ended.
        self.chain_weights_ = None
        # Clusters on which the chains disagree may predict y equally well, and of empty columns all is said.
        inner._warns = False
        # Those of X have been found, and a target is none of them.
        inner._finds_functions = False
        self._fit_inner(inner, joined, of_rows)
        inner = self.crosscat_
        self._learn_from_left_out(inner._encode(joined))
        table = _as_modelled(self._table, self.crosscat_._table)
        self.feature_types_, self.feature_type_reasons_ = (
            dict(zip(table.names, table.kinds, strict=True)),
            table.reasons,
        )
        return self

    def _learn_from_left_out(self, arrays):
        """Set the weights of the chains, and more, by predictions of some training rows, each by the others."""
        raise TypeError(f"{type(self).__name__} must weight its chains")

    def _fit_inner(self, inner, joined, of_rows):
        with ProgressReporter.of_fit(self, joined, n_subtasks=1) as fit:
            own = callbacks_of(inner)
            inner.set_callbacks(*own, *ForwardedCallback.of(self, "crosscat_"))
            try:
                # Progress bars, and others that scikit-learn propagates by itself, come by the context.
                with fit.context.subcontext(task_name="crosscat").propagate_callback_context(inner):
                    self.crosscat_ = inner.fit(joined, **of_rows)
            finally:
                inner.set_callbacks(*own)

    def _encoded(self, X) -> list[np.ndarray]:
        """The typed columns of X and of the targets, which are missing."""
        check_is_fitted(self)
        inner = self.crosscat_
        arrays = _as_modelled(self._table, inner._table).encode(self, X, as_evidence(inner.unseen))
        is_real = inner._models[-1].kind == "real"
        unknown = np.full(len(arrays[0]), np.nan if is_real else -1, None if is_real else np.int32)
        return arrays + [unknown] * self._n_targets

    def _part_names(self) -> list[str]:
        """The names of the modelled columns of X, by those that it has."""
        own = [column for column in self._table.columns if column.derivation is None]
        return [
            column.name + part.name.removeprefix(modelled.name)
            for column, modelled in zip(own, self.crosscat_._table.columns, strict=False)
            for part in modelled.parts
        ]

    def _targets(self) -> range:
        """The indices of the targets among the modelled columns."""
        n_models = len(self.crosscat_._models)
        return range(n_models - self._n_targets, n_models)


def _as_modelled(table: Table, joint: Table) -> Table:
    """The table of X, whose columns are modelled as those of the joint table: it revises types, and splits columns."""
    columns = list(table.columns)
    own_columns = [j for j, column in enumerate(columns) if column.derivation is None]
    for j, modelled in zip(own_columns, joint.columns, strict=False):
        own = columns[j]
        if modelled.kind != own.kind:
            own = replace(own, type=modelled.type, categories=modelled.categories, reason=modelled.reason)
        split = modelled.split
        if isinstance(split, Datetime):
            # The joint table holds dates, X may hold strings: only its own split knows the order of day and month.
            split = replace(split, day_first=own.split.day_first)
        columns[j] = replace(own, split=split, lowest=modelled.lowest, points=modelled.points)
    return replace(table, columns=[_of_source(column, columns) for column in columns])


def _of_joint(subsampling: str | Subsampling, table: Table, n_targets: int) -> str | Subsampling:
    """A subsampling by a column of X as one of the joint table, in which columns have other numbers.

    A function of another column is none of the joint table: its strata are those of that column.
    """
    column = getattr(subsampling, "column", None)
    if isinstance(column, str) and column in table.names:
        column = table.names.index(column)
    modelled = [j for j, own in enumerate(table.columns) if own.derivation is None]
    sources = [j if own.derivation is None else own.derivation.source for j, own in enumerate(table.columns)]
    numbers = [modelled.index(j) for j in sources] + list(range(len(modelled), len(modelled) + n_targets))
    if not isinstance(column, Integral) or not 0 <= column < len(numbers):
        # There is no column, or it is a target by its name, or the fit will refuse it.
        return subsampling
    return clone(subsampling).set_params(column=numbers[column])


def _unchanged(table: Table, arrays: list[np.ndarray]) -> tuple[Table, list[np.ndarray]]:
    return table, arrays


def _of_source(column: Column, columns: Sequence[Column]) -> Column:
    """A column, whose function suits the type that its source now has."""
    if column.derivation is None or not isinstance(column.derivation.function, FunctionOfNumbers):
        return column
    is_count = columns[column.derivation.source].type.largest is not None
    function = replace(column.derivation.function, is_count=is_count)
    return replace(column, derivation=replace(column.derivation, function=function))


def _free_names(table: Table, names: Sequence[str]) -> list[str]:
    """Names of the targets: as the columns of arrays have them, or these, lengthened where X has them."""
    n_columns = len(table.names)
    if table.container == "array":
        return [f"x{n_columns + i}" for i in range(len(names))]
    found = []
    for name in names:
        while name in table.names or name in found:
            name += "_"
        found.append(name)
    return found
