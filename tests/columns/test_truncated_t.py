"""Draws of t variables between limits, and of missing cells of blocks whose columns have limits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from sklearn_subanneal.columns._limited_cells import cells_between, redrawn_between
from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics
from sklearn_subanneal.columns.truncated_t import truncated_t

INF = np.inf
LIMITS = [(-1.0, 2.0), (3.0, 3.5), (-9.0, -4.0), (-INF, 0.3), (5.0, INF), (-INF, INF), (50.0, 2e3)]


@pytest.mark.parametrize("free", [0.4, 3.0, 60.0])
@pytest.mark.parametrize(("low", "high"), LIMITS)
def test_values_between_limits_are_the_quantiles_of_the_part(low, high, free):
    share, law = np.linspace(0.01, 0.99, 25), stats.t(free, loc=0.7, scale=1.3)
    values = truncated_t(0.7, 1.3, free, low, high, share)
    assert ((values > low) & (values < high)).all()
    if low < 0.7:
        below = law.cdf(low)
        found = (law.cdf(values) - below) / (law.cdf(high) - below)
    else:
        found = (law.sf(low) - law.sf(values)) / (law.sf(low) - law.sf(high))
    np.testing.assert_allclose(found, share, rtol=1e-6)


@pytest.mark.parametrize(
    ("location", "scale", "free", "low", "high"),
    [
        # Where the probability of the part is 0 in floating point, or nearly.
        (0.0, 1.0, 1e8, 40.0, 41.0),
        (0.0, 1.0, 1e8, -41.0, -40.0),
        (0.0, 1.0, 500.0, 200.0, 900.0),
        # Limits that are close to each other, compared with the scale.
        (0.0, 1e30, 0.5, -1.0, 2.0),
        (1e5, 1e4, 4.0, -1e-3, 2e-3),
        # So far away that the limits are one number, seen from the location.
        (1e25, 1e24, 3.0, -1.0, 2.0),
        (-1e25, 1.0, 3.0, -1.0, 2.0),
    ],
)
def test_improbable_parts_have_the_right_density(location, scale, free, low, high):
    values = truncated_t(location, scale, free, low, high, np.array([0.1, 0.5, 0.9]))

    def density(x):
        z, z0 = (x - location) / scale, (min(max(location, low), high) - location) / scale
        return np.exp(-0.5 * (free + 1.0) * (np.log1p(z * z / free) - np.log1p(z0 * z0 / free)))

    parts = [integrate.quad(density, low, value, epsabs=0.0, limit=200)[0] for value in (*values, high)]
    np.testing.assert_allclose(np.array(parts[:3]) / parts[3], [0.1, 0.5, 0.9], rtol=0.02)


def test_a_single_value_is_left_between_equal_limits():
    assert truncated_t(3.0, 1.0, 2.0, 5.0, 5.0, 0.3) == truncated_t(9.0, 1.0, 2.0, 5.0, 5.0, 0.3) == 5.0


NAN = np.nan
PARAMETERS = {"mu": np.array([0.5, -0.2, 0.1]), "kappa": 0.6, "psi": np.eye(3) + 1.4, "nu": 4.5}
CELLS = np.array([[0.3, 0.1, -0.4], [1.3, 0.9, 0.7], [0.2, NAN, NAN], [NAN, 0.4, 0.1], [0.6, NAN, 0.5]])


def joint_log_density(rows):
    """Of the rows of one cluster, (n_tables, n_rows, 3)."""
    out = np.empty(len(rows))
    for i, table in enumerate(rows):
        statistics = GaussianStatistics(GaussianData(table), PARAMETERS)
        statistics.rebuild(np.zeros(len(table), np.int32))
        out[i] = statistics.log_marginals(1)[0]
    return out


def in_one_cluster(cells):
    statistics = GaussianStatistics(GaussianData(cells), PARAMETERS)
    complete = np.isfinite(cells).all(axis=1)
    statistics.rebuild(np.where(complete, 0, -1).astype(np.int32))
    return statistics


# Probable ones, and others that twenty draws in a row may miss.
@pytest.mark.parametrize("limits", [[[-1.0] * 3, [1.0] * 3], [[0.9, 1.0, -1.3], [1.2, 1.3, -0.9]]], ids=["wide", "far"])
def test_cells_of_new_rows_have_their_distribution_between_the_limits(limits):
    n, rng, limits = 3000, np.random.default_rng(0), np.array(limits)
    statistics = in_one_cluster(CELLS[:2])
    row = np.array([0.2, NAN, -0.1])
    drawn = cells_between(statistics, np.tile(row, (n, 1)), np.zeros(n, np.int32), limits, rng)
    np.testing.assert_array_equal(drawn[:, [0, 2]], np.tile(row[[0, 2]], (n, 1)))
    location, square, free = (np.ravel(own) for own in statistics.conditional_t(row[None], 1))
    law = stats.t(free[0], location[1], np.sqrt(square[1]))
    inside = law.cdf(limits[:, 1])
    assert stats.kstest((law.cdf(drawn[:, 1]) - inside[0]) / np.diff(inside), "uniform").pvalue > 1e-3
    # Several cells of a row: all between their limits, and different.
    drawn = cells_between(statistics, np.full((200, 3), NAN), np.zeros(200, np.int32), limits, rng)
    assert ((drawn > limits[0]) & (drawn < limits[1])).all()
    assert (drawn.std(axis=0) > 0.1 * np.diff(limits, axis=0)).all()


@pytest.mark.parametrize("limits", [[[-1.0] * 3, [1.0] * 3], [[0.9, 1.0, -1.3], [1.2, 1.3, -0.9]]], ids=["wide", "far"])
def test_gibbs_sweeps_between_limits_have_the_joint_distribution(limits):
    rng, limits, n = np.random.default_rng(1), np.array(limits), 2000
    rows, slots = np.array([2, 3, 4], np.int32), np.zeros(3, np.int32)
    asked = np.isnan(CELLS)
    # Exact: weighted points that are uniform between the limits.
    points = np.tile(CELLS, (20_000, 1, 1))
    points[:, asked] = rng.uniform(*limits[:, np.nonzero(asked)[1]], (len(points), asked.sum()))
    weights = joint_log_density(points)
    weights = np.exp(weights - weights.max())
    weights /= weights.sum()
    exact = weights @ points[:, asked]
    deviation = np.sqrt(weights @ (points[:, asked] - exact) ** 2)
    values = np.where(asked, limits.mean(axis=0), CELLS)
    statistics = GaussianStatistics(GaussianData(CELLS), PARAMETERS)
    statistics.set_prior_state(statistics.get_prior_state() | {"completed": values[rows]})
    statistics.rebuild(np.zeros(5, np.int32))
    found = np.empty((n, asked.sum()))
    for i in range(n):
        values[rows] = redrawn_between(statistics, values[rows], rows, slots, limits, i % 40 == 0, rng)
        found[i] = values[asked]
    assert ((found > limits[0, np.nonzero(asked)[1]]) & (found < limits[1, np.nonzero(asked)[1]])).all()
    error = deviation / np.sqrt(1.0 / (weights**2).sum()) + deviation / np.sqrt(n / 10)
    assert (np.abs(found.mean(axis=0) - exact) < 4.0 * error).all()
    np.testing.assert_allclose(found.std(axis=0), deviation, rtol=0.15)
    # What the statistics have is what was drawn.
    expected = in_one_cluster(values).get_state(1)
    for name in ("count", "total", "square"):
        np.testing.assert_allclose(np.tril(statistics.get_state(1)[name]), np.tril(expected[name]), atol=1e-9)
