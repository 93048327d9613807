"""Weights of chains: those that predict the left-out cells of training rows best."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

from sklearn_subanneal import CrossCat, CrossCatClassifier
from sklearn_subanneal.mixtures import Gibbs
from sklearn_subanneal.mixtures.stacking import stacking_weights, without_failed
from sklearn_subanneal.views.chain_weights import chain_weights
from sklearn_subanneal.views.views_predictive import ensemble_of_views, predict_column, score_seen_rows, without


def log_score(logs, whole, others):
    return np.sum(logsumexp(whole + logs[:, None], axis=0) - logsumexp(others + logs[:, None], axis=0))


def test_no_other_weights_score_higher():
    rng = np.random.default_rng(0)
    others = rng.normal(size=(3, 200))
    whole = others - rng.exponential(size=(3, 200)) * [[1.0], [1.5], [1.0]]
    weights = stacking_weights(whole, others, np.ones(200), 3.0)
    assert weights.sum() == pytest.approx(1.0) and (weights > 0.0).all()
    best = log_score(np.log(weights), whole, others)
    assert best > log_score(np.zeros(3), whole, others)
    for _ in range(50):
        # The prior of the log weights moves the optimum by less than this.
        assert log_score(np.log(weights) + 0.5 * rng.normal(size=3), whole, others) < best + 0.1


def test_equal_chains_have_equal_weights():
    rng = np.random.default_rng(1)
    row = rng.normal(size=(2, 1, 40))
    np.testing.assert_allclose(stacking_weights(*np.repeat(row, 3, axis=1), np.ones(40), 0.5), 1.0 / 3.0, atol=1e-6)


def test_chains_that_have_failed_are_left_out():
    found = without_failed(np.array([0.9, 0.03, 0.04, 0.03]))
    np.testing.assert_allclose(found, [1, 0, 0, 0], atol=1e-8)
    assert (found > 0.0).all() and found.sum() == pytest.approx(1.0)
    few = np.array([0.6, 0.34, 0.06])
    np.testing.assert_array_equal(without_failed(few), few / few.sum())
    # Of many chains that are about as good, none has failed.
    many = np.linspace(1.0, 2.0, 32) / 48.0
    np.testing.assert_allclose(without_failed(many), many)


def test_a_density_of_zero_does_no_harm():
    """Of a row that no chain can explain, and of one that a single chain cannot."""
    better = np.log([[0.8] * 50, [0.5] * 50])
    clean = stacking_weights(better, np.zeros((2, 50)), np.ones(50), 0.5)
    hopeless = np.column_stack([better, [-np.inf, -np.inf]])
    np.testing.assert_allclose(stacking_weights(hopeless, np.zeros((2, 51)), np.ones(51), 0.5), clean, atol=1e-3)
    failing = np.column_stack([better, [-np.inf, 0.0]])
    weights = stacking_weights(failing, np.zeros((2, 51)), np.ones(51), 0.5)
    assert np.isfinite(weights).all() and weights[0] < clean[0]


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(2)
    group = rng.integers(0, 2, 80)
    X = np.column_stack([4.0 * group + rng.normal(size=80), rng.normal(size=80), group])
    X[::9, 0] = np.nan
    model = CrossCat(feature_types={2: "boolean"}, n_chains=3, n_draws=4, random_state=0).fit(X)
    return model, model.typed_columns(X)


def test_densities_are_those_of_novelty(fitted):
    model, arrays = fitted
    seen = model._seen_rows(arrays)
    whole, others = np.empty((2, 3, 80))
    for chain, draws in enumerate(model._draws):
        own = replace(seen, labels=seen.labels[4 * chain : 4 * chain + 4])
        whole[chain] = score_seen_rows(model._models, draws, own, arrays, arrays)
        others[chain] = score_seen_rows(model._models, draws, own, arrays, without(arrays, [2]))
    # Densities in the units of the data differ by the Jacobian of the reals, the same with and without the last column.
    counts = np.arange(80) % 3
    for column, given, deviation in ((2, others, 3.0), (None, np.zeros((3, 80)), 0.5)):
        wanted = stacking_weights(whole, given, counts, deviation)
        found = chain_weights(model._models, model._draws, seen, arrays, column, counts)
        np.testing.assert_allclose(found, wanted, atol=1e-5)


def test_a_column_that_will_be_missing_is_no_evidence(fitted):
    """Though the draws have seen it: they are weighted by the density of whole rows."""
    model, arrays = fitted
    seen, asked = model._seen_rows(arrays), without(arrays, [0])
    whole, others = np.empty((2, 3, 80))
    for chain, draws in enumerate(model._draws):
        own = replace(seen, labels=seen.labels[4 * chain : 4 * chain + 4])
        whole[chain] = score_seen_rows(model._models, draws, own, arrays, asked)
        others[chain] = score_seen_rows(model._models, draws, own, arrays, without(asked, [2]))
    counts = np.arange(80) % 3
    found = chain_weights(model._models, model._draws, seen, arrays, 2, counts, [0])
    np.testing.assert_allclose(found, stacking_weights(whole, others, counts, 3.0), atol=1e-5)
    assert np.abs(found - chain_weights(model._models, model._draws, seen, arrays, 2, counts)).max() > 1e-3


def test_weights_of_draws_are_multiplied_by_the_density_of_the_other_cells(fitted):
    model, arrays = fitted
    weights = np.repeat([0.5, 2.0, 0.5], 4)
    draws = [replace(draw, weight=weight) for draw, weight in zip(model._flat_draws(), weights, strict=True)]
    probabilities, _ = ensemble_of_views(model._models, draws).predict(without(arrays, [2]), 2)
    rest, numerator, denominator = without(arrays, [2]), 0.0, 0.0
    for weight, draw in zip(weights, model._flat_draws(), strict=True):
        one, _ = predict_column(ensemble_of_views(model._models, [draw]), arrays, 2)
        share = weight * np.exp(ensemble_of_views(model._models, [replace(draw, weight=1.0)]).score(rest))
        numerator, denominator = numerator + share[:, None] * one, denominator + share
    np.testing.assert_allclose(probabilities, numerator / denominator[:, None], rtol=1e-6)


@pytest.mark.parametrize("regression", [False, True])
def test_a_chain_that_does_not_know_the_target_has_little_weight(regression):
    rng = np.random.default_rng(3)
    x = rng.normal(size=200)
    y = x + 0.1 * rng.normal(size=200) if regression else (x > 0.0).astype(int)
    X = np.column_stack([x, rng.normal(size=200), y])
    types = ["real", "real", "real" if regression else "categorical"]
    # Without moves of columns each stays in a view by itself.
    models = [
        CrossCat(feature_types=types, n_chains=1, n_draws=3, random_state=0, **settings).fit(X)
        for settings in ({"column_start": "together"}, {"column_start": "separate", "moves": [Gibbs()]})
    ]
    arrays = models[0].typed_columns(X)
    one, two = (model._seen_rows(arrays) for model in models)
    seen = replace(one, labels=[*one.labels, *two.labels])
    draws = [model._draws[0] for model in models]
    knows, does_not = chain_weights(models[0]._models, draws, seen, arrays, 2, np.ones(200))
    assert knows > 0.95 and knows + does_not == pytest.approx(1.0)


@pytest.mark.parametrize("settings", [{"n_chains": 1}, {"n_chains": 3}])
def test_weights_of_a_classifier(settings):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 2))
    model = CrossCatClassifier(CrossCat(n_draws=2, **settings), random_state=0).fit(X, X[:, 0] > 0.0)
    assert model.chain_weights_.shape == (settings["n_chains"],)
    # In the pool, what the chains say is multiplied: the weights need not have the sum 1.
    assert (model.chain_weights_ > 0.0).all()
    # Without weights, predictions are those of CrossCat.
    joint = np.column_stack([X, np.zeros(60)])
    model.chain_weights_ = None
    np.testing.assert_allclose(model.predict_proba(X), model.crosscat_.predict_column_proba(2, joint), rtol=1e-12)
