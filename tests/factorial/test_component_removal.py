"""Components that a fit could do without, against fits that do without."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sklearn_subanneal.factorial.activation_statistics import ActivationStatistics
from sklearn_subanneal.factorial.component_removal import dead_components, removal_gains
from sklearn_subanneal.factorial.doubled_components import doubled_components
from sklearn_subanneal.factorial.factorial_fit import FactorialFit
from sklearn_subanneal.factorial.factorial_settings import FactorialSettings


def sums(n=800, n_components=3, seed=0):
    rng = np.random.default_rng(seed)
    active = rng.random((n_components, n)) < 0.3
    return active.T @ rng.normal(size=(n_components, 8)) + 0.3 * rng.normal(size=(n, 8)), active.astype(float)


def fit_of(X, activations, settings, passes=20):
    c, statistics = settings.start(X, activations)
    for _ in range(passes):
        settings.improve(c, statistics, 1.0)
        activations = c.activate(X, activations, 1.0, 2)
        statistics = ActivationStatistics.of(X, activations)
    settings.improve(c, statistics, 1.0)
    return FactorialFit(c, statistics, c.bound(statistics), np.zeros(0), activations, True)


@pytest.mark.parametrize(
    "settings", [FactorialSettings(3), FactorialSettings(3, 0.3, 0.1, 0.5)], ids=["learned", "given"]
)
def test_gains_are_those_of_fits_without(settings):
    X, truth = sums()
    fitted = fit_of(X, np.clip(truth, 0.1, 0.9), settings, passes=3)
    means = fitted.components.means.copy()
    gains = removal_gains(settings, fitted.components, fitted.statistics, fitted.activations)
    best = replace(fitted.components, means=means.copy())
    settings.improve(best, fitted.statistics, 1.0)
    for k in range(3):
        q = np.delete(fitted.activations, k, axis=0)
        without = replace(
            fitted.components, means=np.delete(means, k, axis=0), variances=np.delete(fitted.components.variances, k)
        )
        statistics = ActivationStatistics.of(X, q)
        settings.improve(without, statistics, 1.0)
        assert gains[k] == pytest.approx(without.bound(statistics) - best.bound(fitted.statistics), rel=1e-9)
    assert gains.max() < 0.0
    np.testing.assert_array_equal(fitted.components.means, means)


def test_a_superfluous_component_is_dead():
    X, truth = sums()
    settings = FactorialSettings(5)
    noise = np.random.default_rng(1).uniform(0.3, 0.7, (2, len(X)))
    fitted = fit_of(X, np.concatenate([np.clip(truth, 0.02, 0.98), noise]), settings, passes=100)
    dead = dead_components(settings, fitted.components, fitted.statistics, fitted.activations)
    np.testing.assert_array_equal(dead, [3, 4])
    one = fit_of(X, truth[:1], FactorialSettings(1))
    assert len(dead_components(FactorialSettings(1), one.components, one.statistics, one.activations)) == 0


def test_two_that_do_the_work_of_one_are_doubled():
    X, truth = sums()
    settings = FactorialSettings(4)
    first = truth[0] * (np.arange(len(X)) % 2)
    # Each in a part of the rows; and always together.
    for twins in ((first, truth[0] - first), (truth[0], truth[0])):
        q = np.clip(np.stack([twins[0], truth[1], truth[2], twins[1]]), 0.02, 0.98)
        assert doubled_components(X, fit_of(X, q, settings, passes=1)) == [(0, 3)]
    right = fit_of(X, np.clip(truth, 0.02, 0.98), FactorialSettings(3))
    assert doubled_components(X, right) == []


def test_two_similar_components_that_are_both_needed_are_not_doubled():
    rng = np.random.default_rng(0)
    active = rng.random((2, 1000)) < 0.3
    components = np.ones((2, 20)) + 0.2 * rng.normal(size=(2, 20))
    X = active.T @ components + 0.1 * rng.normal(size=(1000, 20))
    fitted = fit_of(X, np.clip(active.astype(float), 0.02, 0.98), FactorialSettings(2))
    cosine = np.prod(fitted.components.means, axis=0).sum() / np.prod(np.linalg.norm(fitted.components.means, axis=1))
    assert cosine > 0.95
    assert doubled_components(X, fitted) == []
