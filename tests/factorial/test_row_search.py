"""The search of the states of rows against enumeration, and its effect on bounds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from sklearn_subanneal.factorial import row_search
from sklearn_subanneal.factorial._row_search import improve_states
from sklearn_subanneal.factorial.component_factors import Components
from sklearn_subanneal.factorial.row_search import infer_rows, search_rows


def problem(n_components, n_rows=300, seed=0):
    """Log odds and interactions of components that overlap strongly in few dimensions."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(n_components, 3)) + 1.0
    pairs = 30.0 * means @ means.T
    alone = 30.0 * (rng.random((n_rows, n_components)) < 0.4) @ (means @ means.T) + rng.normal(size=(n_rows, 1))
    alone = alone - 0.5 * np.diagonal(pairs) - 0.8
    np.fill_diagonal(pairs, 0.0)
    return np.ascontiguousarray(alone), pairs


def objective(alone, pairs, states):
    z = states.astype(float)
    return (alone * z).sum(axis=1) - 0.5 * np.einsum("nj,jk,nk->n", z, pairs, z)


def best_of_all(alone, pairs):
    """The highest objective of each row, by enumeration."""
    states = np.array(list(product((0, 1), repeat=len(pairs))), float)
    own = 0.5 * np.einsum("sj,jk,sk->s", states, pairs, states)
    return (alone @ states.T - own).max(axis=1)


@pytest.mark.parametrize("n_components", [1, 2, 5, 9])
def test_gains_are_those_of_the_objective(n_components):
    alone, pairs = problem(n_components)
    states = (np.random.default_rng(1).random(alone.shape) < 0.5).astype(np.uint8)
    before = objective(alone, pairs, states)
    gains = improve_states(alone, pairs, states, 2 * n_components, min(3, n_components - 1))
    assert set(np.unique(states)) <= {0, 1}
    assert gains.min() >= 0.0 and gains.max() > 0.0
    np.testing.assert_allclose(objective(alone, pairs, states) - before, gains, atol=1e-9)


@pytest.mark.parametrize(("n_components", "alone_share", "share"), [(2, 1.0, 1.0), (5, 0.85, 0.99), (9, 0.5, 0.85)])
def test_walks_find_the_maximum_where_single_changes_do_not(n_components, alone_share, share):
    alone, pairs = problem(n_components)
    best = best_of_all(alone, pairs)

    def found(memories):
        states = np.zeros(alone.shape, np.uint8)
        for memory in memories:
            improve_states(alone, pairs, states, 4 * n_components, min(memory, n_components - 1))
        reached = objective(alone, pairs, states)
        assert (reached <= best + 1e-9).all()
        return (reached > best - 1e-9).mean()

    # Without memory, a step for the worse is undone by the next.
    assert found((0,) * 6) <= alone_share
    assert found(range(1, 7)) >= share


def test_states_at_the_maximum_are_left_alone():
    alone, pairs = problem(5)
    states = np.zeros(alone.shape, np.uint8)
    for memory in (1, 2, 3, 4) * 3:
        improve_states(alone, pairs, states, 40, memory)
    np.testing.assert_allclose(objective(alone, pairs, states), best_of_all(alone, pairs), atol=1e-9)
    before = states.copy()
    np.testing.assert_array_equal(improve_states(alone, pairs, states, 40, 3), 0.0)
    np.testing.assert_array_equal(states, before)


def test_shapes_must_agree():
    alone, pairs = problem(3, n_rows=4)
    with pytest.raises(ValueError, match="same components and rows"):
        improve_states(alone, pairs[:2, :2].copy(), np.zeros((4, 3), np.uint8), 3, 1)
    with pytest.raises(ValueError, match="same components and rows"):
        improve_states(alone, pairs, np.zeros((3, 3), np.uint8), 3, 1)
    assert improve_states(alone[:0], pairs, np.zeros((0, 3), np.uint8), 3, 1).shape == (0,)


def overlapping(n=3000, dtype=np.float64):
    """Rows of similar components with little noise, and the true components."""
    rng = np.random.default_rng(3)
    means = rng.normal(size=12) + 0.6 * rng.normal(size=(7, 12))
    X = (rng.random((n, 7)) < 0.4) @ means + 0.2 * rng.normal(size=(n, 12))
    return X.astype(dtype), Components(means, np.full(7, 1e-4), 0.4, 0.04, 1.0)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_no_row_gets_a_lower_bound_and_some_a_higher_one(dtype):
    X, components = overlapping(dtype=dtype)
    ascended = components.infer(X)
    before = ascended.copy()
    searched = search_rows(components, X, ascended)
    gains = components.row_bounds(X, searched) - components.row_bounds(X, ascended)
    np.testing.assert_array_equal(ascended, before)
    assert searched.dtype == dtype
    assert gains.min() >= 0.0
    assert (gains > 1.0).mean() > 0.01
    assert search_rows(components, X[gains == 0.0], ascended[:, gains == 0.0]).shape == (7, (gains == 0.0).sum())


def test_sets_that_lower_the_bound_are_not_taken(monkeypatch):
    """Whatever the search answers: here the opposite of each state, and that all rows have gained."""

    def opposite(alone, pairs, states, n_steps, memory):
        states[:] = 1 - states
        return np.ones(len(states))

    X, components = overlapping(500)
    searched = infer_rows(components, X, search=True)
    monkeypatch.setattr(row_search, "improve_states", opposite)
    spoiled = search_rows(components, X, searched, memories=(1,))
    assert (components.row_bounds(X, spoiled) - components.row_bounds(X, searched)).min() >= 0.0


def test_searched_rows_are_nearly_the_best_of_all():
    """In the limit of certain states the bound of a row is the objective of the search, up to a constant."""
    X, components = overlapping(1000)
    states = np.array(list(product((0, 1), repeat=7)), float)
    exact = np.max([components.row_bounds(X, np.repeat(state[:, None], len(X), axis=1)) for state in states], axis=0)
    ascended = components.row_bounds(X, infer_rows(components, X, search=False))
    searched = components.row_bounds(X, infer_rows(components, X, search=True))
    assert (searched > exact - 1e-6).mean() > 0.96
    assert (ascended > exact - 1e-6).mean() < 0.9


def test_each_row_is_searched_by_itself():
    X, components = overlapping(5000)
    together = infer_rows(components, X, search=True)
    some = np.arange(0, 5000, 611)
    np.testing.assert_allclose(together[:, some], infer_rows(components, X[some], search=True), atol=1e-6)
