"""CrossCatRegressor: cross-categorization with the targets as additional columns."""

from __future__ import annotations

from collections.abc import Callable
from numbers import Real
from typing import Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from sklearn_subanneal._core.arguments import checked_flag
from sklearn_subanneal._core.fit_decorators import fit_context, with_callbacks
from sklearn_subanneal.estimators._evidence import checked_quantiles
from sklearn_subanneal.estimators._failure import unchanged_on_failure
from sklearn_subanneal.estimators._row_metadata import present_rows
from sklearn_subanneal.estimators._target_columns import TargetColumns
from sklearn_subanneal.mixtures.quantiles import predicted_quantiles
from sklearn_subanneal.mixtures.stacking import weighted
from sklearn_subanneal.tables.unreadable import refuse_unreadable
from sklearn_subanneal.views.chain_weights import chain_weights
from sklearn_subanneal.views.draws import ViewsDraw
from sklearn_subanneal.views.left_out_ranks import left_out_ranks

# With fewer targets by which to find the levels of intervals, they are those of the posterior.
FEWEST_LEFT_OUT = 10


class CrossCatRegressor(RegressorMixin, TargetColumns):
    """Regression by cross-categorization, of one target or several.

    The target is a real column beside those of X: a :class:`CrossCat` of the joint table gives its distribution given
    the observed cells of a row, averaged over draws and chains. A chain counts by its weight in ``chain_weights_``.
    Columns may be of any type, and cells may be missing. The types of the columns are those that ``estimator`` declares
    or chooses. Several targets are several columns of one joint table, and each is predicted by the columns of X alone;
    for their joint distribution, ask ``crosscat_``.

    Parameters
    ----------
    estimator : CrossCat or None, default=None
        The model of the joint table; its ``feature_types`` are those of X. None: ``CrossCat()``.
    random_state : int, RandomState instance, Generator or None, default=None
        Takes the place of the estimator's, unless None.

    Attributes
    ----------
    crosscat_ : CrossCat
        Fitted on [X | y], rows of weight 0 left out. The last columns are y: where X is a DataFrame, they have the
        names of the columns of y if it is one too, and otherwise "y", or "y0", "y1", ...
    chain_weights_ : ndarray of shape (n_chains,) or (n_outputs, n_chains)
        Weights of the chains in predictions, for each target if y is a table: by them the targets of training rows are
        predicted best, each row by the others (Yao et al., 2018).
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
    >>> X = np.column_stack([x, -x])
    >>> CrossCatRegressor(CrossCat(n_chains=2), random_state=0).fit(X[:, :1], X).predict([[0.0], [6.0]]).shape
    (2, 2)

    References
    ----------
    V. Mansinghka, P. Shafto, E. Jonas, C. Petschulat, M. Gasner, J. B. Tenenbaum (2016), CrossCat: a fully Bayesian
    nonparametric method for analyzing heterogeneous, high dimensional data, JMLR 17(138), 1-49.

    Y. Yao, A. Vehtari, D. Simpson, A. Gelman (2018), Using stacking to average Bayesian predictive distributions,
    Bayesian Analysis 13, 917-1007.
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    @with_callbacks
    # The parameters of the inner estimator are the user's as well.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X, y, sample_weight=None, strata=None) -> Self:
        """Fit the joint table.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            NaN, None and NA are missing cells.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            Numbers, all known.
        sample_weight : array-like of shape (n_samples,), default=None
            Integers: a row of weight w is modelled as w equal rows, exactly as if X and y had them, and takes as long;
            one of weight 0 is left out. None: all weights are 1.
        strata : array-like of shape (n_samples,), default=None
            The stratum of each row, as the ``fit`` of :class:`CrossCat` takes them. None: those of the ``subsampling``
            of ``estimator``, if any.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If X is no table, y are no numbers, or the weights or strata are not as described.
        """
        if y is None:
            raise ValueError("CrossCatRegressor requires y to be passed, but the target y is None")
        refuse_unreadable(y, "y", "convert the targets to numbers, or use CrossCatClassifier for classes")
        values = check_array(y, dtype=np.float64, ensure_2d=False, input_name="y")
        is_table = values.ndim == 2
        names = _names(y, values.shape[1]) if is_table else ["y"]
        X, y, of_rows, present = present_rows(X, values, sample_weight, strata)
        with unchanged_on_failure(self):
            # Before the fit, in which callbacks may predict.
            self._is_table = is_table
            return self._fit(X, list(y.reshape(len(y), -1).T), of_rows, present, "real", names=names)

    def predict(self, X, return_std: bool = False):
        """Posterior mean of the target given the observed cells of each row.

        The mean of each draw is at most as far beyond the targets of ``fit`` as these are from one another.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        return_std : bool, default=False

        Returns
        -------
        mean : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            With the dimensions of the y of ``fit``.
        deviation : ndarray of the same shape
            Only if ``return_std``: posterior standard deviation of the target, noise included.
        """

        def moments(average, arrays, target, _):
            return np.column_stack(average.predict(arrays, target, far=True))

        mean, deviation = np.moveaxis(self._of_targets(X, moments), -1, 0).copy()
        return (mean, deviation) if checked_flag("return_std", return_std) else mean

    def predict_quantiles(self, X, quantiles=(0.05, 0.5, 0.95)) -> np.ndarray:
        """Quantiles of the target given the observed cells of each row.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        quantiles : array-like of shape (n_quantiles,), default=(0.05, 0.5, 0.95)
            Probabilities between 0 and 1, both excluded.

        Returns
        -------
        values : ndarray of shape (n_samples, n_quantiles) or (n_samples, n_outputs, n_quantiles)
            Quantiles of the posterior predictive distribution of the target, noise included.

        Raises
        ------
        ValueError
            If a probability is not between 0 and 1.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import CrossCat, CrossCatRegressor
        >>> x = np.repeat([0.0, 6.0], 30) + np.random.default_rng(0).normal(size=60)
        >>> model = CrossCatRegressor(CrossCat(n_chains=2), random_state=0).fit(x[:, None], 10 * x)
        >>> low, median, high = model.predict_quantiles([[6.0]], [0.1, 0.5, 0.9])[0]
        >>> bool(low < 60 < high)
        True
        """
        check_is_fitted(self)
        levels = checked_quantiles(quantiles)
        return self._of_targets(
            X, lambda average, arrays, target, _: predicted_quantiles(average, arrays, target, levels)
        )

    def predict_interval(self, X, coverage: float = 0.9) -> np.ndarray:
        """An interval that contains each target with this probability, between two quantiles.

        The levels of these quantiles, such as 0.04 and 0.96 for a coverage of 0.9, are those by which this share of up
        to 500 training targets would lie in their intervals, each predicted by the other rows. So the coverage does not
        depend on whether the posterior predictive distribution is too wide or too narrow, as far as training rows show
        it. Equal rows with a real cell that no other row has, such as rows with a weight, are none of these, since
        their copies tell the target; with fewer than ten others the levels are those of the posterior. The coverage
        holds for rows that miss as many cells as training rows do, and for each target alone: all targets of a row are
        in their intervals less often.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        coverage : float, default=0.9
            Probability that the target is in the interval, between 0 and 1, both excluded.

        Returns
        -------
        interval : ndarray of shape (n_samples, 2) or (n_samples, n_outputs, 2)
            Lower and upper end.

        Raises
        ------
        ValueError
            If ``coverage`` is not between 0 and 1.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal import CrossCat, CrossCatRegressor
        >>> x = np.repeat([0.0, 6.0], 30) + np.random.default_rng(0).normal(size=60)
        >>> model = CrossCatRegressor(CrossCat(n_chains=2), random_state=0).fit(x[:, None], 10 * x)
        >>> low, high = model.predict_interval([[6.0]], coverage=0.9)[0]
        >>> bool(low < 60 < high)
        True
        """
        if not isinstance(coverage, Real) or not 0.0 < coverage < 1.0:
            raise ValueError(f"coverage must be a number between 0 and 1, both excluded, got {coverage!r}; try 0.9")
        check_is_fitted(self)

        def ends(average, arrays, target, number):
            distance = self._distance(number, coverage)
            return predicted_quantiles(average, arrays, target, np.array([0.5 - distance, 0.5 + distance]))

        return self._of_targets(X, ends)

    def _of_targets(self, X, ask: Callable) -> np.ndarray:
        """What ``ask(average, arrays, target, number)`` gives for each target, (n_samples, n_outputs, ...).

        ``average`` is the average over the draws by which the target is predicted, ``arrays`` are the typed columns, of
        which those of the targets are missing, ``target`` is its index among them and ``number`` among the targets.
        """
        arrays = self._encoded(X)
        with self.crosscat_._average() as average:
            found = [
                ask(average.with_weights(self._draw_weights(number)), arrays, target, number)
                for number, target in enumerate(self._targets())
            ]
        return np.stack(found, axis=1) if self._is_table else found[0]

    def _weighted_draws(self, number: int) -> list[ViewsDraw]:
        """The draws with the weights of their chains for a target; as they are before the chains have ended."""
        chains = self.crosscat_._draws
        if self.chain_weights_ is not None:
            chains = weighted(chains, np.atleast_2d(self.chain_weights_)[number])
        return [draw for draws in chains for draw in draws]

    def _draw_weights(self, number: int) -> np.ndarray:
        return np.array([draw.weight for draw in self._weighted_draws(number)])

    def _distance(self, number: int, coverage: float) -> float:
        """How far the levels of the ends of an interval are from the median."""
        if self.chain_weights_ is None:
            return 0.5 * coverage
        distances = self._distances[number]
        n_rows = len(distances)
        if n_rows < FEWEST_LEFT_OUT:
            return 0.5 * coverage
        rank = min(int(np.ceil((n_rows + 1) * coverage)), n_rows)
        return np.clip(distances[rank - 1], 0.5 / (n_rows + 1), 0.5 - 0.5 / (n_rows + 1))

    def _learn_from_left_out(self, arrays):
        inner, targets = self.crosscat_, self._targets()
        seen, cells, counts = inner._some_seen_rows(arrays, self._most_left_out, independent=True)
        others = [[other for other in targets if other != target] for target in targets]
        weights = np.array(
            [
                chain_weights(inner._models, inner._draws, seen, cells, target, counts, unknown)
                for target, unknown in zip(targets, others, strict=True)
            ]
        )
        self.chain_weights_ = weights if self._is_table else weights[0]
        # Distances of the levels from the median at which the intervals of training rows end at the target.
        self._distances = []
        for number, (target, unknown) in enumerate(zip(targets, others, strict=True)):
            ranks = left_out_ranks(inner._models, self._weighted_draws(number), seen, cells, target, unknown)
            self._distances.append(np.sort(np.repeat(np.abs(ranks - 0.5), counts)))


def _names(y, n_targets: int) -> list[str]:
    """Names of several targets; those with other labels than strings are numbered."""
    labels = list(getattr(y, "columns", range(n_targets)))
    return [label if isinstance(label, str) else f"y{i}" for i, label in enumerate(labels)]
