"""Which columns are found to be functions of others: all shapes, rounded ones, and those that only look like one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from sklearn_subanneal.columns.binding import TYPES
from sklearn_subanneal.columns.derived_columns import modelled_once
from sklearn_subanneal.columns.found_functions import found_functions
from sklearn_subanneal.columns.type_choice import choose_type
from sklearn_subanneal.tables.schema import read_table

N_ROWS = 150


def found(X, feature_types="auto"):
    """Names of the columns that are functions, with the names of their sources."""
    table, arrays = read_table(BaseEstimator(), X, feature_types, types=TYPES, choose=choose_type)
    functions = found_functions(table.columns, [arrays[at[0]] for at in table.places])
    return {table.names[j]: table.names[how.source] for j, how in functions.items()}


def numbers(seed=0, n_rows=N_ROWS):
    return np.random.default_rng(seed).normal(size=n_rows)


SHAPES = {
    "equal": lambda x: x,
    "line": lambda x: 5.0 - 3.0 * x,
    "log": np.log,
    "log10": np.log10,
    "exponential": np.exp,
    "square": np.square,
    "root": np.sqrt,
    "reciprocal": np.reciprocal,
    "log1p": np.log1p,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("order", [1, -1])
def test_all_shapes_are_found_whichever_column_comes_first(shape, order):
    x = 3.0 + np.exp(0.4 * numbers())
    X = pd.DataFrame({"x": x, "f": SHAPES[shape](x), "other": numbers(1)}).iloc[:, ::order]
    (pair,) = found(X).items()
    assert set(pair) == {"x", "f"}


@pytest.mark.parametrize("shape", SHAPES)
def test_functions_and_their_inverses_undo_one_another(shape):
    x = 3.0 + np.exp(0.4 * numbers())
    X = pd.DataFrame({"x": x, "f": SHAPES[shape](x)})
    table, arrays = read_table(BaseEstimator(), X, "auto", types=TYPES, choose=choose_type)
    table, arrays = modelled_once(table, arrays, lambda *own: own)
    assert len(arrays) == 1
    (column,) = (column for column in table.columns if column.derivation is not None)
    function, source = column.derivation.function, arrays[0]
    values = function.forward(source)
    np.testing.assert_allclose(values, X[column.name], rtol=1e-6)
    np.testing.assert_allclose(function.backward(values), source, rtol=1e-6)
    assert function.agrees(source, values).all() and not function.agrees(source, values + values.std()).any()
    assert function.falls == (np.corrcoef(source, values)[0, 1] < 0.0)
    # The derivative, by which uncertainty is carried over.
    slopes = (function.forward(source + 1e-5) - function.forward(source - 1e-5)) / 2e-5
    np.testing.assert_allclose(function.deviations(source, np.full(N_ROWS, 2.0)), 2.0 * np.abs(slopes), rtol=1e-3)


def derived(X):
    """The function by which one of two columns is modelled."""
    table, arrays = read_table(BaseEstimator(), X, "auto", types=TYPES, choose=choose_type)
    table, _ = modelled_once(table, arrays, lambda *own: own)
    (function,) = (column.derivation.function for column in table.columns if column.derivation is not None)
    return function


def test_cells_without_a_partner():
    x = np.round(np.exp(numbers()), 3)
    square = derived(pd.DataFrame({"x": x, "square": x**2}))
    assert square.shape == "square"
    assert np.isnan(square.forward(np.array([np.nan])))[0] and np.isnan(square.backward(np.array([np.nan])))[0]
    # No number has the square -4. Of a number that a model draws below 0, it is that of the nearest cell of fit.
    assert np.isnan(square.backward(np.array([-4.0])))[0]
    np.testing.assert_allclose(square.forward(np.array([-0.5])), x.min() ** 2)
    assert not square.agrees(np.array([-2.0]), np.array([4.0]))[0]
    exponential = derived(pd.DataFrame({"x": x, "log": np.log(x)}))
    assert exponential.is_inverse and np.isnan(exponential.backward(np.array([0.0, -3.0]))).all()
    np.testing.assert_allclose(exponential.forward(np.array([1e5])), x.max())


def test_whole_numbers_stay_whole():
    months = np.random.default_rng(0).integers(1, 90, size=N_ROWS)
    years = derived(pd.DataFrame({"months": months, "years": np.round(months / 12.0, 4)}))
    assert years.is_whole
    cells = years.backward(np.round(months / 12.0, 4))
    np.testing.assert_array_equal(cells, months)
    # So do those that did not occur.
    np.testing.assert_array_equal(years.backward(np.round([95 / 12.0, 127 / 12.0], 4)), [95.0, 127.0])
    # There are no counts below 0, or so large.
    counts = replace(years, is_count=True)
    np.testing.assert_array_equal(counts.backward(np.array([0.5, 0.58, -3.0, 1e20, np.nan])), [6, 7, -1, -1, -1])


def test_values_with_a_probability_of_their_own_are_kept():
    x = np.where(numbers() > 0.3, 7.3, np.exp(numbers(1)))
    function = derived(pd.DataFrame({"x": x, "y": np.round(1.2345 * x, 3)}))
    found = function.backward(np.array([np.round(1.2345 * 7.3, 3), 1.0]))
    assert found[0] == 7.3 and found[1] == pytest.approx(1.0 / 1.2345, abs=1e-3)


def test_rounding_does_not_hide_a_function():
    celsius = np.round(15.0 + 8.0 * numbers(), 1)
    fahrenheit = np.round(32.0 + 1.8 * celsius, 0)
    amount = np.round(np.exp(3.0 + numbers()), 2)
    X = pd.DataFrame({"celsius": celsius, "other": numbers(3), "amount": amount, "log": np.round(np.log(amount), 3)})
    assert found(X) in ({"log": "amount"}, {"amount": "log"})
    # Half a degree is a sixteenth of the deviation: too much to be taken for rounding alone.
    assert not found(pd.DataFrame({"celsius": celsius, "fahrenheit": fahrenheit}))
    assert found(pd.DataFrame({"celsius": celsius, "fahrenheit": np.round(32.0 + 1.8 * celsius, 1)}))


@pytest.mark.parametrize("gap", [False, True])
def test_a_few_large_numbers_are_no_function(gap):
    """Others may be far from it, measured by their spread, and near by that of the large ones."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    y = x + 0.2 * rng.normal(size=200)
    x[3] = y[3] = 1e6
    heavy = np.exp(5.0 * rng.normal(size=200))
    X = np.column_stack([x, y, heavy, heavy + 0.1 * rng.normal(size=200)])
    if gap:
        X[1] = np.nan
    assert not found(X)


@pytest.mark.parametrize("noise", [1e-3, 0.01, 0.3])
def test_a_noisy_function_is_none(noise):
    x = numbers()
    assert not found(np.column_stack([x, 2.0 * x + noise * numbers(1)]))


def test_one_row_that_contradicts_is_enough():
    x = np.exp(numbers())
    f = np.log(x)
    assert found(np.column_stack([x, f]))
    f[7] += 0.1
    assert not found(np.column_stack([x, f]))


def test_squares_of_both_signs_are_no_one_to_one_function():
    x = numbers()
    assert not found(np.column_stack([x, x**2]))


def test_classes_numbered_within_schools_are_more_than_schools():
    rng = np.random.default_rng(0)
    school = rng.integers(1, 200, size=400)
    assert found(np.column_stack([school, 100 * school + 1]))
    # Whatever their share: few schools with a second class, or all with three.
    for several in (rng.random(400) < 0.02, rng.integers(3, size=400)):
        assert not found(np.column_stack([school, 100 * school + 1 + several]))


def test_categories_that_go_together():
    rng = np.random.default_rng(0)
    codes = rng.integers(4, size=N_ROWS)
    X = pd.DataFrame(
        {
            "name": np.array(["Peru", "Chad", "Fiji", "Laos"])[codes],
            "short": np.array(["PE", "TD", "FJ", "LA"])[codes],
            "number": np.array([2, 0, 3, 1])[codes],
            "region": np.array(["north", "south"])[codes % 2],
            "is_north": codes % 2 == 0,
            "other": rng.integers(4, size=N_ROWS),
        }
    )
    functions = found(X)
    assert functions.pop("is_north") == "region" or functions.pop("region", None) == "is_north"
    assert len(functions) == 2 and len(set(functions.values())) == 1
    assert {*functions, *functions.values()} == {"name", "short", "number"}


def test_one_row_with_another_category_is_enough():
    codes = np.random.default_rng(0).integers(3, size=N_ROWS)
    X = pd.DataFrame({"a": np.array(list("xyz"))[codes], "b": np.array(list("uvw"))[codes]})
    assert found(X)
    X.loc[3, "b"] = {"u": "v", "v": "w", "w": "u"}[X.loc[3, "b"]]
    assert not found(X)


def test_categories_that_a_dtype_declares_and_that_do_not_occur():
    codes = np.random.default_rng(0).integers(3, size=N_ROWS)
    own = pd.Series(pd.Categorical(np.array(list("xyz"))[codes], categories=list("xyzt")))
    assert not found(pd.DataFrame({"a": own, "b": np.array(list("uvw"))[codes]}))


def test_what_few_rows_show_may_be_by_chance():
    x = np.exp(numbers(n_rows=19))
    assert not found(np.column_stack([x, np.log(x)]))
    # One of 100 rows differs from all others in both columns.
    rare = np.zeros(100, bool)
    rare[17] = True
    assert not found(pd.DataFrame({"a": rare, "b": ~rare, "c": numbers(n_rows=100)}))
    half = np.random.default_rng(0).random(100) < 0.5
    assert found(pd.DataFrame({"a": half, "b": ~half, "c": numbers(n_rows=100)})) == {"b": "a"}


def test_equal_columns_of_noise_are_rare(n_tables=300):
    rng = np.random.default_rng(0)
    for _ in range(n_tables):
        n_rows, n_columns = rng.integers(20, 60), rng.integers(2, 30)
        X = (rng.random((n_rows, n_columns)) < rng.random(n_columns) * 0.3).astype(float)
        X[0], X[1] = 0.0, 1.0
        assert not found(X)


def test_columns_whose_type_is_declared_are_modelled():
    x = np.exp(numbers())
    X = np.column_stack([x, np.log(x), x**2])
    assert found(X) == {"x0": "x1", "x2": "x1"}
    assert found(X, {0: "skewed"}) == {"x1": "x0", "x2": "x0"}
    assert found(X, {0: "skewed", 1: "real"}) == {"x2": "x1"}
    assert not found(X, ["skewed", "real", "skewed"])


def test_categories_whose_type_is_declared_are_sources():
    codes = np.random.default_rng(0).integers(3, size=N_ROWS)
    X = pd.DataFrame({"a": np.array(list("xyz"))[codes], "b": np.array(list("uvw"))[codes]})
    assert found(X) == {"b": "a"} and found(X, {"b": "categorical"}) == {"a": "b"}
    assert not found(X, ["categorical", "categorical"])


def test_missing_cells_do_not_hide_a_function():
    rng = np.random.default_rng(0)
    x = np.round(np.exp(numbers(n_rows=400)), 3)
    X = np.column_stack([x, np.log(x), rng.normal(size=400)])
    X[rng.random(X.shape) < 0.4] = np.nan
    (pair,) = found(X).items()
    assert set(pair) == {"x0", "x1"}


def test_the_logarithm_is_the_source():
    """A model of amounts that are normal may draw negative ones."""
    x = np.random.default_rng(0).uniform(0.5, 3.0, size=300)
    for X in (pd.DataFrame({"x": x, "log": np.log(x)}), pd.DataFrame({"log": np.log10(x), "x": x})):
        assert found(X) == {"x": "log"}


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_numbers_of_any_size(size):
    x = size * numbers()
    assert found(np.column_stack([x, 2.0 * x, size * numbers(1)])) == {"x1": "x0"}


def test_values_without_a_partner_are_not_lost():
    """Of incomes of 0 there is no logarithm, and the column of logarithms has gaps there."""
    income = np.where(numbers() > 1.6, 0.0, np.round(np.exp(numbers(1)), 3))
    with np.errstate(divide="ignore"):
        log = np.where(income > 0.0, np.log(income), np.nan)
    for X in (pd.DataFrame({"income": income, "log": log}), pd.DataFrame({"log": log, "income": income})):
        assert not found(X)
        assert found(X.assign(income=np.where(income > 0.0, income, np.nan))) == {"income": "log"}


def test_the_source_is_the_least_skewed_column():
    size = np.random.default_rng(0).gamma(4.0, size=500)
    assert found(pd.DataFrame({"square": size**2, "size": size})) == {"square": "size"}
    x = np.exp(1.5 * numbers(n_rows=500))
    assert found(pd.DataFrame({"x": x, "log": np.log(x)})) == {"x": "log"}
    assert found(pd.DataFrame({"year": 1950.0 + 10.0 * numbers(), "since": 10.0 * numbers()})) == {"since": "year"}


def test_a_table_of_many_columns_is_searched_in_blocks():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 600))
    X[:, 599] = 2.0 * X[:, 3]
    X[:, 300] = X[:, 299]
    assert found(X) == {"x599": "x3", "x300": "x299"}


@pytest.mark.parametrize("seed", range(8))
def test_a_multiple_has_no_intercept(seed):
    """The difference of the means is not 0 but for rounding: zeros would become tiny negative amounts."""
    rng = np.random.default_rng(seed)
    euro = np.where(rng.random(N_ROWS) < 0.5, 0.0, np.round(np.exp(3.0 + rng.normal(size=N_ROWS))))
    for factor in (100.0, 0.3, 1.0 / 3.0):
        multiple = derived(pd.DataFrame({"euro": euro, "multiple": factor * euro}))
        assert multiple.intercept == 0.0 or multiple.is_inverse
        assert 0.0 in (multiple.forward(np.zeros(1))[0], multiple.backward(np.zeros(1))[0])
    shifted = derived(pd.DataFrame({"euro": euro, "shifted": 0.3 * euro + 0.25}))
    np.testing.assert_allclose(shifted.forward(np.array([10.0])), 3.25 if not shifted.is_inverse else 32.5)
