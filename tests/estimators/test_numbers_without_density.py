"""Numbers of new rows for which the model of a column has no density: amounts above 0 have logarithms."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from sklearn_subanneal import (
    CrossCat,
    CrossCatClassifier,
    CrossCatDetector,
    CrossCatRegressor,
    SubsampleAnnealedDPMM,
    TreeGuidedNRMM,
    load,
    save,
)
from sklearn_subanneal.shards import ShardedTable, first_values

SHORT = {"n_chains": 1, "n_draws": 2, "max_sweeps": 20, "random_state": 0}
MODELS = [
    model(**SHORT, covariance_type=covariance)
    for model in (CrossCat, SubsampleAnnealedDPMM, TreeGuidedNRMM)
    for covariance in ("diag", "full")
]


def frame() -> pd.DataFrame:
    """Amounts above 0, amounts with zeros, a real, which depend on the first, and classes."""
    rng = np.random.default_rng(0)
    price = rng.lognormal(3.0, 1.5, 200)
    fee = 0.3 * price * rng.lognormal(0.0, 0.3, 200)
    kind = np.array(["a", "b"], dtype=object)[(price > 20.0).astype(int)]
    zeros = rng.random(200) < 0.3
    return pd.DataFrame(
        {"price": price, "fee": np.where(zeros, 0.0, fee), "size": np.log(price) + rng.normal(size=200), "kind": kind}
    )


def strange() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Rows with a price or a fee that has no logarithm, and the same with these cells missing."""
    rows = frame().head(5)
    given, gaps = rows.copy(), rows.copy()
    for row, (name, value) in enumerate([("price", 0.0), ("price", -5.0), ("fee", -1.0)]):
        given.loc[row, name], gaps.loc[row, name] = value, np.nan
    return given, gaps


def quietly(ask, *arguments):
    """The answer without the warnings of its columns."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Column '(price|fee)' was", UserWarning)
        return ask(*arguments)


@pytest.fixture(scope="module", params=MODELS, ids=lambda model: f"{type(model).__name__}-{model.covariance_type}")
def fitted(request):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return request.param.fit(frame())


def test_the_rest_of_amounts_with_zeros_is_split_in_blocks(fitted):
    assert ("fee (rest)" in fitted.part_types_) == (fitted.covariance_type == "full")


def test_zeros_that_were_seen_are_no_such_numbers(fitted):
    rows = frame()[frame()["fee"] == 0.0].head(5)
    gaps = rows.assign(fee=np.nan)
    assert (quietly(fitted.score_samples, rows) != fitted.score_samples(gaps)).all()


def test_they_count_as_missing(fitted):
    assert fitted.feature_types_ == {"price": "skewed", "fee": "semicontinuous", "size": "real", "kind": "categorical"}
    given, gaps = strange()
    with pytest.warns(UserWarning, match=r"Column 'price' was skewed in fit, but holds -5\.0, 0\.0: these cells"):
        scores = fitted.score_samples(given)
    assert_array_equal(scores, fitted.score_samples(gaps))
    with pytest.warns(UserWarning, match=r"Column 'fee' was semicontinuous in fit, but holds -1\.0: these cells"):
        imputed = fitted.impute(given)
    filled = fitted.impute(gaps)
    assert (filled["price"] > 0.0).all() and (filled["fee"] >= 0.0).all()
    # But they are no missing cells, and stay.
    for row, name in enumerate(["price", "price", "fee"]):
        filled.loc[row, name] = given.loc[row, name]
    pd.testing.assert_frame_equal(imputed, filled)


def test_the_table_is_not_changed(fitted):
    given, _ = strange()
    before = given.copy()
    quietly(fitted.score_samples, given)
    pd.testing.assert_frame_equal(given, before)


def test_they_are_refused_where_unseen_values_are(fitted):
    given, _ = strange()
    fitted.set_params(unseen="error")
    try:
        with pytest.raises(ValueError, match=r"fit did not see: -5\.0, 0\.0 in column 'price'; -1\.0 in column 'fee'"):
            fitted.score_samples(given)
    finally:
        fitted.set_params(unseen="novel")


def test_a_stored_model_knows_them(fitted, tmp_path):
    save(fitted, tmp_path / "model.npz")
    given, gaps = strange()
    assert_array_equal(quietly(load(tmp_path / "model.npz").score_samples, given), fitted.score_samples(gaps))


@pytest.mark.parametrize(("model", "target"), [(CrossCatRegressor, "size"), (CrossCatClassifier, "kind")])
def test_predictions_are_those_of_rows_without_them(model, target):
    table, (given, gaps) = frame(), strange()
    fitted = model(CrossCat(**SHORT)).fit(table.drop(columns=target), table[target])
    answers = [quietly(fitted.predict, rows.drop(columns=target)) for rows in (given, gaps)]
    assert_array_equal(*answers)


def test_the_detector_takes_them():
    given, gaps = strange()
    detector = CrossCatDetector(CrossCat(**SHORT), n_calibration=0).fit(frame())
    scores = quietly(detector.score_samples, given)
    # They are impossible, and the rows odder than all others.
    assert (scores[:3] < detector.training_scores_.min()).all()
    assert_array_equal(scores[3:], detector.score_samples(gaps)[3:])


def test_more_rows_are_learned_without_them():
    given, gaps = strange()
    ends = []
    for rows in (given, gaps):
        model = SubsampleAnnealedDPMM(**SHORT).partial_fit(frame())
        ends.append(quietly(model.partial_fit, rows).score_samples(frame()))
    assert_array_equal(*ends)


def test_a_declared_column_refuses_them():
    types = {"price": "skewed", "fee": "semicontinuous"}
    model = CrossCat(**SHORT, feature_types=types).fit(frame())
    with pytest.raises(ValueError, match=r"Column 'price' holds -5\.0, but is modelled on a logarithmic scale"):
        model.score_samples(strange()[0])


def test_rows_beyond_the_first_sample_of_a_table_in_shards(monkeypatch):
    """Of 400 rows, 200 are looked at for the types, and the one with the least number, even of a column of many."""
    monkeypatch.setattr(first_values, "MOST_VALUES", 100)
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.lognormal(3.0, 1.5, 400), rng.normal(size=400)])
    model = SubsampleAnnealedDPMM(**SHORT | {"covariance_type": "diag", "max_sweeps": 3})
    # Behind the first values, which are tried, too.
    for row in range(100, 106):
        changed = X.copy()
        changed[row, 0] = -5.0
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            model.fit(ShardedTable(changed, n_start_rows=200))
        assert len(model.labels_) == 400
        assert not any("but holds -5.0" in str(one.message) for one in found)
        # The transformation is one that takes it.
        assert not np.isnan(model._encode(changed)[0][row])
