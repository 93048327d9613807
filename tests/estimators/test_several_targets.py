"""Regressions of several targets: shapes, names, and that each target is predicted by the columns of X alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import cross_val_score

from sklearn_subanneal import CrossCat, CrossCatRegressor
from sklearn_subanneal.mixtures.quantiles import predicted_quantiles
from sklearn_subanneal.mixtures.stacking import weighted
from sklearn_subanneal.views.views_predictive import ensemble_of_views

INNER = CrossCat(n_chains=2, n_draws=3, max_sweeps=5)


def table(n_rows=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 2))
    noise = rng.normal(size=n_rows)
    # The second target is nearly the third, which X does not tell.
    Y = np.column_stack([X[:, 0] + 0.3 * noise, X[:, 1] + noise, X[:, 1] + noise + 0.05 * rng.normal(size=n_rows)])
    return X, Y


@pytest.fixture(scope="module")
def fitted():
    X, Y = table()
    return CrossCatRegressor(INNER, random_state=0).fit(X[:150], Y[:150]), X, Y


def test_shapes(fitted):
    model, X, Y = fitted
    mean, deviation = model.predict(X[150:], return_std=True)
    assert mean.shape == deviation.shape == (50, 3)
    assert mean.flags.c_contiguous
    assert model.predict_quantiles(X[150:], [0.1, 0.5]).shape == (50, 3, 2)
    assert model.predict_interval(X[150:]).shape == (50, 3, 2)
    assert model.chain_weights_.shape == (3, 2)
    np.testing.assert_allclose(model.chain_weights_.sum(axis=1), 1.0)
    least_squares = LinearRegression().fit(X[:150], Y[:150]).score(X[150:], Y[150:])
    assert model.score(X[150:], Y[150:]) > least_squares - 0.1


def test_each_target_is_predicted_by_the_columns_of_X_alone(fitted):
    """With the draws in the weights of its own chains, and all targets missing."""
    model, X, _ = fitted
    inner = model.crosscat_
    arrays = [*X[150:].T, *np.full((3, 50), np.nan)]
    mean, deviation = model.predict(X[150:], return_std=True)
    quantiles = model.predict_quantiles(X[150:], [0.2, 0.9])
    for i in range(3):
        draws = [draw for own in weighted(inner._draws, model.chain_weights_[i]) for draw in own]
        average = ensemble_of_views(inner._models, draws)
        np.testing.assert_allclose(average.predict(arrays, 2 + i, far=True), [mean[:, i], deviation[:, i]], rtol=1e-12)
        wanted = predicted_quantiles(average, arrays, 2 + i, np.array([0.2, 0.9]))
        np.testing.assert_allclose(quantiles[:, i], wanted, rtol=1e-12)


def test_intervals_of_each_target_cover_what_they_promise():
    """Calibrated without the other targets: with them, those of targets that determine one another are too narrow."""
    X, Y = table(900, seed=1)
    model = CrossCatRegressor(CrossCat(n_chains=1, n_draws=5), random_state=0).fit(X[:400], Y[:400])
    low, high = np.moveaxis(model.predict_interval(X[400:], coverage=0.8), -1, 0)
    # Three standard errors of a share of 500 rows.
    np.testing.assert_allclose(np.mean((low < Y[400:]) & (Y[400:] < high), axis=0), 0.8, atol=0.055)


def test_one_column_is_a_table():
    X, Y = table(80)
    column = CrossCatRegressor(INNER, random_state=0).fit(X, Y[:, :1])
    flat = CrossCatRegressor(INNER, random_state=0).fit(X, Y[:, 0])
    assert column.chain_weights_.shape == (1, 2) and flat.chain_weights_.shape == (2,)
    for ask in ("predict", "predict_quantiles", "predict_interval"):
        np.testing.assert_array_equal(getattr(column, ask)(X)[:, 0], getattr(flat, ask)(X))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_of_the_targets(frame):
    X, Y = table(60)
    X = frame({"a": X[:, 0], "first": X[:, 1]})
    y = frame({"first": Y[:, 0], "second": Y[:, 1]})
    model = CrossCatRegressor(CrossCat(n_chains=1, n_draws=2), random_state=0).fit(X, y)
    assert model.crosscat_._table.names == ["a", "first", "first_", "second"]
    assert list(model.feature_names_in_) == ["a", "first"]
    unnamed = CrossCatRegressor(CrossCat(n_chains=1, n_draws=2), random_state=0).fit(X, Y[:, :2])
    assert unnamed.crosscat_._table.names == ["a", "first", "y0", "y1"]
    np.testing.assert_array_equal(unnamed.predict(X), model.predict(X))


def test_weights_and_validation():
    X, Y = table(60)
    weights = np.arange(60) % 3
    short = CrossCatRegressor(INNER, random_state=0).fit(X, Y, sample_weight=weights)
    rows = np.repeat(np.arange(60), weights)
    long = CrossCatRegressor(INNER, random_state=0).fit(X[rows], Y[rows])
    np.testing.assert_allclose(short.predict(X), long.predict(X), rtol=1e-9)
    assert len(cross_val_score(CrossCatRegressor(INNER, random_state=0), X, Y, cv=2)) == 2
    with pytest.raises(ValueError, match="Input y contains NaN"):
        CrossCatRegressor(INNER).fit(X, np.where(Y > 0, Y, np.nan))
