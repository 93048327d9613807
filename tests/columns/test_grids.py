"""Grids of hyperparameters that the user gives: units, starts, draws from the prior, and errors."""

from __future__ import annotations

import re

import numpy as np
import pytest

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM, TreeGuidedNRMM
from sklearn_subanneal.columns import KINDS, bind_bags, bind_columns

N_ROWS = 40
# Cells of each type; n_categories of the coded ones.
CELLS = {
    "real": lambda rng: rng.normal(50.0, 7.0, N_ROWS),
    "categorical": lambda rng: rng.integers(3, size=N_ROWS).astype(np.int8),
    "boolean": lambda rng: rng.integers(2, size=N_ROWS).astype(np.int8),
    "count": lambda rng: rng.poisson(20.0, N_ROWS).astype(np.int32),
    "cyclic": lambda rng: rng.uniform(0.0, 24.0, N_ROWS),
    "ordinal": lambda rng: rng.integers(4, size=N_ROWS).astype(np.int8),
    "semicontinuous": lambda rng: np.where(rng.random(N_ROWS) < 0.5, 0.0, rng.normal(50.0, 7.0, N_ROWS)),
    "skewed": lambda rng: rng.lognormal(3.0, 1.0, N_ROWS),
}
N_CATEGORIES = {"categorical": 3, "ordinal": 4}
PARAMS = {"cyclic": {"period": 24.0}, "semicontinuous": {"atoms": [0.0]}, "skewed": {"transform": "log"}}
OF_REALS = {"mu": [30.0, 60.0], "kappa": [0.1, 1.0, 3.0], "sigma2": [4.0, 90.0], "nu": [2.0, 8.0]}
GRIDS = {
    "real": OF_REALS,
    "categorical": {"alpha": [0.1, 1.0, 7.0]},
    "boolean": {"alpha": [0.5, 3.0], "beta": [0.2, 0.7, 9.0]},
    "count": {"shape": [2.0, 5.0], "rate": [0.1, 0.2], "dispersion": [0.0, 0.5]},
    "cyclic": {"mu": [3.0, 15.0, 23.0], "kappa": [0.5, 2.0], "r": [1.0, 4.0]},
    "ordinal": {"location": [0.0, 2.0], "spread": [0.5, 3.0], "free": [0.05, 0.5], "mass": [1.0, 10.0]},
    "semicontinuous": {"alpha": [0.3, 2.0], **OF_REALS},
    "skewed": {**OF_REALS, "mu": [1.0, 3.0], "sigma2": [0.2, 1.0]},
}
TYPES = list(CELLS)


def bound(kind, feature_grids, grids="data", **kwargs):
    cells = CELLS[kind](np.random.default_rng(0))
    given = {kind: PARAMS[kind]} if kind in PARAMS else None
    kwargs = {"feature_params": given, "grids": grids, "feature_grids": feature_grids, **kwargs}
    [model] = bind_columns(["x"], [kind], [N_CATEGORIES.get(kind, 0)], [cells], **kwargs)
    return model, cells


def test_every_type_is_here():
    assert {*TYPES, "gaussian", "bag-of-words"} == set(KINDS)
    for kind, grids in GRIDS.items():
        assert set(grids) == {name for name, own in KINDS[kind].hyperparameters.items() if own.learned}


@pytest.mark.parametrize("grids", ["data", "fixed"])
@pytest.mark.parametrize("kind", TYPES)
def test_a_chain_takes_values_of_the_grid_alone(kind, grids):
    model, cells = bound(kind, {kind: GRIDS[kind]}, grids)
    statistics = model.statistics(model.data([cells]))
    statistics.rebuild(np.arange(N_ROWS) % 3)
    rng, seen = np.random.default_rng(1), []
    seen.append(model.report(statistics.parameters))
    for _ in range(200):
        statistics.learn(3, rng)
        seen.append(model.report(statistics.parameters))
    for name, grid in GRIDS[kind].items():
        values = np.unique([np.round(report[name], 8) for report in seen])
        assert np.all(np.isclose(values[:, None], grid).any(axis=1)), (name, values)


@pytest.mark.parametrize("kind", TYPES)
def test_draws_from_the_prior_are_uniform_on_the_grids(kind):
    model, _ = bound(kind, {kind: GRIDS[kind]})
    rng = np.random.default_rng(2)
    reports = [model.report(model.draw_parameters(rng)) for _ in range(600)]
    for name, grid in GRIDS[kind].items():
        values = np.array([np.atleast_1d(report[name])[0] for report in reports])
        shares = np.isclose(values[:, None], grid).mean(axis=0)
        assert shares.sum() == 1.0
        assert np.abs(shares - 1 / len(grid)).max() < 0.09, (name, shares)


def test_a_column_has_its_own_grid():
    cells = [np.random.default_rng(0).normal(size=N_ROWS) for _ in range(2)]
    grids = {"real": {"nu": [1.0, 2.0]}, "b": {"nu": [5.0]}}
    a, b = bind_columns(["a", "b"], ["real"] * 2, [0, 0], cells, feature_grids=grids)
    assert a.grids["nu"].tolist() == [1.0, 2.0] and b.grids["nu"].tolist() == [5.0]
    assert (a.parameters["nu"], b.parameters["nu"]) == (2.0, 5.0)
    assert len(a.grids["sigma2"]) == 20


def test_without_learning_grids_are_not_taken():
    model, _ = bound("real", {"real": GRIDS["real"]}, learn=False)
    assert model.grids == {}


def gaussian(feature_grids, in_views=False, missing=False):
    cells = np.random.default_rng(0).normal([50.0, -3.0, 0.1], [7.0, 2.0, 0.01], (N_ROWS, 3))
    if missing:
        cells[3, 1] = np.nan
    kwargs = {"covariance_type": "full", "in_views": in_views, "feature_grids": feature_grids}
    return bind_columns(["a", "b", "c"], ["real"] * 3, [0] * 3, list(cells.T), **kwargs), list(cells.T)


def test_grids_of_a_block():
    grids = {
        "mu": [[40.0, 60.0], [-4.0, -2.0], [0.09, 0.11]],
        "sigma2": [[10.0, 40.0, 90.0], [1.0, 2.0, 4.0], [1e-5, 1e-4, 1e-3]],
        "kappa": [0.2, 1.0],
        "nu": [3.5, 6.0, 12.0],
    }
    [model], arrays = gaussian({"gaussian": grids}, missing=True)
    statistics = model.statistics(model.data(arrays))
    rng = np.random.default_rng(1)
    labels = np.arange(N_ROWS) % 2
    filled = np.nan_to_num(model.values(arrays))[[3]]
    statistics.set_prior_state({"parameters": statistics.parameters, "completed": filled})
    statistics.rebuild(labels)

    def check(report):
        sigma2 = np.diag(report["psi"]) / (report["nu"] - 2)
        for name, values in {**report, "sigma2": sigma2}.items():
            if name in ("mu", "sigma2"):
                assert all(np.isclose(v, row).any() for v, row in zip(values, grids[name], strict=True)), name
            elif name != "psi":
                assert np.isclose(values, grids[name]).any(), name

    check(model.report(statistics.parameters))
    for _ in range(60):
        statistics.learn(2, rng)
        check(model.report(statistics.parameters))
        check(model.report(model.draw_parameters(rng)))


def test_one_grid_for_all_columns_of_a_block():
    [model], _ = gaussian({"gaussian": {"mu": [0.0, 50.0]}})
    assert model.grids["mu"].shape == (3, 2)
    np.testing.assert_allclose(model.grids["mu"] * model.scale[:, None] + model.center[:, None], [[0.0, 50.0]] * 3)


def test_grids_of_joint_reals():
    models, _ = gaussian({"real": {"nu": [1.0, 4.0], "kappa": [0.3]}, "a": {"mu": np.linspace(0, 9, 20)}}, True)
    assert all(model.grids["nu"].tolist() == [1.0, 4.0] for model in models)
    assert all((model.parameters["nu"], model.parameters["kappa"]) == (4.0, 0.3) for model in models)
    np.testing.assert_allclose(models[0].grids["mu"] * models[0].scale + models[0].center, np.linspace(0, 9, 20))


def test_grids_of_bags():
    [model] = bind_bags(4, feature_grids={"bag-of-words": {"beta": [0.2, 0.4]}})
    assert model.grids["beta"].tolist() == [0.2, 0.4] and model.parameters["beta"] == 0.2


X = np.random.default_rng(0).normal(10.0, 2.0, (30, 2))


@pytest.mark.parametrize(
    "model, names",
    [
        (SubsampleAnnealedDPMM(), {"real": "sigma2"}),
        (TreeGuidedNRMM(covariance_type="diag"), {"real": "sigma2"}),
        (CrossCat(), {"real": "sigma2"}),
        (CrossCat(covariance_type="diag"), {"x1": "sigma2"}),
    ],
)
def test_estimators_learn_on_the_grids(model, names):
    grids = {key: {name: [1.0, 2.0, 4.0, 8.0]} for key, name in names.items()}
    model.set_params(feature_grids=grids, n_chains=2, n_draws=3, random_state=0).fit(X)
    values = model.hyperparameters_["columns"]["x1"]["sigma2"]
    assert np.isclose(values[..., None], [1.0, 2.0, 4.0, 8.0], rtol=1e-6).any(axis=-1).all()


def test_blocks_of_estimators_learn_on_the_grids():
    grids = {"gaussian": {"nu": [2.5, 7.0]}}
    model = TreeGuidedNRMM(feature_grids=grids, n_chains=1, n_draws=3, random_state=0).fit(X)
    assert set(model.hyperparameters_["columns"]["gaussian"]["nu"].ravel()) <= {2.5, 7.0}


@pytest.mark.parametrize(
    "feature_grids, message",
    [
        ({"y": {"mu": [0.0]}}, "feature_grids has the key 'y', which is neither a column nor"),
        ({"count": {"rate": [1.0]}}, "feature_grids has the key 'count', but the table has no such columns"),
        ({"real": [1.0]}, "feature_grids['real'] must be a dict with keys among"),
        ({"real": {"alpha": [1.0]}}, "feature_grids['real'] must be a dict with keys among ('mu', 'kappa', 'sigma2'"),
        ({"real": {"nu": []}}, "feature_grids['real']['nu'] must be increasing values"),
        ({"real": {"nu": 3.0}}, "feature_grids['real']['nu'] must be increasing values"),
        ({"real": {"nu": [3.0, 2.0]}}, "increasing values, each a number from 1e-12 to 1e+12, got [3.0, 2.0]"),
        ({"real": {"nu": [2.0, 2.0]}}, "increasing values"),
        ({"real": {"nu": [0.0, 2.0]}}, "increasing values"),
        ({"real": {"nu": [[1.0], [2.0]]}}, "increasing values"),
        ({"real": {"sigma2": [-1.0, 2.0]}}, "each a finite positive number"),
        ({"real": {"mu": [np.nan, 2.0]}}, "each a finite number"),
        ({"real": {"mu": ["low", "high"]}}, "each a finite number"),
        ({"real": {"kappa": np.arange(1.0, 300.0)}}, "may have 256 values at most, got 299: thin it"),
        ({"real": {"sigma2": [1e-300]}}, "too far from the prior"),
    ],
)
def test_errors_of_reals(feature_grids, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        SubsampleAnnealedDPMM(feature_grids=feature_grids).fit(X)


@pytest.mark.parametrize(
    "kind, grids, message",
    [
        ("categorical", {"unseen": [0.001]}, "['unseen'] can be given by feature_params alone"),
        ("categorical", {"alpha": [0.005, 1.0]}, "the least is 0.005, got 0.01: lower it by feature_params"),
        ("categorical", {"alpha": [[1.0], [2.0]]}, "for each of its 3 categories, got an array of shape (2, 1)"),
        ("boolean", {"alpha": np.arange(1.0, 32.0), "beta": np.arange(1.0, 30.0)}, "have 31 and 29 values"),
        ("cyclic", {"mu": [0.0, 24.0]}, "must lie within one period, 24, got values from 0 to 24"),
        ("cyclic", {"period": [12.0]}, "['period'] can be given by feature_params alone"),
        ("ordinal", {"free": [0.5, 1.0]}, "each a number between 0 and 1"),
        ("ordinal", {"location": [0.0, 1e300]}, "within 1e+12 of 0"),
        ("semicontinuous", {"atoms": [0.0]}, "['atoms'] can be given by feature_params alone"),
        ("skewed", {"transform": ["log"]}, "['transform'] can be given by feature_params alone"),
    ],
)
def test_errors_of_types(kind, grids, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        bound(kind, {kind: grids})


@pytest.mark.parametrize(
    "feature_grids, in_views, message",
    [
        ({"real": {"nu": [3.0]}}, False, "use the key 'gaussian'"),
        ({"gaussian": {"psi": [3.0]}}, False, "['psi'] can be given by feature_params alone"),
        ({"gaussian": {"nu": [2.0, 3.0]}}, False, "feature_grids['gaussian']['nu'] must be above 2, got [2.0, 3.0]"),
        ({"gaussian": {"mu": [[1.0], [2.0]]}}, False, "a row of them for each of the 3 columns"),
        ({"a": {"nu": [3.0]}}, True, "different grids of nu"),
        ({"a": {"sigma2": [3.0, 4.0]}}, True, "grids of sigma2 with [2, 20] values"),
    ],
)
def test_errors_of_blocks(feature_grids, in_views, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        gaussian(feature_grids, in_views)


def test_feature_params_does_not_take_the_variances_of_a_block():
    with pytest.raises(ValueError, match=re.escape("['sigma2'] can be given by feature_grids alone")):
        SubsampleAnnealedDPMM(covariance_type="full", feature_params={"gaussian": {"sigma2": 1.0}}).fit(X)
