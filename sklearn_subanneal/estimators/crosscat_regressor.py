"""CrossCatRegressor: cross-categorization with the target as an additional column."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.base import RegressorMixin, _fit_context
from sklearn.callback import with_callbacks
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import check_is_fitted, column_or_1d

from sklearn_subanneal.estimators._evidence import checked_quantiles
from sklearn_subanneal.estimators._failure import unchanged_on_failure
from sklearn_subanneal.estimators._target_column import TargetColumn, weighted_rows
from sklearn_subanneal.mixtures.quantiles import predicted_quantiles
from sklearn_subanneal.views.chain_weights import chain_weights
from sklearn_subanneal.views.left_out_ranks import left_out_ranks


class CrossCatRegressor(RegressorMixin, TargetColumn):
    """Regression by cross-categorization.

    The target is a real column beside those of X: a :class:`CrossCat` of the joint table gives its distribution given
    the observed cells of a row, averaged over draws and chains. A chain counts by its weight in ``chain_weights_``.
    Columns may be of any type, and cells may be missing. The types of the columns are those that ``estimator`` declares
    or chooses.

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
    chain_weights_ : ndarray of shape (n_chains,)
        Weights of the chains in predictions: by them the targets of training rows are predicted best, each row by the
        others (Yao et al., 2018).
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

    Y. Yao, A. Vehtari, D. Simpson, A. Gelman (2018), Using stacking to average Bayesian predictive distributions,
    Bayesian Analysis 13, 917-1007.
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
        X, y, weights = weighted_rows(X, y, sample_weight)
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

    def predict_quantiles(self, X, quantiles=(0.05, 0.5, 0.95)) -> np.ndarray:
        """Quantiles of the target given the observed cells of each row.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        quantiles : array-like of shape (n_quantiles,), default=(0.05, 0.5, 0.95)
            Probabilities between 0 and 1, both excluded.

        Returns
        -------
        values : ndarray of shape (n_samples, n_quantiles)
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
        average, arrays, target = self._average(X)
        return predicted_quantiles(average, arrays, target, levels)

    def predict_interval(self, X, coverage: float = 0.9) -> np.ndarray:
        """An interval that contains the target with this probability, between two quantiles.

        The levels of these quantiles, such as 0.04 and 0.96 for a coverage of 0.9, are those by which this share of
        up to 500 training targets would lie in their intervals, each predicted by the other rows. So the coverage does
        not depend on whether the posterior predictive distribution is too wide or too narrow, as far as training rows
        show it. It holds for rows that miss as many cells as training rows do.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        coverage : float, default=0.9
            Probability that the target is in the interval, between 0 and 1, both excluded.

        Returns
        -------
        interval : ndarray of shape (n_samples, 2)
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
        distance = 0.5 * coverage
        if self.chain_weights_ is not None:
            n_rows = len(self._distances)
            rank = min(int(np.ceil((n_rows + 1) * coverage)), n_rows)
            distance = np.clip(self._distances[rank - 1], 0.5 / (n_rows + 1), 0.5 - 0.5 / (n_rows + 1))
        return self.predict_quantiles(X, [0.5 - distance, 0.5 + distance])

    def _learn_from_left_out(self, arrays):
        inner, target = self.crosscat_, len(arrays) - 1
        seen, cells, counts = inner._some_seen_rows(arrays, self._most_left_out)
        self.chain_weights_ = chain_weights(inner._models, inner._draws, seen, cells, target, counts)
        ranks = left_out_ranks(inner._models, self._weighted_draws(), seen, cells, target)
        # Distances of the levels from the median at which the intervals of training rows end at the target.
        self._distances = np.sort(np.repeat(np.abs(ranks - 0.5), counts))
