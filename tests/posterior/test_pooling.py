"""Rubin's rules: known values, other ways to the same figures, and refusals."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from sklearn_subanneal.posterior import pool_estimates, pool_fits


def test_pooled_estimates_follow_the_rules():
    rng = np.random.default_rng(0)
    estimates, variances = rng.normal(size=(7, 3)), rng.uniform(0.5, 1.0, (7, 3))
    pooled = pool_estimates(estimates, variances)
    between = estimates.var(axis=0, ddof=1)
    total = variances.mean(axis=0) + 8.0 / 7.0 * between
    np.testing.assert_allclose(pooled.estimate, estimates.mean(axis=0))
    np.testing.assert_allclose(pooled.standard_error, np.sqrt(total))
    # Rubin's r is the ratio of the two variances.
    r = 8.0 / 7.0 * between / variances.mean(axis=0)
    np.testing.assert_allclose(pooled.degrees_of_freedom, 6.0 * (1.0 + 1.0 / r) ** 2)
    np.testing.assert_allclose(pooled.missing_information, r / (1.0 + r))


def test_small_samples_have_fewer_degrees_of_freedom():
    estimates, variances = [[1.0], [1.2], [0.8]], [[0.09]] * 3
    free = [pool_estimates(estimates, variances, given).degrees_of_freedom[0] for given in (5.0, 50.0, 1e9, None)]
    assert free[0] < 5.0 < free[1] < free[2] == pytest.approx(free[3], rel=1e-6)
    # Without missing information, those of the complete data.
    certain = pool_estimates([[1.0]] * 3, variances, 20.0)
    assert certain.degrees_of_freedom[0] == pytest.approx(20.0 * 21.0 / 23.0)
    np.testing.assert_allclose(certain.standard_error, 0.3)


def test_intervals_cover_as_often_as_they_say():
    """Of a normal mean, with half of the values drawn from their posterior."""
    rng, inside = np.random.default_rng(1), []
    for _ in range(600):
        seen = rng.normal(size=30)
        tables = []
        for _ in range(20):
            variance = 29.0 * seen.var(ddof=1) / rng.chisquare(29)
            mean = seen.mean() + np.sqrt(variance / 30) * rng.normal()
            tables.append(np.append(seen, mean + np.sqrt(variance) * rng.normal(size=30)))
        pooled = pool_fits(lambda x: (x.mean(), x.var(ddof=1) / 60), tables, degrees_of_freedom=59)
        low, high = pooled.interval()[0]
        inside.append(low < 0.0 < high)
    assert np.mean(inside) == pytest.approx(0.95, abs=4.0 * np.sqrt(0.95 * 0.05 / 600))


def test_fits_of_three_kinds_are_pooled():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 2))
    tables = [np.column_stack([X, X @ [1.0, -2.0] + rng.normal(size=300)]) for _ in range(5)]

    def pair(table):
        A = np.column_stack([np.ones(300), table[:, :2]])
        beta, (rest,), *_ = np.linalg.lstsq(A, table[:, 2])
        return beta, rest / 297 * np.diag(np.linalg.inv(A.T @ A))

    def statsmodels_like(table):
        beta, variances = pair(table)
        return SimpleNamespace(params=beta, bse=np.sqrt(variances), df_resid=297.0)

    given = pool_fits(pair, tables, degrees_of_freedom=297.0)
    found = pool_fits(statsmodels_like, tables)
    np.testing.assert_allclose(found.interval(), given.interval())
    bootstrapped = pool_fits(lambda t: LinearRegression().fit(t[:, :2], t[:, 2]), tables, 297.0, random_state=0)
    np.testing.assert_allclose(bootstrapped.estimate, given.estimate)
    np.testing.assert_allclose(bootstrapped.standard_error, given.standard_error, rtol=0.15)
    again = pool_fits(lambda t: LinearRegression().fit(t[:, :2], t[:, 2]), tables, 297.0, random_state=0)
    np.testing.assert_array_equal(again.standard_error, bootstrapped.standard_error)


@pytest.mark.parametrize(
    ("estimates", "variances"),
    [
        ([[1.0]], [[1.0]]),
        ([1.0, 2.0], [1.0, 1.0]),
        ([[1.0], [2.0]], [[1.0], [-1.0]]),
        ([[1.0], [2.0]], [[1.0, 1.0], [1.0, 1.0]]),
    ],
)
def test_wrong_tables_are_refused(estimates, variances):
    with pytest.raises(ValueError, match="of at least two imputations"):
        pool_estimates(estimates, variances)


def test_wrong_fits_and_confidences_are_refused():
    with pytest.raises(TypeError, match="got a float"):
        pool_fits(lambda table: 1.0, [np.zeros(3)] * 2)
    with pytest.raises(ValueError, match="confidence must be between 0 and 1"):
        pool_estimates([[1.0], [2.0]], [[1.0], [1.0]]).interval(95)
