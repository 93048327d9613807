"""Drawn parameters of clusters: averaged over draws, densities given them are the predictive densities."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from support.column_examples import EXAMPLES, data_of

from sklearn_subanneal.columns._count import CountData
from sklearn_subanneal.columns._gaussian_parameters import GaussianParameters
from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics
from sklearn_subanneal.columns._plane_parameters import CountParameters
from sklearn_subanneal.columns.binding import KINDS
from sklearn_subanneal.shards._row_sweep import RowSweep

N_DRAWS, N_CLUSTERS = 4000, 3
SINGLE = [example for example in EXAMPLES if KINDS[example.kind].parameters_class and example.kind != "gaussian"]


@pytest.mark.parametrize("example", SINGLE, ids=lambda example: example.name)
def test_densities_are_predictive_on_average(example):
    """A term of the row alone may be left out: clusters are compared with one that has no rows."""
    statistics = example.statistics()
    labels = np.arange(example.n_rows) % (2 * N_CLUSTERS)
    # Few rows, so that the parameters are far from certain.
    labels[(labels >= N_CLUSTERS - 1) | (np.arange(example.n_rows) >= 18)] = -1
    statistics.rebuild(labels)
    statistics.make_room(N_CLUSTERS + 1)
    kind, generator = KINDS[example.kind].parameters_class, np.random.default_rng(0)
    data = data_of(example.kind, example.cells, example.params)
    rows = np.flatnonzero(~example.missing)[:6]
    scores = np.empty((N_DRAWS, len(rows), N_CLUSTERS))
    for i in range(N_DRAWS):
        parameters = kind(data, kind.drawn(statistics, N_CLUSTERS, generator))
        scores[i] = [parameters.scores(row) for row in rows]
    densities = np.exp(scores - scores.max(axis=(0, 2), keepdims=True))
    mean = densities.mean(axis=0)
    error = densities.std(axis=0) / np.sqrt(N_DRAWS) / mean
    exact = np.array([statistics.scores(row, N_CLUSTERS) for row in rows])
    tolerance = 4.5 * (error + error[:, -1:]) + 1e-4
    assert np.all(np.abs(np.log(mean / mean[:, -1:]) - (exact - exact[:, -1:])) < tolerance)
    assert np.median(tolerance) < 0.8


def test_normal_inverse_wishart_variates():
    """Means of precisions, and covariances of means, in closed form."""
    rng = np.random.default_rng(1)
    cells, prior = rng.normal(size=(5, 3)), {"mu": np.array([0.1, 0.2, 0.3]), "kappa": 0.7, "nu": 5.0}
    prior["psi"] = np.diag([1.0, 2.0, 1.5]) + 0.4
    statistics = GaussianStatistics(GaussianData(cells), prior)
    statistics.rebuild([0, 0, 0, 1, -1])
    precisions, means = [], []
    for _ in range(8000):
        drawn = GaussianParameters.drawn(statistics, 2, rng)
        factor = drawn["factor"][:, :, 0]
        precisions.append(factor.T @ factor)
        means.append(drawn["mean"][:, 0])
    kappa, nu = 3.7, 8.0
    location = (0.7 * prior["mu"] + cells[:3].sum(axis=0)) / kappa
    psi = prior["psi"] + cells[:3].T @ cells[:3] + 0.7 * np.outer(prior["mu"], prior["mu"])
    psi -= kappa * np.outer(location, location)
    inverse = np.linalg.inv(psi)
    # Var W_ij = nu (v_ij^2 + v_ii v_jj)
    spread = np.sqrt(nu * (inverse**2 + np.outer(np.diag(inverse), np.diag(inverse))) / len(precisions))
    assert np.all(np.abs(np.mean(precisions, axis=0) - nu * inverse) < 4.5 * spread)
    error = np.std(means, axis=0) / np.sqrt(len(means))
    assert np.all(np.abs(np.mean(means, axis=0) - location) < 4.5 * error)
    covariance = psi / (nu - 3.0 - 1.0) / kappa
    assert_allclose(np.diag(np.cov(np.array(means).T)), np.diag(covariance), rtol=0.1)


def test_missing_cells_of_a_block_given_the_others():
    """Their mean and variance are those of the conditional normal."""
    rng, n = np.random.default_rng(2), 4000
    factor = np.tril(rng.normal(size=(3, 3)))
    factor[np.diag_indices(3)] = [1.2, 0.8, 1.5]
    arrays = {"mean": np.array([[0.5], [-1.0], [2.0]]), "factor": factor[:, :, None]}
    cells = np.tile([0.3, np.nan, np.nan], (n, 1))
    filled = np.where(np.isnan(cells), 0.0, cells)
    kernel = RowSweep([GaussianParameters(GaussianData(cells), arrays, filled)], np.zeros(1), 0, 5, 1)
    kernel.assign(np.zeros(n, np.int32), 0.5)
    covariance = np.linalg.inv(factor.T @ factor)
    slope = covariance[1:, 0] / covariance[0, 0]
    rest = covariance[1:, 1:] - np.outer(slope, covariance[0, 1:])
    error = np.sqrt(np.diag(rest) / n)
    assert np.all(np.abs(filled[:, 1:].mean(axis=0) - (arrays["mean"][1:, 0] + slope * (0.3 - 0.5))) < 4.5 * error)
    assert_allclose(np.cov(filled[:, 1:].T), rest, rtol=0.15, atol=0.05 * rest.max())
    assert np.all(filled[:, 0] == 0.3)


def test_missing_cells_have_no_score():
    for example in EXAMPLES:
        kind = KINDS[example.kind].parameters_class
        if kind is not None and example.kind != "gaussian" and example.missing.any():
            statistics = example.statistics()
            data = data_of(example.kind, example.cells, example.params)
            parameters = kind(data, kind.drawn(statistics, 2, np.random.default_rng(0)))
            assert_allclose(parameters.scores(int(np.flatnonzero(example.missing)[0])), 0.0)


@pytest.mark.parametrize("mean", [3.0, 90.0, 2e4, 1e7, 1e9])
def test_odds_of_large_counts(mean):
    """What clusters have in common, some hundred million nats, leaves no digits of single precision to their odds."""
    means = mean + np.array([0.0, 1.0, -2.0, 4.0]) * np.sqrt(mean) / 3.0
    cells = np.random.default_rng(0).poisson(mean, size=50).astype(np.int32)
    parameters = CountParameters(CountData(cells), {"slope": np.log(means), "intercept": -means})
    scores = np.array([parameters.scores(row) for row in range(50)], float)
    exact = cells[:, None] * np.log(means / means[0]) - (means - means[0])
    assert_allclose(scores - scores[:, :1], exact, atol=1e-4)


def test_odds_of_counts_far_from_all_clusters():
    means = np.array([3e7, 3e7 + 1001.0])
    parameters = CountParameters(CountData(np.array([5], np.int32)), {"slope": np.log(means), "intercept": -means})
    odds = np.subtract(*parameters.scores(0)[::-1].astype(float))
    assert odds == pytest.approx(5 * np.log(means[1] / means[0]) - 1001.0, abs=1e-3)


def test_large_counts_leave_the_evidence_of_other_columns():
    n = 200
    cells, rng = np.zeros(n, np.float32), np.random.default_rng(0)
    real = KINDS["real"].parameters_class(
        data_of("real", cells, {}), {"mean": np.array([0.0, 3.0]), "precision": np.ones(2)}
    )
    counts = CountData(rng.poisson(2e7, size=n).astype(np.int32))
    same = {"slope": np.full(2, np.log(2e7)), "intercept": np.full(2, -2e7)}
    sides, rows = np.zeros(n, np.int32), np.arange(n, dtype=np.int32)
    for columns in ([real, CountParameters(counts, same)], [CountParameters(counts, same), real]):
        log_q = RowSweep(columns, np.zeros(2), 0, 5, 1).divide(rows, sides, False)
        assert log_q == pytest.approx(-n * np.log1p(np.exp(-4.5)), rel=1e-4)
