"""Skewed columns: the model of the transformed data, in the units of the data; transformations and their choice."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from sklearn_subanneal import CrossCat, SubsampleAnnealedDPMM
from sklearn_subanneal.columns import Logarithm, Transform, YeoJohnson, choose_transform, transform_evidence
from sklearn_subanneal.columns.semicontinuous import Semicontinuous
from sklearn_subanneal.columns.skewed import Skewed
from sklearn_subanneal.tables.column import Column
from sklearn_subanneal.tables.series import pandas_series, polars_series

RNG = np.random.default_rng(0)
GROUP = np.arange(240) % 2 == 0
INCOME = np.exp(np.where(GROUP, 2.0, 5.0) + RNG.normal(0.0, 0.7, 240))
SIZE = np.where(GROUP, -4.0, 4.0) + RNG.normal(size=240)
X = np.column_stack([INCOME, SIZE])
LOGS = np.column_stack([np.log(INCOME), SIZE])
SHORT = {"n_chains": 2, "n_draws": 4, "max_sweeps": 5, "random_state": 0}


def fit(cells, types, estimator=SubsampleAnnealedDPMM, **params):
    return estimator(feature_types=types, **SHORT, **params).fit(cells)


@pytest.fixture(scope="module", params=[SubsampleAnnealedDPMM, CrossCat])
def pair(request):
    """The model of skewed cells, and that of their logarithms."""
    params = {"covariance_type": "diag"}
    return fit(X, ["skewed", "real"], request.param, **params), fit(LOGS, ["real", "real"], request.param, **params)


def test_it_is_the_model_of_the_logarithms(pair):
    skewed, logs = pair
    assert skewed._models[0].transform == Logarithm()
    assert_array_equal(skewed.labels_, logs.labels_)
    # The Jacobian is 1 / x.
    assert_allclose(skewed.score_samples(X), logs.score_samples(LOGS) - LOGS[:, 0], rtol=1e-12)
    assert_allclose(skewed.log_joint_, logs.log_joint_ - LOGS[:, 0].sum(), rtol=1e-12)
    one, other = skewed.sample(50, random_state=1), logs.sample(50, random_state=1)
    assert_allclose(one, np.column_stack([np.exp(other[:, 0]), other[:, 1]]), rtol=1e-12)


def test_gaps_cost_no_jacobian(pair):
    gaps, log_gaps = X[:4].copy(), LOGS[:4].copy()
    gaps[1:3, 0] = log_gaps[1:3, 0] = np.nan
    expected = pair[1].score_samples(log_gaps) - np.nan_to_num(log_gaps[:, 0])
    assert_allclose(pair[0].score_samples(gaps), expected, rtol=1e-12)


def test_density_integrates_to_one(pair):
    line = np.exp(np.linspace(-10.0, 17.0, 20_001))
    density = np.exp(pair[0].score_samples(np.column_stack([line, np.full(len(line), np.nan)])))
    assert np.trapezoid(density, line) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("size", [-4.0, 4.0])
def test_imputation_is_the_median(pair, size):
    line = np.exp(np.linspace(-10.0, 17.0, 40_001))
    density = np.exp(pair[0].score_samples(np.column_stack([line, np.full(len(line), size)])))
    mass = np.cumsum(0.5 * (density[1:] + density[:-1]) * np.diff(line))
    low, median, high = np.interp(stats.norm.cdf([-1, 0, 1]), mass / mass[-1], line[1:])
    filled, uncertainty = pair[0].impute([[np.nan, size]], return_uncertainty=True)
    assert filled[0, 0] == pytest.approx(median, rel=0.02)
    assert np.asarray(uncertainty)[0, 0] == pytest.approx(0.5 * (high - low), rel=0.03)


def test_the_unit_of_the_data_does_not_matter():
    one, other = fit(X, ["skewed", "real"]), fit(X * [1e6, 1.0], ["skewed", "real"])
    assert_allclose(one.score_samples(X), other.score_samples(X * [1e6, 1.0]) + np.log(1e6), atol=1e-3)


def test_dataframes_missing_cells_and_prediction():
    frame = pd.DataFrame({"income": INCOME, "size": SIZE})
    frame.loc[::7, "income"] = np.nan
    model = fit(frame, {"income": "skewed"}, CrossCat)
    predicted = model.predict_column("income", pd.DataFrame({"income": [np.nan] * 2, "size": [-4.0, 4.0]}))
    assert_allclose(np.log(predicted), [2.0, 5.0], atol=0.3)
    assert model.impute(frame)["income"].gt(0.0).all()
    assert model.mutual_information("income", "size", random_state=0).value > 0.4


def test_cells_that_the_logarithm_does_not_take_are_refused():
    model = fit(X, ["skewed", "real"])
    with pytest.raises(ValueError, match=r"Column 'x0' holds -3.0, but is modelled on a logarithmic scale.*above 0:"):
        model.score_samples([[-3.0, 0.0]])
    with pytest.raises(ValueError, match=r"the transform 'log' does not suit column 'x0', which holds -"):
        fit(-X, ["skewed", "real"], feature_params={"x0": {"transform": "log"}})
    with pytest.raises(ValueError, match=r"\['transform'\] must be one of 'identity', 'log', 'yeo-johnson', got 3"):
        fit(X, ["skewed", "real"], feature_params={"x0": {"transform": 3}})


@pytest.mark.parametrize("name", ["identity", "log", "yeo-johnson"])
def test_a_given_transformation_is_taken(name):
    model = fit(X, ["skewed", "real"], feature_params={"x0": {"transform": name}}, covariance_type="diag")
    assert model._models[0].transform.name == name
    line = np.sort(np.append(np.exp(np.linspace(-9.0, 19.0, 20_001)), 0.0 if name == "log" else -np.arange(9e3)))[1:]
    density = np.exp(model.score_samples(np.column_stack([line, np.full(len(line), np.nan)])))
    assert np.trapezoid(density, line) == pytest.approx(1.0, abs=5e-3)


def test_given_hyperparameters_are_in_the_units_of_the_transformed_data():
    given = {"transform": "log", "mu": 3.0, "kappa": 0.2, "sigma2": 0.5, "nu": 4.0}
    model = fit(X, ["skewed", "real"], feature_params={"x0": given}, learn_hyperparameters=False)
    found = {name: value[0, 0] for name, value in model.hyperparameters_["columns"]["x0"].items()}
    assert found == pytest.approx({name: value for name, value in given.items() if name != "transform"})


ODD = {
    "constant": np.full(30, 7.0),
    "zero": np.zeros(30),
    "two values": np.tile([1.0, 50.0], 20),
    "one row": np.array([3.0]),
    "huge": np.exp(np.linspace(0.0, 700.0, 60)),
    "tiny": np.exp(-np.linspace(0.0, 700.0, 60)),
    "zeros": np.append(np.zeros(20), np.exp(np.linspace(0.0, 5.0, 40))),
    "missing": np.where(np.arange(60) % 3 == 0, np.nan, np.exp(np.linspace(0.0, 5.0, 60))),
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.parametrize("options", [{}, {"grids": "fixed"}, {"learn_hyperparameters": False}], ids=str)
def test_odd_columns(name, options):
    cells = ODD[name][:, None]
    model = fit(cells, ["skewed"], **options)
    assert np.isfinite(model.score_samples(cells)).all()
    assert np.isfinite(model.impute([[np.nan]])).all()
    if name not in ("huge", "tiny"):
        assert np.isfinite(model.sample(20, random_state=0)).all()


# --- Transformations --------------------------------------------------------------------------------------------

TRANSFORMS = [
    Transform(),
    Logarithm(),
    Logarithm(0.4),
    *(YeoJohnson(power, 1.3, 2.5) for power in (0.0, 0.3, 1.0, 1.7, 2.0)),
]


@pytest.mark.parametrize("transform", TRANSFORMS, ids=str)
def test_inverses_and_slopes(transform):
    cells = np.linspace(0.01, 8.0, 101) if transform.name == "log" else np.linspace(-40.0, 50.0, 101)
    values = transform.forward(cells)
    assert np.all(np.diff(values) > 0.0)
    assert_allclose(transform.inverse(values), cells, rtol=1e-11, atol=1e-11)
    step = 1e-6
    slope = (transform.forward(cells + step) - transform.forward(cells - step)) / (2.0 * step)
    assert_allclose(np.exp(transform.log_slope(values)) + np.zeros(101), slope, rtol=1e-5)


@pytest.mark.parametrize("shift", [0.0, 4.0125, -7.3, 1e6, 3e-9])
def test_inverses_of_the_logarithm_are_in_its_domain(shift):
    """Those of very low values, too, which samples have, in float64 and in the narrower dtypes of some columns."""
    transform = Logarithm(shift)
    cells = transform.inverse(np.array([-800.0, -40.0, -20.0, 0.0]))
    columns = [Column("x", Skewed, dtype=dtype, lowest=transform.lowest) for dtype in ("float16", "float32", "Float32")]
    written = [pandas_series(column, cells).to_numpy(np.float64) for column in columns]
    for own in (cells, *written, polars_series(columns[-1], cells).to_numpy().astype(float)):
        assert (own > transform.lowest).all()
        transform.check("x", own)
        assert np.isfinite(transform.forward(own)).all()


def test_atoms_may_be_at_the_end_of_the_domain():
    column = Column("x", Semicontinuous, dtype="float32", lowest=0.0, points=(0.0,))
    cells = np.array([0.0, 1e-60, 1e60, 3.0, np.nan])
    least, largest = np.finfo(np.float32).smallest_subnormal, np.finfo(np.float32).max
    assert_array_equal(pandas_series(column, cells), np.array([0.0, least, largest, 3.0, np.nan], np.float32))


@pytest.mark.parametrize("unit", [1e-60, 1e-200, 1e-300])
def test_very_small_cells_are_imputed_and_sampled(unit):
    """As p-values are. No cell below the least number of float32 came back."""
    x = unit * INCOME
    for covariance_type in ("diag", "full"):
        model = fit(np.column_stack([x, SIZE]), ["skewed", "real"], CrossCat, covariance_type=covariance_type)
        filled = model.impute([[np.nan, -4.0], [np.nan, 4.0]])[:, 0]
        assert_allclose(np.log(filled / unit), [2.0, 5.0], atol=0.5)
        share = np.mean(model.sample(1000, random_state=0)[:, 0] < 40.0 * unit)
        assert share == pytest.approx(model.probability(f"x0 < {40.0 * unit!r}"), abs=0.06)


def test_samples_of_narrow_dtypes_can_be_scored():
    """1e-60 is 0 in float32, of which there is no logarithm."""
    cells = np.exp(-60.0 * RNG.random(200)).astype(np.float32)
    model = fit(pd.DataFrame({"x": cells}), ["skewed"])
    rows = model.sample(400, random_state=0)
    assert rows["x"].dtype == np.float32 and rows["x"].gt(0.0).all() and np.isfinite(model.score_samples(rows)).all()


@pytest.mark.parametrize("power", [0.0, 0.6, 1.0, 1.4, 2.0])
def test_yeo_johnson_is_that_of_scipy(power):
    cells = np.linspace(-5.0, 9.0, 57)
    assert_allclose(YeoJohnson(power).forward(cells), stats.yeojohnson(cells, power), rtol=1e-12, atol=1e-14)


def test_the_power_is_that_of_the_largest_likelihood():
    cells = np.random.default_rng(3).gamma(2.0, size=2000)
    cells = (cells - np.median(cells)) / np.subtract(*np.quantile(cells, [0.75, 0.25]))
    assert choose_transform(cells, ("yeo-johnson",)).power == pytest.approx(stats.yeojohnson_normmax(cells), abs=0.06)


@pytest.mark.parametrize(
    ("cells", "name"),
    [
        (RNG.normal(5.0, 1.0, 500), "identity"),
        (np.exp(RNG.normal(1.0, 1.2, 500)), "log"),
        (np.append(np.exp(RNG.normal(1.0, 1.2, 500)), np.zeros(9)), "log"),
        (-np.exp(RNG.normal(1.0, 1.2, 500)), "yeo-johnson"),
        (np.exp(RNG.normal(1.0, 1.2, 500)) - 4.0, "yeo-johnson"),
        (np.tile([1.0, 1000.0], 20), "identity"),
        (np.full(20, 5.0), "identity"),
    ],
    ids=["normal", "log-normal", "with zeros", "negative", "shifted", "two values", "constant"],
)
def test_the_transformation_with_most_evidence_is_chosen(cells, name):
    assert choose_transform(cells).name == name
    # The same in other units, and with missing cells.
    assert choose_transform(np.append(cells * 1e-4, np.nan)).name == name


def test_evidence_is_in_the_units_of_the_data():
    one, other = ({t.name: e for t, e in transform_evidence(INCOME * unit)} for unit in (1.0, 1000.0))
    assert one.keys() == {"identity", "log", "yeo-johnson"}
    for name, evidence in one.items():
        assert evidence == pytest.approx(other[name] + 240 * np.log(1000.0), rel=1e-9)
