"""CrossCatClassifier and CrossCatRegressor: cross-categorization with the target as an additional column."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, _fit_context, clone
from sklearn.callback import with_callbacks
from sklearn.utils import assert_all_finite, check_consistent_length
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, column_or_1d

from sklearn_subanneal.annealing.reporter import ChainCallbacksMixin, ForwardedCallback, ProgressReporter, callbacks_of
from sklearn_subanneal.columns.binding import KINDS, TYPES
from sklearn_subanneal.columns.type_choice import choose_type
from sklearn_subanneal.estimators._failure import unchanged_on_failure
from sklearn_subanneal.estimators._mcmc import as_evidence
from sklearn_subanneal.estimators.crosscat import CrossCat
from sklearn_subanneal.tables.chosen_type import AUTO
from sklearn_subanneal.tables.column import Column
from sklearn_subanneal.tables.row_weights import checked_weights, repeated_rows
from sklearn_subanneal.tables.schema import Table, read_table
from sklearn_subanneal.views.views_predictive import predict_column


class _TargetColumn(ChainCallbacksMixin, BaseEstimator):
    """Base of the estimators that fit a ``CrossCat`` on [X | y] and predict the column y.

    Callbacks set on these estimators hear of the chains of the inner one, as do callbacks set on the inner one.
    """

    _parameter_constraints: dict = {
        "estimator": [HasMethods(["fit", "predict_column"]), None],
        "random_state": ["random_state"],
    }

    def __init__(self, estimator=None, *, random_state=None):
        self.estimator = estimator
        self.random_state = random_state

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _fit(self, X, y, weights, kind, categories=None):
        """Fit the table, of which y is the last column, typed; weights are positive, or None if all are 1."""
        inner = CrossCat() if self.estimator is None else clone(self.estimator)
        repeated = X if weights is None else repeated_rows(X, weights)
        self._table, arrays = read_table(
            self,
            repeated,
            inner.feature_types,
            types=TYPES,
            choose=choose_type,
            missing_indicator=inner.missing_indicator,
        )
        if weights is not None:
            arrays = self._table.encode(self, X)
        check_consistent_length(arrays[0], y)
        inner.set_params(feature_types=[*(AUTO if c.revisable else c.kind for c in self._table.columns), kind])
        if self.random_state is not None:
            inner.set_params(random_state=self.random_state)
        container = self._table.container
        # Arrays are numeric, and hold the codes of the classes.
        if categories is not None and container == "array":
            categories = np.arange(len(categories))
        dtype = ("Object" if container == "polars" else "object") if categories is not None else "float64"
        target = Column(_free_name(self._table), KINDS[kind], categories, dtype)
        names = [*self._table.names, target.name]
        joined = Table([*self._table.columns, target], container, names).decode([*arrays, y])
        self._fit_inner(inner, joined, weights)
        table = _as_modelled(self._table, self.crosscat_._table)
        self.feature_types_, self.feature_type_reasons_ = (
            dict(zip(table.names, table.kinds, strict=True)),
            table.reasons,
        )
        return self

    def _fit_inner(self, inner, joined, weights):
        with ProgressReporter.of_fit(self, joined, n_subtasks=1) as fit:
            own = callbacks_of(inner)
            inner.set_callbacks(*own, *ForwardedCallback.of(self, "crosscat_"))
            try:
                # Progress bars, and others that scikit-learn propagates by itself, come by the context.
                with fit.context.subcontext(task_name="crosscat").propagate_callback_context(inner):
                    self.crosscat_ = inner.fit(joined, sample_weight=weights)
            finally:
                inner.set_callbacks(*own)

    def _predict(self, X):
        """The prediction of y given the columns of X: mean and deviation, or probabilities and the chance of error."""
        check_is_fitted(self)
        inner = self.crosscat_
        arrays = _as_modelled(self._table, inner._table).encode(self, X, as_evidence(inner.unseen))
        is_real = inner._models[-1].kind == "real"
        unknown = np.full(len(arrays[0]), np.nan if is_real else -1, None if is_real else np.int32)
        return predict_column(inner._models, inner._flat_draws(), [*arrays, unknown], len(arrays))


def _as_modelled(table: Table, joint: Table) -> Table:
    """The table of X, whose columns are modelled as those of the joint table: it revises types, and splits columns."""
    columns = []
    for own, modelled in zip(table.columns, joint.columns, strict=False):
        if modelled.kind != own.kind:
            own = replace(own, type=modelled.type, categories=modelled.categories, reason=modelled.reason)
        columns.append(replace(own, split=own.split or modelled.split))
    return replace(table, columns=columns)


class CrossCatClassifier(ClassifierMixin, _TargetColumn):
    """Classification by cross-categorization.

    The class is a categorical column beside those of X: a :class:`CrossCat` of the joint table gives its probabilities
    given the observed cells of a row, averaged over draws and chains. Columns may be of any type, and cells may be
    missing.

    The types of the columns are those that ``estimator`` declares or chooses. Declare numbers of few distinct values
    as "ordinal", "categorical" or "count": as reals, each value tends to form its own cluster, which predicts the
    class poorly.

    Parameters
    ----------
    estimator : CrossCat or None, default=None
        The model of the joint table; its ``feature_types`` are those of X. None: ``CrossCat()``.
    random_state : int, RandomState instance or None, default=None
        Takes the place of the estimator's, unless None.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    crosscat_ : CrossCat
        Fitted on [X | y], rows of weight 0 left out. The last column is y: in DataFrames the class, in arrays its index
        in ``classes_``.
    feature_types_, feature_type_reasons_ : dict of str to str
        Type of each column of X, and the reason for it, by name.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only where X has names.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal import CrossCat, CrossCatClassifier
    >>> y = np.repeat(["a", "b"], 30)
    >>> X = 6.0 * (y == "b")[:, None] + np.random.default_rng(0).normal(size=(60, 2))
    >>> model = CrossCatClassifier(CrossCat(n_chains=2), random_state=0).fit(X, y)
    >>> model.predict([[0.0, np.nan], [6.0, 6.0]])
    array(['a', 'b'], dtype='<U1')

    References
    ----------
    V. Mansinghka, P. Shafto, E. Jonas, C. Petschulat, M. Gasner, J. B. Tenenbaum (2016), CrossCat: a fully Bayesian
    nonparametric method for analyzing heterogeneous, high dimensional data, JMLR 17(138), 1-49.
    """

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit the joint table.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            NaN, None and NA are missing cells.
        y : array-like of shape (n_samples,)
            Classes, all known.
        sample_weight : array-like of shape (n_samples,), default=None
            Integers: a row of weight w is modelled as w equal rows, exactly as if X and y had them, and takes as long;
            one of weight 0 is left out. None: all weights are 1.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If X is no table, y are no classes, or the weights are not as described.
        """
        y = column_or_1d(y, warn=True)
        assert_all_finite(y, input_name="y")
        check_classification_targets(y)
        X, y, weights = _weighted_rows(X, y, sample_weight)
        classes, codes = np.unique(y, return_inverse=True)
        with unchanged_on_failure(self):
            # Before the fit, in which callbacks may predict.
            self.classes_ = classes
            return self._fit(X, codes.astype(np.int32), weights, "categorical", classes.astype(object))

    def predict_proba(self, X) -> np.ndarray:
        """Probability of each class given the observed cells of each row.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            In the order of ``classes_``.
        """
        return self._predict(X)[0]

    def predict(self, X) -> np.ndarray:
        """The most probable class of each row.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)

        Returns
        -------
        classes : ndarray of shape (n_samples,)
        """
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]


class CrossCatRegressor(RegressorMixin, _TargetColumn):
    """Regression by cross-categorization.

    The target is a real column beside those of X: a :class:`CrossCat` of the joint table gives its distribution given
    the observed cells of a row, averaged over draws and chains. Columns may be of any type, and cells may be missing.

    The types of the columns are those that ``estimator`` declares or chooses. Declare numbers of few distinct values
    as "ordinal", "categorical" or "count": as reals, each value tends to form its own cluster, which predicts the
    target poorly.

    Parameters
    ----------
    estimator : CrossCat or None, default=None
        The model of the joint table; its ``feature_types`` are those of X. None: ``CrossCat()``.
    random_state : int, RandomState instance or None, default=None
        Takes the place of the estimator's, unless None.

    Attributes
    ----------
    crosscat_ : CrossCat
        Fitted on [X | y], rows of weight 0 left out. The last column is y.
    feature_types_, feature_type_reasons_ : dict of str to str
        Type of each column of X, and the reason for it, by name.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only where X has names.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal import CrossCat, CrossCatRegressor
    >>> x = np.repeat([0.0, 6.0], 30) + np.random.default_rng(0).normal(size=60)
    >>> model = CrossCatRegressor(CrossCat(n_chains=2), random_state=0).fit(x[:, None], 10 * x)
    >>> mean, deviation = model.predict([[0.0], [6.0]], return_std=True)
    >>> bool(mean[0] < 20 < 40 < mean[1])
    True

    References
    ----------
    V. Mansinghka, P. Shafto, E. Jonas, C. Petschulat, M. Gasner, J. B. Tenenbaum (2016), CrossCat: a fully Bayesian
    nonparametric method for analyzing heterogeneous, high dimensional data, JMLR 17(138), 1-49.
    """

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X, y, sample_weight=None):
        """Fit the joint table.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            NaN, None and NA are missing cells.
        y : array-like of shape (n_samples,)
            Numbers, all known.
        sample_weight : array-like of shape (n_samples,), default=None
            Integers: a row of weight w is modelled as w equal rows, exactly as if X and y had them, and takes as long;
            one of weight 0 is left out. None: all weights are 1.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If X is no table, y are no numbers, or the weights are not as described.
        """
        y = column_or_1d(y, dtype=np.float64, warn=True)
        assert_all_finite(y, input_name="y")
        X, y, weights = _weighted_rows(X, y, sample_weight)
        with unchanged_on_failure(self):
            return self._fit(X, y, weights, "real")

    def predict(self, X, return_std: bool = False):
        """Posterior mean of the target given the observed cells of each row.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        return_std : bool, default=False

        Returns
        -------
        mean : ndarray of shape (n_samples,)
        deviation : ndarray of shape (n_samples,)
            Only if ``return_std``: posterior standard deviation of the target, noise included.
        """
        mean, deviation = self._predict(X)
        return (mean, deviation) if return_std else mean


def _weighted_rows(X, y, sample_weight):
    """The rows of positive weight, their targets and weights; None for weights that are all 1."""
    weights = checked_weights(X, sample_weight)
    if weights is None or weights.all():
        return X, y, weights
    check_consistent_length(y, weights)
    present = weights > 0
    return repeated_rows(X, present), y[present], weights[present]


def _free_name(table: Table) -> str:
    """A name for the target: as the columns of arrays have it, or "y" unless X has that."""
    if table.container == "array":
        return f"x{len(table.names)}"
    name = "y"
    while name in table.names:
        name += "_"
    return name
