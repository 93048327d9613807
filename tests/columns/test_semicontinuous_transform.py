"""Semicontinuous columns whose numbers are transformed: the model of the logarithms, predictions, the choice."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM
from sklearn_subanneal.columns import Logarithm, Transform, YeoJohnson
from sklearn_subanneal.columns.joint_rests import Rest, joint_rests
from sklearn_subanneal.columns.semicontinuous import is_skewed

RNG = np.random.default_rng(0)
GROUP = np.arange(300) % 2 == 0
ATOM, AMOUNT = RNG.random(300) < np.where(GROUP, 0.7, 0.2), np.exp(np.where(GROUP, 2.0, 4.0) + RNG.normal(size=300))
SIZE = np.where(GROUP, -4.0, 4.0) + RNG.normal(size=300)
X = np.column_stack([np.where(ATOM, 0.0, AMOUNT), SIZE])
# The atom may be anywhere.
LOGS = np.column_stack([np.where(ATOM, -9.0, np.log(AMOUNT)), SIZE])
JACOBIAN = np.where(ATOM, 0.0, -np.log(AMOUNT))
TYPES = ["semicontinuous", "real"]
SHORT = {"n_chains": 2, "n_draws": 4, "max_sweeps": 5, "random_state": 0}
ESTIMATORS = {
    "mixture": SubsampleAnnealedDPMM(feature_types=TYPES, covariance_type="diag", **SHORT),
    "diag": CrossCat(feature_types=TYPES, covariance_type="diag", **SHORT),
    "full": CrossCat(feature_types=TYPES, covariance_type="full", **SHORT),
}


@pytest.fixture(scope="module", params=ESTIMATORS)
def pair(request):
    """The model of amounts, and that of their logarithms."""
    given = {"semicontinuous": {"transform": "identity"}}
    amounts = ESTIMATORS[request.param]
    logs = amounts.__class__(**amounts.get_params()).set_params(feature_params=given)
    return amounts.fit(X), logs.fit(LOGS)


def test_it_is_the_model_of_the_logarithms(pair):
    amounts, logs = pair
    transforms = [model.transform for model in amounts._models if model.kind in ("semicontinuous", "skewed")]
    assert transforms == [Logarithm()]
    assert all(model.transform == Transform() for model in logs._models)
    assert_array_equal(amounts.labels_, logs.labels_)
    assert_allclose(amounts.log_joint_, logs.log_joint_ + JACOBIAN.sum(), rtol=1e-9)
    assert_allclose(amounts.score_samples(X), logs.score_samples(LOGS) + JACOBIAN, rtol=1e-9)
    one, other = amounts.sample(200, random_state=1)[:, 0], logs.sample(200, random_state=1)[:, 0]
    expected = np.where(other == -9.0, 0.0, np.exp(other))
    # Rows far beyond the amounts are drawn again, if their logarithms are not far beyond the logarithms.
    kept = expected < 2.0 * X[:, 0].max() - AMOUNT.min()
    assert kept.mean() > 0.98
    assert_allclose(one[kept], expected[kept], rtol=1e-9)


def test_masses_and_density_make_one(pair):
    line = np.exp(np.linspace(-12.0, 20.0, 20_001))
    density = np.exp(pair[0].score_samples(np.column_stack([line, np.full(len(line), np.nan)])))
    mass = np.exp(pair[0].score_samples([[0.0, np.nan]]))
    assert np.trapezoid(density, line) + mass == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("size", [-4.0, 4.0])
def test_imputation_takes_the_median_for_the_mean_of_the_rest(pair, size):
    model = pair[0]
    line = np.exp(np.linspace(-10.0, 17.0, 40_001))
    known = model.score_samples([[np.nan, size]])
    density = np.exp(model.score_samples(np.column_stack([line, np.full(len(line), size)])) - known)
    mass = np.exp(model.score_samples([[0.0, size]]) - known)[0]
    below = np.concatenate([[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(line))]) / (1.0 - mass)
    low, median, high = np.interp([0.15865525393145707, 0.5, 0.8413447460685429], below, line)
    filled, uncertainty = model.impute([[np.nan, size]], return_uncertainty=True)
    # With full covariance the middle of the logarithms is their mean.
    tolerance = 0.01 if not hasattr(model, "covariance_type_") or model.covariance_type_ == "diag" else 0.1
    assert filled[0, 0] == pytest.approx((1.0 - mass) * median, rel=tolerance)
    spread = 0.5 * (high - low)
    deviation = np.sqrt((1.0 - mass) * (spread**2 + mass * median**2))
    assert uncertainty[0, 0] == pytest.approx(deviation, rel=2.0 * tolerance)


def test_moments_of_clusters():
    amounts = SubsampleAnnealedDPMM(feature_types=TYPES, **SHORT).fit(X)
    assert np.isnan(amounts.means_[:, 0]).all() and np.isfinite(amounts.means_[:, 1]).all()
    given = {"semicontinuous": {"transform": "identity"}}
    plain = SubsampleAnnealedDPMM(feature_types=TYPES, feature_params=given, **SHORT).fit(X)
    assert np.isfinite(plain.means_).all()


NORMALS = RNG.normal([-5.0, 5.0], size=(200, 2)).ravel()
CLUSTERS = {
    "one normal": (10.0 + RNG.normal(size=400), False),
    "two normals": (np.append(RNG.normal(size=350), RNG.normal(9.0, 1.0, 50)), False),
    "one lognormal": (RNG.lognormal(size=400), True),
    "two lognormals": (np.exp(NORMALS), True),
    # Two normals fit this better than one lognormal does, and two lognormals better still.
    "unequal lognormals": (np.exp(np.append(RNG.normal(0.0, 0.4, 350), RNG.normal(4.0, 0.4, 150))), True),
    "two numbers": (np.array([1.0, 1000.0]), False),
    "none": (np.full(3, np.nan), False),
}


@pytest.mark.parametrize("name", CLUSTERS)
def test_the_evidence_chooses(name):
    cells, wanted = CLUSTERS[name]
    assert is_skewed(cells, {}) == wanted
    assert is_skewed(cells, {"transform": "log"}) and not is_skewed(cells, {"transform": "identity"})


@pytest.mark.parametrize("estimator", ESTIMATORS.values(), ids=list(ESTIMATORS))
def test_the_transformation_may_be_given(estimator):
    given = {"x0": {"transform": "yeo-johnson"}}
    short = {"feature_params": given, "n_chains": 1, "n_draws": 1}
    model = estimator.__class__(**estimator.get_params()).set_params(**short).fit(X)
    (transform,) = {own.transform for own in model._models} - {Transform()}
    assert isinstance(transform, YeoJohnson)
    with pytest.raises(
        ValueError, match=r"\['transform'\] must be one of 'identity', 'log', 'yeo-johnson', got 'root'"
    ):
        model.set_params(feature_params={"x0": {"transform": "root"}}).fit(X)
    with pytest.raises(ValueError, match=r"the transform 'log' does not suit column 'x0.*choose 'yeo-johnson'"):
        model.set_params(feature_params={"x0": {"transform": "log"}}).fit(np.where(X == 0.0, 0.0, X - 1e3))
    # Cells that a logarithm does not take are refused, as in skewed columns.
    logs = estimator.__class__(**estimator.get_params()).set_params(n_chains=1, n_draws=1).fit(X)
    with pytest.raises(ValueError, match=r"holds -3\.0, but is modelled on a logarithmic scale.*'yeo-johnson'"):
        logs.score_samples([[-3.0, 0.0]])


def test_several_atoms_below_the_logarithm():
    rest = np.exp(RNG.normal(3.0, 1.0, 100))
    cells = np.concatenate([np.repeat([-7.0, 0.0, 20.0], 40), rest])[:, None]
    given = {"x0": {"atoms": [-7.0, 0.0, 20.0]}}
    model = SubsampleAnnealedDPMM(feature_types=["semicontinuous"], feature_params=given, **SHORT).fit(cells)
    assert model._models[0].transform == Logarithm()
    drawn = model.sample(4000, random_state=0)[:, 0]
    masses = np.exp(model.score_samples([[-7.0], [0.0], [20.0]]))
    assert_allclose([np.mean(drawn == atom) for atom in (-7.0, 0.0, 20.0)], masses, atol=0.04)
    assert np.all(drawn[~np.isin(drawn, [-7.0, 0.0])] > 0.0)


def test_linear_rests_stay_real_beside_joint_reals():
    """The logarithm of a sum would hide that it depends linearly on its addends."""
    first, second = np.random.default_rng(1).lognormal(7.0, 1.0, size=(2, 400))
    is_zero = np.arange(400) % 3 == 0
    settings = {"n_chains": 1, "n_draws": 1, "random_state": 0, "schedule": "sequential", "covariance_type": "full"}
    model = CrossCat(feature_types={1: "real", 2: "real"}, **settings)

    def kind_of_the_rest(amounts):
        X = np.column_stack([np.where(is_zero, 0.0, amounts), first, second])
        return model.fit(X).part_types_.get("x0 (rest)")

    assert kind_of_the_rest(first + second) == "real"
    # A product is linear in the logarithms alone; what depends on no other column is not split.
    model.set_params(feature_types={1: "skewed", 2: "skewed"})
    assert kind_of_the_rest(first * second) == "skewed"
    assert kind_of_the_rest(np.random.default_rng(2).lognormal(7.0, 1.0, 400)) is None


def test_few_numbers_join_no_block():
    rng = np.random.default_rng(3)
    size, order = rng.normal(10.0, 2.0, 400), rng.permutation(400)
    price = size + 0.1 * rng.normal(size=400)

    def joint(share):
        return joint_rests(
            {5: Rest(np.where(order < share * 400, price, np.nan), 400, "real", False)}, [(size, "real")]
        )

    assert joint(0.25) == {5: "real"} and joint(0.15) == {}
    assert joint_rests({5: Rest(price, 400, "real", False)}, []) == {}
    # Nor do columns count that are missing in all rows that are looked at.
    gaps = np.where(np.arange(400) == 399, 1.0, np.nan)
    many, more = np.tile(price, 20), [(np.tile(size, 20), "real"), (np.roll(np.tile(gaps, 20), 7), "skewed")]
    more.append((np.where(np.arange(8000) == 1, 2.0, np.nan), "skewed"))
    assert joint_rests({5: Rest(many, 8000, "real", False)}, more) == {5: "real"}


def test_other_columns_may_have_another_mean_where_cells_are_no_atoms():
    rng = np.random.default_rng(4)
    size = 20.0 * (np.arange(400) % 2) + rng.normal(size=400)
    # Zeros are all on the one side, so that the rest is far from the mean of the size.
    rest = np.where(size > 10.0, np.nan, 5.0 + size + 0.1 * rng.normal(size=400))
    assert joint_rests({1: Rest(rest, 400, "real", False)}, [(size, "real")]) == {1: "real"}
