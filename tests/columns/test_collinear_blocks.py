"""Blocks of collinear columns in many rows: sums of products lose no digits that the log marginal likelihood needs."""

from __future__ import annotations

from math import fsum, log, pi

import numpy as np
import pytest
from scipy.special import multigammaln

from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics

N_ROWS = 30_000
# In nats. Sums without their rests are off by up to .4; a Cholesky factor in float64 by .004.
TOLERANCE = 0.02


@pytest.fixture(scope="module")
def cells():
    """Two columns and their sum, in standard units."""
    parts = np.random.default_rng(11).normal(size=(N_ROWS, 2))
    cells = np.column_stack([parts, parts.sum(axis=1)])
    return (cells - cells.mean(axis=0)) / cells.std(axis=0)


def prior_of(cells) -> dict:
    """Correlations as near to 1 as those that are learned can come."""
    correlation = np.corrcoef(cells.T) * (1.0 - 1e-4)
    np.fill_diagonal(correlation, 1.0)
    width = cells.shape[1]
    return {"mu": np.zeros(width), "kappa": 0.1, "psi": 0.15 * correlation, "nu": width + 2.0}


def exact_log_marginal(cells, prior) -> float:
    """Of all rows in one cluster, from sums rounded once (Murphy 2007, Conjugate Bayesian analysis, section 8)."""
    n, width = cells.shape
    kappa, nu = prior["kappa"], prior["nu"]
    total = np.array([fsum(cells[:, i]) for i in range(width)])
    square = np.array([[fsum(cells[:, i] * cells[:, j]) for j in range(width)] for i in range(width)])
    scale = prior["psi"] + square - np.outer(total, total) / (kappa + n)
    return (
        multigammaln(0.5 * (nu + n), width)
        - multigammaln(0.5 * nu, width)
        + 0.5 * nu * np.linalg.slogdet(prior["psi"])[1]
        - 0.5 * (nu + n) * np.linalg.slogdet(scale)[1]
        + 0.5 * width * (log(kappa / (kappa + n)) - n * log(pi))
    )


@pytest.mark.parametrize("seed", range(3))
def test_order_of_rows_and_changes_do_not_matter(cells, seed):
    prior, rng = prior_of(cells), np.random.default_rng(seed)
    statistics, order = GaussianStatistics(GaussianData(cells), prior), rng.permutation(N_ROWS)
    for row in order:
        statistics.add_row(row, 0)
    for row in order[: N_ROWS // 3]:
        statistics.remove_row(row, 0)
    for row in order[: N_ROWS // 3]:
        statistics.add_row(row, 0)
    assert abs(statistics.log_marginals(1)[0] - exact_log_marginal(cells, prior)) < TOLERANCE


def test_rebuilt_merged_and_saved(cells):
    prior = prior_of(cells)
    exact = exact_log_marginal(cells, prior)
    statistics = GaussianStatistics(GaussianData(cells), prior)
    statistics.rebuild(np.zeros(N_ROWS, int))
    assert abs(statistics.log_marginals(1)[0] - exact) < TOLERANCE
    labels = np.random.default_rng(7).integers(10, size=N_ROWS)
    statistics.rebuild(labels)
    assert abs(statistics.log_marginal_together(0, 1) - exact_log_marginal(cells[labels < 2], prior)) < TOLERANCE
    for k in range(1, 10):
        statistics.merge_slots(k, 0)
    assert abs(statistics.log_marginals(1)[0] - exact) < TOLERANCE
    again = GaussianStatistics(GaussianData(cells), prior)
    again.set_state(statistics.get_state(1))
    statistics.add_row(0, 0)
    again.add_row(0, 0)
    for name in ("total", "square", "total_rest", "square_rest"):
        np.testing.assert_array_equal(statistics.get_state(1)[name], again.get_state(1)[name])
