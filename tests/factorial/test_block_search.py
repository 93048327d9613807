"""Blocks of components: bounds against those of the whole fit, signs of mixed-up components, what proposals repair."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sklearn_subanneal.factorial import factorial_search
from sklearn_subanneal.factorial.activation_correlations import correlations, ranked_pairs
from sklearn_subanneal.factorial.activation_statistics import ActivationStatistics
from sklearn_subanneal.factorial.ascent import Ascent
from sklearn_subanneal.factorial.block_search import (
    MOST_ROWS,
    block_of,
    candidates,
    fit_block,
    proposals,
    span_of,
    starts_of,
)
from sklearn_subanneal.factorial.factorial_search import improve_blocks
from sklearn_subanneal.factorial.factorial_settings import FactorialSettings
from sklearn_subanneal.factorial.pass_trace import PassTrace

K, D = 5, 9


def sums(n=600, seed=0, n_components=K, n_features=D, noise=0.2):
    rng = np.random.default_rng(seed)
    active = rng.random((n, n_components)) < 0.3
    components = rng.normal(size=(n_components, n_features))
    return active @ components + noise * rng.normal(size=(n, n_features)), components, active.T.astype(float)


def ascent_of(X, activations, passes=3):
    out = Ascent(X, FactorialSettings(len(activations)), activations, 2, PassTrace(1000))
    out.climb(passes, 0.0)
    return out


def bound_of(ascent, activations):
    """The bound with these activations, the optimal means and the parameters of the ascent."""
    c = ascent.components
    settings = FactorialSettings(len(activations), c.activation_probability, c.noise_variance, c.component_variance)
    own, statistics = settings.start(ascent.X, activations)
    return own.bound(statistics)


# --- Signs of mixed-up components -----------------------------------------------------------------------------------


def test_correlations_equal_those_of_numpy():
    q = np.random.default_rng(0).random((4, 50)).astype(np.float32)
    expected = np.abs(np.corrcoef(q)) - np.eye(4)
    np.testing.assert_allclose(correlations(q), expected, atol=1e-6)
    q[2] = 0.7
    assert np.isfinite(correlations(q)).all()


def test_pairs_are_ranked():
    strength = np.array([[0.0, 2.0, 5.0], [2.0, 0.0, 1.0], [5.0, 1.0, 0.0]])
    assert ranked_pairs(strength, 1.0) == [(0, 2), (0, 1)]
    assert ranked_pairs(strength, 9.0) == []


# --- Blocks -------------------------------------------------------------------------------------------------------


def test_blocks_are_correlated_pairs_with_the_next_of_kin():
    rng = np.random.default_rng(0)
    q = (rng.random((5, 2000)) < 0.3).astype(float)
    for k, j, share in ((3, 0, 0.8), (4, 3, 0.4), (2, 1, 0.6)):
        q[k] = np.where(rng.random(2000) < share, q[j], q[k])
    tried = list(candidates(q))
    assert tried[0] == ((0, 3), (0, 3, 4))
    assert tried[1][0] == (1, 2)
    assert tried[1][1][:2] == (1, 2) and tried[1][1][2] in (0, 3, 4)
    assert {pair for pair, _ in tried} == {(0, 3), (1, 2), (3, 4), (0, 4)}
    assert list(candidates(q[:1])) == []
    assert list(candidates(q[[0, 3]])) == [((0, 1), (0, 1))]


@pytest.mark.parametrize("members", [(0, 2), (1, 3, 4)])
def test_bounds_of_a_block_are_those_of_the_whole(members):
    """With all other factors fixed the bound of the whole differs from that of the block by a constant."""
    X, _, truth = sums()
    rng = np.random.default_rng(1)
    ascent = ascent_of(X, np.clip(truth + 0.3 * rng.normal(size=truth.shape), 0.05, 0.95))
    q, c = ascent.activations, ascent.components
    block = block_of(c, ascent.X, q, members)
    others = [k for k in range(K) if k not in members]
    np.testing.assert_allclose(block.X, X - q[others].T @ c.means[others])

    def whole(activations, means, variances):
        every, spread = c.means.copy(), c.variances.copy()
        every[list(members)], spread[list(members)] = means, variances
        statistics = ActivationStatistics.of(X, activations)
        return replace(c, means=every, variances=spread).bound(statistics)

    differences = []
    for _ in range(3):
        changed = q.copy()
        changed[list(members)] = rng.random((len(members), len(X)))
        own, statistics = block.settings.start(block.X, changed[list(members)])
        differences.append(own.bound(statistics) - whole(changed, own.means, own.variances))
    own, statistics = block.settings.start(block.X, q[list(members)])
    assert block.bound == own.bound(statistics)
    differences.append(block.bound - whole(q, own.means, own.variances))
    np.testing.assert_allclose(differences, differences[0], rtol=1e-9)


def test_the_fit_of_a_block_finds_the_better_one():
    X, _, truth = sums()
    mixed = truth.copy()
    mixed[0] = np.maximum(truth[0], truth[1])
    worse = ascent_of(X, np.clip(mixed, 0.02, 0.98), passes=1)
    block = block_of(worse.components, worse.X, worse.activations, (0, 1))
    found = fit_block(block, truth[[0, 1]])
    assert found.bound > block.bound + 0.1 * len(X)
    changed = worse.activations.copy()
    changed[[0, 1]] = found.activations
    assert bound_of(worse, changed) > bound_of(worse, worse.activations) + 0.1 * len(X)


MIXED = {
    "or": lambda a, b: (np.maximum(a, b), b),
    "or and": lambda a, b: (np.maximum(a, b), a * b),
    "nested": lambda a, b: (np.maximum(a, b), a),
}


@pytest.mark.parametrize("mixed", list(MIXED))
@pytest.mark.parametrize("n", [600, 2 * MOST_ROWS + 10])
def test_proposals_part_components_that_are_mixed_up(mixed, n):
    X, _, truth = sums(n=n)
    start = truth.copy()
    start[0], start[1] = MIXED[mixed](truth[0], truth[1])
    ascent = ascent_of(X, np.clip(start, 0.02, 0.98), passes=1)
    right = ascent_of(X, np.clip(truth, 0.02, 0.98), passes=30).bound
    rng, before = np.random.default_rng(0), ascent.bound
    assert before < right - 0.1 * n
    # The first proposal is better; several lead to the true components.
    first = ascent.trial(next(proposals(ascent, rng)))
    first.climb(30, 1e-6)
    assert first.bound > before + 0.1 * n
    assert improve_blocks(ascent, rng).bound > right - 1e-3 * n
    assert ascent.bound == before


def sum_and_difference(n=1000, seed=0):
    """Three similar components, and activations in which coordinate ascent ends although two are mixed up."""
    rng = np.random.default_rng(seed)
    components = np.ones((3, 30)) + 0.35 * rng.normal(size=(3, 30))
    truth = (rng.random((3, n)) < 0.3).astype(float)
    X = truth.T @ components + 0.4 * rng.normal(size=(n, 30))
    start = np.stack([np.maximum(truth[0], truth[1]), truth[0], truth[2]])
    return X, np.clip(truth, 0.02, 0.98), np.clip(start, 0.02, 0.98)


def test_sums_and_differences_lead_out_of_an_optimum():
    """One component where either of two is active, the other the difference."""
    X, truth, start = sum_and_difference()
    right, ascent = ascent_of(X, truth, passes=60), ascent_of(X, start, passes=60)
    ascent.search()
    rng = np.random.default_rng(0)
    assert ascent.bound < right.bound - 0.1 * len(X)
    assert improve_blocks(ascent, rng).bound > right.bound - 0.01 * len(X)


def test_a_proposal_that_lowers_the_bound_is_rejected(monkeypatch):
    X, truth, start = sum_and_difference()
    ascent, rng = ascent_of(X, truth, passes=60), np.random.default_rng(0)
    before = ascent.bound
    worse = ascent.trial(start)
    worse.climb(60, 1e-4)
    assert worse.bound < before - 0.1 * len(X)
    monkeypatch.setattr(factorial_search, "proposals", lambda *_: iter([start]))
    assert improve_blocks(ascent, rng) is ascent
    assert ascent.bound == before


def test_the_span_has_the_sums_of_components():
    X, components, _ = sums(n_features=40, noise=0.02)
    span = span_of(X, K)
    np.testing.assert_allclose(span.T @ span, np.eye(K), atol=1e-9)
    np.testing.assert_allclose(components @ span @ span.T, components, atol=0.02)
    assert span_of(X[:, : 2 * K], K) is None


@pytest.mark.parametrize("n", [600, MOST_ROWS + 10])
def test_proposals_of_many_features_are_made_in_the_span(n):
    X, _, truth = sums(n=n, n_features=40)
    start = truth.copy()
    start[0] = np.maximum(truth[0], truth[1])
    ascent = ascent_of(X, np.clip(start, 0.02, 0.98), passes=3)
    right = ascent_of(X, np.clip(truth, 0.02, 0.98), passes=30).bound
    assert ascent.bound < right - 0.1 * n
    assert improve_blocks(ascent, np.random.default_rng(0)).bound > right - 1e-3 * n


def test_starts_are_activations_given_sums_and_differences():
    """Of the two directions and signs, one start has each true component in place."""
    X, components, truth = sums(noise=0.05)
    mixed = components.copy()
    mixed[1] = components[0] + components[1]
    ascent = ascent_of(X, np.clip(truth, 0.02, 0.98), passes=20)
    block = block_of(replace(ascent.components, means=mixed), X, truth, (0, 1, 2))
    block.components.means = mixed[:3]
    starts = list(starts_of(block, (0, 1), np.random.default_rng(0)))[1:]
    assert len(starts) == 4
    right = [((start > 0.5) == truth[:3]).mean() for start in starts]
    assert max(right) > 0.95 > sorted(right)[-2]


def test_a_fit_that_is_right_has_few_candidates():
    X, _, truth = sums(n=3000)
    assert len(list(candidates(truth))) < 3
    rng = np.random.default_rng(0)
    ascent = ascent_of(X, np.clip(truth, 0.02, 0.98), passes=30)
    assert improve_blocks(ascent, rng) is ascent
