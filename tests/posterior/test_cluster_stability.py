"""Jaccard indices of clusters by their definition, and what certificates make of them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import beta, binom

from sklearn_subanneal.posterior import ClusterStability, jaccard_indices
from sklearn_subanneal.posterior.cluster_stability import PRIOR_FOUND, PRIOR_MISSED


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
    """The posterior mean, by numerical integration over the probability to be found."""
    of_draws = np.zeros((3, 4, 2))
    of_draws[:, :, 0] = 0.75
    of_draws[0, :2, 1] = 0.9
    of_refits = np.array([[0.8, 0.74], [0.1, 1.0]])
    stability = ClusterStability.of(np.array([0, 1]), np.ones(2), of_draws, of_refits)
    grid = np.concatenate([np.geomspace(1e-12, 0.5, 200001), 1.0 - np.geomspace(0.5, 1e-12, 200001)[1:]])
    prior = beta(PRIOR_FOUND, PRIOR_MISSED).pdf(grid)
    # Three chains and one of two new fits; half a chain and one of two.
    for cluster, n_found in enumerate([3.0 + 1.0, 0.5 + 1.0]):
        posterior = prior * grid**n_found * (1.0 - grid) ** (5.0 - n_found)
        mean = np.trapezoid(posterior * grid, grid) / np.trapezoid(posterior, grid)
        assert stability.recurrence_[cluster] == pytest.approx(mean, rel=1e-3)
    np.testing.assert_allclose(stability.jaccard_, [(12 * 0.75 + 0.9) / 14, (2 * 0.9 + 1.74) / 14])
    assert stability.n_refits_ == 2


def test_draws_of_views_of_other_columns_count_less():
    of_draws = np.full((2, 2, 1), 0.9)
    likeness = np.array([[1.0, 0.5], [0.5, 0.0]])
    found = ClusterStability.of(np.zeros(3, int), np.ones(3), of_draws, None, likeness).recurrence_
    assert found[0] == pytest.approx((PRIOR_FOUND + 1.0) / (PRIOR_FOUND + PRIOR_MISSED + 2.0))


def test_estimates_are_calibrated_where_the_prior_holds():
    """Of clusters with probabilities of the prior, those that are given 0.9 are found in 90 % of fits, and so on."""
    rng = np.random.default_rng(1)
    share = rng.beta(PRIOR_FOUND, PRIOR_MISSED, 40000)
    of_draws = (rng.random((4, 1, len(share))) < share).astype(float)
    given = ClusterStability.of(np.zeros(1, int), np.ones(1), of_draws).recurrence_
    new = binom.rvs(20, share, random_state=rng) / 20.0
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
