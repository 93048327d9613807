"""Imputed cells of a column of few numbers are among these, whatever the type and the covariance."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM, load, save
from sklearn_subanneal.columns.few_levels import few_levels, nearest_levels
from sklearn_subanneal.columns.semicontinuous import sure_atoms

SHORT = {"n_chains": 2, "n_draws": 2, "max_sweeps": 2, "random_state": 0}

MODELS = [
    pytest.param(CrossCat, "full"),
    pytest.param(SubsampleAnnealedDPMM, "diag"),
    pytest.param(SubsampleAnnealedDPMM, "full"),
    pytest.param(CrossCat, "diag", marks=pytest.mark.slow),
]


@pytest.fixture
def generator():
    return np.random.default_rng(5)


def gapped_table(generator, levels, n=300):
    """A column of few numbers that follows a real one, with missing cells."""
    level = generator.integers(len(levels), size=n)
    table = pd.DataFrame({"level": np.array(levels)[level], "x": level + 0.05 * generator.standard_normal(n)})
    truth = table["level"].copy()
    table.loc[generator.random(n) < 0.2, "level"] = np.nan
    return table, truth


def test_levels_are_few_and_repeat():
    np.testing.assert_array_equal(few_levels(np.array([2.5, np.nan, *[1.0] * 9])), [1.0, 2.5])
    assert few_levels(np.array([2.5, np.nan, *[1.0] * 8])) is None
    assert len(few_levels(np.repeat(np.arange(20.0), 5))) == 20
    assert few_levels(np.repeat(np.arange(21.0), 50)) is None
    assert few_levels(np.array([np.nan])) is None


def test_nearest_levels():
    levels = np.array([-1.0, 0.0, 10.0])
    values = np.array([-7.0, -0.4, 4.9, 5.1, 99.0])
    assert nearest_levels(values, levels, whole=True).tolist() == [-1.0, 0.0, 0.0, 10.0, 10.0]
    assert nearest_levels(np.array([3.0]), np.array([8.0]), whole=True).tolist() == [8.0]
    assert nearest_levels(values, None, whole=False).tolist() == values.tolist()
    assert nearest_levels(values, None, whole=True).tolist() == [-7.0, 0.0, 5.0, 5.0, 99.0]


@pytest.mark.parametrize(("estimator", "covariance_type"), MODELS)
@pytest.mark.parametrize("kind", ["real", "skewed", "semicontinuous"])
def test_imputed_cells_are_numbers_of_the_column(generator, estimator, covariance_type, kind):
    table, truth = gapped_table(generator, [7.0, 18.0, 30.5, 60.0])
    types, params = {"level": kind, "x": "real"}, {"level": {"atoms": 7.0}} if kind == "semicontinuous" else None
    model = estimator(covariance_type=covariance_type, feature_types=types, feature_params=params, **SHORT).fit(table)
    gaps = table["level"].isna()
    filled = model.impute(table)["level"]
    assert np.isin(filled, [7.0, 18.0, 30.5, 60.0]).all()
    assert (filled == truth)[gaps].mean() > 0.8


@pytest.mark.parametrize(("estimator", "covariance_type"), MODELS)
@pytest.mark.parametrize("kind", ["real", "skewed", "semicontinuous"])
def test_imputed_cells_of_whole_numbers_are_whole(generator, estimator, covariance_type, kind):
    age = generator.integers(18, 90, 300).astype(float)
    table = pd.DataFrame({"age": age, "income": 100.0 * age + 30.0 * generator.standard_normal(300)})
    table.loc[:40, "age"], table.loc[41:60, "income"] = np.nan, np.nan
    types, params = {"age": kind, "income": "real"}, {"age": {"atoms": 18.0}} if kind == "semicontinuous" else None
    model = estimator(covariance_type=covariance_type, feature_types=types, feature_params=params, **SHORT).fit(table)
    filled = model.impute(table)
    assert (filled["age"] == np.rint(filled["age"])).all()
    assert not (filled["income"] == np.rint(filled["income"]))[41:61].any()


def test_imputed_cells_of_many_numbers_are_means(generator):
    x = generator.standard_normal(200)
    table = pd.DataFrame({"x": x, "y": x + 0.1 * generator.standard_normal(200)})
    table.loc[:20, "y"] = np.nan
    filled = CrossCat(**SHORT).fit(table).impute(table)["y"]
    assert not np.isin(filled[:21], table["y"]).any()


def test_levels_are_saved(generator, tmp_path):
    table, _ = gapped_table(generator, [1997.0, 1998.0, 2000.0])
    model = CrossCat(feature_types={"level": "real", "x": "real"}, **SHORT).fit(table)
    save(model, tmp_path / "model.npz")
    pd.testing.assert_frame_equal(load(tmp_path / "model.npz").impute(table), model.impute(table))


def test_a_probable_atom_is_imputed_among_few_numbers():
    probabilities = np.array([[0.6, 0.1], [0.3, 0.3], [0.95, 0.0]])
    assert sure_atoms(probabilities, None).tolist() == [-1, -1, 0]
    assert sure_atoms(probabilities, np.array([0.0, 1.0])).tolist() == [0, -1, 0]
