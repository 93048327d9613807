"""Jaccard indices of clusters by their definition, and what certificates make of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaln
from scipy.stats import beta, binom

from sklearn_subanneal.posterior import ClusterStability, jaccard_indices
from sklearn_subanneal.posterior.cluster_stability import OWN_CHAIN, POWER, PRIOR_FOUND, PRIOR_MISSED, found_again


def probability(n_found, n_missed, n_chains):
    """The posterior mean of 1 - (1 - t)^(n_chains^0.3) for chains alone."""
    a, b = PRIOR_FOUND + n_found, PRIOR_MISSED + n_missed
    return 1.0 - np.exp(betaln(a, b + n_chains**POWER) - betaln(a, b))


def test_indices_of_partitions_by_hand():
    labels, others = [0, 0, 0, 0, 1, 1, 2], [1, 1, 1, 0, 0, 0, 3]
    # {0..3} and {0..2}: 3 of 4. {4, 5} and {3, 4, 5}: 2 of 3. {6} is in both. No row has the other label 2.
    expected = [[1 / 6, 3 / 4, 0.0, 0.0], [2 / 3, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]]
    np.testing.assert_allclose(jaccard_indices(labels, others), expected)
    with pytest.raises(ValueError, match="labels of the same rows"):
        jaccard_indices([0, 1], [0, 1, 1])


def test_indices_are_those_of_sets_and_of_repeated_rows():
    rng = np.random.default_rng(0)
    labels, others, weights = rng.integers(5, size=60), rng.integers(4, size=60), rng.integers(3, size=60)
    found = jaccard_indices(labels, others)
    for a in range(5):
        for b in range(4):
            one, other = set(np.flatnonzero(labels == a)), set(np.flatnonzero(others == b))
            assert found[a, b] == pytest.approx(len(one & other) / len(one | other))
    repeated = jaccard_indices(np.repeat(labels, weights), np.repeat(others, weights))
    np.testing.assert_allclose(jaccard_indices(labels, others, weights), repeated)


def test_each_chain_and_each_new_fit_is_one_observation():
    """The posterior mean, by numerical integration over the probability that a chain has a cluster."""
    of_draws = np.zeros((3, 4, 2))
    of_draws[:, :, 0] = 0.75
    of_draws[0, :2, 1] = 0.9
    of_refits = np.array([[0.8, 0.74], [0.1, 1.0]])
    stability = ClusterStability.of(np.array([0, 1]), np.ones(2), of_draws, of_refits)
    grid = np.concatenate([np.geomspace(1e-12, 0.5, 200001), 1.0 - np.geomspace(0.5, 1e-12, 200001)[1:]])
    prior = beta(PRIOR_FOUND, PRIOR_MISSED).pdf(grid)
    # Three chains, or half a chain; one of two new fits of three chains.
    of_fits = 1.0 - (1.0 - grid) ** 3.0**POWER
    for cluster, n_found in enumerate([3.0, 0.5]):
        posterior = prior * grid**n_found * (1.0 - grid) ** (3.0 - n_found) * of_fits * (1.0 - of_fits)
        mean = np.trapezoid(posterior * of_fits, grid) / np.trapezoid(posterior, grid)
        assert stability.recurrence_[cluster] == pytest.approx(mean, rel=1e-3)
    np.testing.assert_allclose(stability.jaccard_, [(12 * 0.75 + 0.9) / 14, (2 * 0.9 + 1.74) / 14])
    assert stability.n_refits_ == 2


def test_draws_of_views_of_other_columns_count_less():
    of_draws = np.full((2, 2, 1), 0.9)
    likeness = np.array([[1.0, 0.5], [0.5, 0.0]])
    found = ClusterStability.of(np.zeros(3, int), np.ones(3), of_draws, None, likeness).recurrence_
    assert found[0] == pytest.approx(probability(1.0, 1.0, 2), rel=1e-9)


def test_the_chain_of_the_clusters_counts_half():
    of_draws = np.array([[[0.9, 0.9, 0.1]], [[0.9, 0.1, 0.9]]])
    for own, n_found in ((None, [2.0, 1.0, 1.0]), (0, [1.5, OWN_CHAIN, 1.0]), (1, [1.5, 1.0, OWN_CHAIN])):
        found = ClusterStability.of(np.arange(3), np.ones(3), of_draws, own=own).recurrence_
        n_chains = 2.0 if own is None else 1.5
        np.testing.assert_allclose(found, probability(np.array(n_found), n_chains - np.array(n_found), 2), rtol=1e-9)


def test_probabilities_of_chains_alone_have_a_closed_form():
    rng = np.random.default_rng(0)
    for n_chains in (1, 2, 4, 30):
        n_found = np.append(rng.uniform(0.0, n_chains, 20), [0.0, n_chains])
        found = found_again(n_found, n_chains - n_found, 0.0 * n_found, 0.0 * n_found, n_chains)
        np.testing.assert_allclose(found, probability(n_found, n_chains - n_found, n_chains), rtol=1e-9)
    # A single chain must not be sure; many fits decide, whatever chains say.
    assert probability(OWN_CHAIN, 0.0, 1) < 0.9 < probability(1.0 + OWN_CHAIN, 0.0, 2)
    many = found_again(np.array([0.0, 4.0]), np.array([4.0, 0.0]), np.array([900, 100]), np.array([100, 900]), 4)
    np.testing.assert_allclose(many, [0.9, 0.1], atol=0.01)


def test_estimates_are_calibrated_where_the_prior_holds():
    """Of clusters with probabilities of the prior, those that are given 0.9 are found in 90 % of fits, and so on."""
    rng = np.random.default_rng(1)
    share = rng.beta(PRIOR_FOUND, PRIOR_MISSED, 40000)
    n_found = (rng.random((4, len(share))) < share).sum(axis=0)
    # One cluster for each number of chains, of four, that have it.
    of_draws = (np.arange(4)[:, None, None] < np.arange(5)).astype(float)
    given = ClusterStability.of(np.zeros(1, int), np.ones(1), of_draws).recurrence_[n_found]
    new = binom.rvs(20, 1.0 - (1.0 - share) ** 4.0**POWER, random_state=rng) / 20.0
    for value in np.unique(given):
        same = given == value
        assert new[same].mean() == pytest.approx(value, abs=4.0 * new[same].std() / np.sqrt(same.sum()))


def test_noise_by_probability_and_by_recurrence():
    stability = ClusterStability(
        np.array([0, 0, 1, 1, 2]), np.array([0.9, 0.5, 0.95, 0.2, 0.99]), np.array([0.97, 0.8, 0.1]), np.zeros(3)
    )
    np.testing.assert_array_equal(stability.with_noise(), [0, 0, 1, 1, 2])
    np.testing.assert_array_equal(stability.with_noise(min_probability=0.9), [0, -1, 1, -1, 2])
    np.testing.assert_array_equal(stability.with_noise(0.9, 0.8), [0, -1, 1, -1, -1])
