"""Classification and regression with one more column, as their users meet them."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import DataConversionWarning, NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_subanneal import CrossCat
from sklearn_subanneal.annealing import Accelerating, SubsampleAnneal
from sklearn_subanneal.estimators import CrossCatClassifier, CrossCatRegressor

NAN = np.nan
SHORT = {"n_chains": 1, "n_draws": 3, "max_sweeps": 5}


def groups(n_rows=150, seed=0):
    rng = np.random.default_rng(seed)
    z = rng.integers(3, size=n_rows)
    frame = pd.DataFrame(
        {
            "size": 6.0 * z + rng.normal(size=n_rows),
            "colour": pd.Categorical(np.array(["red", "green", "blue"])[(z + (rng.random(n_rows) < 0.1)) % 3]),
            "visits": rng.poisson(1 + 6 * z),
            "wet": rng.random(n_rows) < 0.2 + 0.3 * z,
            "noise": rng.normal(size=n_rows),
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, "size"] = NAN
    return frame, z


def to_polars(frame):
    return pl.DataFrame({name: [None if pd.isna(cell) else cell for cell in frame[name]] for name in frame})


@pytest.mark.parametrize("convert", [lambda X: X, to_polars], ids=["pandas", "polars"])
@pytest.mark.parametrize(
    "labels", [["no", "maybe", "yes"], pytest.param([30, 10, 20], marks=pytest.mark.slow)], ids=["strings", "integers"]
)
def test_classifier_of_mixed_frames(convert, labels):
    frame, z = groups()
    X, y = convert(frame), np.array(labels)[z]
    inner = CrossCat(feature_types={"visits": "count"}, n_chains=2, n_draws=4)
    model = CrossCatClassifier(inner, random_state=0).fit(X, y)
    np.testing.assert_array_equal(model.classes_, sorted(labels))
    np.testing.assert_array_equal(model.feature_names_in_, frame.columns)
    assert model.n_features_in_ == 5
    assert model.score(X, y) > 0.93
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-9)
    np.testing.assert_array_equal(model.classes_[probabilities.argmax(axis=1)], model.predict(X))
    # The estimator given is not touched; its types of X are those of the joint table.
    assert not hasattr(inner, "labels_")
    assert inner.feature_types == {"visits": "count"}
    table = model.crosscat_._table
    assert table.kinds == ["real", "categorical", "count", "boolean", "real", "categorical"]
    assert table.names == [*frame.columns, "y"]
    # In frames the last column holds the classes, and is the one that is predicted.
    np.testing.assert_array_equal(model.crosscat_.column_categories("y"), model.classes_)
    joined = frame.assign(y=y) if convert is not to_polars else to_polars(frame.assign(y=y))
    expected = model.crosscat_.predict_column_proba("y", joined)
    assert np.mean(expected.argmax(axis=1) == probabilities.argmax(axis=1)) > 0.98


@pytest.mark.parametrize("kind", [str, int, bool])
def test_classifier_of_arrays(kind):
    frame, z = groups()
    X = np.column_stack([frame["size"], frame["colour"].cat.codes, frame["visits"], frame["noise"]])
    y = (z > 0) if kind is bool else np.array([7, 1, 3])[z].astype(kind)
    types = ["real", "categorical", "count", "real"]
    model = CrossCatClassifier(CrossCat(feature_types=types, **SHORT), random_state=1).fit(X, y)
    assert model.predict(X).dtype == y.dtype
    assert model.score(X, y) > 0.93
    assert model.crosscat_._table.kinds == [*types, "categorical"]
    assert not hasattr(model, "feature_names_in_")
    # Nothing known of a row: the shares of the classes.
    shares = [np.mean(y == c) for c in model.classes_]
    np.testing.assert_allclose(model.predict_proba(np.full((1, 4), NAN))[0], shares, atol=0.05)


def test_one_class():
    model = CrossCatClassifier(CrossCat(**SHORT), random_state=0).fit(groups()[0][["size", "noise"]], ["a"] * 150)
    np.testing.assert_allclose(model.predict_proba(pd.DataFrame({"size": [0.0], "noise": [1.0]})), [[1.0]])


def test_regressor():
    frame, z = groups(n_rows=300)
    rng = np.random.default_rng(1)
    y = 1000.0 + 50.0 * z + 5.0 * rng.normal(size=300)
    model = CrossCatRegressor(CrossCat(feature_types={"visits": "count"}, n_chains=2), random_state=0)
    model.fit(frame[:250], y[:250])
    mean, deviation = model.predict(frame[250:], return_std=True)
    np.testing.assert_array_equal(mean, model.predict(frame[250:]))
    assert model.score(frame[250:], y[250:]) > 0.9
    standardised = (y[250:] - mean) / deviation
    assert 0.6 < standardised.std() < 1.5
    # With nothing known, mean and deviation are those of y.
    mean, deviation = model.predict(frame[:1].assign(size=NAN, colour=None, visits=NAN, wet=None, noise=NAN), True)
    assert abs(mean[0] - y[:250].mean()) < 5
    assert deviation[0] == pytest.approx(y[:250].std(), rel=0.1)


def test_names_of_the_target():
    frame, z = groups()
    frame = frame[["size", "noise"]].rename(columns={"noise": "y"})
    model = CrossCatRegressor(CrossCat(**SHORT)).fit(frame, z)
    assert model.crosscat_._table.names == ["size", "y", "y_"]
    numbered = frame.set_axis([5, 7], axis=1)
    model = CrossCatClassifier(CrossCat(**SHORT)).fit(numbered, z)
    assert model.crosscat_._table.names == ["x0", "x1", "y"]
    assert len(model.predict(numbered[:3])) == 3
    assert CrossCatRegressor(CrossCat(**SHORT)).fit(frame.to_numpy(), z).crosscat_._table.names == ["x0", "x1", "x2"]


def test_composition():
    frame, z = groups()
    X = frame[["size", "noise"]].to_numpy()
    model = CrossCatClassifier(CrossCat(**SHORT), random_state=0)
    schedules = [SubsampleAnneal(passes=4), Accelerating(passes=8)]
    search = GridSearchCV(model, {"estimator__schedule": schedules, "estimator__n_draws": [2]}, cv=2).fit(X, z)
    assert repr(search.best_estimator_.crosscat_.schedule) == repr(search.best_params_["estimator__schedule"])
    search = GridSearchCV(model.set_params(estimator__schedule=schedules[0]), {"estimator__schedule__passes": [2, 4]})
    assert search.fit(X, z).best_params_["estimator__schedule__passes"] in (2, 4)
    assert cross_val_score(make_pipeline(StandardScaler(), model), X, z, cv=3).mean() > 0.8
    fitted = clone(model).fit(X, z)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted)).predict_proba(X), fitted.predict_proba(X))


def test_random_state():
    frame, z = groups(60)
    X = frame[["size", "noise"]]
    inner = CrossCat(random_state=3, **SHORT)
    proba = CrossCatClassifier(inner).fit(X, z).predict_proba(X)
    np.testing.assert_array_equal(CrossCatClassifier(inner).fit(X, z).predict_proba(X), proba)
    np.testing.assert_array_equal(
        CrossCatClassifier(CrossCat(**SHORT), random_state=3).fit(X, z).predict_proba(X), proba
    )
    other = CrossCatClassifier(inner, random_state=4).fit(X, z)
    assert other.crosscat_.random_state == 4
    assert (other.predict_proba(X) != proba).any()


def test_defaults():
    frame, z = groups(60)
    model = CrossCatClassifier().fit(frame, z)
    assert model.crosscat_.get_params() == CrossCat(feature_types=model.crosscat_.feature_types).get_params()


@pytest.mark.parametrize("estimator", [CrossCatClassifier, CrossCatRegressor])
def test_strings_of_dates_are_read_as_in_fit_whatever_comes_with_them(estimator):
    """The order of day and month is that of the training table, which a few rows need not show."""
    rng = np.random.default_rng(0)
    days = pd.Timestamp("2021-01-01") + pd.to_timedelta(rng.integers(0, 700, 80), "D")
    X = pd.DataFrame({"when": days.strftime("%d/%m/%Y"), "size": rng.normal(size=80)})
    model = estimator(CrossCat(**SHORT), random_state=0).fit(X, (days.month > 6).astype(int))
    new = pd.DataFrame({"when": ["03/02/2021", "25/12/2021"], "size": [0.0, 0.0]})
    known = [cells[0] for cells in model._encoded(new)[:2]]
    assert known[0] == pd.Timestamp("2021-02-03").timestamp() / 86_400.0
    # There is no thirteenth month: that cell is missing.
    wrong = pd.DataFrame({"when": ["03/02/2021", "02/13/2021"], "size": [0.0, 0.0]})
    with pytest.warns(UserWarning, match="Column 'when' was datetime in fit, but holds '02/13/2021'"):
        arrays = model._encoded(wrong)
    assert [cells[0] for cells in arrays[:2]] == known and np.isnan(arrays[0][1])
    assert [cells[0] for cells in model._encoded(new[:1])[:2]] == known
    assert np.isfinite(model.predict(new[:1])).all()


def test_unseen_categories():
    frame, z = groups()
    model = CrossCatClassifier(CrossCat(unseen="error", **SHORT), random_state=0).fit(frame, z)
    strange = frame[:2].assign(colour=["pink", "red"])
    with pytest.raises(ValueError, match="'pink' in column 'colour'"):
        model.predict(strange)
    model = CrossCatClassifier(CrossCat(**SHORT), random_state=0).fit(frame, z)
    missing = model.predict_proba(frame[:1].assign(colour=None))
    np.testing.assert_allclose(model.predict_proba(strange)[:1], missing, rtol=1e-12)


LABELS = ["a", "b", "a", "b", "a"] * 6
MISSING_CLASSES = {
    "string": pd.Series([None, *LABELS[1:]], dtype="string"),
    "None": np.array([None, *LABELS[1:]], dtype=object),
    "list": [None, *LABELS[1:]],
    "NA": np.array([pd.NA, *LABELS[1:]], dtype=object),
    "NaN": np.array([NAN, *LABELS[1:]], dtype=object),
    "categories": pd.Series(pd.Categorical([None, *LABELS[1:]])),
    "polars": pl.Series("y", [None, *LABELS[1:]]),
    "integers": pd.Series([None, *range(2), *[1] * 27], dtype="Int64"),
    "dates": pd.Series([pd.NaT, *pd.to_datetime(["2024-01-01", "2024-01-02"]), *[pd.Timestamp("2024-01-01")] * 27]),
    "frame": pd.DataFrame({"y": pd.Series([None, *LABELS[1:]], dtype="string")}),
}


@pytest.mark.parametrize("kind", MISSING_CLASSES)
def test_a_missing_class_is_refused(kind):
    with pytest.raises(ValueError, match=r"^Input y contains NaN"):
        CrossCatClassifier(CrossCat(**SHORT)).fit(groups(30)[0], MISSING_CLASSES[kind])


@pytest.mark.parametrize("random_state", [None, 0])
@pytest.mark.parametrize("estimator", [CrossCatClassifier, CrossCatRegressor])
def test_a_frozen_model_is_refused(estimator, random_state):
    frame, z = groups(30)
    frozen = FrozenEstimator(CrossCat(**SHORT).fit(frame))
    with pytest.raises(ValueError, match=rf"{estimator.__name__} fits its model to X and y together.*unfitted model"):
        estimator(frozen, random_state=random_state).fit(frame, z)


@pytest.mark.parametrize("estimator", [CrossCatClassifier, CrossCatRegressor])
def test_bad_input(estimator):
    frame, z = groups(30)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        estimator().fit(frame, z[:-1])
    with pytest.raises(ValueError, match="NaN"):
        estimator().fit(frame, np.where(z > 0, z, NAN))
    with pytest.raises(ValueError, match=r"1d array|array with dim 3"):
        estimator().fit(frame, np.stack([[z], [z]]).T)
    with pytest.raises(ValueError, match="'estimator' parameter"):
        estimator(StandardScaler()).fit(frame, z)
    with pytest.raises(NotFittedError):
        estimator().predict(frame)


def test_bad_targets():
    frame, z = groups(30)
    with pytest.raises(ValueError, match="Unknown label type"):
        CrossCatClassifier().fit(frame, z + 0.5)
    with pytest.raises(ValueError, match="1d array"):
        CrossCatClassifier().fit(frame, np.column_stack([z, z]))
    with pytest.warns(DataConversionWarning):
        CrossCatClassifier(CrossCat(**SHORT)).fit(frame, z[:, None])
    with pytest.raises(ValueError, match="could not convert"):
        CrossCatRegressor().fit(frame, ["a"] * 30)


def test_intervals_of_a_regression_cover_what_they_promise():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(700, 2))
    y = 2.0 * X[:, 0] - X[:, 1] + np.where(X[:, 0] > 0.0, 0.2, 1.0) * rng.normal(size=700)
    model = CrossCatRegressor(random_state=0).fit(X[:300], y[:300])
    low, high = model.predict_interval(X[300:], coverage=0.8).T
    # Three standard errors of a share of 400 rows.
    assert abs(np.mean((low < y[300:]) & (y[300:] < high)) - 0.8) < 0.06
    quantiles = model.predict_quantiles(X[300:], [0.1, 0.5, 0.9])
    # The model is nearly right: the levels of the interval are close to 0.1 and 0.9.
    np.testing.assert_allclose(quantiles[:, [0, 2]], np.column_stack([low, high]), atol=0.1)
    assert np.all(np.diff(quantiles, axis=1) > 0.0)
    assert np.abs(quantiles[:, 1] - model.predict(X[300:])).mean() < 0.1
    assert (high - low)[X[300:, 0] > 0.5].mean() < 0.6 * (high - low)[X[300:, 0] < -0.5].mean()


def test_quantiles_use_the_weights_of_the_chains():
    rng = np.random.default_rng(4)
    x = rng.normal(size=100)
    model = CrossCatRegressor(CrossCat(**SHORT | {"n_chains": 2}), random_state=0).fit(
        x[:, None], x + rng.normal(size=100)
    )
    alone = []
    for weights in ([1.0, 1e-300], [1e-300, 1.0]):
        model.chain_weights_ = np.array(weights)
        alone.append(model.predict_quantiles([[0.5]])[0])
    model.chain_weights_ = np.array([0.5, 0.5])
    assert np.all(np.abs(alone[0] - alone[1]) > 1e-6)
    assert min(alone[0][1], alone[1][1]) < model.predict_quantiles([[0.5]])[0, 1] < max(alone[0][1], alone[1][1])


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda model: model.predict_quantiles([[0.0]], [0.5, 1.0]), r"quantiles must be .* got \[0.5, 1.0\]"),
        (lambda model: model.predict_quantiles([[0.0]], 0.5), "quantiles must be a list"),
        (lambda model: model.predict_quantiles([[0.0]], []), "quantiles must be a list"),
        (lambda model: model.predict_interval([[0.0]], 90), "coverage must be .* got 90; try 0.9"),
    ],
)
def test_refused_quantiles(ask, message):
    model = CrossCatRegressor(CrossCat(**SHORT), random_state=0).fit(np.arange(20.0)[:, None], np.arange(20.0))
    with pytest.raises(ValueError, match=message):
        ask(model)
