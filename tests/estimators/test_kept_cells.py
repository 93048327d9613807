"""Imputation fills missing cells alone: observed ones stay, also those that count as missing for the model."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone

from sklearn_subanneal import BayesianImputer, CrossCat, SubsampleAnnealedDPMM, TreeGuidedNRMM

SHORT = {"n_chains": 1, "n_draws": 2, "max_sweeps": 3, "random_state": 0}
MODELS = [CrossCat(**SHORT), SubsampleAnnealedDPMM(**SHORT), TreeGuidedNRMM(**SHORT)]
TYPES = {"floor": "ordinal"}
LEVELS = ["low", "middle", "high"]


def frame() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    group = rng.integers(3, size=90)
    return pd.DataFrame(
        {
            "size": rng.lognormal(group, 0.5),
            "town": np.array(["Bern", "Chur", "Genf"])[group],
            "floor": rng.integers(1, 4, 90),
            "grade": pd.Categorical(np.array(LEVELS)[rng.integers(3, size=90)], categories=LEVELS, ordered=True),
            "kind": pd.Categorical(np.array(["flat", "house"])[group // 2]),
            "sold": rng.random(90) < 0.5,
            "rent": [f"{value:.1f}" for value in group + rng.normal(size=90)],
        }
    )


def strange() -> pd.DataFrame:
    """Rows with cells that fit did not see in the first, a missing cell in the second."""
    rows = frame().head(3).astype(object)
    rows.loc[0] = [0.5, "Basel", 7, "top", "castle", True, "1.5"]
    rows.loc[1] = [np.nan] * 7
    return rows


def quietly(ask, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return ask(*arguments, **options)


@pytest.fixture(scope="module", params=MODELS, ids=lambda model: type(model).__name__)
def model(request):
    return quietly(request.param.set_params(feature_types=TYPES).fit, frame())


def check(filled):
    assert filled.loc[0, ["town", "floor", "grade", "kind"]].tolist() == ["Basel", 7, "top", "castle"]
    assert filled.notna().all(axis=None)
    assert filled["town"][1] in ("Bern", "Chur", "Genf") and filled["floor"][1] in (1, 2, 3)
    assert filled[["size", "floor", "sold"]].dtypes.equals(frame()[["size", "floor", "sold"]].dtypes)


def test_categories_and_levels_stay(model):
    filled, uncertainty = model.impute(strange(), return_uncertainty=True)
    check(filled)
    assert not uncertainty[[0, 2]].any() and (uncertainty[1, :5] > 0.0).all()
    for table in model.sample_imputations(strange(), 2, random_state=0):
        check(table)


def test_categorical_dtypes_are_extended(model):
    filled = model.impute(strange())
    assert filled["kind"].cat.categories.tolist() == ["flat", "house", "castle"]
    # The new level has no place in the order.
    assert filled["grade"].cat.categories.tolist() == [*LEVELS, "top"] and not filled["grade"].cat.ordered
    assert model.impute(strange()[1:])["grade"].dtype == frame()["grade"].dtype


def test_cells_that_a_column_cannot_hold_are_filled(model):
    rows = strange()
    rows.loc[0, ["sold", "rent"]] = 2, "much"
    with pytest.warns(UserWarning, match="'rent' was real in fit, but holds 'much': these cells count as missing"):
        filled, uncertainty = model.impute(rows, return_uncertainty=True)
    check(filled)
    assert filled["sold"][0] in (True, False) and abs(filled["rent"][0]) < 10.0 and (uncertainty[0, 5:] > 0.0).all()


def test_missing_cells_they_are_if_the_user_says_so(model):
    model.set_params(unseen="missing")
    try:
        filled = model.impute(strange())
    finally:
        model.set_params(unseen="novel")
    assert filled["town"][0] in ("Bern", "Chur", "Genf") and filled["floor"][0] in (1, 2, 3)
    assert filled["grade"].dtype == frame()["grade"].dtype


def test_they_are_no_missing_cells_for_the_imputer():
    table = frame()
    table.loc[:9, ["town", "floor"]] = np.nan
    imputer = BayesianImputer(CrossCat(feature_types=TYPES, **SHORT), add_indicator=True)
    filled = quietly(imputer.fit, table).transform(strange())
    check(filled.iloc[:, :7].astype({"floor": "int64"}))
    assert filled["missingindicator_town"].tolist() == filled["missingindicator_floor"].tolist() == [False, True, False]
    imputer.set_params(sample_posterior=True, random_state=0)
    assert imputer.transform(strange())["town"][0] == imputer.sample_imputations(strange())[0]["town"][0] == "Basel"


def test_polars_and_arrays():
    table = pl.DataFrame(
        {
            "town": frame()["town"].tolist(),
            "floor": frame()["floor"].tolist(),
            "grade": pl.Series(frame()["grade"].tolist(), dtype=pl.Enum(LEVELS)),
            "size": frame()["size"].tolist(),
        }
    )
    types = {"floor": "categorical", "size": "real"}
    model = quietly(CrossCat(feature_types=types, **SHORT).fit, table)
    rows = pl.DataFrame({"town": ["Basel", None], "floor": [7, None], "grade": ["top", None], "size": [1.0, 2.0]})
    filled = model.impute(rows)
    assert filled.row(0) == ("Basel", 7, "top", 1.0) and filled.row(1)[1] in (1, 2, 3)
    assert filled.schema == {**table.schema, "grade": pl.Enum([*LEVELS, "top"])}
    array = table.select("floor", "size").to_numpy()
    model = quietly(CrossCat(feature_types=["categorical", "real"], **SHORT).fit, array)
    filled = model.impute([[7.0, 1.0], [np.nan, 2.0]])
    assert filled[0].tolist() == [7.0, 1.0] and filled[1, 0] in (1.0, 2.0, 3.0)


def test_numbers_that_do_not_suit_a_type_that_was_chosen():
    """In a column of integers, a number with decimals makes it one of floats."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"visits": rng.poisson(3.0, 200), "flag": rng.integers(2, size=200)})
    model = quietly(CrossCat(feature_types="auto", **SHORT).fit, table)
    assert model.feature_types_ == {"visits": "count", "flag": "boolean"}
    rows = pd.DataFrame({"visits": [2.5, 1.0, np.nan], "flag": [1, 2, 0]})
    with pytest.warns(UserWarning, match="these cells count as missing"):
        filled = model.impute(rows)
    assert filled["visits"].tolist()[:2] == [2.5, 1.0] and filled["flag"].tolist() == [1, 2, 0]
    assert filled.dtypes.tolist() == [float, np.int64]


def long_frame() -> pd.DataFrame:
    """Integers beyond 2^53 in columns of all dtypes that have such."""
    rng = np.random.default_rng(1)
    long = rng.integers(2**62, 2**63 - 1, 24)
    table = pd.DataFrame(
        {
            "amount": long,
            "stamp": 1_700_000_000_000_000_000 + rng.integers(10**15, size=24),
            "unsigned": 2 * long.astype(np.uint64) + np.uint64(1),
            "nullable": pd.array(rng.permutation(long), "Int64"),
            "arrow": pd.Series(rng.permutation(long)).astype("int64[pyarrow]"),
            "object": rng.permutation(long).astype(object),
            "size": rng.normal(size=24),
        }
    )
    table.loc[3, ["nullable", "arrow", "object", "size"]] = None
    return table


def changed(table, filled) -> dict:
    """How many observed cells of each column are others, where any are, or the dtype."""
    out = {}
    for name in table.columns:
        pairs = zip(table[name].to_numpy(object), filled[name].to_numpy(object), strict=True)
        n_changed = sum(one != other for one, other in pairs if not pd.isna(one))
        if n_changed or table[name].dtype != filled[name].dtype:
            out[name] = n_changed, filled[name].dtype
    return out


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_integers_that_floating_point_numbers_round_stay(model):
    table = long_frame()
    model = clone(model).set_params(feature_types="auto")
    imputer = quietly(BayesianImputer(model, n_imputations=2, random_state=0).fit, table)
    assert set(imputer.estimator_.feature_types_.values()) <= {"real", "skewed"}
    for filled in [imputer.transform(table), *imputer.sample_imputations(table)]:
        assert changed(table, filled) == {} and filled.notna().all(axis=None)
    # Whether cells are missing, or not, or those are that fit did not see.
    assert changed(table[:3], imputer.estimator_.impute(table[:3])) == {}
    filled, uncertainty = imputer.estimator_.set_params(unseen="missing").impute(table[2:4], return_uncertainty=True)
    assert changed(table[2:4], filled) == {}
    assert (uncertainty > 0.0).tolist() == table[2:4].isna().to_numpy().tolist()


def test_integers_that_floating_point_numbers_round_stay_in_polars():
    names = ["amount", "unsigned", "nullable"]
    columns = {name: [None if pd.isna(cell) else cell for cell in long_frame()[name].tolist()] for name in names}
    table = pl.DataFrame(columns, schema={"amount": pl.Int64, "unsigned": pl.UInt64, "nullable": pl.Int64})
    model = quietly(CrossCat(**SHORT).fit, table)
    for filled in [model.impute(table), *model.sample_imputations(table, 2, random_state=0)]:
        assert filled.schema == table.schema and filled["nullable"].null_count() == 0
        assert all(
            filled[name][j] == cell for name in names for j, cell in enumerate(columns[name]) if cell is not None
        )


def test_beside_integers_that_floating_point_numbers_round_strangers_stay():
    """A number below all that a logarithm takes counts as missing, and is one all the same."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"amount": (10.0 ** rng.normal(15.0, 1.0, 200)).astype(np.int64), "size": rng.normal(size=200)}
    )
    model = quietly(CrossCat(feature_types={"size": "real"}, covariance_type="diag", **SHORT).fit, table)
    assert model.feature_types_["amount"] == "skewed"
    rows = pd.DataFrame({"amount": [2**60 + 1, -(2**60) - 1, -5], "size": [1.0, np.nan, 0.0]})
    assert changed(rows, quietly(model.impute, rows)) == {}
