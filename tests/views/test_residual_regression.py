"""Regressions of the model's errors on the other columns: their formula, rows, and limits, and what they are for."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

from sklearn_subanneal import BayesianImputer, CrossCat, load, save
from sklearn_subanneal.annealing import clock
from sklearn_subanneal.views import residual_regression
from sklearn_subanneal.views.left_out_rows import LeftOutRows
from sklearn_subanneal.views.refinements import Refinements
from sklearn_subanneal.views.residual_regression import (
    MOST_DEVIATIONS,
    PENALTIES,
    Regressors,
    ResidualRegression,
    learned_regressions,
)
from sklearn_subanneal.views.views_predictive import left_out, without

N_ROWS = 240
SIZE, PRICE, VISITS, COLOUR, GRADE, ANGLE = range(6)


@pytest.fixture(scope="module")
def fitted():
    """A real, a skewed and a count column, colours, grades and angles, a seventh of the cells missing."""
    rng = np.random.default_rng(0)
    group, colour, grade = (rng.integers(0, n, N_ROWS) for n in (2, 3, 4))
    frame = pd.DataFrame(
        {
            "size": 3.0 * group + 1.5 * (colour == 1) + grade + rng.normal(size=N_ROWS),
            "price": np.exp(group + rng.normal(0.0, 0.7, N_ROWS)),
            "visits": rng.poisson(3.0 + 2.0 * colour),
            "colour": pd.Categorical.from_codes(colour, ["blue", "green", "red"]),
            "grade": pd.Categorical.from_codes(grade, ["a", "b", "c", "d"], ordered=True),
            "angle": rng.uniform(0.0, 6.2, N_ROWS),
        }
    )
    frame["visits"] = frame["visits"].astype("Int64")
    for j in range(6):
        frame.iloc[(j + 3) :: 7, j] = None
    types = {"size": "real", "price": "skewed", "visits": "count", "angle": "cyclic"}
    model = CrossCat(feature_types=types, n_chains=2, n_draws=6, random_state=0).fit(frame)
    arrays = model.typed_columns(frame)
    return model, arrays, LeftOutRows(model._seen_rows(arrays), arrays, 1 + np.arange(N_ROWS) % 2)


@pytest.fixture(scope="module")
def learned(fitted):
    model, _, rows = fitted
    return learned_regressions(model._models, model._flat_draws(), rows, range(6))


def test_regressors_are_numbers_levels_directions_and_dummies(fitted):
    model, arrays, _ = fitted
    average = left_out(model._models, model._flat_draws(), model._seen_rows(arrays), arrays)
    filled, _ = average.impute(arrays, seen=True)
    filled[COLOUR] = np.where(np.arange(N_ROWS) < 4, 2, filled[COLOUR] % 2)
    regressors = Regressors.of(model._models, filled)
    # Red has four rows.
    np.testing.assert_array_equal(regressors.codes[COLOUR], [0, 1])
    assert set(regressors.codes) == {COLOUR}
    np.testing.assert_array_equal(regressors.owners, [SIZE, PRICE, VISITS, COLOUR, COLOUR, GRADE, ANGLE, ANGLE])
    model_of_angle = model._models[ANGLE]
    angles = model_of_angle.values(filled)[:, 0]
    columns = [
        filled[SIZE], model._models[PRICE].transform.forward(filled[PRICE]), filled[VISITS], filled[COLOUR] == 0,
        filled[COLOUR] == 1, filled[GRADE], np.cos(angles), np.sin(angles),
    ]  # fmt: skip
    expected = np.column_stack(columns).astype(float)
    expected = (expected - expected.mean(axis=0)) / expected.std(axis=0)
    np.testing.assert_allclose(regressors.values(filled), expected, atol=1e-9)


def test_the_regression_is_ridge_regression_on_standardised_errors(fitted, learned):
    model, arrays, rows = fitted
    regressors, regressions = learned
    assert {regression.column for regression in regressions} <= {SIZE, PRICE, VISITS}
    assert SIZE in {regression.column for regression in regressions}
    draws = model._flat_draws()
    some = np.unique(np.linspace(0, len(draws) - 1, 8).astype(int))
    average = left_out(model._models, [draws[s] for s in some], rows.seen.of_draws(some), arrays)
    X = regressors.values(average.impute(arrays, seen=True)[0])
    for regression in regressions:
        j = regression.column
        known = ~np.isnan(arrays[j]) if j != VISITS else arrays[j] >= 0
        predicted, deviation = average.predict(without(arrays, [j]), j, seen=True, far=False)
        truth, unit = arrays[j].astype(float), deviation
        if j == PRICE:
            transform = model._models[j].transform
            transform = getattr(transform, "base", transform)
            ends = [[max(p - d, 1e-300), p, p + d] for p, d in zip(predicted, deviation, strict=True)]
            unit = np.diff(transform.forward(np.array(ends)), axis=1).min(axis=1)
            truth, predicted = transform.forward(truth), transform.forward(predicted)
        errors = np.clip((truth - predicted) / unit, -MOST_DEVIATIONS, MOST_DEVIATIONS)[known]
        own, weights = np.where(regressors.owners == j, 0.0, X)[known], rows.counts[known] / rows.counts[known].mean()
        np.testing.assert_allclose(regression.coefficients[regressors.owners == j], 0.0, atol=1e-9)
        fits = [Ridge(penalty).fit(own, errors, sample_weight=weights) for penalty in PENALTIES]
        nearest = min(fits, key=lambda fit: np.abs(fit.coef_ - regression.coefficients).max())
        np.testing.assert_allclose(nearest.coef_, regression.coefficients, atol=1e-6)
        assert nearest.alpha < PENALTIES[-1]
        assert regression.intercept == pytest.approx(nearest.intercept_, abs=1e-6)
        assert regression.most == pytest.approx(np.abs(nearest.predict(own)).max(), rel=1e-5)
        assert (regression.low, regression.high) == (truth[known].min(), truth[known].max())
        left_outs = [
            errors[i]
            - nearest.set_params()
            .fit(np.delete(own, i, 0), np.delete(errors, i), np.delete(weights, i))
            .predict(own[[i]])[0]
            for i in range(len(errors))
        ]
        after, before = (np.average(np.square(e), weights=weights) for e in (left_outs, errors))
        assert regression.remaining == pytest.approx(np.sqrt(after / before), rel=0.02)
        assert 0.0 < regression.remaining < 1.0


def test_corrections_are_in_standard_deviations_and_have_limits(fitted):
    model, *_ = fitted
    regression = ResidualRegression(SIZE, np.array([1.0, 0.0]), 0.5, most=2.0, low=-3.0, high=6.0, remaining=0.8)
    X = np.array([[0.5, 9.0], [9.0, 0.0], [-9.0, 0.0], [1.0, 0.0], [1.0, 0.0], [1.0, 0.0]])
    predicted, deviation = np.array([1.0, 1.0, 1.0, 5.5, 7.0, 1.0]), np.array([2.0, 2.0, 1.0, 2.0, 2.0, 0.0])
    found = regression.corrected(model._models[SIZE], predicted, deviation, X)
    np.testing.assert_allclose(found, [3.0, 5.0, -1.0, 6.0, 7.0, 1.0])
    counts = regression.corrected(model._models[VISITS], predicted[:4], 0.3 * deviation[:4], X[:4])
    np.testing.assert_array_equal(counts, [2.0, 2.0, 0.0, 6.0])
    log = ResidualRegression(PRICE, np.array([1.0, 0.0]), 0.0, most=2.0, low=-9.0, high=9.0, remaining=0.8)
    skewed = model._models[PRICE]
    transform = getattr(skewed.transform, "base", skewed.transform)
    (of_one,) = log.corrected(skewed, np.array([2.0]), np.array([1e-3]), X[3:4])
    assert of_one == pytest.approx(2.001, abs=1e-5)
    # One standard deviation up is less far than one down, where there are no prices, and less than by the slope.
    (far,) = log.corrected(skewed, np.array([2.0]), np.array([3.0]), X[3:4])
    assert far == pytest.approx(5.0, rel=1e-6)
    (of_thousands,) = log.corrected(skewed, np.array([2.0]), np.array([4000.0]), X[3:4])
    assert of_thousands == pytest.approx(min(4002.0, transform.inverse(9.0)), rel=1e-6)


def test_training_rows_are_left_out_and_new_rows_are_not(fitted, learned):
    model, arrays, rows = fitted
    refinements = Refinements(np.empty(0, int), (), *learned)

    def refined(average, cells, seen):
        predicted = refinements.room(len(cells[0]))
        filled, spreads = average.impute(cells, seen, predicted=predicted)
        refinements.refine(average, cells, filled, spreads, predicted)
        return filled

    whole = refined(left_out(model._models, model._flat_draws(), rows.seen, arrays), arrays, True)
    for row in np.flatnonzero(np.isnan(arrays[SIZE]))[:9]:
        cells = [array[row : row + 1] for array in arrays]
        alone = left_out(model._models, model._flat_draws(), rows.seen.take(slice(row, row + 1)), cells)
        assert refined(alone, cells, True)[SIZE][0] == pytest.approx(whole[SIZE][row], abs=1e-9)
    observed = ~np.isnan(arrays[SIZE])
    np.testing.assert_array_equal(whole[SIZE][observed], arrays[SIZE][observed])


def test_rows_are_fewer_where_columns_are_many(fitted, monkeypatch):
    model, _, rows = fitted
    monkeypatch.setattr(residual_regression, "MOST_ROWS_OF_ALL", 90)
    handed = []
    monkeypatch.setattr(residual_regression, "_regression", lambda *given: handed.append(len(given[-1])))
    _, regressions = learned_regressions(model._models, model._flat_draws(), rows, range(6))
    assert not regressions
    # Of 30 rows, those with the cell.
    assert len(handed) == 3 and all(20 <= n < 30 for n in handed)
    assert learned_regressions(model._models, model._flat_draws(), rows, [COLOUR, GRADE, ANGLE]) == (None, [])


@pytest.mark.parametrize(("until", "expected"), [(0.0, 0), (1.5, 1), (2.5, 2)])
def test_no_regression_is_begun_when_time_is_over(fitted, monkeypatch, until, expected):
    model, _, rows = fitted
    ticks, handed = itertools.count(), []
    monkeypatch.setattr(clock, "now", lambda: float(next(ticks)))
    monkeypatch.setattr(residual_regression, "_regression", lambda column, *given: handed.append(column))
    fewer = np.where(np.arange(len(rows.counts)) < 9, -1, rows.arrays[VISITS])
    rows = replace(rows, arrays=[*rows.arrays[:VISITS], fewer, *rows.arrays[VISITS + 1 :]])
    learned_regressions(model._models, model._flat_draws(), rows, range(6), until)
    # The column that misses most cells is first.
    assert handed == [VISITS, SIZE][:expected]


def test_noise_tells_nothing_of_errors(fitted):
    """A regression is kept where it lowers the errors of rows that are left out."""
    model, *_ = fitted
    transform, found = model._models[SIZE].transform, []
    for seed in range(40):
        cells, others = np.split(np.random.default_rng(seed).normal(size=(60, 5)), [1], axis=1)
        prediction = np.zeros(60), np.ones(60)
        found.append(residual_regression._regression(SIZE, transform, prediction, cells[:, 0], others, np.ones(60)))
    assert found.count(None) > 10
    assert all(regression.remaining < 1.0 for regression in found if regression is not None)


def test_what_other_columns_say_beyond_the_clusters_counts(tmp_path):
    """A number depends on three groups of columns, independent of one another, and is in the view of one."""
    rng = np.random.default_rng(1)
    groups = rng.integers(0, 2, (3, 600))
    X = pd.DataFrame({f"x{j}": 5.0 * groups[j // 3] + rng.normal(size=600) for j in range(9)})
    # An amount that is 0 for one kind, and has a logarithm otherwise.
    kind = rng.integers(0, 2, 600)
    X["kind"], X["bought"] = kind > 0, np.where(kind, rng.lognormal(1.0, 0.5, 600), 0.0)
    y = groups.sum(axis=0) + rng.normal(0.0, 0.5, 600)
    gaps = X.assign(y=np.where(np.arange(600) % 2, y, np.nan))
    gaps["bought"] = gaps["bought"].mask(rng.random(600) < 0.1)
    imputer = BayesianImputer(CrossCat(n_chains=1), random_state=0).fit(gaps)
    filled, by_model = imputer.transform(gaps)["y"], imputer.estimator_.impute(gaps)["y"]
    refined, plain = (np.mean((own - y)[::2] ** 2) for own in (filled, by_model))
    assert refined < 0.8 * plain
    deviations, of_model = (own.impute(gaps, return_uncertainty=True)[1] for own in (imputer, imputer.estimator_))
    (regression,) = (
        own for own in imputer._refinements.regressions if own.column == imputer.estimator_.first_parts_[-1]
    )
    np.testing.assert_allclose(deviations[::2, -1], regression.remaining * of_model[::2, -1])
    save(imputer, tmp_path / "imputer.npz")
    pd.testing.assert_frame_equal(load(tmp_path / "imputer.npz").transform(gaps), imputer.transform(gaps))
    new = gaps.iloc[::-2].reset_index(drop=True)
    np.testing.assert_allclose(imputer.transform(new)["y"], filled[::-2], atol=0.3)


def test_a_prediction_that_is_sure_stays():
    """A copy is predicted from the other by the model; noise in other columns does not move it."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=300)
    X = pd.DataFrame(
        {"x": x, "copy": x + 1e-4 * rng.normal(size=300)} | {f"n{j}": rng.normal(size=300) for j in range(9)}
    )
    gaps = X.mask((rng.random(X.shape) < 0.3) & (X.columns == "copy"))
    filled = BayesianImputer(CrossCat(n_chains=1), random_state=0).fit_transform(gaps)
    hidden = gaps["copy"].isna()
    assert (filled["copy"] - X["copy"])[hidden].std() < 2e-4


def test_amounts_that_are_0_or_have_a_logarithm():
    """The number beside an imputed 0 is no regressor: it has no logarithm."""
    rng = np.random.default_rng(3)
    kind, size = rng.integers(0, 2, 400), rng.normal(size=400)
    X = pd.DataFrame(
        {"kind": kind > 0, "size": size, "paid": np.where(kind, np.ceil(np.exp(3 + size + rng.normal(0, 0.3, 400))), 0)}
    )
    X["size"], hidden = X["size"].mask(rng.random(400) < 0.1), rng.random(400) < 0.1
    imputer = BayesianImputer(CrossCat(n_chains=1), random_state=0).fit(X.assign(paid=X["paid"].mask(hidden)))
    # The zeros are one part, and the others the other.
    assert len(imputer.estimator_._models) == 4 and imputer._refinements.regressors is not None
    filled = imputer.transform(X.assign(paid=X["paid"].mask(hidden)))
    assert not filled.isna().any().any()
    assert ((filled["paid"] == 0) == (kind == 0))[hidden].all()
