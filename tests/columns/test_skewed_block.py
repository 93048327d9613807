"""Skewed columns in the block of a mixture with full covariance: the model of the transformed data."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_subanneal import SubsampleAnnealedDPMM, TreeGuidedNRMM
from sklearn_subanneal.columns import YeoJohnson
from sklearn_subanneal.columns.column_transforms import ColumnTransforms
from sklearn_subanneal.columns.transforms import IDENTITY, Logarithm
from sklearn_subanneal.portable import load, save
from sklearn_subanneal.shards import ShardedTable

# Fits are short.
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

RNG = np.random.default_rng(0)
GROUP = np.arange(240) % 2
LOGS = RNG.normal(size=(240, 3)) @ RNG.normal(size=(3, 3)) + 5.0 * GROUP[:, None]
LOGS[RNG.random(LOGS.shape) < 0.1] = np.nan
# The first and the last are positive.
X = np.column_stack([np.exp(LOGS[:, 0]), LOGS[:, 1], np.exp(LOGS[:, 2])])
SLOPES = -np.nan_to_num(LOGS[:, [0, 2]]).sum(axis=1)
KINDS, REALS = ["skewed", "real", "skewed"], ["real"] * 3
LOG = {"feature_params": {"skewed": {"transform": "log"}}}
SHORT = {"covariance_type": "full", "n_chains": 2, "n_draws": 3, "random_state": 0}
ESTIMATORS = [SubsampleAnnealedDPMM, TreeGuidedNRMM]


@pytest.fixture(scope="module", params=ESTIMATORS)
def pair(request):
    """The model of skewed cells, and that of their logarithms."""
    estimator = request.param
    skewed = estimator(feature_types=KINDS, **LOG, **SHORT).fit(X)
    return skewed, estimator(feature_types=REALS, **SHORT).fit(LOGS)


def test_it_is_the_model_of_the_logarithms(pair):
    skewed, logs = pair
    (model,) = skewed._models
    assert model.transform == ColumnTransforms(("x0", "x1", "x2"), (Logarithm(), IDENTITY, Logarithm()))
    assert_array_equal(skewed.posterior_labels_, logs.posterior_labels_)
    assert_allclose(skewed.log_joint_, logs.log_joint_ + SLOPES.sum(), rtol=1e-9)
    # The Jacobian is 1 / x, and 1 where the cell is missing.
    assert_allclose(skewed.score_samples(X), logs.score_samples(LOGS) + SLOPES, rtol=1e-9)
    one, other = skewed.sample(50, random_state=1), logs.sample(50, random_state=1)
    assert_allclose(one, np.column_stack([np.exp(other[:, 0]), other[:, 1], np.exp(other[:, 2])]), rtol=1e-9)
    for name, own in logs.hyperparameters_["columns"]["gaussian"].items():
        assert_allclose(skewed.hyperparameters_["columns"]["gaussian"][name], own, rtol=1e-9)


def test_density_integrates_to_one(pair):
    line = np.exp(np.linspace(-12.0, 20.0, 20_001))
    cells = np.column_stack([line, np.full((len(line), 2), np.nan)])
    assert np.trapezoid(np.exp(pair[0].score_samples(cells)), line) == pytest.approx(1.0, abs=2e-3)


def test_imputations_are_transformed_back(pair):
    skewed, logs = pair
    filled, spread = skewed.impute(X, return_uncertainty=True)
    of_logs, deviation = logs.impute(LOGS, return_uncertainty=True)
    assert_allclose(filled, np.column_stack([np.exp(of_logs[:, 0]), of_logs[:, 1], np.exp(of_logs[:, 2])]), rtol=1e-9)
    assert_allclose(spread[:, 1], deviation[:, 1], rtol=1e-9)
    for j in (0, 2):
        low, high = np.nanmin(LOGS[:, j]), np.nanmax(LOGS[:, j])
        up, down = np.minimum(of_logs + deviation, high)[:, j], np.maximum(of_logs - deviation, low)[:, j]
        assert_allclose(spread[:, j], 0.5 * (np.exp(up) - np.exp(down)), rtol=1e-6, atol=1e-12)
        assert (spread[np.isnan(X[:, j]), j] > 0.0).all()


def test_uncertainties_end_where_the_range_ends(pair):
    """A little beyond it, exponentials may be many times the largest cell."""
    (model,) = pair[0]._models
    first = model.ends[1][None] - 0.1
    value, spread = model.summary(first, first**2 + 9.0)
    mean = first[0] * model.scale + model.center
    high, low = model.ends[1] * model.scale + model.center, mean - 3.0 * model.scale
    assert_allclose(value[0], np.where([1, 0, 1], np.exp(mean), mean), rtol=1e-9)
    assert_allclose(spread[0, [0, 2]], 0.5 * (np.exp(high) - np.exp(low))[[0, 2]], rtol=1e-9)
    assert spread[0, 1] == pytest.approx(3.0 * model.scale[1])


def test_columns_that_are_transformed_have_no_moments(pair):
    skewed, logs = pair
    means, covariances = skewed.means_, skewed.covariances_
    assert_allclose(means[:, 1], logs.means_[:, 1], rtol=1e-9)
    assert_allclose(covariances[:, 1, 1], logs.covariances_[:, 1, 1], rtol=1e-9)
    covariances[:, 1, 1] = means[:, 1] = np.nan
    assert np.isnan(means).all() and np.isnan(covariances).all()


def test_new_cells_are_checked(pair):
    with pytest.raises(ValueError, match=r"Column .x2. holds -1.0, but is modelled on a logarithmic scale"):
        pair[0].score_samples([[1.0, 0.0, -1.0]])


def test_a_stored_model_is_the_same(pair, tmp_path):
    save(pair[0], tmp_path / "model.npz")
    loaded = load(tmp_path / "model.npz")
    assert_array_equal(loaded.score_samples(X), pair[0].score_samples(X))


def test_streams_and_shards_are_those_of_the_logarithms():
    both = []
    for cells, kinds, given in ((X, KINDS, LOG), (LOGS, REALS, {})):
        stream = SubsampleAnnealedDPMM(feature_types=kinds, window=150, **given, **SHORT)
        for start in range(0, 240, 80):
            stream.partial_fit(cells[start : start + 80])
        shards = SubsampleAnnealedDPMM(feature_types=kinds, **given, **SHORT).fit(ShardedTable(cells, n_start_rows=100))
        both.append((stream, shards))
    for skewed, logs in zip(*both, strict=True):
        assert_array_equal(skewed.labels_, logs.labels_)
        assert_allclose(skewed.score_samples(X), logs.score_samples(LOGS) + SLOPES, rtol=1e-9)
    assert_allclose(both[0][1].log_joint_, both[1][1].log_joint_ + SLOPES.sum(), rtol=1e-9)
    # Of the rows after those that were annealed, which were at most as many as the window has.
    assert_allclose(both[0][0].log_evidence_, both[1][0].log_evidence_ + SLOPES[150:].sum(), rtol=1e-9)


@pytest.mark.parametrize("name", ["identity", "log", "yeo-johnson"])
def test_a_given_transformation_is_taken(name):
    given = {"feature_params": {"x0": {"transform": name}}}
    (model,) = SubsampleAnnealedDPMM(feature_types=KINDS, **given, **SHORT).fit(X)._models
    assert model.transform.each[0].name == name
    automatic = SubsampleAnnealedDPMM(feature_types=KINDS, **SHORT).fit(X)._models[0].transform.each
    assert automatic == (automatic[0], IDENTITY, model.transform.each[2])


def test_other_hyperparameters_are_those_of_the_block():
    for key, own in (("skewed", {"nu": 3.0}), ("x0", {"transform": "log", "kappa": 1.0}), ("real", {"nu": 3.0})):
        with pytest.raises(ValueError, match="the real and skewed columns are one block; use the key 'gaussian'"):
            SubsampleAnnealedDPMM(feature_types=KINDS, feature_params={key: own}, **SHORT).fit(X)
    with pytest.raises(ValueError, match="use the key 'gaussian'"):
        SubsampleAnnealedDPMM(feature_types=KINDS, feature_grids={"skewed": {"nu": [3.0, 4.0]}}, **SHORT).fit(X)
    given = {"gaussian": {"mu": [0.0, 1.0, 2.0], "nu": 4.0, "kappa": 1.0, "psi": np.eye(3)}, **LOG["feature_params"]}
    model = SubsampleAnnealedDPMM(feature_types=KINDS, feature_params=given, learn_hyperparameters=False, **SHORT)
    found = model.fit(X).hyperparameters_["columns"]["gaussian"]
    assert_allclose(found["mu"][0, 0], [0.0, 1.0, 2.0], atol=1e-12)
    assert_allclose(found["psi"][0, 0], np.eye(3), atol=1e-12)


def test_transformations_of_columns():
    each = (IDENTITY, Logarithm(2.0), YeoJohnson(0.4, 1.0, 3.0), YeoJohnson(1.7, -1.0, 2.0))
    transform = ColumnTransforms.of("abcd", each)
    cells = np.random.default_rng(0).normal(size=(50, 3, 4)) * [1.0, 0.5, 5.0, 9.0]
    values = transform.forward(cells)
    for j, own in enumerate(each):
        assert_array_equal(values[..., j], own.forward(cells[..., j]))
    assert_allclose(transform.inverse(values), cells, rtol=1e-9, atol=1e-9)
    step = 1e-6
    slope = (transform.forward(cells + step) - transform.forward(cells - step)) / (2.0 * step)
    assert_allclose(transform.log_slope(values), np.log(slope), atol=1e-6)
    assert_array_equal(transform.is_identity, [True, False, False, False])
    assert ColumnTransforms.of("ab", [IDENTITY, IDENTITY]) == IDENTITY
