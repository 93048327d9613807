"""Ordinal columns in estimators: the order of levels, mass of every level, queries and imputation, and errors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from oracles.reference import ordinal_shapes
from support.column_examples import BY_NAME

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM
from sklearn_subanneal.annealing import SequentialGibbs
from sklearn_subanneal.columns import bind_columns
from sklearn_subanneal.columns.ordinal_shapes import shapes_between

GRADES = ["poor", "fair", "good", "great", "superb"]
SHORT = {"schedule": SequentialGibbs(passes=4), "n_chains": 1, "n_draws": 3, "random_state": 0}


def grades_and_prices(n=80, levels=GRADES):
    """Two kinds of goods: cheap ones with low grades, dear ones with high ones; nothing is superb."""
    rng = np.random.default_rng(0)
    dear = rng.random(n) < 0.5
    codes = np.clip(np.rint(np.where(dear, 2.6, 0.4) + 0.6 * rng.normal(size=n)), 0, 3).astype(int)
    grades = pd.Categorical.from_codes(np.where(np.arange(n) % 9 == 0, -1, codes), levels, ordered=True)
    return pd.DataFrame({"grade": grades, "price": np.where(dear, 40.0, 10.0) + 3.0 * rng.normal(size=n)})


@pytest.fixture(scope="module")
def fitted():
    X = grades_and_prices()
    return CrossCat(feature_types={"grade": "ordinal"}, **SHORT | {"n_draws": 30}).fit(X), X


@pytest.mark.parametrize("cuts", [(), (0.5,), (0.3, 1.5, 2.2, 2.9), tuple(np.arange(19) + 0.5), tuple(np.arange(80.0))])
def test_shapes_are_those_of_the_reference(cuts):
    means, probabilities = shapes_between(cuts)
    exact_means, exact = ordinal_shapes(np.array(cuts))
    assert_allclose(means, exact_means, rtol=1e-12)
    assert_allclose(probabilities, exact, rtol=1e-9)
    assert_allclose(probabilities.sum(axis=-1), 1.0)


def test_levels_keep_the_declared_order(fitted):
    model, X = fitted
    assert model.column_categories("grade").tolist() == GRADES
    codes = model.typed_columns(X)[0]
    assert np.array_equal(codes, X["grade"].cat.codes)


def test_every_declared_level_has_mass(fitted):
    model, X = fitted
    probabilities = model.predict_column_proba("grade", X)
    assert_allclose(probabilities.sum(axis=1), 1.0)
    assert probabilities.min() > 1e-5
    # "superb" was never seen; it is next to "great", which the dear have, and far from what the cheap have.
    dear = X["price"] > 25.0
    assert probabilities[dear, 4].mean() > 3.0 * probabilities[~dear, 4].mean()


def test_scores_are_probabilities_and_not_densities():
    X = grades_and_prices()[["grade"]]
    model = SubsampleAnnealedDPMM(feature_types=["ordinal"], **SHORT).fit(X)
    every = pd.DataFrame({"grade": pd.Categorical(GRADES, GRADES, ordered=True)})
    assert_allclose(np.exp(model.score_samples(every)).sum(), 1.0)


def test_neighbours_of_what_was_seen_are_likelier_than_other_levels():
    X = pd.DataFrame({"x": pd.Categorical(np.repeat([4, 5, 6], [15, 25, 15]), range(10), ordered=True)})
    model = SubsampleAnnealedDPMM(feature_types=["ordinal"], **SHORT | {"n_draws": 30}).fit(X)
    masses = np.exp(model.score_samples(pd.DataFrame({"x": range(10)})))
    assert_allclose(masses.sum(), 1.0)
    assert min(masses[3], masses[7]) > 2.0 * masses[[0, 1, 9]].max()


def test_cells_come_back_in_their_dtype(fitted):
    model, X = fitted
    dtype = pd.CategoricalDtype(GRADES, ordered=True)
    filled, drawn = model.impute(X), model.sample(50)
    assert filled["grade"].dtype == drawn["grade"].dtype == dtype
    seen = X["grade"].notna()
    assert (filled["grade"][seen] == X["grade"][seen]).all() and filled["grade"].notna().all()
    # The grade that an imputation gives is the median.
    gaps = X[~seen]
    probabilities = model.predict_column_proba("grade", gaps)
    median = [np.flatnonzero(np.cumsum(own) >= 0.5)[0] for own in probabilities]
    assert filled["grade"][~seen].tolist() == [GRADES[i] for i in median]


def test_the_imputed_level_is_the_median():
    X = pd.DataFrame({"x": pd.Categorical(np.repeat([0, 1, 2, 3], [45, 5, 10, 40]), range(4), ordered=True)})
    model = CrossCat(feature_types=["ordinal"], **SHORT | {"n_draws": 30}).fit(X)
    gap = pd.DataFrame({"x": pd.Categorical([np.nan], range(4), ordered=True)})
    filled, uncertainty = model.impute(gap, return_uncertainty=True)
    (probabilities,) = model.predict_column_proba("x", gap)
    median = int(filled["x"][0])
    assert median in (1, 2) and probabilities.argmax() in (0, 3)
    assert probabilities[:median].sum() < 0.5 <= probabilities[: median + 1].sum()
    assert_allclose(uncertainty[0, 0], 1.0 - probabilities[median])


def test_numbers_sort_by_value():
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.choice([7.0, 0.5, 2.0, np.nan], 40), rng.choice([10, 9, 100], 40)])
    model = CrossCat(feature_types=["ordinal", "ordinal"], **SHORT).fit(X)
    assert model.column_categories("x0").tolist() == [0.5, 2.0, 7.0]
    assert model.column_categories("x1").tolist() == [9.0, 10.0, 100.0]
    assert np.isin(model.sample(30)[:, 0], [0.5, 2.0, 7.0]).all()
    assert model.score_samples(np.array([[3.0, np.nan]])) == pytest.approx(0.0, abs=1e-12)


def test_polars_enums_are_ordered():
    codes = np.random.default_rng(2).integers(0, 4, 40)
    X = pl.DataFrame({"grade": pl.Series([GRADES[i] for i in codes], dtype=pl.Enum(GRADES))})
    model = SubsampleAnnealedDPMM(feature_types={"grade": "ordinal"}, **SHORT).fit(X)
    assert model.sample(20)["grade"].dtype == pl.Enum(GRADES)


def test_conditionals_and_information(fitted):
    model, _ = fitted
    assert model.dependence_[0, 1] == 1.0
    assert model.mutual_information("grade", "price")[0] > 0.1
    drawn = model.sample(200, given={"price": 42.0})
    assert (drawn["grade"] >= "good").mean() > 0.6


def test_information_between_ordinals_is_exact():
    rng = np.random.default_rng(3)
    a = rng.integers(0, 5, 150)
    X = np.column_stack([a, np.clip(a + rng.integers(-1, 2, 150), 0, 4)]).astype(float)
    model = CrossCat(feature_types=["ordinal", "ordinal"], **SHORT).fit(X)
    value, error = model.mutual_information("x0", "x1")
    assert value > 0.3 and error == 0.0


@pytest.mark.parametrize(
    ("X", "params", "message"),
    [
        (pd.DataFrame({"x": ["low", "high"] * 4}), {}, r"'x' must be ordinal but holds 'low'.*ordered categorical"),
        (pd.DataFrame({"x": pd.Categorical(["low", "high"] * 4)}), {}, "declares no order"),
        (pd.DataFrame({"x": np.arange(101)}), {}, "'x' has 101 values, but an ordinal column at most 100"),
        (pd.DataFrame({"x": [0, 1, 2] * 3}), {"x": {"cuts": [0.5]}}, "cuts of column 'x' must be 2 increasing numbers"),
        (pd.DataFrame({"x": [0, 1, 2] * 3}), {"x": {"cuts": [1.5, 0.5]}}, "2 increasing numbers, one between each two"),
        (
            pd.DataFrame({"x": [0, 1, 2] * 3}),
            {"x": {"free": 1.0}},
            "must be a number between 0 and 1, got 1.0",
        ),
        (
            pd.DataFrame({"x": [0, 1, 2] * 3}),
            {"x": {"location": -1e20}},
            "location of column 'x' must be within",
        ),
        (pd.DataFrame({"x": [0, 1, 2] * 3}), {"ordinal": {"spread": 0.0}}, r"\['spread'\] must be a number from 1e-12"),
    ],
)
def test_errors(X, params, message):
    model = SubsampleAnnealedDPMM(feature_types=["ordinal"], feature_params=params, **SHORT)
    with pytest.raises(ValueError, match=message):
        model.fit(X)


def test_rows_join_under_the_hyperparameters_that_were_drawn():
    # Scoring the grid leaves the weights of its last point, also where the point that was drawn is the present one.
    example, rng, is_same = BY_NAME["ordinal"], np.random.default_rng(4), []
    statistics = example.statistics(learn=("location",))
    statistics.rebuild(np.zeros(example.n_rows, int))
    statistics.remove_row(0, 0)
    for _ in range(30):
        before = statistics.parameters["location"]
        statistics.learn(1, rng)
        statistics.add_row(0, 0)
        params = example.reference_params(statistics.parameters)
        exact = example.log_marginal(range(example.n_rows), params)
        assert statistics.log_marginals(1)[0] == pytest.approx(exact, rel=1e-10)
        statistics.remove_row(0, 0)
        is_same.append(before == params["location"])
    assert any(is_same) and not all(is_same)


def test_hyperparameters_that_users_give():
    cells = np.array([0, 1, 2, 2, -1], np.int8)
    given = {"x": {"location": 2.0, "spread": 0.7, "free": 0.2, "mass": 3.0, "cuts": [0.4, 1.6]}}
    (model,) = bind_columns(["x"], ["ordinal"], [3], [cells], feature_params=given, learn=False)
    assert model.grids == {}
    assert model.report(model.parameters).keys() == given["x"].keys()
    assert model.parameters["cuts"].tolist() == [0.4, 1.6]
    assert {name: model.parameters[name] for name in ("location", "spread", "free", "mass")} == {
        "location": 2.0, "spread": 0.7, "free": 0.2, "mass": 3.0
    }  # fmt: skip


def test_one_level_is_certain():
    model = SubsampleAnnealedDPMM(feature_types=["ordinal"], **SHORT).fit(np.full((9, 1), 3.0))
    assert_allclose(model.score_samples([[3.0], [np.nan]]), 0.0, atol=1e-12)


@pytest.mark.parametrize("n_levels", [3, 17])
def test_probabilities_that_are_computed_when_needed_are_those_of_a_rebuild(n_levels):
    """Clusters change, are copied and are scored in part, with more changes than weights are kept for."""
    rng = np.random.default_rng(n_levels)
    cells = rng.choice([0, 1, n_levels - 1], size=400).astype(np.int8)
    (model,) = bind_columns(["x"], ["ordinal"], [n_levels], [cells])
    statistics = model.statistics(model.data([cells]))
    statistics.make_room(40)
    labels = np.full(len(cells), -1, np.int32)
    for step in range(600):
        row = rng.integers(len(cells))
        if labels[row] >= 0:
            statistics.remove_row(row, labels[row])
        # Clusters take turns in losing nearly all of their rows.
        labels[row] = -1 if step // 100 % 2 and labels[row] >= 0 else [0, 1, 2, 18][rng.integers(4)]
        if labels[row] >= 0:
            statistics.add_row(row, labels[row])
        if step % 7 == 0:
            # Slots after the first 16 keep what is stale.
            statistics.scores(row, 2)
        if step % 13 == 0:
            # A copy would have the slot that is copied computed as well.
            copied = step % 2 == 0
            if copied:
                statistics.copy_slot(statistics, 18, 35)
            fresh = statistics.twin()
            fresh.rebuild(labels)
            fresh.make_room(40)
            assert_allclose(statistics.log_marginals(19), fresh.log_marginals(19), rtol=1e-11, atol=1e-11)
            for v in range(3):
                row = np.flatnonzero(cells == [0, 1, n_levels - 1][v])[0]
                expected = np.asarray(fresh.scores(row, 36))
                assert_allclose(statistics.scores(row, 19), expected[:19], rtol=1e-6)
                if copied:
                    assert statistics.scores(row, 36)[35] == pytest.approx(expected[18], rel=1e-6)
                    assert_allclose(statistics.log_predictive_of(row, 35), fresh.log_predictive_of(row, 18), rtol=1e-11)
            every = np.arange(n_levels, dtype=float)
            assert_allclose(statistics.log_densities(every, 19), fresh.log_densities(every, 19), rtol=1e-11)
            own = np.flatnonzero(labels >= 0).astype(np.int32)
            slots = labels[own]
            assert_allclose(statistics.leave_one_out(own, slots), fresh.leave_one_out(own, slots), rtol=1e-5, atol=1e-6)
