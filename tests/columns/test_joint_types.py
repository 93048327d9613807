"""Types that are chosen for full covariance: a column stays real if it depends linearly on others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal import CrossCat, CrossCatRegressor


def fitted(frame, **settings):
    settings = {"covariance_type": "full", "n_chains": 1, "n_draws": 1, **settings}
    return CrossCat(feature_types="auto", schedule="sequential", random_state=0, **settings).fit(frame)


@pytest.fixture
def amounts():
    rng = np.random.default_rng(0)
    first, second = rng.lognormal(7.0, size=(2, 300))
    return pd.DataFrame({"first": first, "second": second, "lot": rng.lognormal(7.0, size=300)})


def test_addends_and_their_sum_are_real(amounts):
    assert set(fitted(amounts).feature_types_.values()) == {"skewed"}
    amounts["sum"] = amounts["first"] + amounts["second"] + 10.0 * np.sin(np.arange(300))
    model = fitted(amounts)
    assert model.feature_types_ == {"first": "real", "second": "real", "lot": "skewed", "sum": "real"}
    assert "depends linearly on other columns" in model.feature_type_reasons_["sum"]
    # With diagonal covariance there is nothing that could depend linearly.
    assert set(fitted(amounts, covariance_type="diag").feature_types_.values()) == {"skewed"}


def test_factors_and_their_product_are_skewed(amounts):
    amounts["product"] = amounts["first"] * amounts["second"] * np.exp(0.01 * np.sin(np.arange(300)))
    assert set(fitted(amounts).feature_types_.values()) == {"skewed"}


def test_declared_types_stay(amounts):
    amounts["sum"] = amounts["first"] + amounts["second"] + 10.0 * np.sin(np.arange(300))
    model = CrossCat(feature_types=["skewed"] * 4, covariance_type="full", n_chains=1, n_draws=1, random_state=0)
    assert set(model.fit(amounts).feature_types_.values()) == {"skewed"}


def test_grades_and_counts_that_follow_another_column_are_real():
    rng = np.random.default_rng(0)
    size = rng.normal(size=400)
    frame = pd.DataFrame(
        {
            "size": size,
            "grade": np.clip(np.round(3.0 * size + 0.5 * rng.normal(size=400)) + 8.0, 1.0, 15.0),
            "mark": rng.binomial(8, 0.5, 400) + 1.0,
            "events": rng.poisson(2.0, 400).astype(float),
        }
    )
    frame.loc[::17, "grade"] = np.nan
    model = fitted(frame)
    wanted = {"size": "real", "grade": "real", "mark": "ordinal", "events": "count"}
    assert model.feature_types_ == wanted
    assert model.impute(frame)["grade"].notna().all()
    np.testing.assert_array_equal(model.impute(frame)["grade"][frame["grade"].notna()], frame["grade"].dropna())


def few_levels(means, noise=1.0, name="level", shares=None):
    """Integers from 0, and columns whose means differ between them."""
    rng, means = np.random.default_rng(3), np.asarray(means, float)
    levels = rng.choice(len(means), 300, p=shares)
    others = means[levels] + noise * rng.normal(size=(300, means.shape[1]))
    return pd.DataFrame({name: levels, **{f"y{i}": y for i, y in enumerate(others.T)}})


LINE, NO_LINE = [[0.0], [1.0], [2.0], [3.0]], [[0.0], [3.0], [0.5], [2.5]]
MOST_IN_THE_MIDDLE = [0.1, 0.3, 0.45, 0.15]


@pytest.mark.parametrize(
    ("kind", "table"),
    [
        ("real", few_levels(LINE)),
        ("categorical", few_levels(NO_LINE)),
        ("categorical", few_levels([[0.0], [0.0], [0.0], [0.0]])),
        # What the name calls codes stays so.
        ("categorical", few_levels(LINE, name="class")),
        ("real", few_levels(LINE, 0.5, shares=MOST_IN_THE_MIDDLE)),
        ("ordinal", few_levels(LINE, 2.0, shares=MOST_IN_THE_MIDDLE)),
        ("ordinal", few_levels(NO_LINE, 0.5, shares=MOST_IN_THE_MIDDLE)),
    ],
    ids=["equal", "classes", "apart", "codes", "grades", "weak", "no line"],
)
def test_few_levels_are_real_beside_columns_that_follow_a_line(kind, table):
    table.iloc[::50, 0] = np.nan
    model = fitted(table)
    assert model.feature_types_[table.columns[0]] == kind
    assert set(list(model.feature_types_.values())[1:]) == {"real"}


def test_columns_of_the_regressor_are_judged_beside_the_target(amounts):
    target = amounts.pop("lot") * 0.01 + amounts["first"] + amounts["second"]
    model = CrossCatRegressor(CrossCat(feature_types="auto", n_chains=1, n_draws=2), random_state=0).fit(
        amounts, target
    )
    assert model.feature_types_ == {"first": "real", "second": "real"}
    assert np.corrcoef(model.predict(amounts), target)[0, 1] > 0.99


def test_columns_that_are_never_seen_together():
    table = few_levels(LINE).astype(float)
    table.iloc[:150, 0], table.iloc[150:, 1] = np.nan, np.nan
    model = fitted(table)
    assert model.feature_types_ == {"level": "categorical", "y0": "real"}
