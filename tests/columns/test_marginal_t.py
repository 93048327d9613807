"""Densities of rows with missing cells in many clusters of a block of reals, against scipy's multivariate t."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import multivariate_t

from sklearn_subanneal.columns import _marginal_t
from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics

RNG = np.random.default_rng(5)
WIDTH, N_ROWS = 4, 400
PATTERNS = np.array(list(product([False, True], repeat=WIDTH)))
FACTOR = RNG.normal(size=(WIDTH, WIDTH))
# The last column is nearly a sum of others, as in tables with totals.
CELLS = RNG.normal(size=(N_ROWS, WIDTH)) @ FACTOR
CELLS[:, 3] = CELLS[:, 0] + CELLS[:, 1] + 1e-3 * RNG.normal(size=N_ROWS)
MISSING = PATTERNS[RNG.integers(len(PATTERNS), size=N_ROWS)]


def parameters(kappa=0.3, nu=6.5):
    return {"mu": np.array([0.1, -0.2, 0.3, 0.0]), "kappa": kappa, "psi": 0.5 * np.eye(WIDTH) + 0.1, "nu": nu}


def statistics(n_clusters, cells=None):
    """A block whose rows have missing cells, filled by the cells of the table; the last slot is empty."""
    cells = np.where(MISSING, np.nan, CELLS) if cells is None else cells
    block = GaussianStatistics(GaussianData(cells), parameters(), None, 8)
    block.set_prior_state({"parameters": parameters(), "completed": CELLS[np.isnan(cells).any(axis=1)]})
    block.rebuild(np.arange(N_ROWS) % n_clusters)
    return block


def expected(block, values, n):
    """Log densities (n_rows, n) of the observed cells: those of the marginals of the t of each cluster."""
    out = np.zeros((len(values), n))
    for k, (location, scale, free) in enumerate(zip(*block.predictive(n), strict=True)):
        for i, row in enumerate(values):
            seen = ~np.isnan(row)
            if seen.any():
                t = multivariate_t(location[seen], scale[np.ix_(seen, seen)], df=free, allow_singular=True)
                out[i, k] = t.logpdf(row[seen])
    return out


def check(block, n):
    """Scores of rows of the data, and log densities of given rows, of every pattern of missing cells."""
    rows = [int(np.flatnonzero((MISSING == pattern).all(axis=1))[0]) for pattern in PATTERNS]
    values = np.where(PATTERNS, np.nan, CELLS[rows])
    exact = expected(block, values, n)
    np.testing.assert_allclose(block.log_densities(values, n), exact, rtol=1e-8, atol=1e-8)
    found = np.array([block.scores(row, n) for row in rows])
    incomplete = PATTERNS.any(axis=1)
    np.testing.assert_allclose(found[incomplete], exact[incomplete], rtol=3e-7, atol=1e-6)


@pytest.mark.parametrize("n_clusters", [1, 7, 8, 19])
def test_all_patterns_of_missing_cells(n_clusters):
    check(statistics(n_clusters), n_clusters + 1)


def test_coefficients_follow_the_clusters():
    block = statistics(9)
    for row in range(0, 180, 9):
        block.remove_row(row, 0)
        block.add_row(row, 8)
    block.move_slot(2, 9)
    block.merge_slots(3, 4)
    check(block, 10)
    block.rebuild(np.arange(N_ROWS) % 30)
    check(block, 31)


@pytest.mark.parametrize("changed", [{"kappa": 2.0}, {"nu": 12.0}])
def test_coefficients_follow_the_hyperparameters(changed):
    block = statistics(9)
    check(block, 10)
    block.parameters = parameters(**changed)
    check(block, 10)


def test_clusters_of_thousands_of_rows():
    """Constants are tabulated for small clusters only."""
    block = GaussianStatistics(GaussianData(np.tile(CELLS, (4, 1))), parameters(), None, 8)
    block.rebuild(np.repeat([0, 1], [1100, 500]))
    values = np.where(PATTERNS, np.nan, CELLS[: len(PATTERNS)])
    np.testing.assert_allclose(block.log_densities(values, 3), expected(block, values, 3), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("width", [1, 2, 3, 5, 6, 7, 8, 13])
def test_blocks_of_every_width(width):
    """Kernels take four rows of a matrix at a time, and those that are left one by one."""
    rng = np.random.default_rng(width)
    cells = rng.normal(size=(40, width)) @ rng.normal(size=(width, width))
    given = {"mu": rng.normal(size=width), "kappa": 0.7, "psi": 0.5 * np.eye(width) + 0.1, "nu": width + 1.5}
    block = GaussianStatistics(GaussianData(cells), given, None, 8)
    block.rebuild(np.zeros(40, dtype=int))
    for row in range(10):
        block.remove_row(row, 0)
    own, n = cells[10:], 30
    kappa, nu = 0.7 + n, given["nu"] + n
    mean = (0.7 * given["mu"] + own.sum(axis=0)) / kappa
    prior = 0.7 * np.outer(given["mu"], given["mu"])
    psi = given["psi"] + own.T @ own + prior - kappa * np.outer(mean, mean)
    free = nu - width + 1
    exact = multivariate_t(mean, psi * (kappa + 1) / (kappa * free), df=free).logpdf(cells)
    np.testing.assert_allclose(block.log_densities(cells, 1)[:, 0], exact, rtol=1e-9, atol=1e-9)
    found = [block.scores(row, 1)[0] for row in range(10)]
    np.testing.assert_allclose(found, exact[:10], rtol=1e-5, atol=1e-5)


def test_without_memory_for_coefficients_clusters_are_scored_one_by_one(monkeypatch):
    class Full:
        def __getattr__(self, name):
            raise MemoryError

    block = GaussianStatistics(GaussianData(CELLS), parameters(), None, 8)
    block.rebuild(np.arange(N_ROWS) % 3)
    values = np.where(PATTERNS, np.nan, CELLS[: len(PATTERNS)])
    monkeypatch.setattr(_marginal_t, "np", Full())
    found = block.log_densities(values, 4)
    monkeypatch.undo()
    np.testing.assert_allclose(found, block.log_densities(values, 4), rtol=1e-8, atol=1e-8)
