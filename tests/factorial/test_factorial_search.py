"""The fit that searches: bounds that never fall, its budget of passes, and how it ends."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest

from sklearn_subanneal.factorial import factorial_search
from sklearn_subanneal.factorial.factorial_fit import fit_factorial
from sklearn_subanneal.factorial.factorial_search import search_factorial
from sklearn_subanneal.factorial.factorial_settings import FactorialSettings, temperature_factory
from sklearn_subanneal.variational import RobbinsMonro

# Similar components: from a random start the fit ends in a poor optimum.
SETTINGS = FactorialSettings(6, search=True)


def similar(n=500, n_features=30, dtype=np.float64):
    rng = np.random.default_rng(0)
    components = rng.normal(size=n_features) + 0.8 * rng.normal(size=(6, n_features))
    active = rng.random((n, 6)) < 0.3
    return (active @ components + 0.5 * rng.normal(size=(n, n_features))).astype(dtype), components


def fit(X, settings=SETTINGS, max_iter=500, tol=1e-5, tempering="annealed", seed=0, **more):
    make = temperature_factory(tempering, None, None)
    return search_factorial(X, settings, make, np.random.default_rng(seed), max_iter=max_iter, tol=tol, **more)


@pytest.mark.parametrize("n_features", [10, 30])
@pytest.mark.parametrize("settings", [SETTINGS, FactorialSettings(6, 0.3, 0.25, 1.0, search=True)])
def test_the_bound_never_falls(n_features, settings):
    """Neither by passes nor by searches of rows, nor by blocks."""
    X, _ = similar(n_features=n_features)
    fitted = fit(X, settings)
    cold = fitted.trace["bound"][fitted.trace["inverse_temperature"] == 1.0]
    assert np.diff(cold).min() > -1e-10 * abs(cold[-1])
    assert fitted.bound >= cold[-1] * len(X) - 1e-9 * abs(fitted.bound)
    assert fitted.settled
    # The result is that of its activations.
    c, statistics = fitted.components, fitted.statistics
    assert c.means.shape == (6, n_features)
    assert c.bound(statistics) == fitted.bound
    np.testing.assert_allclose(statistics.sums, fitted.activations @ X)


def test_the_search_ends_in_a_better_optimum():
    X, truth = similar()
    plain = fit_factorial(
        X, SETTINGS, temperature_factory("annealed", None, None), np.random.default_rng(0), max_iter=200, tol=1e-5
    )
    fitted = fit(X)
    assert fitted.bound > plain.bound + 0.5 * len(X)
    means = fitted.components.means
    cosines = means @ truth.T / np.linalg.norm(means, axis=1)[:, None] / np.linalg.norm(truth, axis=1)
    assert (cosines.max(axis=0) > 0.99).all()


@pytest.mark.parametrize("max_iter", [1, 2, 7, 40])
def test_no_more_passes_than_allowed(max_iter):
    X, _ = similar()
    fitted = fit(X, max_iter=max_iter, tol=0.0)
    assert len(fitted.trace) <= max_iter
    assert fitted.trace["inverse_temperature"][-1] == 1.0
    if max_iter < 40:
        assert not fitted.settled


def test_told_of_each_pass_and_stopped():
    X, _ = similar()
    told = []

    def tell(record, components):
        told.append((record["sweep"], record["bound"], components.means.shape))
        return len(told) == 60

    fitted = fit(X, tell=tell)
    assert len(fitted.trace) == 60 and not fitted.settled
    assert [sweep for sweep, _, _ in told] == list(range(60))
    assert {shape for _, _, shape in told} == {(6, 30)}
    np.testing.assert_array_equal([bound for _, bound, _ in told], fitted.trace["bound"])


@pytest.mark.parametrize("tempering", ["annealed", "global", "none"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_temperings_and_types(tempering, dtype):
    X, truth = similar(dtype=dtype)
    fitted = fit(X, tempering=tempering)
    assert fitted.activations.dtype == dtype
    assert (fitted.trace["inverse_temperature"][0] < 1.0) == (tempering != "none")
    means = fitted.components.means
    cosines = means @ truth.T / np.linalg.norm(means, axis=1)[:, None] / np.linalg.norm(truth, axis=1)
    assert (cosines.max(axis=0) > 0.99).all()


def test_minibatches_start_it():
    X, _ = similar()
    fitted = fit(X, batch_size=100, step_size=RobbinsMonro(1.0, 0.7))
    assert fitted.bound == pytest.approx(fit(X).bound, abs=0.05 * len(X))


def test_the_same_seed_gives_the_same_bits():
    X, _ = similar(n=200)
    one, two, other = fit(X), fit(X), fit(X, seed=1)
    np.testing.assert_array_equal(one.components.means, two.components.means)
    assert (one.components.means != other.components.means).any()


def noisy(ascent, generator, span):
    """Proposals of which most do not raise the bound."""
    for _ in range(4):
        noise = generator.normal(scale=0.5, size=ascent.activations.shape)
        yield np.clip(ascent.activations + noise, 0.01, 0.99).astype(ascent.X.dtype)


@pytest.mark.parametrize("dtype", [pytest.param(np.float32, marks=pytest.mark.slow), np.float64])
def test_resumed_from_every_kind_of_state(dtype, monkeypatch):
    """Where the stages begin and within them, in the first and in later trials of proposals."""
    monkeypatch.setattr(factorial_search, "proposals", noisy)
    X, _ = similar(n=200, n_features=8, dtype=dtype)
    states, whole = [], fit(X)
    fit(X, save=lambda state: states.append(deepcopy(state)))
    kinds = {(state["stage"], min(state.get("done", len(state["trace"])), 2)): state for state in states}
    assert {stage for stage, _ in kinds} == {"start", "rows", "sources", "rows of sources", "blocks", "last"}
    assert ("blocks", 2) in kinds
    for state in kinds.values():
        resumed = fit(X, seed=1, state=deepcopy(state))
        for name in resumed.trace.dtype.names[1:]:
            np.testing.assert_array_equal(resumed.trace[name], whole.trace[name])
        np.testing.assert_array_equal(resumed.components.means, whole.components.means)
        np.testing.assert_array_equal(resumed.activations, whole.activations)
        assert (resumed.bound, resumed.settled) == (whole.bound, whole.settled)
