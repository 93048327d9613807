"""Powers of columns in classification: the gradient, the optimum, and what they are for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from scipy.special import softmax

from sklearn_subanneal import CrossCat, CrossCatClassifier
from sklearn_subanneal.views import column_powers as module
from sklearn_subanneal.views.column_powers import _loss, column_powers, powered_probabilities
from sklearn_subanneal.views.views_predictive import ensemble_of_views, predict_column, without


def made_up_terms(rng):
    """Log shares, log densities of two or three parts, and of the class, of four draws of two chains."""
    terms = []
    for n_clusters in (3, 5, 2, 4):
        shares = np.log(rng.dirichlet(np.ones(n_clusters), 30))
        others = [(i, rng.normal(size=(30, n_clusters))) for i in rng.permutation(3)[: rng.integers(2, 4)]]
        terms.append((shares, others, -rng.exponential(size=(30, n_clusters))))
    return terms, np.array([0, 0, 0, 1])


def test_the_loss_is_that_of_the_formula_and_so_is_its_gradient():
    rng = np.random.default_rng(0)
    terms, owners = made_up_terms(rng)
    counts, theta = rng.integers(1, 4, 30), rng.normal(size=5)
    total = 0.0
    for i, count in enumerate(counts):
        probability = 0.0
        for c, weight in enumerate(softmax(theta[3:])):
            own = [terms[s] for s in np.flatnonzero(owners == c)]
            of_draws = []
            for shares, others, target in own:
                r = softmax(shares[i] + sum(np.exp(theta[j]) * logs[i] for j, logs in others))
                of_draws.append(r @ np.exp(target[i]))
            probability += weight * np.mean(of_draws)
        total += count * np.log(probability)
    penalty = 0.5 * (np.sum(theta[:3] ** 2) + np.sum(theta[3:] ** 2) / 0.25)
    found, slope = _loss(theta, terms, owners, 3, counts)
    assert found == pytest.approx((penalty - total) / counts.sum(), rel=1e-10)
    numeric = approx_fprime(theta, lambda x: _loss(x, terms, owners, 3, counts)[0], 1e-7)
    np.testing.assert_allclose(slope, numeric, atol=1e-6)


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(1)
    group = rng.integers(0, 3, 120)
    X = np.column_stack([4.0 * group + rng.normal(size=120), rng.normal(size=120), group > 0, group])
    X[::9, 0] = np.nan
    model = CrossCat(feature_types={2: "boolean", 3: "categorical"}, n_chains=2, n_draws=3, random_state=0).fit(X)
    return model, model.typed_columns(X)


def test_with_powers_of_one_it_is_the_mean_of_what_the_views_of_the_draws_predict(fitted):
    """Unlike the average of the joint density, by which draws also count by the density of all other cells."""
    model, arrays = fitted
    models, asked = model._models, without(arrays, [3])
    weights = np.array([0.5, 1.0, 1.5, 1.5, 1.0, 0.5])
    draws = [replace(draw, weight=weight) for draw, weight in zip(model._flat_draws(), weights, strict=True)]
    found = powered_probabilities(ensemble_of_views(models, draws), asked, 3, np.ones(4))
    single = [predict_column(models, [draw], arrays, 3)[0] for draw in draws]
    # The mass of unseen categories is left out after the mean, not before.
    np.testing.assert_allclose(found, np.average(single, axis=0, weights=weights), atol=5e-5)
    np.testing.assert_allclose(found.sum(axis=1), 1.0, atol=1e-9)


def test_a_power_of_zero_leaves_a_column_out(fitted):
    model, arrays = fitted
    average = ensemble_of_views(model._models, model._flat_draws())
    blind = powered_probabilities(average, without(arrays, [2, 3]), 3, np.ones(4))
    powers = np.array([1.0, 1.0, 0.0, 1.0])
    np.testing.assert_allclose(powered_probabilities(average, without(arrays, [3]), 3, powers), blind, atol=1e-9)


def test_chunks_of_rows_give_the_same(fitted, monkeypatch):
    model, arrays = fitted
    average, asked = ensemble_of_views(model._models, model._flat_draws()), without(arrays, [3])
    powers = np.array([0.3, 0.3, 2.0, 1.0])
    whole = powered_probabilities(average, asked, 3, powers)
    monkeypatch.setattr("sklearn_subanneal.mixtures.ensemble.CELLS_PER_CHUNK", 40)
    np.testing.assert_allclose(powered_probabilities(average, asked, 3, powers), whole, rtol=1e-9)


def test_each_row_is_left_out(fitted):
    """The loss that the powers minimise is that of classes that the other rows predict."""
    model, arrays = fitted
    seen, handed = model._seen_rows(arrays), []

    def keep(theta, terms, *rest):
        handed.append(terms)
        return _loss(theta, terms, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_loss", keep)
        powers, weights = column_powers(model._models, model._draws, seen, arrays, 3, np.ones(120))
    assert powers.shape == (4,) and powers[0] == powers[1] and (powers > 0.0).all()
    assert weights.sum() == pytest.approx(1.0)
    for (shares, _, own), draw, labels in zip(handed[0], model._flat_draws(), seen.labels, strict=True):
        view = int(draw.column_labels[3])
        parameters = draw.column_parameters(model._models)[3]
        alpha = np.broadcast_to(parameters["alpha"], 3)
        for row in range(0, 120, 7):
            others = np.flatnonzero((labels[view] == labels[view][row]) & (np.arange(120) != row))
            if others.size:
                same = np.sum(arrays[3][others] == arrays[3][row]) + alpha[arrays[3][row]]
                total = len(others) + alpha.sum() + parameters["unseen"]
                assert own[row, labels[view][row]] == pytest.approx(np.log(same / total), abs=1e-4)
            assert np.exp(shares[row]).sum() == pytest.approx(1.0)


def test_columns_that_say_nothing_of_the_class_count_less():
    """Many columns of equal content make clusters; the class depends on one other column."""
    rng = np.random.default_rng(2)
    hidden, told = rng.integers(0, 4, (2, 600))
    y = rng.random(600) < np.where(told % 2, 0.85, 0.15)
    X = np.column_stack([*(np.where(rng.random(600) < 0.8, hidden, rng.integers(0, 4, 600)) for _ in range(5)), told])
    inner = CrossCat(feature_types=["categorical"] * 6, column_start="together", n_chains=2, n_draws=4)
    model = CrossCatClassifier(inner, random_state=0).fit(X[:400], y[:400])
    assert list(model.column_powers_) == [f"x{j}" for j in range(6)]
    assert model.score(X[400:], y[400:]) > 0.8
