"""Columns that are functions of one another: modelled once, and answered for like all others."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal import (
    BayesianImputer,
    CrossCat,
    CrossCatClassifier,
    CrossCatDetector,
    CrossCatRegressor,
    SubsampleAnnealedDPMM,
    TreeGuidedNRMM,
    load,
    save,
)

N_ROWS = 200
# Which columns are functions of which.
DERIVED = {"log_amount": "amount", "age_squared": "age", "code": "city", "spent_squared": "spent"}


def planted(n_rows=N_ROWS, seed=0) -> pd.DataFrame:
    """Two groups of people; three pairs of a column and a function of it, and one of amounts with many zeros."""
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=n_rows)
    # As usual with files, numbers are rounded.
    amount = np.round(np.exp(rng.normal(1.0 + 2.0 * group, 0.5)), 4)
    age = rng.integers(20, 60, size=n_rows) + 10 * group
    spent = np.where(rng.random(n_rows) < 0.4, 0.0, np.round(rng.gamma(20.0, 1.0 + group, n_rows), 3))
    city = np.array(["Rome", "Bonn", "Oslo"])[np.where(rng.random(n_rows) < 0.8, group, 2)]
    return pd.DataFrame(
        {
            "amount": amount,
            "log_amount": np.log(amount),
            "age": age,
            "age_squared": age**2,
            "city": city,
            "code": pd.Series(city).map({"Rome": 7, "Bonn": 9, "Oslo": 3}).to_numpy(),
            "spent": spent,
            "spent_squared": spent**2,
            "noise": rng.normal(size=n_rows),
        }
    )


@pytest.fixture(scope="module")
def table():
    return planted()


@pytest.fixture(scope="module")
def model(table):
    return CrossCat(n_chains=2, random_state=0).fit(table)


@pytest.fixture(scope="module")
def detector(table):
    """Scores of training rows need not be those of rows that were left out."""
    return CrossCatDetector(CrossCat(n_chains=2, random_state=0), n_calibration=0).fit(table)


def partner(model, name):
    """The column by which another one is modelled, and the function."""
    column = model._table.columns[model._table.names.index(name)]
    return model._table.names[column.derivation.source], column.derivation.function


def assert_nearly_equal(values, expected):
    if pd.api.types.is_numeric_dtype(expected):
        np.testing.assert_allclose(np.asarray(values, float), expected, rtol=1e-6, atol=1e-6)
    else:
        assert (np.asarray(values) == expected).all()


def derived_names(model):
    return [column.name for column in model._table.columns if column.derivation is not None]


def test_each_pair_is_modelled_once_and_the_reason_says_so(model):
    names = derived_names(model)
    assert len(names) == 4 and len(model.part_types_) in (5, 6)  # amounts with zeros may have two parts
    for derived, other in DERIVED.items():
        (name,) = {derived, other} & set(names)
        (source,) = {derived, other} - {name}
        assert partner(model, name)[0] == source
        assert f"column {source!r}" in model.feature_type_reasons_[name]


def test_the_chains_are_those_of_the_table_without_them(table, model):
    others = CrossCat(n_chains=2, random_state=0).fit(table.drop(columns=derived_names(model)))
    np.testing.assert_array_equal(model.log_joint_, others.log_joint_)
    np.testing.assert_array_equal(model.column_labels_, others.column_labels_)


def test_they_depend_on_what_their_partners_depend_on(model):
    dependence, names = model.dependence_, model._table.names
    for derived, other in DERIVED.items():
        np.testing.assert_array_equal(dependence[names.index(derived)], dependence[names.index(other)])
    related = model.relatedness_matrix(random_state=0)
    assert related[0, 1] == related[2, 3] == 1.0 and related[0, 2] == related[1, 3] > 0.2


@pytest.mark.parametrize("derived", DERIVED)
def test_a_cell_is_what_its_partner_says(table, model, derived):
    other = DERIVED[derived]
    for target, known in ((derived, other), (other, derived)):
        gaps = table.assign(**{target: table[target].where(np.arange(N_ROWS) % 3 > 0)})
        for values in (model.predict_column(target, gaps), model.impute(gaps)[target]):
            assert_nearly_equal(values, table[target])
        # The same with a table that has the partner alone.
        assert_nearly_equal(model.predict_column(target, table[[known]].reindex(columns=table.columns)), table[target])


def test_observed_cells_stay_as_they_are(table, model):
    gaps = table.mask(np.random.default_rng(1).random(table.shape) < 0.3)
    filled, uncertainty = model.impute(gaps, return_uncertainty=True)
    for name in table:
        seen = gaps[name].notna()
        assert (filled[name][seen] == table[name][seen]).all()
        assert (uncertainty[seen, table.columns.get_loc(name)] == 0.0).all()
    assert filled.notna().all().all()
    # Cells of pairs that are both filled are consistent, and as uncertain as their partners.
    both = gaps["amount"].isna() & gaps["log_amount"].isna()
    np.testing.assert_allclose(filled["log_amount"][both], np.log(filled["amount"][both]), rtol=1e-6)
    spread = uncertainty[both, :2]
    np.testing.assert_allclose(spread[:, 1], spread[:, 0] / filled["amount"][both], rtol=1e-3)
    for drawn in model.sample_imputations(gaps, 3, random_state=0):
        assert (drawn["city"].map({"Rome": 7, "Bonn": 9, "Oslo": 3}) == drawn["code"]).all()


def test_densities_are_those_of_the_columns_that_are_modelled(table, model):
    names = derived_names(model)
    scores = model.score_samples(table)
    np.testing.assert_array_equal(scores, model.score_samples(table.assign(**dict.fromkeys(names, np.nan))))
    sources = {partner(model, name)[0]: np.nan for name in names}
    np.testing.assert_allclose(scores, model.score_samples(table.assign(**sources)), atol=1e-4)
    given = table[["log_amount"]].reindex(columns=table.columns)
    same = table[["amount"]].reindex(columns=table.columns)
    np.testing.assert_allclose(
        model.score_samples(table, given=given), model.score_samples(table, given=same), atol=1e-4
    )


@pytest.mark.parametrize(
    ("event", "same"),
    [
        ("log_amount < 2", f"amount < {math.exp(2.0)!r}"),
        ("1 < log_amount <= 3", f"{math.exp(1.0)!r} < amount <= {math.exp(3.0)!r}"),
        ("log_amount > 1", f"amount > {math.exp(1.0)!r}"),
        ("age_squared >= 1600", "age >= 40"),
        ("age_squared == 1600", "age == 40"),
        ("code == 7", "city == 'Rome'"),
        ("code > 5", "city != 'Oslo'"),
        ("code in [3, 9]", "city != 'Rome'"),
        ("spent_squared == 0", "spent == 0"),
        ("spent_squared <= 100", "spent <= 10"),
        ("spent_squared > 0", "spent > 0"),
    ],
)
def test_events_are_those_of_the_partner(model, event, same):
    one, other = model.probability([event, same])
    assert one == pytest.approx(other, abs=1e-9)
    assert model.probability(event, given={"log_amount": 3.0}) == pytest.approx(
        model.probability(same, given={"amount": np.exp(3.0)}), abs=1e-9
    )


def test_an_event_beyond_the_values_of_a_function_is_impossible(model):
    found = model.probability(["age_squared < -1", "age_squared > -1", "age_squared == -1"])
    assert found[0] == found[2] == 0.0
    assert found[1] == pytest.approx(1.0, rel=1e-14)


def test_quantiles_are_functions_of_those_of_the_partner(model):
    levels = [0.1, 0.5, 0.8]
    for derived, function, other in (("log_amount", np.log, "amount"), ("age_squared", np.square, "age")):
        quantiles = model.conditional_quantiles(derived, levels, given={"city": "Rome"})
        np.testing.assert_allclose(quantiles, function(model.conditional_quantiles(other, levels, given={"code": 7})))
    np.testing.assert_allclose(
        model.conditional_quantiles("spent_squared", [0.05, 0.9]),
        model.conditional_quantiles("spent", [0.05, 0.9]) ** 2,
    )
    assert set(model.conditional_quantiles("code", [0.01, 0.999])) == {3, 9}


def test_probabilities_of_categories_are_those_of_the_partner(table, model):
    unknown = table.assign(city=None, code=np.nan)
    cities = dict(zip(model.column_categories("city"), model.predict_column_proba("city", unknown).T, strict=True))
    codes = dict(zip(model.column_categories("code"), model.predict_column_proba("code", unknown).T, strict=True))
    for city, code in {"Rome": 7, "Bonn": 9, "Oslo": 3}.items():
        np.testing.assert_array_equal(cities[city], codes[code])
    known = model.predict_column_proba("code", table.assign(code=np.nan))
    assert (known.max(axis=1) == 1.0).all()


def test_samples_are_consistent(model):
    rows = model.sample(300, random_state=0)
    np.testing.assert_allclose(rows["log_amount"], np.log(rows["amount"]), rtol=1e-9)
    np.testing.assert_allclose(rows["spent_squared"], rows["spent"] ** 2, rtol=1e-9)
    assert (rows["city"].map({"Rome": 7, "Bonn": 9, "Oslo": 3}) == rows["code"]).all()
    given = model.sample(20, given={"log_amount": 1.25, "code": 9}, random_state=0)
    assert np.allclose(given["amount"], np.exp(1.25)) and (given["city"] == "Bonn").all()


def test_cells_that_contradict_one_another_are_missing_with_a_warning(table, model):
    wrong = table.assign(log_amount=table["log_amount"].where(np.arange(N_ROWS) != 5, 40.0))
    with pytest.warns(UserWarning, match="X contradicts functions that columns were of one another in fit: .*amount"):
        scores = model.score_samples(wrong)
    assert np.delete(scores, 5) == pytest.approx(np.delete(model.score_samples(table), 5))
    with pytest.raises(ValueError, match=r"given contradicts functions .* Leave one of the two out"):
        model.probability("age < 30", given={"amount": 2.0, "log_amount": 2.0})
    with pytest.raises(ValueError, match=r"X contradicts functions .* Correct it"):
        CrossCat(n_chains=1, unseen="error", random_state=0).fit(table).score_samples(wrong)


def test_information_of_a_column_with_a_function_of_it_is_refused(model):
    with pytest.raises(ValueError, match=r"is a function of .*: their information has no limit"):
        model.mutual_information("amount", "log_amount")
    value = model.mutual_information("log_amount", "age", random_state=0).value
    assert value == pytest.approx(model.mutual_information("amount", "age_squared", random_state=0).value)
    given = model.mutual_information("spent", "age", given={"log_amount": 3.0}, random_state=0).value
    assert given == pytest.approx(
        model.mutual_information("spent", "age", given={"amount": np.exp(3.0)}, random_state=0).value, abs=1e-6
    )


def test_a_declared_type_has_a_column_modelled(table):
    types = {"amount": "skewed", "code": "categorical"}
    model = CrossCat(n_chains=1, feature_types=types, random_state=0).fit(table)
    assert {"amount", "code"} <= set(model.part_types_) and {"log_amount", "city"} <= set(derived_names(model))
    assert model.feature_types_["amount"] == "skewed" and model.feature_type_reasons_["log_amount"].startswith(
        "the log"
    )
    both = CrossCat(n_chains=1, feature_types=types | {"log_amount": "real"}, random_state=0).fit(table)
    assert {"amount", "log_amount"} <= set(both.part_types_)


def test_a_model_with_them_can_be_saved(tmp_path, table, model):
    save(model, tmp_path / "model.npz")
    again = load(tmp_path / "model.npz")
    np.testing.assert_array_equal(again.score_samples(table), model.score_samples(table))
    assert again.probability("log_amount < 2") == model.probability("log_amount < 2")


def test_a_gap_of_the_source_in_training_is_filled_by_the_other(table):
    gaps = table.assign(amount=table["amount"].where(np.arange(N_ROWS) % 4 > 0))
    gaps["log_amount"] = gaps["log_amount"].where(np.arange(N_ROWS) % 7 > 0)
    model = CrossCat(n_chains=1, max_sweeps=5, random_state=0).fit(gaps)
    assert {"amount", "log_amount"} & set(derived_names(model))
    missing = np.isnan(model.typed_columns(gaps)[model.first_parts_[0]])
    np.testing.assert_array_equal(missing, np.arange(N_ROWS) % 28 == 0)
    # The chains saw the same.
    both_missing = np.arange(N_ROWS) % 28 > 0
    filled = table.assign(
        amount=table["amount"].where(both_missing), log_amount=table["log_amount"].where(both_missing)
    )
    others = CrossCat(n_chains=1, max_sweeps=5, random_state=0).fit(filled)
    np.testing.assert_allclose(model.log_joint_, others.log_joint_, rtol=1e-6)


def test_a_training_table_with_gaps_of_sources_is_known(table):
    """What another column says is one of the numbers of the source to the last bit, in ``fit`` and ever after."""
    log_amount = np.round(table["log_amount"], 7)
    gaps = table.assign(log_amount=log_amount, amount=table["amount"].where(np.arange(N_ROWS) % 2 > 0))
    gaps = pd.concat([gaps, gaps.iloc[:9].assign(amount=table["amount"].iloc[:9], log_amount=np.nan)])
    model = CrossCat(n_chains=1, feature_types={"amount": "real"}, random_state=0).fit(gaps)
    assert "log_amount" in derived_names(model)
    assert set(model.typed_columns(gaps)[0][:9:2]) <= set(table["amount"])
    model.impute(gaps, seen=True)


def test_the_imputer_tells_whose_cells_were_missing(table):
    gaps = table.assign(log_amount=table["log_amount"].where(np.arange(N_ROWS) % 4 > 0))
    gaps["age"] = gaps["age"].where(np.arange(N_ROWS) % 5 > 0)
    imputer = BayesianImputer(CrossCat(n_chains=1, max_sweeps=5, random_state=0), add_indicator=True).fit(gaps)
    filled = imputer.transform(gaps)
    assert list(imputer.indicated_) == [1, 2]
    np.testing.assert_array_equal(filled.iloc[:, -2].astype(bool), gaps["log_amount"].isna())
    np.testing.assert_array_equal(filled.iloc[:, -1].astype(bool), gaps["age"].isna())


def test_an_indicator_of_missing_cells_is_that_of_the_column(table):
    gaps = table.assign(log_amount=table["log_amount"].where(table["age"] < 45))
    model = CrossCat(missing_indicator=["log_amount"], n_chains=1, random_state=0).fit(gaps)
    assert "log_amount (missing)" in model.part_types_
    young, old = (
        model.probability("log_amount is missing", {"age": 25}),
        model.probability("log_amount is missing", {"age": 65}),
    )
    assert young < 0.1 < 0.9 < old
    rows = model.sample(300, random_state=0)
    assert 0.1 < rows["log_amount"].isna().mean() < 0.9 and rows["amount"].notna().all()


def test_the_detector_gives_each_odd_cell_once(table, detector):
    odd = table.iloc[:5].assign(amount=900.0, log_amount=np.log(900.0))
    reasons = detector.reasons(odd, n_reasons=3)
    found = [reason.column for reason in reasons if reason.row == 0]
    assert len({"amount", "log_amount"} & set(found)) == 1
    assert len(set(found)) == len(found)
    assert not set(found) & set(derived_names(detector.crosscat_))


@pytest.mark.parametrize("kind", ["array", "polars"])
def test_other_containers(table, kind):
    numbers = table.drop(columns="city")
    X = numbers.to_numpy(float) if kind == "array" else pytest.importorskip("polars").from_pandas(numbers)
    model = CrossCat(n_chains=1, max_sweeps=5, random_state=0).fit(X)
    assert len(derived_names(model)) == 3
    filled = model.impute(X)
    np.testing.assert_array_equal(np.asarray(filled, float), numbers.to_numpy(float))


def test_functions_that_fall():
    rng = np.random.default_rng(0)
    x = np.round(np.exp(0.5 * rng.normal(size=N_ROWS)), 3)
    X = pd.DataFrame({"x": x, "left": 10.0 - 2.0 * x, "inverse": 1.0 / x, "other": x + rng.normal(size=N_ROWS)})
    model = CrossCat(n_chains=1, max_sweeps=5, random_state=0).fit(X)
    assert len(derived_names(model)) == 2
    pairs = [
        ("left < 7", "x > 1.5"),
        ("left >= 7", "x <= 1.5"),
        ("inverse < 0.5", "x > 2"),
        ("7 < left < 8", "1 < x < 1.5"),
    ]
    for event, same in pairs:
        one, other = model.probability([event, same], given={"other": 1.0})
        assert 0.05 < one < 0.95 and one == pytest.approx(other, abs=1e-9)
    low, high = model.conditional_quantiles("x", [0.1, 0.7])
    np.testing.assert_allclose(model.conditional_quantiles("left", [0.3, 0.9]), [10.0 - 2.0 * high, 10.0 - 2.0 * low])
    np.testing.assert_allclose(model.conditional_quantiles("inverse", [0.3, 0.9]), [1.0 / high, 1.0 / low])


def test_a_value_of_its_own_probability_at_the_end_of_an_interval():
    """The logarithm of an amount that repeats is, transformed back, not the amount to the last bit."""
    rng = np.random.default_rng(0)
    rent = np.where(rng.random(400) < 0.4, rng.choice([2.5, 7.3, 13.1], 400), rng.gamma(20.0, 0.4, 400))
    X = np.column_stack([rent, np.log(rent), rent + rng.normal(size=400)])
    assert any(np.exp(np.log(atom)) != atom for atom in (2.5, 7.3, 13.1))
    model = CrossCat(n_chains=1, feature_types={0: "semicontinuous"}, random_state=0).fit(X)
    assert derived_names(model) == ["x1"]
    for atom in (2.5, 7.3, 13.1):
        for sign in ("<", "<=", "==", ">"):
            one, other = model.probability([f"x1 {sign} {math.log(atom)!r}", f"x0 {sign} {atom}"])
            assert one == pytest.approx(other, abs=1e-12)


@pytest.mark.parametrize("estimator", [SubsampleAnnealedDPMM, TreeGuidedNRMM])
def test_mixtures_have_them_once_too(table, estimator):
    X = table.assign(days=365.0 * table["age"] + 12.0)
    model = estimator(n_chains=1, max_sweeps=5, random_state=0).fit(X)
    names = derived_names(model)
    assert len(names) == 5
    others = estimator(n_chains=1, max_sweeps=5, random_state=0).fit(X.drop(columns=names))
    np.testing.assert_array_equal(model.log_joint_, others.log_joint_)
    gaps = X.assign(log_amount=np.nan, age=np.nan)
    filled = model.impute(gaps)
    np.testing.assert_allclose(filled["log_amount"], table["log_amount"], rtol=1e-6)
    assert (filled["age"] == table["age"]).all()
    # Of functions that are no lines, the means are not those of their partners.
    means, names = model.means_, list(X)
    assert np.isnan(means[:, names.index("age_squared")]).all() or np.isnan(means[:, names.index("age")]).all()
    np.testing.assert_allclose(means[:, names.index("days")], 365.0 * means[:, names.index("age")] + 12.0)
    rows = model.sample(50, random_state=0)
    np.testing.assert_allclose(rows["days"], 365.0 * rows["age"] + 12.0)


def test_a_stream_has_them_all(table):
    model = CrossCat(covariance_type="diag", n_chains=1, random_state=0).partial_fit(table)
    assert not derived_names(model)


def test_rows_of_a_stream_after_a_fit(table):
    model = CrossCat(covariance_type="diag", n_chains=1, random_state=0).fit(table)
    model.partial_fit(planted(50, seed=1).assign(amount=np.nan))
    rows = model.sample(50, random_state=0)
    np.testing.assert_allclose(rows["log_amount"], np.log(rows["amount"]))


def test_columns_of_a_classifier_and_a_regressor(table):
    """Features that are functions of others are no columns of the joint model; the target is none of them."""
    X, y = table.drop(columns="city"), table["city"]
    classifier = CrossCatClassifier(CrossCat(n_chains=1, max_sweeps=5), random_state=0).fit(X.drop(columns="code"), y)
    assert len(classifier.crosscat_._table.names) == 5 and classifier.crosscat_._table.names[-1] == "y"
    some = X.drop(columns="code").head(20)
    np.testing.assert_allclose(
        classifier.predict_proba(some.assign(log_amount=np.nan)), classifier.predict_proba(some), atol=1e-4
    )
    np.testing.assert_allclose(
        classifier.predict_proba(some.assign(amount=np.nan)), classifier.predict_proba(some), atol=1e-4
    )
    regressor = CrossCatRegressor(CrossCat(n_chains=1, max_sweeps=5), random_state=0).fit(
        X.drop(columns="age_squared"), X["age_squared"]
    )
    assert "y" in regressor.crosscat_._table.names and not any(
        column.derivation is not None for column in regressor.crosscat_._table.columns
    )
    assert regressor.score(X.drop(columns="age_squared"), X["age_squared"]) > 0.8


def test_a_target_that_is_a_function_of_a_feature_is_predicted():
    """The target is a column of the joint model like any other, and no other is modelled by it."""
    rng = np.random.default_rng(0)
    X = np.exp(rng.normal(size=(100, 2)))
    regressor = CrossCatRegressor(CrossCat(n_chains=1, max_sweeps=5), random_state=0).fit(X, 3.0 * X[:, 0] + 1.0)
    assert np.corrcoef(regressor.predict(X), X[:, 0])[0, 1] > 0.95
    grade = rng.integers(1, 6, size=120)
    X, y = pd.DataFrame({"grade": grade, "z": rng.normal(size=120)}), np.array(list("abcde"))[grade - 1]
    assert (
        CrossCatClassifier(CrossCat(n_chains=1, max_sweeps=5), random_state=0).fit(X, y).predict(X) == y
    ).mean() > 0.95


@pytest.mark.parametrize("given", [{"missing_indicator": "missing-only"}, {"feature_params": {"real": {"mu": 0.0}}}])
def test_features_of_models_with_further_settings(table, given):
    X, y = table.drop(columns=["city", "code"]), table["city"]
    classifier = CrossCatClassifier(CrossCat(n_chains=1, **given), random_state=0).fit(X, y)
    assert len(classifier._encoded(X)) == len(classifier.crosscat_._models)
    assert classifier.score(X, y) > 0.6


def test_powers_have_the_names_of_columns():
    x, z = np.random.default_rng(0).normal(size=(2, 80))
    classifier = CrossCatClassifier(CrossCat(n_chains=1, max_sweeps=5), random_state=0)
    classifier.fit(np.column_stack([x, 2 * x + 1, z]), (z > 0).astype(int))
    assert list(classifier.column_powers_) == list(classifier.class_powers_) == ["x0", "x2"]


def test_columns_with_hyperparameters_are_modelled(table):
    model = CrossCat(n_chains=1, feature_params={"amount": {"nu": 5.0}}, covariance_type="diag", random_state=0)
    assert "amount" in model.fit(table).part_types_
    grids = {"categorical": {"alpha": [0.1, 1.0]}}
    model = CrossCat(n_chains=1, feature_grids=grids, covariance_type="diag", random_state=0).fit(table)
    assert {"city", "code"} <= set(model.part_types_)


def test_values_that_a_function_cannot_have(table, model):
    with pytest.raises(ValueError, match=r"given contradicts functions .* no value of the function of 'log_amount'"):
        model.probability("age > 30", given={"amount": -5.0})
    some = table.head(3).assign(log_amount=np.nan, amount=[1.0, -5.0, 2.0])
    with pytest.warns(UserWarning, match=r"-5\.0 in column 'amount', which is no value of the function"):
        filled = model.impute(some)
    # It stays, and says nothing of the other column.
    assert filled["amount"].tolist() == [1.0, -5.0, 2.0] and filled["log_amount"][0] == pytest.approx(0.0)
    assert filled["log_amount"][1] == model.impute(some.assign(amount=[1.0, np.nan, 2.0]))["log_amount"][1]
    assert model._table.impossible(model, some)[:, :2].tolist() == [[False, False], [True, False], [False, False]]
    squares = table.head(2).assign(age=np.nan, age_squared=[-4.0, -9.0])
    with pytest.warns(UserWarning, match="no value of the function of 'age'"):
        assert model.impute(squares)["age"].between(0, 100).all()


def test_a_new_category_in_one_of_two_columns(table, detector):
    model = detector.crosscat_
    both = table.head(2).assign(city=["Lima", "Lima"], code=[11, 11])
    assert (model.score_samples(both) < model.score_samples(table.head(2)) - 1.0).all()
    for changed in (table.head(1).assign(code=11), table.head(1).assign(city="Lima")):
        with pytest.warns(UserWarning, match="a new value"):
            assert detector.score_samples(changed)[0] < detector.training_scores_.min()
    alone = table.head(1).assign(code=11, city=None)
    gap = table.head(1).assign(code=np.nan, city=None)
    assert model.score_samples(alone)[0] < model.score_samples(gap)[0]


def test_an_ordinal_column_has_no_place_for_a_new_category():
    rng = np.random.default_rng(0)
    grade = rng.integers(1, 6, size=120)
    X = pd.DataFrame(
        {
            "grade": pd.Categorical(grade, ordered=True),
            "word": np.array(list("abcde"))[grade - 1],
            "z": grade + rng.normal(size=120),
        }
    )
    model = CrossCat(n_chains=1, max_sweeps=5, random_state=0).fit(X)
    assert derived_names(model) == ["word"]
    rows = X.head(1).astype(object).assign(grade=None, word="zzz")
    with pytest.warns(UserWarning, match="a new value in column 'word', which is no value of the function"):
        assert np.isnan(model.surprisal(rows)[0, :2]).all()


def test_draws_beyond_the_end_of_a_function():
    x = np.random.default_rng(1).normal(1.0, 2.0, size=300)
    x = x[x > -2.9]
    model = CrossCat(n_chains=1, max_sweeps=5, random_state=0).fit(pd.DataFrame({"x": x, "root": np.sqrt(x + 3.0)}))
    rows = model.sample(500, random_state=0)
    assert np.isfinite(rows.to_numpy()).all()
    assert np.isfinite(model.conditional_quantiles("root", [0.001, 0.999])).all()


def test_the_value_that_another_column_says_is_kept_to_the_last_bit(table):
    """Whole numbers, their dtype, and amounts with a probability of their own."""
    rng = np.random.default_rng(0)
    rent = np.where(rng.random(300) < 0.4, 7.3, rng.gamma(20.0, 0.4, 300))
    months = rng.integers(10, 400, size=300)
    X = pd.DataFrame({"rent": rent, "euro": np.round(1.2345 * rent, 4), "months": months, "years": months / 12.0})
    model = CrossCat(n_chains=1, feature_types={"rent": "semicontinuous", "months": "real"}, random_state=0).fit(X)
    assert set(derived_names(model)) == {"euro", "years"}
    some = X.assign(rent=np.nan, months=pd.NA).astype({"months": "Int64"})
    filled = model.impute(some)
    assert (filled["months"] == months).all() and (filled["rent"] == 7.3).sum() == (rent == 7.3).sum()
    np.testing.assert_allclose(model.score_samples(some), model.score_samples(X), atol=1e-2)


def test_the_detector_names_the_column_that_has_the_odd_cell(table, detector):
    rows = table.head(2).copy()
    rows.loc[0, ["amount", "log_amount"]] = 5000.0, np.nan
    rows.loc[1, ["amount", "log_amount"]] = np.nan, np.log(5000.0)
    first = {reason.row: reason for reason in detector.reasons(rows, rows=[0, 1], n_reasons=1)}
    assert (first[0].column, first[0].value) == ("amount", 5000.0) and first[0].expected < 1000.0
    assert first[1].column == "log_amount" and first[1].expected < np.log(1000.0)


def test_rows_and_objects_instead_of_frames(table, model):
    rows = table.head(4).values.tolist()
    assert model.impute(rows).equals(model.impute(table.head(4)))


def test_evidence_about_two_functions_of_each_other(model):
    with pytest.raises(ValueError, match="given has 'log_amount' and 'amount', functions of each other"):
        model.mutual_information("spent", "age", given={"log_amount": 1.0, "amount": 100.0})
