"""CrossCat with full covariance on semicontinuous columns, which are modelled by two parts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

from sklearn_subanneal import CrossCat, CrossCatRegressor

TYPES = {"spent": "semicontinuous", "capped": "semicontinuous"}


def table(n_rows=250):
    """A real column; one that follows it, or is 0; one that follows it, or is 0 or 99. Some cells are missing."""
    rng = np.random.default_rng(0)
    size = rng.normal(10.0, 2.0, n_rows)
    spent = np.where(rng.random(n_rows) < 0.5, 0.0, size + rng.normal(0.0, 0.5, n_rows))
    capped = 0.5 * size + rng.normal(0.0, 0.3, n_rows)
    capped = np.where(rng.random(n_rows) < 0.2, np.where(rng.random(n_rows) < 0.5, 0.0, 99.0), capped)
    spent[::9] = np.nan
    return pd.DataFrame({"size": size, "spent": spent, "capped": capped})


@pytest.fixture(scope="module")
def model():
    return CrossCat(feature_types=TYPES, n_chains=2, n_draws=4, random_state=0).fit(table())


def row(**cells):
    return pd.DataFrame({"size": [np.nan], "spent": [np.nan], "capped": [np.nan]}).assign(**cells)


def test_types(model):
    assert model.feature_types_ == {"size": "real", **TYPES}
    parts = {"spent (atom)": "boolean", "spent (rest)": "real", "capped (atom)": "categorical", "capped (rest)": "real"}
    assert model.part_types_ == {"size": "real", **parts}
    assert model.dependence_.shape == (3, 3)


def test_cells_that_are_no_atoms_follow_the_other_columns(model):
    drawn = model.sample(2000, random_state=0)
    for name, atom in (("spent", 0.0), ("capped", 99.0)):
        observed = table()[name].dropna() == atom
        assert (drawn[name] == atom).mean() == pytest.approx(observed.mean(), abs=0.05)
    rest = drawn[(drawn["spent"] != 0.0) & ~drawn["capped"].isin([0.0, 99.0])]
    assert rest.corr().to_numpy().min() > 0.8
    low, high = (model.predict_column("spent", row(size=size))[0] for size in (7.0, 13.0))
    assert high - low == pytest.approx(0.5 * 6.0, abs=0.6)


def test_probabilities_of_atoms_and_density_of_the_rest_are_one_altogether(model):
    grid = np.linspace(-20.0, 40.0, 6001)
    known = row(size=12.0, capped=6.0).loc[np.zeros(len(grid), int)].reset_index(drop=True)
    density = np.exp(model.score_samples(known.assign(spent=grid + 1e-7)))
    atom, whole = np.exp(model.score_samples(pd.concat([row(size=12.0, capped=6.0, spent=0.0), known[:1]])))
    assert (np.trapezoid(density, grid) + atom) / whole == pytest.approx(1.0, abs=1e-4)
    # The imputed cell is the mean of this distribution, and its uncertainty the standard deviation.
    mean = np.trapezoid(density * grid, grid) / whole
    deviation = np.sqrt(np.trapezoid(density * grid**2, grid) / whole - mean**2)
    filled, uncertainty = model.impute(known[:1], return_uncertainty=True)
    assert filled["spent"][0] == pytest.approx(mean, rel=1e-3)
    assert uncertainty[0, 1] == pytest.approx(deviation, rel=2e-2)
    assert model.predict_column("spent", known[:1])[0] == pytest.approx(mean, rel=1e-3)


def test_observed_cells_stay(model):
    X = table()
    filled = model.impute(X)
    assert filled.notna().all(axis=None)
    pd.testing.assert_frame_equal(filled.where(X.notna()), X)


def test_evidence_and_surprisal(model):
    given = model.score_samples(row(size=12.0), given={"spent": 0.0})
    whole, part = (model.score_samples(row(spent=0.0, **cells)) for cells in ({"size": 12.0}, {}))
    assert given == pytest.approx(whole - part)
    surprisal = model.surprisal(pd.concat([row(size=12.0, spent=12.0), row(size=12.0, spent=0.0), row(size=12.0)]))[
        :, 1
    ]
    assert surprisal[1] == pytest.approx(np.log(2.0), abs=0.3)
    assert np.isnan(surprisal[2])


def test_hyperparameters_of_the_column_and_of_its_type():
    params = {"semicontinuous": {"alpha": 2.0}, "spent": {"atoms": 0.0, "mu": 3.0}}
    settings = {"feature_types": TYPES, "learn_hyperparameters": False, "n_chains": 1, "n_draws": 1}
    fixed = CrossCat(feature_params=params, **settings, random_state=0).fit(table()).hyperparameters_["columns"]
    assert np.all(fixed["spent (atom)"]["alpha"] == 2.0)
    assert np.all(fixed["spent (atom)"]["beta"] == 2.0)
    assert np.all(fixed["capped (atom)"]["alpha"] == 2.0)
    np.testing.assert_allclose(fixed["spent (rest)"]["mu"], 3.0)
    with pytest.raises(ValueError, match="is semicontinuous but has no atoms"):
        CrossCat(feature_types={"size": "semicontinuous"}).fit(table())


def test_errors_name_the_parameter_or_the_column():
    X = table()
    for wrong in ("none", np.nan):
        with pytest.raises(ValueError, match=r"feature_params\['spent'\]\['atoms'\] must be"):
            CrossCat(feature_types=TYPES, feature_params={"spent": {"atoms": wrong}}).fit(X)
    with pytest.raises(ValueError, match="must have dicts as values, got 3 for 'spent'"):
        CrossCat(feature_types=TYPES, feature_params={"spent": 3}).fit(X)
    with pytest.raises(ValueError, match=r"has a part 'spent \(rest\)', and another column has that name"):
        CrossCat(feature_types=TYPES).fit(X.assign(**{"spent (rest)": 1.0}))


def test_prediction_from_a_semicontinuous_column():
    X = table(500).dropna()
    features, target = X[["spent", "capped"]], X["size"]
    inner = CrossCat(feature_types=TYPES, n_chains=2, n_draws=4)
    regression = CrossCatRegressor(inner, random_state=0).fit(features[:350], target[:350])
    error = regression.predict(features[350:]) - target[350:]
    assert np.sqrt(np.mean(error**2)) < 0.6 * target.std()


@pytest.mark.slow
@pytest.mark.parametrize("covariance_type", ["auto", "diag"])
def test_views_of_amounts_with_zeros_are_found(covariance_type):
    """Amounts are lognormal: the numbers have to be transformed, and joint normal ones would be mostly missing."""
    rng, n_rows = np.random.default_rng(5), 2000
    columns, views = [], np.repeat([0, 1], 10)
    for k in (4, 8):
        labels = rng.integers(k, size=n_rows)
        for _ in range(10):
            shares, means = rng.uniform(size=k), 1.5 * rng.normal(size=k)
            amounts = np.exp(means[labels] + 0.6 * rng.normal(size=n_rows))
            columns.append(np.where(rng.random(n_rows) < shares[labels], 0.0, amounts))
    model = CrossCat(covariance_type=covariance_type, random_state=0).fit(np.column_stack(columns))
    assert adjusted_rand_score(views[model.part_columns_], model.column_labels_) > 0.95


def test_diagonal_covariance_keeps_one_column():
    model = CrossCat(feature_types=TYPES, covariance_type="diag", n_chains=1, n_draws=1, random_state=0).fit(table())
    assert model.part_types_ == {"size": "real", **TYPES}
