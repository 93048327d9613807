"""The tempered partition function of topic models against sums over all outcomes."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.special import betaln, entr, logsumexp, roots_jacobi, xlogy

from sklearn_subanneal import VariationalTemperingLDA
from sklearn_subanneal.topics.partition_function import (
    draw_log_dirichlet,
    entropy_of_words,
    log_partition,
    log_partition_as_printed,
    log_partition_at_frequencies,
    prior_of_entropy,
)
from sklearn_subanneal.variational import GlobalTemperature

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


@pytest.mark.parametrize("alpha", [[0.5, 1.0], [0.2], [0.1, 0.1, 0.3, 2.0]])
def test_one_token_by_brute_force(alpha):
    """With one token, C is the mean over priors of a sum over the words."""
    generator = np.random.default_rng(1)
    eta, n = 0.8, 200_000
    beta, theta = generator.dirichlet(np.full(3, eta), (n, len(alpha))), generator.dirichlet(alpha, n)
    words = np.einsum("nk,nkv->nv", theta, beta)
    expected = np.log([(words ** (1.0 / T)).sum(axis=1).mean() for T in TEMPERATURES])
    found = log_partition(TEMPERATURES, 3, alpha, eta)
    np.testing.assert_allclose(found, expected, atol=2e-3)
    assert found[0] == 0.0 and (np.diff(found) > 0.0).all()


def test_one_token_by_quadrature():
    """Two words and two topics: a sum over the points of three Gauss-Jacobi rules."""
    eta, alpha = 2.0, np.array([1.5, 3.0])
    (mixing, mixing_weights), (word, word_weights) = jacobi(*alpha), jacobi(eta, eta)
    x = mixing[:, None, None] * word[:, None] + (1.0 - mixing[:, None, None]) * word
    weights = mixing_weights[:, None, None] * word_weights[:, None] * word_weights
    expected = np.log([(weights * (x ** (1.0 / T) + (1.0 - x) ** (1.0 / T))).sum() for T in TEMPERATURES])
    np.testing.assert_allclose(log_partition(TEMPERATURES, 2, alpha, eta), expected, atol=2e-6)
    entropy = -(weights * (xlogy(x, x) + xlogy(1.0 - x, 1.0 - x))).sum()
    assert entropy_of_words(2, alpha, eta) == pytest.approx(entropy, abs=2e-6)


def jacobi(one, other):
    """Points and weights of a Gauss rule for the Beta(one, other) distribution."""
    points, weights = roots_jacobi(60, other - 1.0, one - 1.0)
    return 0.5 * (1.0 + points), weights / weights.sum()


@pytest.mark.parametrize("n_words", [2, 10, 7000])
@pytest.mark.parametrize("eta", [1e-4, 0.01, 0.3, 1.0, 1e3])
def test_moments_of_a_single_topic(n_words, eta):
    rho = 1.0 / np.append(TEMPERATURES, 10.0)
    other = (n_words - 1) * eta
    expected = np.log(n_words) + betaln(eta + rho, other) - betaln(eta, other)
    for alpha in (1e-3, 1.0, 30.0):
        np.testing.assert_allclose(log_partition(1.0 / rho, n_words, [alpha], eta), expected, atol=2e-7)


def test_priors_of_any_size():
    for alpha in (np.full(3, 1e10), np.full(3, 1e-10)):
        # Documents mix all topics, or have one each.
        b = np.random.default_rng(0).beta(0.1, 9.9, (40_000, 3))
        x = b.mean(axis=1) if alpha[0] > 1.0 else b[:, 0]
        expected = np.log(100.0 * (x**0.5).mean())
        np.testing.assert_allclose(log_partition([1.0, 2.0], 100, alpha, 0.1), [0.0, expected], atol=0.02)
    np.testing.assert_allclose(log_partition([1.0, 2.0], 100, [1.0], 1e300), [0.0, 0.5 * np.log(100.0)], atol=1e-9)
    np.testing.assert_array_equal(log_partition([1.0, 2.0], 1, [1.0], 0.1), [0.0, 0.0])
    # Two topics of a single word each, of 100.
    different = 2.0 * np.exp(betaln(1.0, 0.5) - betaln(0.5, 0.5))
    expected = [0.0, np.log(0.99 * different + 0.01)]
    np.testing.assert_allclose(log_partition([1.0, 2.0], 100, [0.5, 0.5], 1e-300), expected, atol=1e-7)


def test_it_is_between_the_bounds_of_tiny_corpora():
    """Two words and one topic, by quadrature: log C / N rises with N, from that of one token to equation 15."""
    eta, rho = 0.8, 0.5
    points, weights = jacobi(eta, eta)
    log_sums = np.log(points**rho + (1.0 - points) ** rho)
    lengths = 4.0 ** np.arange(10)
    exact = np.array([logsumexp(n * log_sums, b=weights) / n for n in lengths])
    first = log_partition([1.0, 2.0], 2, [1.0], eta)[1]
    assert weights @ log_sums < first == pytest.approx(exact[0], abs=1e-5)
    limit = (1.0 - rho) * np.log(2.0)
    assert (np.diff(exact) > 0.0).all() and first < 0.8 * limit and exact[-1] < limit
    assert exact[-1] == pytest.approx(limit, abs=1e-3)


def test_equation_15_does_not_cool_gradually():
    """At uniform topics, the limit of a large prior, q(T) is at one end of the grid or the other."""
    log_c = log_partition(TEMPERATURES, 500, np.full(4, 0.25), 1e8)
    np.testing.assert_allclose(log_c, (1.0 - 1.0 / TEMPERATURES) * np.log(500.0), atol=1e-7)
    for excess, expected in ((0.01, 1.0), (-0.01, 1.0 / TEMPERATURES[-1])):
        temperature = GlobalTemperature(TEMPERATURES, log_c, 1e5)
        assert temperature.update(0.0, excess - np.log(500.0)) == pytest.approx(expected, abs=1e-6)


def test_at_the_frequencies_of_words():
    """The sum over the words; its slope at T = 1 is minus their entropy; and the fit with this option uses it."""
    counts = np.array([3.0, 0.0, 1.0, 6.0])
    expected = [np.log(sum((count / 10.0) ** (1.0 / T) for count in counts if count)) for T in TEMPERATURES]
    np.testing.assert_allclose(log_partition_at_frequencies(TEMPERATURES, counts), expected, atol=1e-12)
    slope = log_partition_at_frequencies([1.0 + 1e-6], counts)[0] / (1.0 - 1.0 / (1.0 + 1e-6))
    assert slope == pytest.approx(entr(counts / 10.0).sum(), rel=1e-5)
    assert (log_partition_at_frequencies(TEMPERATURES, np.zeros(3)) == 0.0).all()
    X = csr_matrix(np.tile(counts, (40, 1)))
    options = {"temperatures": TEMPERATURES, "partition_function_prior": "frequencies", "max_iter": 1}
    for tempering in ("global", "local"):
        model = VariationalTemperingLDA(2, tempering=tempering, random_state=0, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X)
        np.testing.assert_allclose(model._learner_state.temperature.log_partition, expected, atol=1e-12)


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


@pytest.mark.parametrize("alpha", [np.full(6, 0.3), np.array([0.05, 0.5, 3.0])])
@pytest.mark.parametrize("entropy", [3.0, 4.5])
def test_the_prior_of_an_entropy_has_it(entropy, alpha):
    prior = prior_of_entropy(entropy, 200, alpha)
    assert entropy_of_words(200, alpha, prior) == pytest.approx(entropy, abs=1e-5)
    # The entropy is the slope of the partition function, and that of words that are drawn.
    slope = log_partition([1.0, 1.0 + 1e-5], 200, alpha, prior)[1] / (1.0 - 1.0 / (1.0 + 1e-5))
    assert slope == pytest.approx(entropy, abs=1e-4)
    generator = np.random.default_rng(1)
    topics = np.exp(draw_log_dirichlet(generator, prior, (500, len(alpha), 200)))
    mixing = np.exp(draw_log_dirichlet(generator, alpha, (500, len(alpha))))
    assert entr(np.einsum("nk,nkv->nv", mixing, topics)).sum(axis=1).mean() == pytest.approx(entropy, abs=0.08)


def test_priors_end_somewhere():
    assert prior_of_entropy(9.0, 200, [0.5, 0.5]) == 1e3
    assert prior_of_entropy(0.0, 200, [0.5, 0.5]) == 1e-4
    assert prior_of_entropy(0.0, 1, [0.5, 0.5]) == 1e3
