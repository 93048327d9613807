"""Whether VariationalTemperingFMM, by default, finds all components of planted sums, and says if it has too many."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.exceptions import ConvergenceWarning
from support.sums import GENERATORS, planted_sums

from sklearn_subanneal import VariationalTemperingFMM
from sklearn_subanneal.annealing.runner import spawn_generators
from sklearn_subanneal.factorial.factorial_fit import fit_factorial
from sklearn_subanneal.factorial.factorial_settings import FactorialSettings, temperature_factory


def n_found(components, truth):
    """True components with a fitted one of their own whose cosine is above 0.95."""
    lengths = np.linalg.norm(components, axis=1)[:, None] * np.linalg.norm(truth, axis=1)
    alike = components @ truth.T / np.maximum(lengths, 1e-12) > 0.95
    return int(alike[linear_sum_assignment(~alike)].sum())


# Of twenty that overlap, or with more components than features, all are found in most seeds.
HARDEST = ("many blobs", "more than features")


def all_found(name, seed, **parameters):
    X, truth, _ = planted_sums(name, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        model = VariationalTemperingFMM(len(truth), random_state=seed, **parameters).fit(X)
    assert model.converged_
    assert n_found(model.components_, truth) == len(truth)


@pytest.mark.parametrize("name", ["bars", "blobs", "similar", "unequal"])
def test_all_components_are_found(name):
    all_found(name, 0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", [name for name in GENERATORS if name not in HARDEST])
def test_all_components_are_found_from_every_seed(name, seed):
    all_found(name, seed)


@pytest.mark.slow
@pytest.mark.parametrize("name", HARDEST)
def test_all_components_of_hard_tables_are_found_from_most_seeds(name):
    n_all = 0
    for seed in range(10):
        X, truth, _ = planted_sums(name, seed)
        model = VariationalTemperingFMM(len(truth), random_state=seed).fit(X)
        n_all += n_found(model.components_, truth) == len(truth)
    assert n_all >= 8


@pytest.mark.slow
@pytest.mark.parametrize("parameters", [{"tempering": "global"}, {"tempering": "none"}, {"batch_size": 200}])
@pytest.mark.parametrize("name", ["bars", "similar"])
def test_all_components_are_found_whatever_the_start(name, parameters):
    all_found(name, 1, **parameters)


def test_a_random_start_alone_does_not_find_them():
    X, truth, _ = planted_sums("bars", 0)
    default = VariationalTemperingFMM(len(truth), random_state=0).fit(X)
    random = VariationalTemperingFMM(len(truth), init="random", random_state=0).fit(X)
    assert n_found(random.components_, truth) < len(truth) - 3
    assert default.score(X) > random.score(X) + 1.0


@pytest.mark.parametrize("name", ["bars", pytest.param("similar", marks=pytest.mark.slow)])
def test_superfluous_components_are_counted(name):
    X, truth, _ = planted_sums(name, 0)
    with pytest.warns(ConvergenceWarning, match=f"Of {len(truth) + 3} components, 3 are dead .* and 0 doubled"):
        model = VariationalTemperingFMM(len(truth) + 3, random_state=0).fit(X)
    assert not model.converged_
    assert n_found(model.components_, truth) == len(truth)


def test_new_rows_are_searched():
    """Activations of held-out rows are right where coordinate ascent from the prior ends in a poor optimum."""
    X, truth, active = planted_sums("similar", 0)
    model = VariationalTemperingFMM(len(truth), random_state=0).fit(X[:1000])
    order = (model.components_ @ truth.T / np.linalg.norm(truth, axis=1)).argmax(axis=0)
    searched = (model.predict(X[1000:])[:, order] == active[1000:]).all(axis=1)
    ascended = (model._components.infer(X[1000:]).T[:, order] > 0.5) == active[1000:]
    assert searched.mean() > 0.97
    assert ascended.all(axis=1).mean() < searched.mean() - 0.01


@pytest.mark.parametrize("tempering", ["annealed", "global", "none"])
def test_random_init_is_the_published_fit(tempering):
    X, _, _ = planted_sums("unequal", 0)
    model = VariationalTemperingFMM(5, init="random", tempering=tempering, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X)
    generator = next(iter(spawn_generators(0, 1)))
    published = fit_factorial(
        X,
        FactorialSettings(5),
        temperature_factory(tempering, None, None),
        generator,
        max_iter=200,
        tol=1e-5,
    )
    np.testing.assert_array_equal(model.components_, published.components.means)
    np.testing.assert_array_equal(model.bounds_, published.trace["bound"])
    np.testing.assert_array_equal(model.transform(X), published.components.infer(X).T)


def test_few_passes_do_not_converge():
    X, truth, _ = planted_sums("unequal", 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert not VariationalTemperingFMM(len(truth), max_iter=5, random_state=0).fit(X).converged_
        assert not VariationalTemperingFMM(len(truth), max_iter=5, init="random", random_state=0).fit(X).converged_
