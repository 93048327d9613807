"""Cells that a column cannot have are missing for the model, and make a row odder than all others for the detector."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal import CrossCat, CrossCatDetector

N_ROWS = 120


def planted():
    rng = np.random.default_rng(0)
    amount = np.round(np.exp(rng.normal(2.0, 1.5, N_ROWS)), 3)
    return pd.DataFrame(
        {
            "amount": amount,
            "flag": rng.integers(2, size=N_ROWS),
            "log_amount": np.log(amount),
            "size": rng.normal(size=N_ROWS).round(2).astype(str),
            "group": np.array(["a", "b", "c"])[rng.integers(3, size=N_ROWS)],
        }
    )


@pytest.fixture(scope="module")
def detector():
    model = CrossCat(n_chains=1, feature_types={"amount": "auto"}, random_state=0)
    return CrossCatDetector(model, random_state=0).fit(planted())


@pytest.mark.filterwarnings("ignore:Column:UserWarning", "ignore:X contradicts:UserWarning")
@pytest.mark.parametrize(("column", "value"), [("flag", 2), ("size", "seven")])
def test_a_row_with_one_is_the_oddest(detector, column, value):
    X = planted().iloc[:10]
    X = X.astype({column: object}) if isinstance(value, str) else X
    X.loc[3, column] = value
    scores = detector.score_samples(X)
    assert scores.argmin() == 3 and scores[3] < detector.training_scores_.min()
    assert detector.p_values(X)[3] == 1.0 / (N_ROWS + 1) and detector.predict(X)[3] == -1
    reason = detector.reasons(X, rows=[3])[0]
    assert (reason.column, reason.value) == (column, value)
    assert reason.surprisal == reason.excess == np.inf


@pytest.mark.filterwarnings("ignore:X contradicts:UserWarning")
@pytest.mark.parametrize(("column", "value"), [("log_amount", 7.5), ("amount", 30.0)])
def test_both_of_two_columns_that_contradict_each_other_are_named(detector, column, value):
    X = planted().iloc[:10]
    X.loc[3, column] = value
    assert detector.score_samples(X).argmin() == 3
    reasons = {reason.column: reason for reason in detector.reasons(X, rows=[3], n_reasons=2)}
    assert set(reasons) == {"amount", "log_amount"}
    assert all(reason.excess == np.inf for reason in reasons.values())
    # One of them is modelled, the other one is what that says.
    (name,) = (own.name for own in detector.crosscat_._table.columns if own.derivation is not None)
    expected = np.exp(X.loc[3, "log_amount"]) if name == "amount" else np.log(X.loc[3, "amount"])
    assert reasons[name].expected == pytest.approx(expected) == reasons[name].low == reasons[name].high


@pytest.mark.filterwarnings("ignore:X contradicts:UserWarning")
def test_beside_a_missing_source_the_rest_of_the_row_says_what_is_expected():
    """The function of a missing cell has no value."""
    rng = np.random.default_rng(0)
    degrees, high = np.array(["none", "school", "college", "phd"]), rng.integers(2, size=200)
    years = 1 + 2 * high + rng.integers(2, size=200)
    size = np.round(np.exp(4.0 * high + rng.normal(size=200)), 3)
    X = pd.DataFrame({"years": years, "degree": degrees[years - 1], "size": size, "square": size**2})
    X = X.assign(high=np.array(["no", "yes"])[high])
    model = CrossCat(feature_types={"years": "ordinal"}, n_chains=1, n_draws=3, max_sweeps=5, random_state=0)
    detector = CrossCatDetector(model, n_calibration=0).fit(X)
    assert [own.name for own in detector.crosscat_._table.columns if own.derivation is not None] == ["degree", "square"]
    odd = pd.DataFrame({"years": [np.nan] * 2, "degree": ["MBA"] * 2, "size": [np.nan] * 2, "square": [-5.0] * 2})
    low, high = (
        {reason.column: reason for reason in detector.reasons(odd.assign(high=["no", "yes"]), rows=[row], n_reasons=2)}
        for row in (0, 1)
    )
    assert all(own[name].surprisal == np.inf for own in (low, high) for name in ("degree", "square"))
    assert low["degree"].expected in degrees[:2] and high["degree"].expected in degrees[2:]
    assert low["square"].low < low["square"].expected < low["square"].high
    assert low["square"].expected < high["square"].expected


@pytest.mark.filterwarnings("ignore:Column:UserWarning")
def test_a_training_row_with_one_in_place_of_a_gap_is_new():
    """To the model both are missing cells."""
    table = planted().drop(columns=["log_amount", "size"]).astype({"flag": float})
    table.loc[3, "flag"] = np.nan
    model = CrossCat(n_chains=1, max_sweeps=5, random_state=0)
    detector = CrossCatDetector(model, n_calibration=0, random_state=0).fit(table)
    assert detector.p_values(table.iloc[[3]]) >= 1.0 / N_ROWS
    assert detector.p_values(table.iloc[[3]].assign(flag=2.0)).tolist() == [1.0 / (N_ROWS + 1)]


@pytest.mark.filterwarnings("ignore:Column:UserWarning", "ignore:X contradicts:UserWarning")
def test_more_of_them_are_odder(detector):
    X = planted().iloc[:3].assign(flag=[0, 2, 2])
    X.loc[2, "log_amount"] = 9.0
    scores = detector.score_samples(X)
    assert scores[0] > scores[1] > scores[2]


def test_an_amount_below_zero():
    X = planted()[["amount", "flag"]]
    detector = CrossCatDetector(CrossCat(n_chains=1, random_state=0), random_state=0).fit(X)
    with pytest.warns(UserWarning, match=r"Column 'amount' was skewed in fit, but holds -5\.0"):
        scores = detector.score_samples(X.assign(amount=X["amount"].where(X.index != 7, -5.0)))
    assert scores.argmin() == 7


def test_missing_cells_and_new_categories_are_possible(detector):
    X = planted().iloc[:4]
    X.loc[1, ["amount", "log_amount"]] = np.nan
    X.loc[2, "group"] = "z"
    model = detector.crosscat_
    assert not model._table.impossible(model, X).any()
    assert detector.score_samples(X)[1] > detector.training_scores_.min()
