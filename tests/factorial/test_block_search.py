"""Blocks of components: bounds against those of the whole fit, signs of mixed-up components, what proposals repair."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sklearn_subanneal.factorial import block_search
from sklearn_subanneal.factorial.ascent import Ascent
from sklearn_subanneal.factorial.block_search import (
    MOST_ROWS,
    BlockSearch,
    block_of,
    candidate_blocks,
    fit_block,
    grown,
    residual_of,
)
from sklearn_subanneal.factorial.component_dependence import correlations, interactions, ranked_pairs
from sklearn_subanneal.factorial.factorial_search import improve_blocks
from sklearn_subanneal.factorial.factorial_settings import FactorialSettings
from sklearn_subanneal.factorial.pass_trace import PassTrace
from sklearn_subanneal.factorial.row_span import Rows

K, D = 5, 9


def sums(n=600, seed=0, n_components=K, n_features=D, noise=0.2):
    rng = np.random.default_rng(seed)
    active = rng.random((n, n_components)) < 0.3
    components = rng.normal(size=(n_components, n_features))
    return active @ components + noise * rng.normal(size=(n, n_features)), components, active.T.astype(float)


def ascent_of(X, activations, passes=3):
    out = Ascent(Rows.of(X), FactorialSettings(len(activations)), activations, 2, PassTrace(1000))
    out.climb(passes, 0.0)
    return out


def bound_of(ascent, activations):
    """The bound with these activations, the optimal means and the parameters of the ascent."""
    c = ascent.components
    settings = FactorialSettings(len(activations), c.activation_probability, c.noise_variance, c.component_variance)
    own, statistics = settings.start(ascent.rows, activations)
    return own.bound(statistics)


# --- Signs of mixed-up components -----------------------------------------------------------------------------------


def test_correlations_equal_those_of_numpy():
    q = np.random.default_rng(0).random((4, 50)).astype(np.float32)
    expected = np.abs(np.corrcoef(q)) - np.eye(4)
    np.testing.assert_allclose(correlations(q), expected, atol=1e-6)
    q[2] = 0.7
    assert np.isfinite(correlations(q)).all()


def test_interactions_equal_loops():
    rng = np.random.default_rng(0)
    q, residual = rng.random((4, 50)), rng.normal(size=(50, 3))
    centered = q - q.mean(axis=1, keepdims=True)
    for j in range(4):
        for k in range(4):
            product = centered[j] * centered[k]
            product = product - product.mean()
            squares = [(product @ residual[:, d]) ** 2 for d in range(3)]
            expected = 0.0 if j == k else np.mean(squares) / (50 * product.var() * residual.var())
            assert interactions(residual, q)[j, k] == pytest.approx(expected, abs=1e-12)
    assert np.isfinite(interactions(0.0 * residual, q)).all()


def test_interactions_show_what_is_active_together():
    """Two components of which one is active where either of the true ones is: the others have interactions near 1."""
    X, _, truth = sums(n=4000)
    either = np.maximum(truth[0], truth[1])
    ascent = ascent_of(X, np.stack([either, *truth[1:]]), passes=1)
    residual = X - ascent.activations.T @ ascent.components.means
    strength = interactions(residual, np.stack([either, *truth[1:]]))
    assert ranked_pairs(strength, 3.0)[0] == (0, 1)
    right = interactions(X - truth.T @ np.linalg.lstsq(truth.T, X, rcond=None)[0], truth)
    assert 0.5 < right[np.triu_indices(K, 1)].mean() < 1.5


def test_pairs_are_ranked():
    strength = np.array([[0.0, 2.0, 5.0], [2.0, 0.0, 1.0], [5.0, 1.0, 0.0]])
    assert ranked_pairs(strength, 1.0) == [(0, 2), (0, 1)]
    assert ranked_pairs(strength, 9.0) == []


# --- Blocks -------------------------------------------------------------------------------------------------------


def test_blocks_grow_by_the_strongest_tie():
    tie = np.zeros((5, 5))
    for j, k, value in ((0, 3, 9.0), (3, 4, 5.0), (0, 1, 4.0), (1, 2, 8.0)):
        tie[j, k] = tie[k, j] = value
    assert list(grown(tie, (0, 3), (2, 3, 4, 6))) == [(0, 3), (0, 3, 4), (0, 1, 3, 4)]


@pytest.mark.parametrize("members", [(0, 2), (1, 3, 4)])
def test_bounds_of_a_block_are_those_of_the_whole(members):
    """With all other factors fixed the bound of the whole differs from that of the block by a constant."""
    X, _, truth = sums()
    rng = np.random.default_rng(1)
    ascent = ascent_of(X, np.clip(truth + 0.3 * rng.normal(size=truth.shape), 0.05, 0.95))
    q, c = ascent.activations, ascent.components
    block = block_of(c, ascent.rows, q, members)
    others = [k for k in range(K) if k not in members]
    np.testing.assert_allclose(block.rows.values, X - q[others].T @ c.means[others])

    def whole(activations, means, variances):
        every, spread = c.means.copy(), c.variances.copy()
        every[list(members)], spread[list(members)] = means, variances
        statistics = ascent.rows.statistics(activations)
        return replace(c, means=every, variances=spread).bound(statistics)

    differences = []
    for _ in range(3):
        changed = q.copy()
        changed[list(members)] = rng.random((len(members), len(X)))
        own, statistics = block.settings.start(block.rows, changed[list(members)])
        differences.append(own.bound(statistics) - whole(changed, own.means, own.variances))
    own, statistics = block.settings.start(block.rows, q[list(members)])
    assert block.bound == own.bound(statistics)
    differences.append(block.bound - whole(q, own.means, own.variances))
    np.testing.assert_allclose(differences, differences[0], rtol=1e-9)


def test_a_block_is_only_replaced_by_a_better_one():
    X, _, truth = sums()
    ascent = ascent_of(X, np.clip(truth, 0.05, 0.95), passes=50)
    block = block_of(ascent.components, ascent.rows, ascent.activations, (0, 1))
    assert fit_block(block, ascent.activations[[0, 1]]) is None
    assert fit_block(block, np.full((2, len(X)), 0.5)) is None
    mixed = ascent.activations.copy()
    mixed[0] = np.maximum(truth[0], truth[1])
    worse = ascent_of(X, mixed, passes=1)
    found = fit_block(block_of(worse.components, worse.rows, worse.activations, (0, 1)), truth[[0, 1]])
    assert found is not None
    changed = worse.activations.copy()
    changed[[0, 1]] = found[1]
    assert bound_of(worse, changed) > bound_of(worse, worse.activations)


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
    search, bounds = BlockSearch(np.random.default_rng(0)), [ascent.bound]
    for proposal in search.proposals(ascent):
        if proposal is not None:
            trial = ascent.trial(proposal)
            trial.climb(30, 1e-6)
            bounds.append(trial.bound)
            if trial.bound > right - 1e-3 * n:
                break
    assert max(bounds) > right - 1e-3 * n
    assert ascent.bound == bounds[0] < right - 0.1 * n


def sum_and_difference(n=1000, seed=0):
    """Three similar components, and activations in which coordinate ascent ends although two are mixed up."""
    rng = np.random.default_rng(seed)
    components = np.ones((3, 30)) + 0.35 * rng.normal(size=(3, 30))
    truth = (rng.random((3, n)) < 0.3).astype(float)
    X = truth.T @ components + 0.4 * rng.normal(size=(n, 30))
    start = np.stack([np.maximum(truth[0], truth[1]), truth[0], truth[2]])
    return X, np.clip(truth, 0.02, 0.98), np.clip(start, 0.02, 0.98)


@pytest.mark.parametrize("ica", [True, False])
def test_sums_and_differences_lead_out_of_an_optimum(ica, monkeypatch):
    """One component where either of two is active, the other the difference, also without independent components."""
    X, truth, start = sum_and_difference()
    right, ascent = ascent_of(X, truth, passes=60), ascent_of(X, start, passes=60)
    ascent.search()
    assert ascent.bound < right.bound - 0.1 * len(X)
    if not ica:
        monkeypatch.setattr(block_search, "independent_activations", lambda values, n, *_: np.full((n, len(X)), 0.5))
    assert improve_blocks(ascent, np.random.default_rng(0)).bound > right.bound - 0.01 * len(X)


def test_no_proposal_is_made_twice():
    X, _, truth = sums()
    start = truth.copy()
    start[0] = np.maximum(truth[0], truth[1])
    ascent = ascent_of(X, np.clip(start, 0.02, 0.98), passes=1)
    search = BlockSearch(np.random.default_rng(0))
    n_first = len(list(search.proposals(ascent)))
    assert n_first > 3
    assert list(search.proposals(ascent)) == []
    search.forget()
    assert len(list(search.proposals(ascent))) == n_first


def test_a_fit_that_is_right_has_few_candidates():
    X, _, truth = sums(n=3000)
    ascent = ascent_of(X, np.clip(truth, 0.02, 0.98), passes=30)
    assert len(list(candidate_blocks(ascent.rows, ascent.activations, ascent.components, np.zeros(0, int)))) < 10
    dead = list(candidate_blocks(ascent.rows, ascent.activations, ascent.components, np.array([2])))
    assert dead[0] == ((2,), None)


def test_residuals_stay_in_the_span():
    X, _, truth = sums(n_features=60)
    rows = Rows.in_span(X, K)
    components, _ = FactorialSettings(K).start(rows, truth)
    rest = residual_of(rows, truth, components, (0, 1))
    lifted = rows.lift(components)
    expected = (X - truth[2:].T @ lifted.means[2:]) @ rows.basis.T
    np.testing.assert_allclose(rest.values, expected, atol=1e-9)
    assert rest.n_features == 60
