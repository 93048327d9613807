"""Pools of discrete columns: which columns have one, from which rows they are learned, and the cells they fill."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal import CrossCat
from sklearn_subanneal.annealing import clock
from sklearn_subanneal.views import column_pools
from sklearn_subanneal.views.column_pools import learned_pools
from sklearn_subanneal.views.left_out_rows import LeftOutRows
from sklearn_subanneal.views.refinements import Refinements
from sklearn_subanneal.views.views_predictive import ensemble_of_views, left_out

N_ROWS = 150


@pytest.fixture(scope="module")
def fitted():
    """A real, a boolean, three grades, a category of which one value never occurs, and one with many values."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 3, N_ROWS)
    grade = np.clip(group + rng.integers(-1, 2, N_ROWS), 0, 2)
    X = pd.DataFrame(
        {
            "size": 3.0 * group + rng.normal(size=N_ROWS),
            "sold": pd.array(rng.random(N_ROWS) < 0.2 + 0.3 * group, "boolean"),
            "grade": pd.Categorical.from_codes(grade, ["low", "middle", "high"], ordered=True),
            "colour": pd.Categorical.from_codes(group, ["blue", "green", "red", "black"]),
            "name": pd.Categorical([f"n{i % 60}" for i in range(N_ROWS)]),
        }
    )
    for j in range(5):
        X.iloc[(j + 3) :: 7, j] = None
    model = CrossCat(n_chains=2, n_draws=3, random_state=0).fit(X)
    arrays = model.typed_columns(X)
    labels = [own for result in model._results for own in result.labels]
    rows = LeftOutRows(model._seen_rows(arrays), arrays, np.ones(N_ROWS))
    return model, arrays, labels, [array[model._copies.rows] for array in arrays], rows


@pytest.fixture(scope="module")
def pools(fitted):
    model, _, labels, modelled, rows = fitted
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(column_pools, "MOST_CATEGORIES", 50)
        return learned_pools(model._models, model._draws, labels, modelled, rows, [1, 2, 3, 4])[1]


def test_columns_of_few_enough_categories_have_pools(fitted, pools):
    assert [pool.column for pool in pools] == [1, 2, 3]
    # The category without a row, the first in the alphabet, is the rarest.
    assert pools[2].shares.argmin() == 0 and 0.0 < pools[2].shares[0] < 0.01
    model, _, labels, modelled, rows = fitted
    same = [np.zeros_like(array) if j == 1 else array for j, array in enumerate(modelled)]
    assert not learned_pools(model._models, model._draws, labels, same, rows, [1])[1]


def test_columns_that_miss_most_cells_come_first(fitted, monkeypatch):
    model, _, labels, modelled, rows = fitted
    monkeypatch.setattr(column_pools, "learned_pool", lambda *given: given[-2])
    monkeypatch.setattr(column_pools, "MOST_POOLS", 2)
    more = [np.where(np.arange(N_ROWS) < 9 * (j in (2, 3)), -1, array) for j, array in enumerate(modelled)]
    assert learned_pools(model._models, model._draws, labels, more, rows, [1, 2, 3, 4])[1] == [2, 3]


@pytest.mark.parametrize(("until", "expected"), [(0.0, []), (1.5, [3]), (2.5, [1, 3]), (9.0, [1, 2, 3])])
def test_no_pool_is_begun_when_time_is_over(fitted, monkeypatch, until, expected):
    """Of three columns, 3 misses most cells and 2 fewest; the clock goes on by one with each look at it."""
    model, _, labels, modelled, rows = fitted
    ticks = itertools.count()
    monkeypatch.setattr(clock, "now", lambda: float(next(ticks)))
    monkeypatch.setattr(column_pools, "learned_pool", lambda *given: given[-2])
    missing = {1: 9, 2: 0, 3: 12}
    more = [np.where(np.arange(N_ROWS) < missing.get(j, 0), -1, array) for j, array in enumerate(modelled)]
    assert learned_pools(model._models, model._draws, labels, more, rows, [1, 2, 3], until)[1] == expected


def test_rows_are_those_in_which_the_column_is_known(fitted, monkeypatch):
    model, _, labels, modelled, rows = fitted
    handed = []

    def learned(models, chains, labels, arrays, left_out, column, evidence):
        handed.append((labels, arrays, left_out if evidence is None else evidence.rows, column))

    monkeypatch.setattr(column_pools, "learned_pool", learned)
    monkeypatch.setattr(column_pools, "MOST_CATEGORIES", 50)
    monkeypatch.setattr(column_pools, "MOST_ROWS_OF_ALL", 90)
    monkeypatch.setattr(column_pools, "FEWEST_ROWS", 20)
    learned_pools(model._models, model._draws, labels, modelled, rows, [1, 2, 3, 4])
    for own, arrays, left_out_rows, column in handed:
        known = modelled[column] >= 0
        assert not known.all() and (arrays[column] >= 0).all()
        for array, whole in zip(arrays, modelled, strict=True):
            np.testing.assert_array_equal(array, whole[known])
        np.testing.assert_array_equal(own[0], labels[0][:, known])
        assert (left_out_rows.arrays[column] >= 0).all()
        # 90 rows for three pools.
        assert len(left_out_rows.counts) == 30 == left_out_rows.seen.labels[0].shape[1]


def test_missing_cells_are_the_likeliest_or_the_median(fitted, pools):
    model, arrays, *_ = fitted
    average = ensemble_of_views(model._models, model._flat_draws())
    filled, spreads = average.impute(arrays)
    by_model = [array.copy() for array in filled]
    Refinements(np.arange(6), pools).refine(average, arrays, filled, spreads, {})
    for pool in pools:
        j = pool.column
        gaps = arrays[j] < 0
        shares = pool.probabilities(average, arrays)[gaps]
        value = (shares.cumsum(axis=1) < 0.5).sum(axis=1) if j == 2 else shares.argmax(axis=1)
        np.testing.assert_array_equal(filled[j][gaps], value)
        np.testing.assert_allclose(spreads[j][gaps], 1.0 - shares[np.arange(gaps.sum()), value])
        np.testing.assert_array_equal(filled[j][~gaps], arrays[j][~gaps])
        assert (spreads[j][~gaps] == 0.0).all()
    for j in (0, 4):
        np.testing.assert_array_equal(filled[j], by_model[j])


def test_each_training_row_is_left_out_by_its_place_in_the_table(fitted, pools):
    """All rows together are filled as each alone, without the row itself in its clusters."""
    model, arrays, _, _, rows = fitted
    whole = left_out(model._models, model._flat_draws(), rows.seen, arrays)
    filled, spreads = whole.impute(arrays, seen=True)
    Refinements(np.arange(6), pools).refine(whole, arrays, filled, spreads, {})
    differs = False
    for row in np.flatnonzero(np.min([array < 0 for array in arrays[1:4]], axis=0) | (arrays[2] < 0)):
        cells = [array[row : row + 1] for array in arrays]
        alone = left_out(model._models, model._flat_draws(), rows.seen.take(slice(row, row + 1)), cells)
        one, spread = alone.impute(cells, seen=True)
        Refinements(np.arange(6), pools).refine(alone, cells, one, spread, {})
        for j in (1, 2, 3):
            assert one[j][0] == filled[j][row]
            assert spread[j][0] == pytest.approx(spreads[j][row], abs=1e-9)
        new, of_new = [array.copy() for array in one], [array.copy() for array in spread]
        Refinements(np.arange(6), pools).refine(
            ensemble_of_views(model._models, model._flat_draws()), cells, new, of_new, {}
        )
        differs |= abs(of_new[2][0] - spread[2][0]) > 1e-3
    assert differs


def test_pools_of_many_columns_have_fewer_draws(fitted, monkeypatch):
    """One draw of each chain, and these are the ones by which cells are filled."""
    model, arrays, labels, modelled, rows = fitted
    monkeypatch.setattr(column_pools, "MOST_OPINIONS", 1)
    numbers, pools = learned_pools(model._models, model._draws, labels, modelled, rows, [1, 3])
    np.testing.assert_array_equal(numbers, [0, 3])
    whole, some = (
        ensemble_of_views(model._models, draws)
        for draws in (model._flat_draws(), [model._flat_draws()[s] for s in numbers])
    )
    filled, spreads = whole.impute(arrays)
    Refinements(numbers, pools).refine(whole, arrays, filled, spreads, {})
    for pool in pools:
        gaps = arrays[pool.column] < 0
        assert len(pool.class_shares) == 2
        np.testing.assert_allclose(spreads[pool.column][gaps], 1.0 - pool.probabilities(some, arrays)[gaps].max(axis=1))
