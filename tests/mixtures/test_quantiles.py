"""Quantiles of a real column given the others: against distribution functions, and integrals of the density."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from sklearn_subanneal import CrossCat
from sklearn_subanneal.annealing import SubsampleAnneal
from sklearn_subanneal.mixtures.quantiles import mixture_quantiles, predicted_quantiles
from sklearn_subanneal.views.views_predictive import ensemble_of_views, without

PROBABILITIES = np.array([0.001, 0.05, 0.3, 0.5, 0.99])


def random_mixtures(n_rows=20, n_components=30, seed=0):
    rng = np.random.default_rng(seed)
    shares = rng.dirichlet(np.full(n_components, 0.05), size=n_rows)
    location, scale = rng.normal(scale=5.0, size=shares.shape), rng.lognormal(sigma=1.5, size=shares.shape)
    return shares, location, scale, rng.choice([0.4, 1.0, 2.5, 60.0], size=shares.shape)


def test_quantiles_invert_the_distribution_function():
    mixtures = random_mixtures()
    found = mixture_quantiles(*mixtures, PROBABILITIES)
    for own, quantiles in zip(zip(*mixtures, strict=True), found, strict=True):
        shares, location, scale, free = own
        reached = [shares @ stats.t.cdf(x, free, location, scale) for x in quantiles]
        assert np.all(np.abs(reached - PROBABILITIES) < 2e-4 * np.minimum(PROBABILITIES, 1.0 - PROBABILITIES))


def test_components_far_apart():
    shares, location = np.array([[0.5, 0.5]]), np.array([[-1e6, 1e6]])
    scale, free = np.full((1, 2), 1e-3), np.full((1, 2), 30.0)
    found = mixture_quantiles(shares, location, scale, free, np.array([0.25, 0.75]))
    np.testing.assert_allclose(found, location, rtol=1e-9)


def test_one_component_has_the_quantiles_of_a_t():
    one = np.ones((1, 1))
    found = mixture_quantiles(one, 2.0 * one, 3.0 * one, 4.0 * one, PROBABILITIES)
    np.testing.assert_allclose(found[0], stats.t.ppf(PROBABILITIES, 4.0, 2.0, 3.0), rtol=1e-4)


def table(n_rows=80):
    rng = np.random.default_rng(5)
    z = rng.integers(2, size=n_rows)
    x = 3.0 * z + rng.normal(size=n_rows)
    y = np.where(z, x, -x) + 0.3 * rng.normal(size=n_rows)
    return np.column_stack([x, y, np.exp(0.5 * y + 0.2 * rng.normal(size=n_rows)), z])


@pytest.mark.parametrize("covariance_type", ["diag", "full"])
@pytest.mark.parametrize("target", [1, 2], ids=["real", "skewed"])
def test_quantiles_are_those_of_the_density(covariance_type, target):
    types = ["real", "real", "skewed", "boolean"]
    model = CrossCat(
        feature_types=types,
        covariance_type=covariance_type,
        schedule=SubsampleAnneal(passes=5),
        n_chains=2,
        n_draws=2,
        random_state=0,
    ).fit(table())
    rows = table()[:4]
    rows[1, 0] = rows[2, 3] = np.nan
    arrays = without(model._encode(rows), [target])
    weights = np.array([0.5, 1.5, 1.0, 1.0])
    draws = [replace(draw, weight=weight) for draw, weight in zip(model._flat_draws(), weights, strict=True)]
    average = ensemble_of_views(model._models, draws)
    probabilities = np.array([0.05, 0.5, 0.8])
    found = predicted_quantiles(average, arrays, target, probabilities)
    for row in range(len(rows)):
        one = [array[[row]] for array in arrays]

        def probability(end, one=one):
            # Down from the end, in steps that are small near it and, where values are positive, near 0.
            u = np.linspace(-16.0, 10.0, 2001) if target == 1 else np.linspace(-12.0, 3.7, 2001)
            below = end - np.exp(u) if target == 1 else end * np.exp(-np.exp(u))
            cells = [np.repeat(array, len(u)) for array in one]
            cells[target] = below
            slope = np.exp(u) if target == 1 else below * np.exp(u)
            return np.trapezoid(np.exp(average.score(cells) - average.score(one)) * slope, u)

        reached = [probability(quantile) for quantile in found[row]]
        np.testing.assert_allclose(reached, probabilities, atol=1e-4)
