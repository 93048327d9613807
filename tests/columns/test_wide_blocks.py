"""Blocks of many reals, whose scores and evidence are computed in other ways than those of few."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import multigammaln
from scipy.stats import multivariate_t

from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics

N_ROWS = 90
WIDTHS = [8, 15, 16, 17, 18, 19, 33, 62]


def block_of(width, n_clusters, missing=0.0, capacity=8):
    rng = np.random.default_rng(width)
    cells = rng.normal(size=(N_ROWS, width)) @ rng.normal(size=(width, width)) / np.sqrt(width)
    given = np.where(rng.random(cells.shape) < missing, np.nan, cells)
    # Some rows stay complete.
    given[::3] = cells[::3]
    psi = np.eye(width) + 0.2
    parameters = {"mu": rng.normal(size=width), "kappa": 0.4, "psi": psi, "nu": width + 1.5}
    block = GaussianStatistics(GaussianData(given), parameters, None, capacity)
    state = {"parameters": parameters}
    if missing:
        state["completed"] = cells[np.isnan(given).any(axis=1)]
    block.set_prior_state(state)
    block.rebuild(np.arange(N_ROWS) % n_clusters)
    return block, cells, given


def densities(block, rows, seen, n):
    """Log densities (n_rows, n) of rows that lack the same cells in the first n slots, by scipy."""
    cells = rows[:, seen]
    return np.transpose(
        [
            np.atleast_1d(multivariate_t(location[seen], scale[np.ix_(seen, seen)], df=free).logpdf(cells))
            for location, scale, free in zip(*block.predictive(n), strict=True)
        ]
    )


def check(block, given, n):
    rows = np.arange(0, N_ROWS, 7)
    patterns, of_rows = np.unique(~np.isnan(given[rows]), axis=0, return_inverse=True)
    for pattern, seen in enumerate(patterns):
        own = rows[of_rows.ravel() == pattern]
        found = [block.scores(row, n) for row in own]
        np.testing.assert_allclose(found, densities(block, given[own], seen, n), rtol=3e-6, atol=3e-5)


@pytest.mark.parametrize("n_clusters", [1, 5, 8, 11])
@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("width", WIDTHS)
def test_scores_follow_all_changes_of_the_slots(width, missing, n_clusters):
    block, _, given = block_of(width, n_clusters, missing, capacity=16)
    n = min(n_clusters + 2, 13)
    check(block, given, n)
    for row in range(0, 40, n_clusters):
        block.remove_row(row, 0)
    check(block, given, n)
    block.add_row(40, 1)
    check(block, given, n)
    block.merge_slots(1, 0)
    block.clear_slot(1)
    check(block, given, n)
    other = block_of(width, 3, missing)[0]
    block.copy_slot(other, 2, 1)
    check(block, given, n)
    block.move_slot(1, 0)
    check(block, given, n)
    block.make_room(32)
    check(block, given, n)
    block.parameters = block.parameters | {"kappa": 2.0}
    check(block, given, n)


@pytest.mark.parametrize("width", WIDTHS)
def test_rows_are_left_out(width):
    block, cells, _ = block_of(width, 3)
    rows, every = np.arange(0, N_ROWS, 7, dtype=np.int32), np.ones(width, bool)
    found = block.leave_one_out(rows, rows % 3)
    for row, score in zip(rows, found, strict=True):
        block.remove_row(row, row % 3)
        assert score == pytest.approx(densities(block, cells[[row]], every, 3)[0, row % 3], rel=1e-6)
        block.add_row(row, row % 3)


@pytest.mark.parametrize("width", WIDTHS)
def test_evidence_of_any_number_of_rows(width):
    block, cells, _ = block_of(width, 1)
    mu, kappa, psi, nu = (block.parameters[name] for name in ("mu", "kappa", "psi", "nu"))
    for n in (*range(N_ROWS, N_ROWS - 20, -1), 40, 9, 8, 7, 1):
        block.rebuild(np.where(np.arange(N_ROWS) < n, 0, -1))
        mean = (kappa * mu + cells[:n].sum(axis=0)) / (kappa + n)
        scale = psi + cells[:n].T @ cells[:n] + kappa * np.outer(mu, mu) - (kappa + n) * np.outer(mean, mean)
        exact = (
            multigammaln(0.5 * (nu + n), width)
            - multigammaln(0.5 * nu, width)
            + 0.5 * nu * np.linalg.slogdet(psi)[1]
            - 0.5 * (nu + n) * np.linalg.slogdet(scale)[1]
            + 0.5 * width * np.log(kappa / (kappa + n))
            - 0.5 * n * width * np.log(np.pi)
        )
        assert block.log_marginals(1)[0] == pytest.approx(exact, rel=1e-10)
