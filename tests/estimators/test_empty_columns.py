"""Columns of which fit sees no value: kept, with a warning, and never filled."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import cross_val_score

import sklearn_subanneal
from sklearn_subanneal import (
    BayesianImputer,
    CrossCat,
    CrossCatClassifier,
    CrossCatDetector,
    CrossCatRegressor,
    SubsampleAnnealedDPMM,
    TreeGuidedNRMM,
)

BRIEF = {"n_chains": 1, "n_draws": 2, "random_state": 0}
MODELS = [CrossCat(**BRIEF), SubsampleAnnealedDPMM(**BRIEF), TreeGuidedNRMM(**BRIEF)]
ALL = [*MODELS, BayesianImputer(CrossCat(**BRIEF)), CrossCatDetector(CrossCat(**BRIEF), n_calibration=0)]
rng = np.random.default_rng(0)
TABLE = pd.DataFrame({"size": rng.normal(size=60), "colour": rng.choice(["red", "blue"], 60), "note": np.nan})
TABLE.loc[:4, "size"] = np.nan
WITH_VALUES = TABLE.assign(note=3.5)
EMPTY = {
    "Int64": pd.Series([None] * 60, dtype="Int64"),
    "object": pd.Series([None] * 60, dtype=object),
    "boolean": pd.Series([None] * 60, dtype="boolean"),
    "str": pd.Series([None] * 60, dtype="str"),
    "category": pd.Series(pd.Categorical([None] * 60, categories=["u", "v"])),
    "dates": pd.to_datetime(pd.Series([None] * 60)),
    "dates of a zone": pd.to_datetime(pd.Series([None] * 60)).dt.tz_localize("Europe/Berlin"),
}
OF_POLARS = [pl.Null, pl.String, pl.Int8, pl.Float32, pl.Boolean, pl.Date, pl.Datetime("ms"), pl.Enum(["u", "v"])]


def quietly(estimator, X, **fitted):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return estimator.fit(X, **fitted)


@pytest.mark.parametrize(
    "estimator",
    [*ALL, CrossCatRegressor(CrossCat(**BRIEF)), CrossCatClassifier(CrossCat(**BRIEF))],
    ids=lambda model: type(model).__name__,
)
def test_a_column_without_a_value_is_kept_with_one_warning(estimator):
    targets = [np.arange(60) % 3] if is_regressor(estimator) or is_classifier(estimator) else []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(TABLE, *targets)
    said = [str(warning.message) for warning in caught if "without a value" in str(warning.message)]
    assert len(said) == 1 and "'note'" in said[0] and "'size'" not in said[0]
    assert not [warning for warning in caught if issubclass(warning.category, RuntimeWarning)]
    assert estimator.n_features_in_ == 3


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_it_says_nothing(model):
    quietly(model, TABLE)
    assert model.feature_type_reasons_["note"] == "it has no values"
    np.testing.assert_array_equal(model.score_samples(WITH_VALUES), model.score_samples(TABLE))
    np.testing.assert_array_equal(model.predict(WITH_VALUES), model.predict(TABLE))
    alone = TABLE.assign(size=np.nan, colour=None, note=3.5)
    np.testing.assert_allclose(model.score_samples(alone), 0.0, atol=1e-9)


def test_queries_know_it():
    model = quietly(CrossCat(**BRIEF), TABLE)
    assert np.isnan(model.surprisal(WITH_VALUES)[:, 2]).all()
    related = model.relatedness_matrix(random_state=0)
    np.testing.assert_allclose(related[2], [0.0, 0.0, 1.0], atol=1e-6)
    detector = quietly(CrossCatDetector(CrossCat(**BRIEF), n_calibration=0), TABLE)
    assert np.isfinite(detector.score_samples(WITH_VALUES)).all()
    assert all(reason.column != "note" for reason in detector.reasons(WITH_VALUES))


@pytest.mark.parametrize("name", EMPTY)
def test_it_is_not_filled_and_keeps_its_dtype_in_pandas(name):
    X = TABLE.assign(note=EMPTY[name])
    model = quietly(CrossCat(**BRIEF), X)
    filled, drawn = model.impute(X), model.sample(5, random_state=0)
    assert not filled["size"].isna().any() and filled["note"].isna().all() and drawn["note"].isna().all()
    assert filled["note"].dtype == drawn["note"].dtype == X["note"].dtype


@pytest.mark.parametrize("dtype", OF_POLARS, ids=str)
def test_it_is_not_filled_and_keeps_its_dtype_in_polars(dtype):
    X = pl.DataFrame({"size": TABLE["size"].to_numpy(), "note": pl.Series([None] * 60, dtype=dtype)})
    model = quietly(CrossCat(**BRIEF), X)
    filled, drawn = model.impute(X), model.sample(5, random_state=0)
    assert filled["note"].null_count() == 60 and drawn["note"].null_count() == 5
    assert filled.schema["note"] == drawn.schema["note"] == dtype


def test_it_is_not_filled_in_arrays():
    X = np.column_stack([TABLE["size"], np.full(60, np.nan)])
    model = quietly(CrossCat(**BRIEF), X)
    filled = model.impute(X)
    assert not np.isnan(filled[:, 0]).any() and np.isnan(filled[:, 1]).all()
    assert np.isnan(model.sample(3, random_state=0)[:, 1]).all()


def test_values_of_further_rows_come_back_as_they_were():
    model = quietly(CrossCat(**BRIEF), TABLE)
    assert (model.impute(WITH_VALUES)["note"] == 3.5).all()
    with_dates = WITH_VALUES.assign(note=pd.Timestamp("2020-01-02")).iloc[::-1]
    pd.testing.assert_series_equal(model.impute(with_dates)["note"], with_dates["note"])
    X = np.column_stack([TABLE["size"], np.full(60, np.nan)])
    assert (quietly(CrossCat(**BRIEF), X).impute(np.nan_to_num(X, nan=2.0))[:, 1] == 2.0).all()


def test_values_come_back_whatever_the_container():
    """Of a model of an array, of pandas or of polars, where further rows are in another one."""
    of_frame = quietly(CrossCat(**BRIEF), TABLE[["size", "note"]])
    rows = np.array([[0.5, 2.0], [np.nan, np.nan]])
    assert of_frame.impute(rows)["note"].tolist()[0] == 2.0 and np.isnan(of_frame.impute(rows)["note"].tolist()[1])
    of_array = quietly(CrossCat(**BRIEF), TABLE[["size", "note"]].to_numpy())
    frame = pd.DataFrame({"x0": [0.5, 0.2], "x1": pd.array([2, None], "Int64")})
    np.testing.assert_array_equal(of_array.impute(frame)[:, 1], [2.0, np.nan])
    of_polars = quietly(CrossCat(**BRIEF), pl.DataFrame({"size": TABLE["size"].to_numpy(), "note": [None] * 60}))
    assert of_polars.impute(rows)["note"].to_list()[0] == 2.0


def test_indicators_say_which_cells_are_missing():
    imputer = quietly(BayesianImputer(CrossCat(**BRIEF), add_indicator=True), TABLE[["size", "note"]].to_numpy())
    filled = imputer.transform(np.array([[0.5, 7.0], [0.5, np.nan]]))
    np.testing.assert_array_equal(filled[:, -1], [0.0, 1.0])


def test_settings_of_such_a_column_are_not_used():
    types = {"note": "real"}
    settings = {
        "feature_types": types,
        "feature_params": {"note": {"nu": 3.0}},
        "feature_grids": {"note": {"nu": [3.0]}},
    }
    model = quietly(CrossCat(**BRIEF, **settings), TABLE)
    assert model.feature_types_["note"] == "categorical"
    with pytest.raises(ValueError, match="nu"):
        quietly(CrossCat(**BRIEF, feature_params={"colour": {"nu": 3.0}}), TABLE)


@pytest.mark.parametrize("event", ["note > 3", "note == 3", "not note <= 3"])
def test_events_of_such_a_column_are_refused(event):
    model = quietly(CrossCat(**BRIEF), TABLE)
    with pytest.raises(ValueError, match="'note' had no value in fit"):
        model.probability(event)


def test_folds_without_a_value_have_a_score():
    y = (TABLE["size"] > 0.0).to_numpy()
    X = TABLE.assign(note=np.where(np.arange(60) == 7, 1.0, np.nan))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        scores = cross_val_score(CrossCatClassifier(CrossCat(**BRIEF)), X, y, cv=3, error_score="raise")
    assert np.isfinite(scores).all()


def test_saved_models_have_it(tmp_path):
    model = quietly(CrossCat(**BRIEF), TABLE)
    sklearn_subanneal.save(model, tmp_path / "model.npz")
    again = sklearn_subanneal.load(tmp_path / "model.npz")
    pd.testing.assert_frame_equal(again.impute(TABLE), model.impute(TABLE))
    np.testing.assert_array_equal(again.score_samples(WITH_VALUES), model.score_samples(WITH_VALUES))


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_streams_refuse_it_since_values_may_come(model):
    with pytest.raises(ValueError, match=r"Column 'note' has no value.*drop it"):
        type(model)(**BRIEF).partial_fit(TABLE)
