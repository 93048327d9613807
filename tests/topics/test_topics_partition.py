"""The tempered partition function of topic models against sums over all outcomes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp

from sklearn_subanneal.topics.partition_function import (
    draw_log_dirichlet,
    log_partition,
    log_partition_as_printed,
    prior_of_entropy,
)

TEMPERATURES = np.array([1.0, 1.2, 2.0, 5.0])


def test_log_dirichlet_draws_have_the_moments():
    prior = np.array([0.3, 1.0, 4.0])
    draws = np.exp(draw_log_dirichlet(np.random.default_rng(0), prior, (40000, 3)))
    np.testing.assert_allclose(draws.sum(axis=1), 1.0)
    np.testing.assert_allclose(draws.mean(axis=0), prior / prior.sum(), atol=5e-3)
    variance = prior * (prior.sum() - prior) / (prior.sum() ** 2 * (prior.sum() + 1.0))
    np.testing.assert_allclose(draws.var(axis=0), variance, rtol=0.05)


def test_log_dirichlet_draws_survive_tiny_priors():
    draws = draw_log_dirichlet(np.random.default_rng(0), 1e-4, (50, 10))
    assert np.isfinite(draws).all() and draws.min() < -1000.0


def test_one_token_by_brute_force():
    """With one token, the integral over the outcomes is a mean over priors of a sum over the words."""
    generator = np.random.default_rng(1)
    alpha, eta, n = np.array([0.5, 1.0]), 0.8, 10000
    beta, theta = generator.dirichlet(np.full(3, eta), (n, 2)), generator.dirichlet(alpha, n)
    words = np.einsum("nk,nkv->nv", theta, beta)
    expected = [np.log((words ** (1.0 / T)).sum(axis=1)).mean() for T in TEMPERATURES]
    found = log_partition(TEMPERATURES, 3, alpha, eta, np.random.default_rng(2), 600, 5)
    np.testing.assert_allclose(found, expected, atol=0.015)
    assert found[0] == 0.0 and (np.diff(found) > 0.0).all()


def test_interpolation_is_exact_beside_the_draws():
    grid = 2.0 ** np.linspace(0.0, 1.0, 40)
    alpha = np.full(5, 0.2)
    all_at_once = log_partition(grid, 200, alpha, 0.1, np.random.default_rng(0))
    # The polynomial's ends are its nodes, whatever lies between.
    for T in (1.3, 1.7):
        part = grid[grid <= T]
        direct = log_partition(part, 200, alpha, 0.1, np.random.default_rng(0))
        np.testing.assert_allclose(all_at_once[: len(part)], direct, atol=1e-6)


def test_it_is_the_lower_bound_of_tiny_corpora():
    """log C / N by the sum over all corpora of D documents of N tokens, for given draws, is not below the estimate."""
    generator = np.random.default_rng(3)
    alpha, eta, rho, D, N = np.array([0.5, 0.5]), 0.7, 0.5, 2, 3
    total = []
    for _ in range(1000):
        beta = generator.dirichlet(np.full(3, eta), 2)
        # A document's tokens are independent given theta: the sum over outcomes is a power.
        by_theta = N * np.log(((generator.dirichlet(alpha, 60) @ beta) ** rho).sum(axis=1))
        total.append(D * (logsumexp(by_theta) - np.log(60)))
    exact = (logsumexp(total) - np.log(len(total))) / (D * N)
    bound = log_partition([1.0, 2.0], 3, alpha, eta, np.random.default_rng(4), 600, 5)[1]
    assert bound <= exact + 0.01
    assert bound > 0.8 * exact


@pytest.mark.parametrize("n_tokens", [4.0, 40.0])
def test_the_printed_one_by_brute_force(n_tokens):
    """Assignments kept: the sum over (word, topic) of every token, one document."""
    alpha, eta = np.array([0.5, 1.0]), 0.8
    generator = np.random.default_rng(5)
    by_topics = []
    for _ in range(500):
        beta, theta = generator.dirichlet(np.full(3, eta), 2), generator.dirichlet(alpha, 40)
        joint = theta[:, :, None] * beta
        sums = np.transpose([(joint ** (1.0 / T)).sum(axis=(1, 2)) for T in TEMPERATURES])
        by_topics.append(logsumexp(n_tokens * np.log(sums), axis=0) - np.log(40))
    expected = (logsumexp(by_topics, axis=0) - np.log(len(by_topics))) / n_tokens
    found = log_partition_as_printed(TEMPERATURES, 3, alpha, eta, 1.0, n_tokens, np.random.default_rng(6), 500, 40)
    np.testing.assert_allclose(found, expected, atol=0.03)
    assert found[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("entropy", [3.0, 4.5])
def test_the_prior_of_an_entropy_has_it(entropy):
    alpha = np.full(6, 0.3)
    prior = prior_of_entropy(entropy, 200, alpha, np.random.default_rng(0))
    slope = log_partition([1.0, 1.001], 200, alpha, prior, np.random.default_rng(1), 40, 50)[1] / (1.0 - 1.0 / 1.001)
    assert slope == pytest.approx(entropy, abs=0.15)


def test_priors_end_somewhere():
    generator = np.random.default_rng(0)
    assert prior_of_entropy(9.0, 200, [0.5, 0.5], generator) == 1e3
    assert prior_of_entropy(0.0, 200, [0.5, 0.5], generator) == 1e-4
    assert prior_of_entropy(0.0, 1, [0.5, 0.5], generator) in (1e-4, 1e3)
