"""Rubin's rules: estimates from several imputations of one table, pooled, with standard errors and intervals."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.stats import t as student_t
from sklearn.utils import resample

from sklearn_subanneal._core.random_states import checked_random_state


@dataclass(frozen=True)
class PooledEstimates:
    """Estimates of some parameters, pooled over imputations.

    Attributes
    ----------
    estimate : ndarray of shape (n_parameters,)
        Mean over the imputations.
    standard_error : ndarray of shape (n_parameters,)
        The root of the variance within imputations plus (1 + 1/m) times that between them.
    degrees_of_freedom : ndarray of shape (n_parameters,)
        Of the t distribution of (parameter - estimate) / standard_error.
    missing_information : ndarray of shape (n_parameters,)
        Share of the variance that is due to missing cells.
    """

    estimate: NDArray
    standard_error: NDArray
    degrees_of_freedom: NDArray
    missing_information: NDArray

    def interval(self, confidence: float = 0.95) -> NDArray:
        """Confidence intervals, (n_parameters, 2).

        Parameters
        ----------
        confidence : float, default=0.95
            Between 0 and 1, both excluded.

        Raises
        ------
        ValueError
            If ``confidence`` is not between 0 and 1.
        """
        if not 0.0 < confidence < 1.0:
            raise ValueError(f"confidence must be between 0 and 1, both excluded, got {confidence!r}; try 0.95")
        half = student_t.ppf(0.5 + 0.5 * confidence, self.degrees_of_freedom) * self.standard_error
        return np.column_stack([self.estimate - half, self.estimate + half])


def pool_estimates(
    estimates: ArrayLike, variances: ArrayLike, degrees_of_freedom: float | None = None
) -> PooledEstimates:
    """Pool estimates from several imputations by Rubin's rules.

    Parameters
    ----------
    estimates : array-like of shape (n_imputations, n_parameters)
        At least two imputations.
    variances : array-like of shape (n_imputations, n_parameters)
        The square of the standard error of each.
    degrees_of_freedom : float or None, default=None
        Those that the estimates would have without missing cells: of a linear regression, rows less coefficients. None:
        infinitely many.

    Returns
    -------
    PooledEstimates

    Raises
    ------
    ValueError
        If shapes differ, there are fewer than two imputations, or a variance is negative.

    References
    ----------
    D. B. Rubin (1987), Multiple imputation for nonresponse in surveys, section 3.1. J. Barnard, D. B. Rubin (1999),
    Small-sample degrees of freedom with multiple imputation, Biometrika 86, 948-955.

    Examples
    --------
    >>> from sklearn_subanneal.posterior import pool_estimates
    >>> pooled = pool_estimates([[1.0], [1.2], [0.8]], [[0.09], [0.09], [0.09]])
    >>> pooled.estimate, pooled.standard_error.round(3), pooled.interval().round(2)
    (array([1.]), array([0.379]), array([[0.19, 1.81]]))
    """
    estimates, variances = np.asarray(estimates, np.float64), np.asarray(variances, np.float64)
    if estimates.ndim != 2 or estimates.shape != variances.shape or len(estimates) < 2 or not (variances >= 0.0).all():
        raise ValueError(
            "estimates and variances must be tables of one shape (n_imputations, n_parameters), of at least two "
            f"imputations and with no negative variance, got the shapes {estimates.shape} and {variances.shape}"
        )
    m, within, between = len(estimates), variances.mean(axis=0), estimates.var(axis=0, ddof=1)
    added = (1.0 + 1.0 / m) * between
    total = within + added
    share = np.divide(added, total, out=np.zeros_like(total), where=total > 0.0)
    with np.errstate(divide="ignore"):
        free = (m - 1) / share**2
    if degrees_of_freedom is not None:
        observed = (degrees_of_freedom + 1.0) / (degrees_of_freedom + 3.0) * degrees_of_freedom * (1.0 - share)
        with np.errstate(divide="ignore"):
            free = 1.0 / (1.0 / free + 1.0 / observed)
    return PooledEstimates(estimates.mean(axis=0), np.sqrt(total), free, share)


def pool_fits(
    fit: Callable, tables: Sequence, degrees_of_freedom: float | None = None, n_bootstraps: int = 100, random_state=None
) -> PooledEstimates:
    """Fit a model to each imputation of a table, and pool the coefficients by Rubin's rules.

    Parameters
    ----------
    fit : callable
        ``fit(table)`` gives one of: the result of a fit of statsmodels (with ``params`` and ``bse``); a pair of arrays,
        the estimates and their variances; or a fitted estimator of scikit-learn with ``coef_``, and ``intercept_`` if
        it has one, whose variances are found by the bootstrap.
    tables : list of ndarray or DataFrame
        As ``sample_imputations`` gives them. All that ``fit`` needs must be in them, the target too.
    degrees_of_freedom : float or None, default=None
        See :func:`pool_estimates`. None: those of statsmodels' ``df_resid`` where there are; else infinitely many.
    n_bootstraps : int, default=100
        Fits to resampled rows of each table, for estimators of scikit-learn. Few suffice, since variances are averaged
        over the tables.
    random_state : int, RandomState instance, Generator or None, default=None
        Of the bootstrap.

    Returns
    -------
    PooledEstimates
        Of the coefficients, flattened; of scikit-learn the intercept is the first.

    Raises
    ------
    TypeError
        If the result of ``fit`` is none of these.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LinearRegression
    >>> from sklearn_subanneal import CrossCat
    >>> from sklearn_subanneal.posterior import pool_fits
    >>> x = np.random.default_rng(0).normal(size=(100, 2))
    >>> X = np.column_stack([x, x @ [1.0, 2.0]])
    >>> X[::5, 1] = np.nan
    >>> tables = CrossCat(n_chains=1, random_state=0).fit(X).sample_imputations(X, 5, random_state=0)
    >>> pooled = pool_fits(lambda t: LinearRegression().fit(t[:, :2], t[:, 2]), tables, random_state=0)
    >>> pooled.estimate.round(1) + 0.0
    array([0., 1., 2.])
    """
    generator = checked_random_state(random_state)
    found = []
    for table in tables:
        result = fit(table)
        if hasattr(result, "params") and hasattr(result, "bse"):
            found.append((np.ravel(result.params), np.ravel(result.bse) ** 2))
            if degrees_of_freedom is None:
                degrees_of_freedom = getattr(result, "df_resid", None)
        elif isinstance(result, tuple) and len(result) == 2:
            found.append((np.ravel(result[0]), np.ravel(result[1])))
        elif hasattr(result, "coef_"):
            again = [_coefficients(fit(resample(table, random_state=generator))) for _ in range(n_bootstraps)]
            found.append((_coefficients(result), np.var(again, axis=0, ddof=1)))
        else:
            raise TypeError(
                "fit must give a result of statsmodels, an estimator with coef_, or a pair of estimates and variances, "
                f"got a {type(result).__name__}"
            )
    estimates, variances = zip(*found, strict=True)
    return pool_estimates(estimates, variances, degrees_of_freedom)


def _coefficients(estimator) -> NDArray:
    return np.concatenate([np.ravel(getattr(estimator, "intercept_", [])), np.ravel(estimator.coef_)])
