"""Types of columns bound to the columns of a table: names, hyperparameters, and whether missing cells are state."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_subanneal.columns import KINDS, ColumnModel, bind_bags, bind_columns
from sklearn_subanneal.mixtures._mixture import Mixture
from sklearn_subanneal.partitions import CRP


def bound(covariance_type, missing):
    cells = np.random.default_rng(0).normal(size=(2, 20))
    if missing:
        cells[1, 3] = np.nan
    return bind_columns(["a", "b"], ["real", "real"], [0, 0], list(cells), covariance_type=covariance_type)


@pytest.mark.parametrize("missing", [False, True])
def test_only_blocks_with_missing_cells_keep_them_as_state(missing):
    [block] = bound("full", missing)
    assert block.stateful is missing
    assert not any(model.stateful for model in bound("diag", missing))


@pytest.mark.parametrize("missing", [False, True])
def test_models_and_kernels_agree_on_state(missing):
    # A mixture counts the columns that keep missing cells as state by asking the kernels.
    cells = np.random.default_rng(0).normal(size=(2, 20))
    if missing:
        cells[1, 3] = np.nan
    for covariance_type in ("full", "diag"):
        models = bound(covariance_type, missing)
        mixture = Mixture([model.statistics(model.data(list(cells))) for model in models], CRP(1.0).bind(), 20)
        assert mixture.n_stateful == sum(model.stateful for model in models)


def bound_in_views(offset=0.0, **settings):
    cells = offset + np.random.default_rng(0).normal(size=(2, 20))
    return bind_columns(
        ["a", "b"], ["real"] * 2, [0, 0], list(cells), covariance_type="full", in_views=True, **settings
    )


def test_joint_reals_far_from_the_default_prior_have_their_own():
    models = bound_in_views(1e9, learn=False, feature_params={"real": {"mu": 1e9, "sigma2": 4.0}})
    assert [model.report(model.parameters)["mu"] for model in models] == [1e9, 1e9]
    # The widths of a grid that is not given do not matter: a chain takes those that suit.
    assert bound_in_views(1e5, grids="fixed", feature_grids={"real": {"mu": [99_000.0, 101_000.0]}})


@pytest.mark.parametrize(
    "settings",
    [
        {"learn": False, "feature_params": {"real": {"mu": 1e9}}},
        {"learn": False, "feature_params": {"b": {"sigma2": 1e-20}}},
        {"feature_params": {"b": {"mu": -1e9}}},
        {"feature_grids": {"real": {"sigma2": [1e-20, 1.0]}}},
        {"feature_grids": {"b": {"mu": [0.0, 1e9]}}},
        {"feature_grids": {"real": {"nu": [1e-12, 1.0], "sigma2": [1e-10, 1.0]}}},
    ],
)
def test_priors_too_far_from_joint_reals_are_refused(settings):
    # A matrix would lose its rank, though one column alone would be fine.
    with pytest.raises(ValueError, match=r"column '[ab]' has values too far from the prior.*covariance_type='diag'"):
        bound_in_views(**settings)


def test_kinds_are_the_names_of_the_types():
    assert sorted(KINDS) == [
        "bag-of-words",
        "boolean",
        "categorical",
        "count",
        "cyclic",
        "gaussian",
        "ordinal",
        "real",
        "semicontinuous",
        "skewed",
    ]
    assert all(issubclass(model, ColumnModel) and model.kind == kind for kind, model in KINDS.items())


def test_bags_are_one_column_named_by_its_type():
    params = {"beta": 0.4, "base": [2.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0625], "repeats": "cluster"}
    [model] = bind_bags(7, feature_params={"bag-of-words": params})
    assert (model.name, model.kind, model.parameters["beta"], model.parameters["n_words"]) == (
        *["bag-of-words"] * 2,
        0.4,
        7,
    )
    np.testing.assert_allclose(model.parameters["base"], np.array(params["base"]) / np.mean(params["base"]))
    assert "repetition" not in model.parameters
    with pytest.raises(ValueError, match="multinomial"):
        bind_bags(7, feature_params={"multinomial": {"beta": 0.4}})
