"""CrossCat with full covariance on columns whose values repeat, and on skewed columns."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from sklearn_subanneal import CrossCat, CrossCatRegressor
from sklearn_subanneal.partitions import CRP


def table_of_grades(n_rows=300):
    """A grade of few values, on which a real column depends, and a column by itself."""
    rng = np.random.default_rng(1)
    grade = rng.choice([0.0, 1.0, 2.0, 3.0, 5.0, 8.0], size=n_rows)
    return np.column_stack([grade, 0.5 * grade + 0.3 * rng.normal(size=n_rows), rng.normal(size=n_rows)])


def test_columns_of_few_values_predict_another():
    # Without jittering, clusters shrink to the values of the twelve designs, and the root mean squared error is 0.69.
    rng, designs = np.random.default_rng(1), np.random.default_rng(5).normal(size=(12, 3)).round(1)
    X = np.column_stack([designs[rng.integers(0, 12, 300)], rng.choice([0.0, 1.0, 2.0, 3.0], size=300)])
    y = X @ [1.0, 0.5, -0.5, 0.5] + 0.3 * rng.normal(size=300)
    model = CrossCatRegressor(CrossCat(n_chains=2, n_draws=4), random_state=1).fit(X[:200], y[:200])
    assert np.sqrt(np.mean((model.predict(X[200:]) - y[200:]) ** 2)) < 0.45


def test_training_rows_are_those_of_the_statistics():
    X = table_of_grades()
    X[::7, 1] = np.nan
    model = CrossCat(covariance_type="full", n_chains=1, n_draws=1, random_state=0).fit(X)
    (draw,), (labels,) = model._flat_draws(), model._flat_row_labels()
    seen = model._seen_rows(model._table.encode(model, X))
    for v, view in enumerate(draw.views):
        rows = seen.completed(draw)(draw.members(v).tolist(), np.arange(len(X)))
        totals = np.array([rows[labels[v] == k].sum(axis=0) for k in range(len(view.sizes))])
        np.testing.assert_allclose(totals, view.columns[-1]["total"][: len(totals)], atol=1e-8)


def skewed_table(n_rows=300):
    """A lognormal column, and a real one that follows its logarithm."""
    rng = np.random.default_rng(2)
    logs = rng.normal(2.0, 1.0, n_rows)
    return np.column_stack([np.exp(logs), logs + 0.3 * rng.normal(size=n_rows)])


@pytest.fixture(scope="module")
def skewed():
    X = skewed_table()
    settings = {"feature_types": ["skewed", "real"], "covariance_type": "full", "n_chains": 2, "n_draws": 4}
    return CrossCat(**settings, random_state=0).fit(X)


def test_a_skewed_column_is_correlated_after_its_transformation(skewed):
    assert skewed.dependence_[0, 1] > 0.9
    amounts = np.array([2.0, 8.0, 40.0])
    found = skewed.impute(np.column_stack([amounts, np.full(3, np.nan)]))[:, 1]
    np.testing.assert_allclose(found, np.log(amounts), atol=0.15)
    found = skewed.impute(np.column_stack([np.full(3, np.nan), np.log(amounts)]))[:, 0]
    np.testing.assert_allclose(np.log(found), np.log(amounts), atol=0.25)


def test_cells_are_imputed_within_the_range_of_training_cells():
    """Their uncertainty suits it, where the regression on a value that was never seen leads far beyond."""
    X = skewed_table()
    # With so small a concentration, such a value does not go to a cluster of its own.
    settings = {"feature_types": ["skewed", "real"], "covariance_type": "full", "n_chains": 2, "n_draws": 4}
    skewed = CrossCat(CRP(1e-200), **settings, random_state=0).fit(X)
    low, high = X.min(axis=0), X.max(axis=0)
    far = np.array([[np.nan, 40.0], [np.nan, -40.0], [1e15, np.nan]])
    # A prediction is at most as far beyond the range as this is long.
    assert 1.5 * high[0] < skewed.predict_column(0, far[:1]) <= (2.0 * high[0] - low[0]) * (1 + 1e-9)
    filled, uncertainty = skewed.impute(far, return_uncertainty=True)
    made = np.append(filled[:2, 0], filled[2, 1])
    assert (made >= low[[0, 0, 1]] * (1 - 1e-9) - 1e-9).all()
    assert (made <= high[[0, 0, 1]] * (1 + 1e-9)).all()
    # In each draw the deviation is at most the range, and the means of the draws deviate by half of it at most.
    assert 0.0 < uncertainty[0, 0] <= np.sqrt(1.25) * (high[0] - low[0])
    assert 0.0 < uncertainty[2, 1] <= np.sqrt(1.25) * (high[1] - low[1])


@pytest.mark.parametrize("kind", ["real", "skewed"])
def test_one_observed_cell_does_not_make_the_others_certain(kind):
    X = np.random.default_rng(0).lognormal(size=(40, 3))
    X[1:, 1] = np.nan
    X[:, 2], X[3, 2] = 5.0, np.nan
    settings = {"feature_types": ["real", kind, kind], "covariance_type": "full", "n_chains": 1, "n_draws": 4}
    _, uncertainty = CrossCat(**settings, random_state=0).fit(X).impute(X, return_uncertainty=True)
    assert (uncertainty[1:, 1] > 0.01 * X[0, 1]).all()
    assert uncertainty[3, 2] > 0.0


def test_the_density_of_a_skewed_column_is_one_altogether(skewed):
    logs = np.linspace(-6.0, 12.0, 4001)
    density = np.exp(skewed.score_samples(np.column_stack([np.exp(logs), np.full(len(logs), np.nan)])))
    assert np.trapezoid(density * np.exp(logs), logs) == pytest.approx(1.0, abs=0.01)


def test_samples_of_a_skewed_column_are_in_its_units(skewed):
    drawn = skewed.sample(2000, random_state=0)
    assert (drawn[:, 0] > 0.0).all()
    assert np.median(drawn[:, 0]) == pytest.approx(np.exp(2.0), rel=0.25)
    # By ranks: of a few draws from clusters of their own, far out, products of deviations would depend.
    assert spearmanr(*drawn.T)[0] == pytest.approx(spearmanr(*skewed_table().T)[0], abs=0.02)
