"""Rows that are drawn have no cells far beyond the training cells, where the predictive has no moments."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM, portable
from sklearn_subanneal.columns.cell_ranges import limits_of_drawn
from sklearn_subanneal.mixtures.limited_rows import within_limits

# Degrees of freedom below one, and few rows: the t distributions of new clusters have not even a mean.
HEAVY = {"x": {"kappa": 0.01, "nu": 0.5, "sigma2": 1.0}, "y": {"kappa": 0.01, "nu": 0.5, "sigma2": 1.0}}
SHORT = {"n_chains": 1, "n_draws": 2, "max_sweeps": 20, "random_state": 0}


@pytest.fixture(scope="module", params=[CrossCat, SubsampleAnnealedDPMM], ids=["views", "mixture"])
def heavy(request):
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"x": rng.normal(size=60), "y": rng.lognormal(sigma=1.5, size=60), "c": rng.choice(list("ab"), 60)}
    )
    settings = {"feature_params": HEAVY, "learn_hyperparameters": False, "covariance_type": "diag"}
    types = ["real", "skewed", "categorical"]
    return request.param(feature_types=types, **settings, **SHORT).fit(table), table


def test_cells_are_at_most_a_range_beyond(heavy):
    model, table = heavy
    rows = model.sample(4000, random_state=0)
    with model._average() as average:
        unlimited = average.sample(4000, np.random.default_rng(0))
    for j, name in enumerate(("x", "y")):
        low, high = table[name].min(), table[name].max()
        room = high - low
        assert np.abs(unlimited[j]).max() > 100.0 * room
        assert rows[name].between(low - room, high + room).all()
        # They are drawn again, and not put at the limits.
        assert (rows[name] < high + 0.999 * room).all()
        assert rows[name].std() < 2.0 * table[name].std()
    assert set(rows["c"]) == {"a", "b"}


def test_imputations_are_at_most_a_range_beyond(heavy):
    model, table = heavy
    new = pd.DataFrame({"x": [0.0, 1e5] * 300, "y": np.nan, "c": "a"})
    drawn = pd.concat(model.sample_imputations(new, 5, random_state=0))
    low, high = table["y"].min(), table["y"].max()
    assert drawn["y"].between(2.0 * low - high, 2.0 * high - low).all()
    assert (drawn["y"] < high + 0.999 * (high - low)).all() and drawn["y"].std() < 2.0 * table["y"].std()
    # What was observed stays, wherever it is.
    assert set(drawn["x"]) == {0.0, 1e5}


def test_imputations_of_training_rows_are_at_most_a_range_beyond():
    _, table = _crosscat()
    table.loc[::6, "y"] = np.nan
    settings = {"feature_params": HEAVY, "learn_hyperparameters": False, "covariance_type": "diag"}
    model = CrossCat(feature_types=["real", "skewed"], **settings, **SHORT).fit(table)
    drawn = np.array([own["y"] for own in model.sample_imputations(table, 300, random_state=0)])[:, ::6]
    low, high = table["y"].min(), table["y"].max()
    assert (drawn <= 2.0 * high - low).all() and (drawn < high + 0.999 * (high - low)).mean() > 0.999
    assert drawn.std() < 2.0 * table["y"].std()


@pytest.mark.parametrize("estimator", [CrossCat, SubsampleAnnealedDPMM])
def test_counts_are_at_most_a_range_beyond(estimator):
    """Their tails are as heavy: with a large dispersion, and a prior of the mean that is wide."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"c": rng.poisson(12.0, 80), "x": rng.normal(size=80)}).astype({"c": "Int64"})
    table.loc[::4, "c"] = pd.NA
    heavy = {"c": {"shape": 0.5, "rate": 0.005, "dispersion": 1.0}}
    model = estimator(feature_types={"c": "count"}, feature_params=heavy, learn_hyperparameters=False, **SHORT)
    model.fit(table)
    low, high = int(table["c"].min()), int(table["c"].max())
    least, most = 2 * low - high, 2 * high - low
    new = pd.DataFrame({"c": pd.array([pd.NA] * 200, "Int64"), "x": rng.normal(size=200)})
    drawn = {"rows": [model.sample(2000, random_state=0)], "new": [], "training": []}
    if estimator is CrossCat:
        drawn["new"] = model.sample_imputations(new, 5, random_state=0)
        drawn["training"] = [own[::4] for own in model.sample_imputations(table, 60, random_state=0)]
    with model._average() as average:
        unlimited = average.sample(2000, np.random.default_rng(0))[0]
    assert unlimited.max() > 3 * most and (unlimited > most).mean() > 0.02
    for own in (pd.concat(some)["c"] for some in drawn.values() if some):
        assert own.dtype == "Int64" and own.between(max(least, 0), most).all()
        # They are drawn again, and not put at the limits; nor is what is within them left out.
        assert (own == most).mean() < 0.02 and own.max() > high
    # Probabilities are those of the model, tails included.
    if estimator is CrossCat:
        assert model.probability(f"c > {most}") == pytest.approx((unlimited > most).mean(), abs=0.03)


def test_counts_that_stay_beyond_are_put_at_the_limit():
    asked = []

    def draw(rows, cells):
        asked.append(cells[0].tolist())
        return [np.full(len(rows), 900, np.int32)]

    out = [np.array([900, 1], np.int32)]
    (cells,) = within_limits([np.array([-4.0, 5.0])], out, np.ones((2, 1), bool), draw)
    assert cells.tolist() == [5, 1] and cells.dtype == np.int32
    assert asked == [[-1]] * 20


def test_given_cells_may_be_anywhere():
    model, table = _crosscat()
    rows = model.sample(50, given={"x": 1e6}, random_state=0)
    assert (rows["x"] == 1e6).all()
    assert rows["y"].max() <= 2.0 * table["y"].max()


def test_cells_that_stay_beyond_are_put_at_the_limit():
    asked = []

    def draw(rows, cells):
        """It never draws a cell within the limits."""
        asked.append((rows.tolist(), np.isnan(cells[0]).all()))
        return [np.full(len(rows), 1e9)]

    (cells,) = within_limits([np.array([-4.0, 5.0])], [np.array([1e9, 1.0, -1e9])], np.ones((3, 1), bool), draw)
    assert cells.tolist() == [5.0, 1.0, 5.0]
    assert asked == [([0, 2], True)] * 20


def test_rows_whose_cells_can_only_be_far_away_are_as_frequent_as_in_the_model():
    """A series that begins late: its cells in earlier years are extrapolated, beyond the limits; the years stay."""
    rng, time = np.random.default_rng(0), np.arange(200.0)
    series = 3.0 * time + rng.normal(0.0, 5.0, 200)
    series[:140] = np.nan
    model = CrossCat(n_chains=1, n_draws=5, random_state=0).fit(pd.DataFrame({"time": time, "series": series}))
    rows = model.sample(4000, random_state=0)
    expected = model.probability("time < 100")
    assert abs((rows["time"] < 100.0).mean() - expected) < 4.0 * np.sqrt(expected * (1.0 - expected) / 4000)
    room = np.nanmax(series) - np.nanmin(series)
    assert rows["series"].between(np.nanmin(series) - room, np.nanmax(series) + room).all()


def _crosscat():
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"x": rng.normal(size=60), "y": rng.lognormal(size=60)})
    settings = {"feature_params": HEAVY, "learn_hyperparameters": False, "covariance_type": "diag"}
    return CrossCat(feature_types=["real", "skewed"], **settings, **SHORT).fit(table), table


@pytest.mark.parametrize("estimator", [CrossCat, SubsampleAnnealedDPMM])
def test_whole_numbers_stay_whole(estimator):
    """Ages in years, as integers; lengths are not rounded, nor what is given."""
    rng = np.random.default_rng(0)
    ages = rng.normal(400.0, 90.0, 120).round().astype(int)
    frame = pd.DataFrame({"age": ages, "length": 0.1 * ages + rng.normal(size=120)})
    model = estimator(feature_types={"age": "real", "length": "real"}, **SHORT).fit(frame)
    rows = model.sample(200, random_state=0)
    assert (rows["age"] == rows["age"].round()).all() and rows["age"].nunique() > 50
    assert (rows["length"] != rows["length"].round()).any()
    if estimator is CrossCat:
        assert (model.sample(3, given={"age": 400.5}, random_state=0)["age"] == 400.5).all()


@pytest.mark.parametrize("estimator", [CrossCat, SubsampleAnnealedDPMM])
def test_whole_numbers_are_imputed_by_whole_draws(estimator):
    """Of training rows, and of new ones; cells that were observed stay."""
    rng = np.random.default_rng(0)
    ages = rng.normal(400.0, 90.0, 120).round()
    frame = pd.DataFrame({"age": ages, "length": 0.1 * ages + rng.normal(size=120)})
    frame.loc[:29, "age"] = frame.loc[30:59, "length"] = np.nan
    model = estimator(feature_types={"age": "real", "length": "real"}, **SHORT).fit(frame)
    for table in (frame, frame.head(40).replace({"age": {ages[35]: 400.5}})):
        for drawn in model.sample_imputations(table, 3, random_state=0):
            gaps = table["age"].isna()
            assert (drawn["age"] == drawn["age"].round())[gaps].all() and drawn["age"][gaps].nunique() > 10
            assert (drawn["age"] == table["age"])[~gaps].all()
            gaps = table["length"].isna()
            assert (drawn["length"] != drawn["length"].round())[gaps].any()


def test_columns_without_two_values_have_no_limits():
    nan = np.nan
    limits = limits_of_drawn(np.array([[1.0, 5.0, nan], [3.0, 5.0, nan], [nan, 5.0, nan]]))
    np.testing.assert_array_equal(limits[:, 0], [-1.0, 5.0])
    np.testing.assert_array_equal(limits[:, 1], [-np.inf, np.inf])
    assert np.isinf(limits[:, 2]).all()
    assert np.isinf(limits_of_drawn(np.zeros(0))).all()
    # Ends whose distance is infinite.
    np.testing.assert_array_equal(limits_of_drawn(np.array([-1.5e308, 1.5e308]))[:, 0], [-np.inf, np.inf])


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_limits_are_kept_in_files(kind, tmp_path):
    table = np.random.default_rng(0).normal(size=(50, 3))
    for estimator in (CrossCat, SubsampleAnnealedDPMM):
        model = estimator(covariance_type=kind, **SHORT).fit(table)
        portable.save(model, tmp_path / "model.npz")
        loaded = portable.load(tmp_path / "model.npz")
        for own, other in zip(model._models, loaded._models, strict=True):
            assert own.drawn_between is not None and np.isfinite(own.drawn_between).all()
            np.testing.assert_array_equal(own.drawn_between, other.drawn_between)
        np.testing.assert_array_equal(model.sample(200, random_state=1), loaded.sample(200, random_state=1))
