"""Indicators of missing cells: the same model as with a boolean column by hand, and answers about missing cells."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from sklearn_subanneal import CrossCat, CrossCatClassifier, CrossCatRegressor, SubsampleAnnealedDPMM

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

SHORT = {"n_chains": 1, "n_draws": 3, "max_sweeps": 5, "random_state": 0}


def patients(n_rows=200, seed=0):
    """Patients whose age is mostly unknown if they are ill, and whose blood group is sometimes."""
    rng = np.random.default_rng(seed)
    ill = rng.random(n_rows) < 0.5
    age = np.where(rng.random(n_rows) < np.where(ill, 0.9, 0.1), np.nan, rng.normal(50.0, 10.0, n_rows))
    group = np.where(rng.random(n_rows) < 0.1, None, rng.choice(["A", "B"], n_rows))
    return pd.DataFrame(
        {"age": age, "ill": ill, "group": pd.Series(group, dtype="str"), "size": rng.normal(size=n_rows)}
    )


def by_hand(frame):
    table = frame.copy()
    table.insert(1, "no age", frame["age"].isna())
    return table


@pytest.fixture(scope="module")
def fitted():
    frame = patients()
    return frame, CrossCat(missing_indicator={"age"}, **SHORT | {"n_chains": 4, "n_draws": 10}).fit(frame)


@pytest.mark.parametrize(
    "estimator", [CrossCat(**SHORT), SubsampleAnnealedDPMM(covariance_type="full", **SHORT)], ids=["views", "block"]
)
def test_an_indicator_is_a_boolean_column_bit_for_bit(estimator):
    frame = patients(60)
    one, other = clone(estimator).set_params(missing_indicator=["age"]).fit(frame), clone(estimator).fit(by_hand(frame))
    assert one.feature_types_ == {"age": "real", "ill": "boolean", "group": "categorical", "size": "real"}
    assert list(one.part_types_.items())[:2] == [("age", "real"), ("age (missing)", "boolean")]
    assert_array_equal(one.part_columns_, [0, 0, 1, 2, 3])
    assert_array_equal(one.log_joint_, other.log_joint_)
    new = patients(20, seed=1)
    assert_array_equal(one.score_samples(new), other.score_samples(by_hand(new)))
    found, expected = one.sample(50, random_state=0), other.sample(50, random_state=0)
    assert_array_equal(found["age"], expected["age"].mask(expected["no age"]))
    assert 0 < found["age"].isna().sum() < 50
    pd.testing.assert_frame_equal(found.drop(columns="age"), expected.drop(columns=["age", "no age"]))
    pd.testing.assert_frame_equal(one.impute(new), other.impute(by_hand(new)).drop(columns="no age"))


def test_cells_missing_for_a_reason_inform(fitted):
    frame, model = fitted
    plain = CrossCat(**SHORT).fit(frame)
    new = pd.DataFrame({"age": [np.nan, 50.0], "ill": [None, None], "group": pd.NA, "size": np.nan})
    shares = frame["ill"].groupby(frame["age"].isna()).mean()
    assert model.predict_column_proba("ill", new)[:, 1] == pytest.approx([shares[True], shares[False]], abs=0.1)
    assert np.ptp(plain.predict_column_proba("ill", new)[:, 1]) < 0.2
    assert model.relatedness("age", "ill", random_state=0).value > 0.5
    assert model.dependence_[0, 1] == 1.0
    # Unknown, which is not missing, tells nothing.
    for table in (new[:1], {"age": None}):
        given = model.sample(400, given=table, random_state=0)["ill"].mean()
        assert given == pytest.approx(frame["ill"].mean(), abs=0.1)
    rows = pd.DataFrame({"age": [np.nan, 50.0], "ill": [True, True], "group": pd.NA, "size": np.nan})
    assert_allclose(*model.score_samples(rows, given={"age": 50.0}))
    known = model.sample(400, given={"age": 50.0}, random_state=0)
    assert (known["age"] == 50.0).all() and known["ill"].mean() < 0.25


def test_samples_have_missing_cells_as_the_table(fitted):
    frame, model = fitted
    sampled = model.sample(2000, random_state=0)
    for ill in (True, False):
        share = frame["age"].isna()[frame["ill"] == ill].mean()
        assert sampled["age"].isna()[sampled["ill"] == ill].mean() == pytest.approx(share, abs=0.06)
    # Not indicated.
    assert sampled["group"].notna().all()


def test_a_missing_cell_is_scored(fitted):
    _, model = fitted
    rows = pd.DataFrame({"age": [np.nan, 50.0, np.nan], "ill": [True, True, False], "group": "A", "size": 0.0})
    surprisal = model.surprisal(rows)
    assert np.isfinite(surprisal).all()
    assert surprisal[0, 0] == pytest.approx(-np.log(0.9), abs=0.15)
    assert surprisal[2, 0] == pytest.approx(-np.log(0.1), abs=0.6)
    nothing = pd.DataFrame({"age": [np.nan], "ill": [None], "group": pd.NA, "size": np.nan})
    assert model.score_samples(nothing)[0] == pytest.approx(np.log(0.5), abs=0.15)
    assert_allclose(model.novelty(rows, columns="age")[0], -np.log(0.5), atol=0.15)
    assert np.isfinite(model.surprisal(patients(), seen=True)[:, 0]).all()


@pytest.mark.parametrize("container", ["pandas", "polars"])
def test_indicators_of_all_types(container):
    rng = np.random.default_rng(0)
    n = 60
    columns = {
        "real": rng.normal(size=n),
        "whole": rng.integers(5, size=n),
        "text": rng.choice(["a", "b"], n).astype(object),
        "flag": rng.random(n) < 0.5,
        "when": np.datetime64("2020-01-01", "us") + rng.integers(0, 10**6, n) * 60_000_000,
    }
    gone = rng.random((n, 5)) < 0.4
    cells = {
        name: [None if g else v for g, v in zip(gone[:, j], x.tolist(), strict=True)]
        for j, (name, x) in enumerate(columns.items())
    }
    if container == "polars":
        frame = pl.DataFrame(cells)
    else:
        frame = pd.DataFrame(cells).astype({"whole": "Int64", "flag": "boolean", "when": "datetime64[us]"})
    model = CrossCat(missing_indicator="missing-only", feature_types={"whole": "count"}, **SHORT).fit(frame)
    assert [name for name in model.part_types_ if "missing" in name] == [f"{name} (missing)" for name in columns]
    sampled = model.sample(300, random_state=0)
    assert list(sampled.dtypes) == list(frame.dtypes)
    for j, name in enumerate(columns):
        share = sampled[name].is_null().mean() if container == "polars" else sampled[name].isna().mean()
        assert share == pytest.approx(gone[:, j].mean(), abs=0.15)
    filled = model.impute(frame)
    assert not any(
        filled[name].is_null().any() if container == "polars" else filled[name].isna().any() for name in columns
    )


def test_arrays_and_indices():
    X = np.array([[1.0, np.nan], [2.0, 5.0], [3.0, np.nan], [4.0, 6.0]] * 5)
    by_index = CrossCat(missing_indicator=[1], **SHORT).fit(X)
    by_name = CrossCat(missing_indicator={"x1"}, **SHORT).fit(X)
    missing_only = CrossCat(missing_indicator="missing-only", **SHORT).fit(X)
    assert list(by_index.part_types_) == ["x0", "x1", "x1 (missing)"]
    assert by_index.log_joint_.tolist() == by_name.log_joint_.tolist() == missing_only.log_joint_.tolist()
    assert np.isnan(by_index.sample(50, random_state=0)[:, 1]).any()
    assert by_index.typed_columns(X)[2].tolist() == [1, 0, 1, 0] * 5
    assert clone(by_name).missing_indicator == {"x1"}
    filled, uncertainty = by_index.impute(X, return_uncertainty=True)
    assert filled.shape == uncertainty.shape == X.shape and not np.isnan(filled).any()


def test_a_category_that_fit_did_not_see_is_not_missing():
    frame = pd.DataFrame({"a": ["x", "y", None, "x"] * 10})
    model = CrossCat(missing_indicator=["a"], **SHORT).fit(frame)
    assert model.typed_columns(pd.DataFrame({"a": ["z", None]}))[1].tolist() == [0, 1]
    # The value is novel, and rarer than all others and than missing ones.
    score = model.score_samples(pd.DataFrame({"a": ["z", "y", None]}))
    assert score[0] < min(score[1:])


def test_classifiers_use_indicators():
    frame = patients()
    X, y = frame[["age", "size"]], frame["ill"].to_numpy()
    with_indicator = CrossCatClassifier(CrossCat(missing_indicator="missing-only", **SHORT)).fit(X, y)
    assert with_indicator.score(X, y) > 0.85 > CrossCatClassifier(CrossCat(**SHORT)).fit(X, y).score(X, y) + 0.1


@pytest.mark.parametrize("as_given", [list, np.array, pd.Index], ids=["list", "array", "index"])
@pytest.mark.parametrize("estimator", [CrossCatClassifier, CrossCatRegressor])
def test_columns_with_indicators_in_any_array(estimator, as_given):
    frame = patients(60)
    model = estimator(CrossCat(missing_indicator=as_given(["age", "size"]), **SHORT))
    try:
        found = model.fit(frame[["age", "size"]], frame["ill"].astype(int)).crosscat_.part_types_
    except ValueError as error:
        found = [str(error)]
    assert list(found) == ["age", "age (missing)", "size", "size (missing)", "y"]


@pytest.mark.parametrize(
    ("value", "match"),
    [
        (["height"], "missing_indicator names the unknown column 'height'. Columns are 'age', 'ill'"),
        ([9], "missing_indicator names the unknown column 9"),
        ("auto", "missing_indicator"),
        (True, "missing_indicator"),
    ],
)
def test_wrong_indicators(value, match):
    with pytest.raises(ValueError, match=match):
        CrossCat(missing_indicator=value, **SHORT).fit(patients(20))


def test_documents_have_no_indicators():
    with pytest.raises(ValueError, match="missing_indicator='missing-only' does not suit documents"):
        SubsampleAnnealedDPMM(feature_types="bag-of-words", missing_indicator="missing-only").fit(np.ones((3, 2)))
