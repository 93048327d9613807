"""Cyclic columns in estimators: ranges and periods, densities, imputations, samples; and the definition of the type."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM
from sklearn_subanneal.columns.binding import KINDS, bind_columns
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.columns.cyclic import TURN

DAY = {"hour": {"period": 24.0}}
TYPES = {"hour": "cyclic"}
N_ROWS = 160


def table(seed=0):
    """Night, around midnight, and noon; sizes that tell which."""
    rng = np.random.default_rng(seed)
    night = np.arange(N_ROWS) % 2 == 0
    hour = (np.where(night, 0.0, 12.0) + rng.normal(0.0, 1.5, N_ROWS)) % 24.0
    return pd.DataFrame({"hour": hour, "size": np.where(night, -4.0, 4.0) + rng.normal(size=N_ROWS)}), night


X, NIGHT = table()
ESTIMATORS = {
    "dpmm": SubsampleAnnealedDPMM(feature_types=TYPES, feature_params=DAY, n_chains=2, n_draws=4, random_state=0),
    "crosscat": CrossCat(feature_types=TYPES, feature_params=DAY, n_chains=2, n_draws=4, random_state=0),
}


@pytest.fixture(scope="module", params=ESTIMATORS)
def fitted(request):
    return ESTIMATORS[request.param].fit(X)


def distance(a, b, period=24.0):
    return np.abs((np.asarray(a) - b + period / 2) % period - period / 2)


def test_clusters_are_found_across_midnight(fitted):
    share = np.array([NIGHT[fitted.labels_ == k].mean() for k in range(fitted.n_clusters_)])
    assert fitted.n_clusters_ >= 2
    assert np.all((share < 0.1) | (share > 0.9))


def test_density_integrates_to_one_over_a_period(fitted):
    for low in (0.0, -7.0):
        hours = low + np.arange(4800) * (24.0 / 4800)
        rows = pd.DataFrame({"hour": hours, "size": np.nan})
        assert np.exp(fitted.score_samples(rows)).sum() * (24.0 / 4800) == pytest.approx(1.0, abs=1e-9)


def test_a_period_later_is_the_same(fitted):
    later = X.assign(hour=X["hour"] + 48.0)
    assert_allclose(fitted.score_samples(later), fitted.score_samples(X), rtol=1e-9)
    assert_array_equal(fitted.predict(later), fitted.predict(X))


def test_imputation_is_the_circular_mean(fitted):
    rows = pd.DataFrame({"hour": [np.nan, np.nan, 5.5], "size": [-4.0, 4.0, np.nan]})
    filled, uncertainty = fitted.impute(rows, return_uncertainty=True)
    hours = filled["hour"].to_numpy()
    assert np.all((hours >= 0.0) & (hours < 24.0))
    # A mean of the numbers themselves would be noon for both.
    assert distance(hours[0], 0.0) < 1.0 and distance(hours[1], 12.0) < 1.0
    assert hours[2] == 5.5 and np.asarray(uncertainty)[2, 0] == 0.0
    spread = np.asarray(uncertainty)[:2, 0]
    assert np.all((1.0 < spread) & (spread < 2.5))
    # The same by the densities: the direction of the mean vector, and its length.
    grid = np.arange(2400) * 0.01
    for i in range(2):
        joint = fitted.score_samples(pd.DataFrame({"hour": grid, "size": rows["size"][i]}))
        vector = np.average(np.exp(1j * TURN * grid / 24.0), weights=np.exp(joint))
        assert distance(hours[i], np.angle(vector) * 24.0 / TURN) < 1e-6
        assert spread[i] == pytest.approx(np.sqrt(-2.0 * np.log(abs(vector))) * 24.0 / TURN, rel=1e-6)


def test_samples_are_in_the_range_and_follow_the_density(fitted):
    hours = fitted.sample(3000, random_state=0)["hour"].to_numpy()
    assert np.all((hours >= 0.0) & (hours < 24.0))
    edges = np.linspace(0.0, 24.0, 13)
    fine = (np.arange(12 * 200) + 0.5) * (24.0 / 2400)
    density = np.exp(fitted.score_samples(pd.DataFrame({"hour": fine, "size": np.nan})))
    expected = 3000 * density.reshape(12, 200).sum(axis=1) * 0.01
    seen = np.histogram(hours, edges)[0]
    assert ((seen - expected) ** 2 / expected).sum() < 31.3  # 0.1 % of chi squared with 11 degrees of freedom


def test_hyperparameters_are_in_the_units_of_the_data(fitted):
    found = fitted.hyperparameters_["columns"]["hour"]
    assert set(found) == {"mu", "kappa", "r"}
    assert np.all((found["mu"] >= 0.0) & (found["mu"] < 24.0))
    # A deviation of 1.5 hours.
    assert 1.0 < np.median(1.0 / np.sqrt(found["kappa"])) * 24.0 / TURN < 2.2


def test_columns_depend_and_are_predicted():
    model = ESTIMATORS["crosscat"].fit(X)
    rows = pd.DataFrame({"hour": [3.0, 23.0], "size": [-4.0, 4.0]})
    assert_array_equal(distance(model.predict_column("hour", rows), [0.0, 12.0]) < 1.0, True)
    assert model.dependence_[0, 1] > 0.5
    assert model.mutual_information("hour", "size", random_state=0).value > 0.4
    assert model.sample(3, given={"hour": 12.0}, random_state=0)["hour"].tolist() == [12.0] * 3


def test_whole_hours_stay_whole():
    """Midnight is 0, and never 24; samples have the frequencies that events have."""
    rng = np.random.default_rng(0)
    hours = X["hour"].round() % 24.0
    rows = pd.DataFrame({"hour": hours.astype("Int64"), "size": X["size"]})
    rows.loc[::9, "hour"] = pd.NA
    short = {"n_chains": 1, "n_draws": 4, "max_sweeps": 20, "random_state": 0}
    model = CrossCat(feature_types=TYPES, feature_params=DAY, **short).fit(rows)
    drawn = model.sample(3000, random_state=1)["hour"]
    assert drawn.dtype == "Int64" and set(drawn) <= set(range(24))
    for hour in (23, 0, 1, 12):
        expected = model.probability(f"hour == {hour}")
        assert expected > 0.05 and abs((drawn == hour).mean() - expected) < 4.0 * np.sqrt(expected / 3000)
    assert model.probability("hour < 12") + model.probability("hour >= 12") == pytest.approx(1.0, abs=1e-9)
    filled = [model.impute(rows), *model.sample_imputations(rows, 2, random_state=rng)]
    assert all(own["hour"].dtype == "Int64" and own["hour"].between(0, 23).all() for own in filled)
    # What is given is not rounded.
    assert (model.sample(3, given={"hour": 22.5}, random_state=0)["hour"] == 22.5).all()


@pytest.mark.parametrize("low", [0.0, -180.0])
@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame, pl.DataFrame], ids=["numpy", "pandas", "polars"])
def test_the_range_is_that_of_the_column(low, container):
    rng = np.random.default_rng(1)
    degrees = (rng.normal(179.0, 20.0, 80) - low) % 360.0 + low
    cells = container({"column_0": degrees}) if container is not np.asarray else degrees[:, None]
    model = SubsampleAnnealedDPMM(
        feature_types=["cyclic"], feature_params={"cyclic": {"period": 360.0}}, n_chains=1, n_draws=2, random_state=0
    ).fit(cells)
    drawn = np.asarray(model.sample(200, random_state=0))[:, 0]
    assert drawn.min() >= low and drawn.max() < low + 360.0
    assert distance(np.angle(np.exp(1j * np.radians(drawn)).mean(), deg=True), 179.0, 360.0) < 10.0


def test_any_period_and_origin_is_the_same_model():
    angles = np.random.default_rng(2).vonmises(1.0, 4.0, 60) % TURN
    found = []
    for period in (TURN, 1e-3, 1e9):
        params = {"feature_types": ["cyclic"], "feature_params": {"cyclic": {"period": period}}}
        model = SubsampleAnnealedDPMM(n_chains=1, n_draws=2, random_state=0, **params)
        model.fit(angles[:, None] * (period / TURN))
        found.append(model.score_samples(angles[:, None] * (period / TURN)) + np.log(period / TURN))
    assert_allclose(found[1:], [found[0]] * 2, rtol=1e-6)


@pytest.mark.parametrize(
    "cells", [np.full(30, 7.0), np.tile([0.0, 6.0, 12.0, 18.0], 10), np.array([3.0]), np.array([-1e6, 1e6, 0.1])]
)
@pytest.mark.parametrize("params", [{}, {"grids": "fixed"}, {"learn_hyperparameters": False}], ids=str)
def test_odd_columns(cells, params):
    model = SubsampleAnnealedDPMM(
        feature_types=["cyclic"], feature_params={"cyclic": {"period": 24.0}}, n_chains=1, n_draws=2, **params
    ).fit(cells[:, None])
    assert np.isfinite(model.score_samples(cells[:, None])).all()


@pytest.mark.parametrize("span, is_refused", [(TURN, False), (1.001 * TURN, True), (23.0, True)])
def test_more_than_a_turn_needs_a_period(span, is_refused):
    """Hours that are taken for radians would be a silent error."""
    cells = np.linspace(-1.0, span - 1.0, 40)[:, None]
    model = SubsampleAnnealedDPMM(feature_types=["cyclic"], n_chains=1, n_draws=2, random_state=0)
    if is_refused:
        with pytest.raises(ValueError, match=r"column 'x0' is cyclic and has values from -1 to .*give its period"):
            model.fit(cells)
        model.set_params(feature_params={"x0": {"period": TURN}})
    assert np.isfinite(model.fit(cells).score_samples(cells)).all()


def test_given_hyperparameters_are_kept():
    given = {"hour": {"period": 24.0, "mu": 30.0, "kappa": 3.0, "r": 0.7}}
    params = {"feature_types": TYPES, "feature_params": given, "n_chains": 1, "n_draws": 1, "random_state": 0}
    model = SubsampleAnnealedDPMM(learn_hyperparameters=False, **params).fit(X)
    found = {name: value[0, 0] for name, value in model.hyperparameters_["columns"]["hour"].items()}
    assert found == pytest.approx({"mu": 6.0, "kappa": 3.0, "r": 0.7})


def test_clusters_do_not_shrink_to_rounded_values():
    hours = np.arange(24.0).repeat(8)
    (model,) = bind_columns(["hour"], ["cyclic"], [0], [hours], feature_params=DAY)
    assert model.grids["kappa"][-1] == pytest.approx(12.0 / (TURN / 24.0) ** 2)


def test_strings_are_refused():
    with pytest.raises(ValueError, match=r"'hour' must be cyclic but holds 'noon'.*declare it 'categorical'"):
        SubsampleAnnealedDPMM(feature_types=TYPES).fit(pd.DataFrame({"hour": ["noon", "night"]}))


@pytest.mark.parametrize("kind", KINDS)
def test_every_type_says_all_that_it_must(kind):
    model = KINDS[kind]
    assert model.kind == kind and issubclass(model, ColumnModel) and model.hyperparameters
    assert model.data_class and model.statistics_class
    assert model.remedy or model.coded or not model.declared
