"""Types that estimators choose: fitted attributes, new data, single columns, warnings, the estimators of a target."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from sklearn_subanneal import CrossCat, CrossCatClassifier, CrossCatRegressor, SubsampleAnnealedDPMM, TreeGuidedNRMM

SHORT = {"n_chains": 1, "n_draws": 2, "max_sweeps": 5, "random_state": 0}
TYPES = {
    "size": "real",
    "income": "skewed",
    "price": "real",
    "rain": "semicontinuous",
    "visits": "count",
    "grade": "ordinal",
    "member": "boolean",
    "colour": "categorical",
    "since": "datetime",
}


def mixed(n_rows=120, seed=0):
    """A table with a column of each type that is chosen, in two groups of rows."""
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=n_rows)
    frame = pd.DataFrame(
        {
            "size": rng.normal(3.0 * group, 1.0),
            "income": rng.lognormal(8.0 + group, 1.0).round(2),
            "price": [f"{price:,.2f} €" for price in rng.normal(2000.0 + 500.0 * group, 90.0)],
            "rain": np.where(rng.random(n_rows) < 0.5, 0.0, rng.normal(20.0, 3.0, n_rows).round(1)),
            "visits": rng.negative_binomial(0.8, 0.25, n_rows),
            "grade": rng.binomial(5, 0.4 + 0.3 * group) + 1,
            "member": rng.integers(2, size=n_rows),
            "colour": np.array(["red", "green", "blue"])[rng.integers(3, size=n_rows)],
            "since": (pd.Timestamp("2021-03-04") + pd.to_timedelta(rng.integers(900, size=n_rows), "D")).astype(str),
        }
    )
    frame.loc[::9, ["size", "colour"]] = None
    return frame, group


@pytest.mark.parametrize("estimator", [SubsampleAnnealedDPMM, TreeGuidedNRMM, CrossCat])
def test_types_are_chosen_and_new_data_are_read_with_them(estimator):
    X, _ = mixed()
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model = estimator(feature_types="auto", **SHORT).fit(X)
    assert model.feature_types_ == TYPES
    assert model.feature_type_reasons_.keys() == TYPES.keys()
    assert model.feature_type_reasons_["price"].startswith("strings that spell numbers")
    # Few rows would have other types by themselves: whole grades of one value, no zeros, visits below 2.
    few = X[(X["rain"] > 0) & (X["visits"] < 2)].head(3)
    assert np.isfinite(model.score_samples(few)).all()
    filled = model.impute(few.assign(rain=np.nan))
    assert filled.columns.tolist() == list(TYPES) and filled["rain"].notna().all()
    # Strings that spell numbers come back as these numbers, which can be read again.
    sample = model.sample(5, random_state=0)
    assert sample["price"].dtype == float and np.isfinite(model.score_samples(sample)).all()


def test_declared_types_give_the_same_chains():
    X, _ = mixed()
    X["price"] = X["price"].str.removesuffix(" €").str.replace(",", "").astype(float)
    chosen, declared = (CrossCat(feature_types=types, **SHORT).fit(X) for types in ("auto", TYPES))
    np.testing.assert_array_equal(chosen.posterior_column_labels_, declared.posterior_column_labels_)
    np.testing.assert_array_equal(chosen.log_joint_, declared.log_joint_)
    assert set(declared.feature_type_reasons_.values()) == {"declared"}
    assert clone(chosen).get_params()["feature_types"] == "auto"


def test_single_columns_may_be_chosen():
    X, _ = mixed()
    X, diag = X[["size", "grade", "visits"]], SHORT | {"covariance_type": "diag"}
    model = SubsampleAnnealedDPMM(feature_types={"grade": "auto", 2: "real"}, **diag).fit(X)
    assert model.feature_types_ == {"size": "real", "grade": "ordinal", "visits": "real"}
    assert model.feature_type_reasons_["visits"] == "declared"
    model = SubsampleAnnealedDPMM(feature_types=["auto", "from_dtype", "count"], **diag).fit(X)
    assert model.feature_types_ == {"size": "real", "grade": "real", "visits": "count"}
    assert model.feature_type_reasons_["grade"] == "dtype int64"
    with pytest.raises(ValueError, match="unknown type 'automatic'"):
        SubsampleAnnealedDPMM(feature_types={"grade": "automatic"}).fit(X)


def test_arrays_have_types_too():
    X, _ = mixed()
    X = X[["size", "grade", "member"]].to_numpy(float)
    model = SubsampleAnnealedDPMM(feature_types="auto", **SHORT).fit(X)
    assert list(model.feature_types_.values()) == ["real", "ordinal", "boolean"]
    assert set(np.unique(model.sample(50, random_state=0)[:, 2])) == {0.0, 1.0}


def test_identifiers_are_warned_of():
    X = pd.DataFrame({"customer": np.arange(1001, 1101), "size": np.random.default_rng(0).normal(size=100)})
    with pytest.warns(UserWarning, match="'customer' looks like an identifier of the rows .* drop it"):
        CrossCat(feature_types="auto", **SHORT).fit(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        warnings.simplefilter("ignore", ConvergenceWarning)
        CrossCat(feature_types={"customer": "real", "size": "auto"}, **SHORT).fit(X)


def test_a_weighted_table_is_typed_like_the_table_of_repeated_rows():
    X, _ = mixed(60)
    X, weights = X[["size", "grade", "visits"]], np.arange(60) % 3
    weighted = SubsampleAnnealedDPMM(feature_types="auto", **SHORT).fit(X, sample_weight=weights)
    repeated = SubsampleAnnealedDPMM(feature_types="auto", **SHORT).fit(X.loc[X.index.repeat(weights)])
    assert weighted.feature_types_ == repeated.feature_types_
    assert weighted.feature_type_reasons_ == repeated.feature_type_reasons_


@pytest.mark.parametrize("estimator", [CrossCatClassifier, CrossCatRegressor])
def test_the_target_is_predicted_from_columns_of_chosen_types(estimator):
    X, group = mixed()
    model = estimator(CrossCat(feature_types="auto", **SHORT)).fit(X, group)
    assert model.feature_types_ == TYPES and model.feature_type_reasons_["price"].startswith("strings that spell")
    assert list(model.crosscat_.feature_types_.values())[:-1] == list(TYPES.values())
    assert model.score(X, group) > 0.5
