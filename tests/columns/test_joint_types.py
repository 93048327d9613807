"""Types that are chosen for full covariance: a column stays real if it depends linearly on others."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from support.tiers import quick_only

from sklearn_subanneal import CrossCat, CrossCatRegressor
from sklearn_subanneal.columns.joint_types import _affordable, _filled, spread_rows


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


@pytest.mark.parametrize("share", [0.0, 0.1], ids=["complete", "missing"])
def test_years_of_a_panel_are_real(share):
    rng = np.random.default_rng(1)
    firm, year = np.divmod(np.arange(240), 12)
    # What the firms differ by hides the trend, except within each of them.
    trends = [
        10.0 * rng.normal(size=20)[firm] + 0.5 * slope * year + 0.5 * rng.normal(size=240) for slope in (1.0, 1.0, -1.0)
    ]
    table = pd.DataFrame({"firm": [f"firm {k}" for k in firm], "year": 1950 + year, "x": trends[0], "y": trends[1]})
    table = table.assign(z=trends[2]).mask(rng.random((240, 5)) < share)
    assert fitted(table).feature_types_["year"] == "real"
    # Of firms in which each year has other numbers, nothing tells the year.
    table["year"] = rng.permutation(table["year"])
    assert fitted(table).feature_types_["year"] == "ordinal"


def test_levels_on_which_no_column_depends_are_ordinal():
    rng = np.random.default_rng(0)
    levels, others = rng.binomial(14, 0.5, 300), rng.normal(size=(300, 4))
    table = pd.DataFrame(others, columns=list("abcd")).assign(level=levels)
    assert fitted(table).feature_types_["level"] == "ordinal"
    table["a"] += 0.2 * levels
    assert fitted(table).feature_types_["level"] == "real"


def test_missing_cells_of_regressors_are_filled_by_the_others():
    rng = np.random.default_rng(0)
    columns = rng.multivariate_normal(np.zeros(3), 0.1 * np.eye(3) + 0.9, 2000)
    table = np.where(rng.random(columns.shape) < 0.3, np.nan, columns)
    table[np.isnan(table).all(axis=1)] = 0.0
    missing = np.isnan(table)
    filled = _filled(table)
    np.testing.assert_array_equal(filled[~missing], table[~missing])
    one = missing.sum(axis=1) == 1
    expected = 0.9 / 1.9 * np.nansum(table[one], axis=1)
    np.testing.assert_allclose(filled[one][missing[one]], expected, rtol=0.1, atol=0.1)


@pytest.mark.parametrize(
    ("kind", "n_cells"),
    quick_only([("skewed", 0), ("skewed", 1), ("count", 0), ("count", 1)], ("skewed", 0), ("count", 1)),
)
def test_regressions_have_few_rows_of_a_column_that_is_nearly_empty(kind, n_cells):
    rng = np.random.default_rng(0)
    n = 4100
    used = spread_rows(n)
    rows = np.concatenate([np.setdiff1d(np.arange(n), used)[:100], used[:n_cells]])
    cells = rng.lognormal(sigma=2.0, size=len(rows)) if kind == "skewed" else rng.poisson(9.0, len(rows)).astype(float)
    table = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"]).assign(c=pd.Series(cells, index=rows))
    assert fitted(table).feature_types_["c"] in (kind, "ordinal")


def test_wide_tables_have_few_regressions():
    groups = [np.arange(1500) % n for n in (2, 1000, 9, 5)]
    narrow, wide = np.zeros((1500, 10)), np.zeros((1500, 60))
    found, is_filled = _affordable(groups, narrow, 4)
    assert [len(np.unique(codes)) for codes in found] == [9, 5, 2] and is_filled
    found, is_filled = _affordable(groups, wide, 150)
    assert [len(np.unique(codes)) for codes in found] == [9] and is_filled
    wide[0, 0] = np.nan
    assert _affordable(groups, wide, 150) == ([], False)


@pytest.mark.parametrize("seed", range(3))
def test_counts_that_depend_on_nothing_stay_counts_in_wide_tables(seed):
    """A regression on many columns fits any column: the BIC counts its coefficients."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(100, 40))).add_prefix("x")
    frame["visits"], frame["calls"] = rng.poisson(4.0, 100), rng.negative_binomial(3, 0.3, 100)
    frame["sum"] = np.rint(3.0 * frame["x0"] + 2.0 * frame["x1"] + frame["x2"] + 20.0).astype(int)
    kinds = fitted(frame, max_sweeps=1).feature_types_
    assert {kinds["visits"], kinds["calls"]} <= {"count", "ordinal"} and kinds["sum"] == "real"
