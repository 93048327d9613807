"""Draws of unequal weights: whole multiples of a weight are as many equal draws, in all averages over draws."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sklearn_subanneal import CrossCat
from sklearn_subanneal.mixtures import Gibbs
from sklearn_subanneal.mixtures.stacking import weighted
from sklearn_subanneal.posterior import co_clustering, expected_loss, representative_draw
from sklearn_subanneal.posterior.point_estimate import typical_draw
from sklearn_subanneal.views.information import mutual_information
from sklearn_subanneal.views.relatedness_matrix import relatedness_matrix
from sklearn_subanneal.views.views_predictive import (
    ensemble_of_views,
    left_out,
    predict_column,
    score_seen_rows,
    surprisal,
    without,
)

# How often each of three draws is repeated.
TIMES = np.array([1, 4, 3])


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 60)
    X = np.column_stack(
        [4.0 * group + rng.normal(size=60), rng.normal(size=60), group, rng.random(60) < 0.3 + group / 2]
    )
    X[::9, 0] = np.nan
    types = ["real", "real", "categorical", "boolean"]
    model = CrossCat(feature_types=types, n_chains=1, n_draws=3, thin=5, random_state=0).fit(X)
    draws, seen, arrays = model._flat_draws(), model._seen_rows(model.typed_columns(X)), model.typed_columns(X)
    heavy = [replace(draw, weight=weight) for draw, weight in zip(draws, TIMES / TIMES.mean(), strict=True)]
    many = [draw for draw, n in zip(draws, TIMES, strict=True) for _ in range(n)]
    repeated = replace(seen, labels=[labels for labels, n in zip(seen.labels, TIMES, strict=True) for _ in range(n)])
    return model._models, arrays, (heavy, seen), (many, repeated)


def densities(models, arrays, draws, seen):
    average = ensemble_of_views(models, draws)
    return average.score(arrays), average.score(without(arrays, [0, 2]))


def left_out_densities(models, arrays, draws, seen):
    return (score_seen_rows(models, draws, seen, arrays, without(arrays, [0])),)


def surprisals(models, arrays, draws, seen):
    return surprisal(models, draws, arrays), surprisal(models, draws, arrays, seen)


def masses(models, arrays, draws, seen):
    return (ensemble_of_views(models, draws).score_masses(arrays),)


def predictions(models, arrays, draws, seen):
    average = ensemble_of_views(models, draws)
    return predict_column(average, arrays, 0) + predict_column(average, arrays, 2)


def imputations(models, arrays, draws, seen):
    new, own = (
        ensemble_of_views(models, draws).impute(arrays),
        left_out(models, draws, seen, arrays).impute(arrays, True),
    )
    return new[0][0], new[1][0], own[0][0], own[1][0]


def information(models, arrays, draws, seen):
    generator = np.random.default_rng(0)
    exact = mutual_information(models, draws, [2], [3], n_samples=100, generator=generator)
    related = relatedness_matrix(models, draws, np.array([2, 3]), n_samples=100, generator=generator)
    return exact.value, related


@pytest.mark.parametrize(
    "answer", [densities, left_out_densities, surprisals, masses, predictions, imputations, information]
)
def test_a_weight_is_a_number_of_equal_draws(fitted, answer):
    models, arrays, heavy, many = fitted
    for one, other in zip(answer(models, arrays, *heavy), answer(models, arrays, *many), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-9)


def test_samples_are_of_draws_by_their_weights():
    draws = []
    for flag, weight in ((1.0, 1.5), (0.0, 0.5)):
        X = np.column_stack([np.tile([0.0, 1.0], 50), np.full(100, flag)])
        X[0, 1] = 1.0 - flag
        model = CrossCat(feature_types=["boolean", "boolean"], n_chains=1, n_draws=1, random_state=0).fit(X)
        draws.append(replace(model._flat_draws()[0], weight=weight))
    sample = ensemble_of_views(model._models, draws).sample(4000, np.random.default_rng(0))
    assert np.mean(sample[1] == 1) == pytest.approx(0.75, abs=0.04)


def test_partitions_count_by_the_weights_of_their_draws():
    labels = np.random.default_rng(1).integers(3, size=(1, 3, 12))
    many = np.repeat(labels, TIMES, axis=1)
    weights = TIMES[None] / 5.0
    np.testing.assert_allclose(co_clustering(labels, weights=weights), co_clustering(many), rtol=1e-12)
    # A pair that is always together, and one that never is, exactly.
    for seed in range(20):
        weights = np.random.default_rng(seed).random((1, 3))
        np.testing.assert_array_equal(co_clustering([[[0, 0, 1]] * 3], weights=weights)[0], [1.0, 1.0, 0.0])
    weights = TIMES[None] / 5.0
    for loss in ("vi", "binder", lambda a, b: float(np.mean(a != b))):
        one = expected_loss(labels[0], labels, loss, weights)
        np.testing.assert_allclose(one, expected_loss(labels[0], many, loss), rtol=1e-12, atol=1e-12)
    apart = np.array([[[0, 0, 1, 1], [0, 1, 0, 1], [0, 1, 1, 0]]])
    for draw in range(3):
        own = np.where(np.arange(3) == draw, 5.0, 1.0)
        assert representative_draw(apart, weights=own[None]) == (0, draw)
        assert typical_draw(apart[0][:, None], weights=own) == draw


def test_a_chain_that_is_stuck_counts_little(monkeypatch):
    """Two of four groups that two columns share: a chain that cannot join the columns predicts their rows badly."""
    rng = np.random.default_rng(2)
    group = rng.integers(0, 4, 200)
    X = 6.0 * group[:, None] + rng.normal(size=(200, 2))
    together = CrossCat(covariance_type="diag", column_start="together", n_chains=1, random_state=0).fit(X)
    apart = CrossCat(covariance_type="diag", moves=[Gibbs()], n_chains=1, random_state=0).fit(X)
    results = together._results + apart._results
    monkeypatch.setattr("sklearn_subanneal.estimators._enough_chains.run_chains", lambda *_: results)
    both = CrossCat(covariance_type="diag", n_chains=2, random_state=0).fit(X)
    assert both.chain_weights_[0] > 0.95 and both.chain_weights_.sum() == pytest.approx(1.0)
    assert both.dependence_[0, 1] == pytest.approx(both.chain_weights_[0])
    assert both.n_views_ == 1
    new = X[:20] + 0.1
    single = [model.score_samples(new) for model in (together, apart)]
    np.testing.assert_allclose(both.score_samples(new), np.log(both.chain_weights_ @ np.exp(single)), rtol=1e-9)
    pair = both.co_clustering([0, 1])[0, 1]
    each = [model.co_clustering([0, 1])[0, 1] for model in (together, apart)]
    assert pair == pytest.approx(both.chain_weights_ @ each)
    # The draws of the chains themselves, which a warm start continues, have no weights.
    assert all(draw.weight == 1.0 for result in both._results for draw in result.draws)
    np.testing.assert_allclose([draw.weight for draw in both._flat_draws()], np.repeat(2 * both.chain_weights_, 10))


def test_weights_of_chains_are_those_of_their_draws(fitted):
    _, _, (draws, _), _ = fitted
    chains = weighted([draws[:2], draws[1:]], np.array([0.25, 0.75]))
    assert [[draw.weight for draw in own] for own in chains] == [[0.5, 0.5], [1.5, 1.5]]
