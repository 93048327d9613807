"""TemperedGaussianProcessRegressor: its likelihood, gradients and predictions, and bad input."""

from __future__ import annotations

import itertools
import json
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern, WhiteKernel
from sklearn.model_selection import GridSearchCV
from sklearn.utils.estimator_checks import check_estimator

from sklearn_subanneal import TemperedGaussianProcessRegressor
from sklearn_subanneal.diagnostics import effective_sample_size
from sklearn_subanneal.tempering._pairs import exponentiate, weigh
from sklearn_subanneal.tempering.coordinates import TotalAndRatio
from sklearn_subanneal.tempering.gaussian_process import JITTER, KernelModel, SquaredExponentialModel

ORACLE = json.loads((Path(__file__).parents[1] / "oracles" / "tempering.json").read_text())["gp_regression"]
SHORT = {"n_chains": 2, "n_draws": 20, "n_warmup": 20, "random_state": 0}


def table(n=30, n_features=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-3.0, 3.0, (n, n_features))
    return X, 10.0 + 3.0 * np.sin(X[:, 0]) + 0.3 * rng.normal(size=n)


def test_likelihood_and_prior():
    model = SquaredExponentialModel(ORACLE["X"], ORACLE["y"])
    theta = np.log([*ORACLE["ell"], ORACLE["sigma_f"], ORACLE["sigma_n"]])
    assert model.log_likelihood(theta) == pytest.approx(ORACLE["log_marginal"], abs=1e-6)
    assert model.log_prior(theta) == pytest.approx(ORACLE["log_prior_in_log_coordinates"])
    gradient = model.log_likelihood_and_gradient(theta)[1]
    np.testing.assert_allclose(gradient, ORACLE["grad_log_theta_numeric"], atol=1e-6)


def plain_likelihood_and_gradient(theta, X, y):
    """Log marginal likelihood with the derivative of the covariance written out for each parameter."""
    scales, signal, noise = np.exp(theta[:-2]), np.exp(2.0 * theta[-2]), np.exp(2.0 * theta[-1])
    squares = (X[:, None] - X) ** 2 / scales**2
    K = signal * np.exp(-0.5 * squares.sum(axis=-1))
    covariance = K + (noise + JITTER) * np.eye(len(y))
    slopes = [K * squares[..., d] for d in range(X.shape[1])] + [2.0 * K, 2.0 * noise * np.eye(len(y))]
    inverse = np.linalg.inv(covariance)
    value = stats.multivariate_normal(cov=covariance, allow_singular=True).logpdf(y)
    return value, [0.5 * (y @ inverse @ A @ inverse @ y - np.sum(inverse * A)) for A in slopes]


@pytest.mark.parametrize(("n", "n_features"), [(1, 1), (2, 3), (7, 2), (33, 5), (64, 1), (97, 18)])
def test_likelihood_and_gradient_are_those_of_plain_formulas(n, n_features):
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, n_features)), rng.normal(size=n)
    X[n // 2] = X[0]
    model = SquaredExponentialModel(X, y)
    for _ in range(5):
        theta = model.sample_prior(rng)
        value, gradient = plain_likelihood_and_gradient(theta, X, y)
        found, found_gradient = model.log_likelihood_and_gradient(theta)
        assert found == pytest.approx(value, rel=1e-8)
        np.testing.assert_allclose(found_gradient, gradient, rtol=1e-6, atol=1e-7 * np.abs(gradient).max())


@pytest.mark.parametrize(("n", "n_other"), [(1, 1), (3, 5), (8, 8), (17, 2), (40, 33)])
def test_passes_over_pairs_of_rows(n, n_other):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(n, 2)), 5.0 * rng.normal(size=(n_other, 2))
    norms, other_norms = 0.5 * (X**2).sum(axis=1), 0.5 * (Y**2).sum(axis=1)
    products, symmetric, above = X @ Y.T, X @ X.T, np.triu_indices(n)
    exponentiate(products, norms, other_norms, 2.5, False)
    np.testing.assert_allclose(products, 2.5 * np.exp(-0.5 * ((X[:, None] - Y) ** 2).sum(axis=-1)), rtol=1e-12)
    left = np.tril(symmetric, -1)
    exponentiate(symmetric, norms, norms, 2.5, True)
    truth = 2.5 * np.exp(-0.5 * ((X[:, None] - X) ** 2).sum(axis=-1))
    np.testing.assert_allclose(symmetric[above], truth[above], rtol=1e-12)
    assert (np.diagonal(symmetric) == 2.5).all() and np.array_equal(np.tril(symmetric, -1), left)
    weights, inverse = rng.normal(size=n), rng.normal(size=(n, n))
    weigh(symmetric, weights, inverse)
    np.testing.assert_allclose(symmetric[above], (truth * (np.outer(weights, weights) - inverse))[above], rtol=1e-12)
    assert np.array_equal(np.tril(symmetric, -1), left)


def test_passes_over_pairs_of_rows_look_at_shapes():
    with pytest.raises(ValueError, match="do not fit"):
        exponentiate(np.ones((2, 3)), np.ones(2), np.ones(2), 1.0, False)
    with pytest.raises(ValueError, match="do not fit"):
        exponentiate(np.ones((2, 3)), np.ones(2), np.ones(3), 1.0, True)
    with pytest.raises(ValueError, match="must have shape"):
        weigh(np.ones((2, 2)), np.ones(2), np.ones((2, 3)))


@pytest.mark.parametrize("at", [0, -2, -1])
@pytest.mark.parametrize("value", [-800.0, 800.0])
def test_hyperparameters_out_of_all_bounds_have_no_density_or_a_finite_one(at, value):
    X, y = table()
    model = SquaredExponentialModel(X, y)
    theta = np.zeros(4)
    theta[at] = value
    found, gradient = model.log_likelihood_and_gradient(theta)
    assert found == model.log_likelihood(theta) and not np.isnan(found)
    assert np.isfinite(gradient).all()
    if (at, value) in {(0, -800.0), (-2, 800.0), (-1, 800.0)}:
        assert found == -np.inf


def models():
    X, y = table()
    y = (y - y.mean()) / y.std()
    yield SquaredExponentialModel(X, y)
    yield KernelModel(ConstantKernel(1.0) * Matern([1.0, 2.0], nu=2.5) + RBF(0.5), X, y)
    yield TotalAndRatio(SquaredExponentialModel(X, y))


@pytest.mark.parametrize("model", list(models()), ids=["squared-exponential", "kernel", "coordinates"])
@pytest.mark.parametrize("rows", [None, np.arange(0, 30, 3)])
def test_gradients(model, rows):
    rng = np.random.default_rng(0)
    for _ in range(5):
        theta = 0.5 * model.sample_prior(rng)
        value, gradient = model.log_likelihood_and_gradient(theta, rows)
        assert value == pytest.approx(model.log_likelihood(theta, rows), rel=1e-12)
        for found, function in (
            (gradient, lambda t: model.log_likelihood(t, rows)),
            (model.grad_log_prior(theta), model.log_prior),
        ):
            steps = 1e-5 * np.eye(len(theta))
            numeric = [(function(theta + step) - function(theta - step)) / 2e-5 for step in steps]
            np.testing.assert_allclose(found, numeric, rtol=1e-4, atol=1e-4)


def test_other_coordinates():
    """There and back; the density is that of the model, since the Jacobian is 1."""
    model = SquaredExponentialModel(*table())
    other, rng = TotalAndRatio(model), np.random.default_rng(0)
    theta = np.array([model.sample_prior(rng) for _ in range(20)])
    points = other.of(theta)
    np.testing.assert_allclose(np.exp(2.0 * points[:, -2]), np.exp(2.0 * theta[:, -2:]).sum(axis=1))
    np.testing.assert_allclose(other.back(points), theta, atol=1e-12)
    for one, point in zip(theta, points, strict=True):
        jacobian = [(other.of(one + step) - other.of(one - step)) / 2e-5 for step in 1e-5 * np.eye(4)]
        assert abs(np.linalg.det(jacobian)) == pytest.approx(1.0)
        assert other.log_prior(point) == pytest.approx(model.log_prior(one))
        assert other.log_likelihood(point) == pytest.approx(model.log_likelihood(one))
    # Where one of them is nothing against the other.
    far = other.back(np.array([[0.0, 0.0, 1.0, 400.0], [0.0, 0.0, 1.0, -400.0]]))
    np.testing.assert_allclose(far, [[0.0, 0.0, 1.0, -399.0], [0.0, 0.0, -399.0, 1.0]])


def test_a_draw_predicts_as_scikit_learn_does():
    X, y = table()
    model = TemperedGaussianProcessRegressor(n_averaged=1, **SHORT).fit(X, y)
    theta, _, _ = model._averaged[0]
    scale, y_scale = X.std(axis=0), y.std()
    kernel = ConstantKernel(np.exp(2 * theta[-2]) * y_scale**2) * RBF(np.exp(theta[:-2]) * scale)
    noise = (np.exp(2 * theta[-1]) + JITTER) * y_scale**2
    other = GaussianProcessRegressor(kernel, alpha=noise, optimizer=None).fit(X, y - y.mean())
    rows = table(7, seed=1)[0]
    mean, deviation = model.predict(rows, return_std=True)
    expected, expected_deviation = other.predict(rows, return_std=True)
    np.testing.assert_allclose(mean, expected + y.mean(), rtol=1e-6)
    np.testing.assert_allclose(deviation, expected_deviation, rtol=1e-5)
    np.testing.assert_allclose(
        model.predict(rows, return_cov=True)[1], other.predict(rows, return_cov=True)[1], atol=1e-6
    )
    assert model.log_marginal_likelihood(theta) == pytest.approx(other.log_marginal_likelihood(kernel.theta))
    densities = stats.norm(mean, np.sqrt(deviation**2 + noise)).logpdf(y[:7])
    np.testing.assert_allclose(model.log_predictive_density(rows, y[:7]), densities, rtol=1e-8)
    lower, upper = model.predict_interval(rows, 0.8)
    np.testing.assert_allclose(upper, mean + stats.norm.ppf(0.9) * np.sqrt(deviation**2 + noise), rtol=1e-6)
    assert (lower < upper).all()


def test_averages_over_draws_have_the_spread_of_their_means():
    X, y = table(12)
    model = TemperedGaussianProcessRegressor(n_averaged=6, **SHORT).fit(X, y)
    rows = table(5, seed=1)[0]
    means, covariances = model._moments((rows - model._center) / model._scale, True)
    second = (covariances + means[:, :, None] * means[:, None, :]).mean(axis=0)
    expected = second - np.outer(means.mean(axis=0), means.mean(axis=0))
    assert means.std(axis=0).min() > 0.01
    np.testing.assert_allclose(model.predict(rows, return_cov=True)[1], expected, atol=1e-9)
    np.testing.assert_allclose(model.predict(rows, return_std=True)[1], np.sqrt(np.diag(expected)), rtol=1e-6)


@pytest.mark.parametrize(
    ("sampler", "inner"),
    [("none", "guided-hmc"), *itertools.product(["spt", "stt", "pt", "tt", "none"], ["hmc", "mh"])],
)
def test_samplers_agree(sampler, inner):
    """A pilot of each: predictions are near the truth, and near one another's."""
    X, y = table(40)
    model = TemperedGaussianProcessRegressor(sampler=sampler, inner=inner, n_chains=2, n_draws=60, random_state=0)
    model.fit(X, y)
    rows = np.column_stack([np.linspace(-2.5, 2.5, 9), np.zeros(9)])
    np.testing.assert_allclose(model.predict(rows), 10.0 + 3.0 * np.sin(rows[:, 0]), atol=0.5)
    assert model.result_.draws.shape == (2, 60, 4)
    assert set(model.posterior_hyperparameters_) == {"length_scale", "signal", "noise"}
    assert model.posterior_hyperparameters_["length_scale"].shape == (2, 60, 2)


def test_posterior_of_hyperparameters_is_right():
    """One feature, three parameters: moments by a grid."""
    X, y = table(8, 1)
    model = TemperedGaussianProcessRegressor(n_draws=400, random_state=0).fit(X, y)
    target = model._model
    axes = [np.linspace(-3.0, 4.5, 31), np.linspace(-1.5, 3.0, 31), np.linspace(-6.0, 1.5, 31)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    log_weights = np.array([target.log_prior(theta) + target.log_likelihood(theta) for theta in grid])
    weights = np.exp(log_weights - log_weights.max())
    weights /= weights.sum()
    mean = weights @ grid
    deviation = np.sqrt(weights @ (grid - mean) ** 2)
    error = (
        (model.result_.draws.mean(axis=(0, 1)) - mean) / deviation * np.sqrt(effective_sample_size(model.result_.draws))
    )
    assert np.abs(error).max() < 4.5
    np.testing.assert_allclose(model.result_.draws.std(axis=(0, 1)), deviation, rtol=0.15)


def two_explanations():
    """A slow wave with a ripple, which a short length scale follows and a long one takes for noise."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(0.0, 1.0, 30))
    y = np.sin(1.4 * np.pi * x) + 0.3 * np.sin(12.0 * np.pi * x) + 0.1 * rng.normal(size=30)
    return ((x - x.mean()) / x.std())[:, None], (y - y.mean()) / y.std()


def short_scales(**parameters):
    """Whether draws are in the mode of short length scales, and how often each chain goes from one to the other."""
    result = TemperedGaussianProcessRegressor(random_state=0, **parameters).fit(*two_explanations()).result_
    short = result.draws[..., 0] < -1.0
    return short, np.abs(np.diff(short.astype(int), axis=1)).sum(axis=1)


TEMPERED = {"sampler": "pt", "inner": "mh", "n_levels": 6, "min_beta": 0.05}


def test_tempering_goes_between_two_explanations():
    _, crossings = short_scales(n_draws=150)
    assert (crossings == 0).sum() >= 3
    _, crossings = short_scales(n_chains=2, n_draws=400, n_warmup=150, **TEMPERED)
    assert crossings.min() >= 4


@pytest.mark.slow
def test_two_explanations_have_their_share():
    """By the sum over a grid."""
    model = SquaredExponentialModel(*two_explanations())
    axes = [np.linspace(-4.0, 2.5, 40), np.linspace(-1.5, 2.0, 13), np.linspace(-5.0, 1.0, 20)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    log_weights = np.array([model.log_prior(theta) + model.log_likelihood(theta) for theta in grid])
    weights = np.exp(log_weights - log_weights.max())
    share = weights[grid[:, 0] < -1.0].sum() / weights.sum()
    assert 0.7 < share < 0.9
    short, crossings = short_scales(n_draws=3000, **TEMPERED)
    # Some 100 visits a chain to the rarer mode: the standard error is about 0.02.
    assert abs(short.mean() - share) < 0.08 and crossings.min() >= 50


def test_checks_of_scikit_learn():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for result in check_estimator(
            TemperedGaussianProcessRegressor(n_chains=1, n_draws=15, n_warmup=15), on_fail=None
        ):
            assert result["status"] in ("passed", "skipped"), (result["check_name"], result["exception"])
            assert result["status"] == "passed" or "array_api" in result["check_name"]


def test_same_for_any_number_of_jobs_and_pickled():
    X, y = table()
    one, two = (TemperedGaussianProcessRegressor(n_jobs=n, **SHORT).fit(X, y) for n in (1, 2))
    assert np.array_equal(one.result_.draws, two.result_.draws)
    assert np.array_equal(pickle.loads(pickle.dumps(one)).predict(X), two.predict(X))
    assert one.sample_y(X[:3], 4).shape == (3, 4)


def test_kernels_of_scikit_learn():
    X, y = table(40)
    model = TemperedGaussianProcessRegressor(Matern([1.0, 1.0], nu=2.5), n_chains=2, n_draws=40, random_state=0)
    assert model.fit(X, y).score(X, y) > 0.9
    assert model.posterior_hyperparameters_["theta"].shape == (2, 40, 2)


def test_grid_search():
    X, y = table()
    search = GridSearchCV(TemperedGaussianProcessRegressor(**SHORT), {"sampler": ["none", "spt"]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.5


def test_duplicates_and_constants():
    X, y = table(12)
    doubled = TemperedGaussianProcessRegressor(**SHORT).fit(np.vstack([X, X]), np.append(y, y))
    assert np.isfinite(doubled.predict(X)).all()
    constant = TemperedGaussianProcessRegressor(**SHORT).fit(X, np.full(12, 5.0))
    mean, deviation = constant.predict(X, return_std=True)
    np.testing.assert_allclose(mean, 5.0, atol=1e-6)
    assert np.isfinite(deviation).all()
    flat = TemperedGaussianProcessRegressor(**SHORT).fit(np.column_stack([X, np.ones(12)]), y)
    assert np.isfinite(flat.predict(np.ones((1, 3)))).all()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"noise_prior": (0.0, 1.0)}, "noise_prior"),
        ({"signal_prior": (1.0,)}, "signal_prior"),
        ({"length_scale_prior": (0.0, 0.0)}, "length_scale_prior"),
        ({"kernel": "rbf"}, "kernel must be"),
        ({"sampler": "gibbs"}, "sampler"),
        ({"min_beta": 2.0}, "min_beta"),
        ({"time_limit": 1e-9}, "time_limit"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        TemperedGaussianProcessRegressor(**SHORT).set_params(**parameters).fit(*table(10))


def test_bad_data():
    X, y = table(10)
    model = TemperedGaussianProcessRegressor(**SHORT)
    with pytest.raises(ValueError, match="NaN"):
        model.fit(X, np.append(y[:-1], np.nan))
    with pytest.raises(ValueError, match="NaN"):
        model.fit(np.where(X > 2.0, np.nan, X), y)
    assert not hasattr(model, "result_")
    model.fit(X, y)
    with pytest.raises(RuntimeError, match="At most one"):
        model.predict(X, return_std=True, return_cov=True)
    with pytest.raises(ValueError, match="level"):
        model.predict_interval(X, 1.5)
    with pytest.raises(ValueError, match="theta"):
        model.log_marginal_likelihood([0.0])


def test_a_kernel_that_is_not_positive_definite_is_never_accepted():
    class Indefinite(WhiteKernel):
        def __call__(self, X, Y=None, eval_gradient=False):
            K = -np.ones((len(X), len(X if Y is None else Y)))
            return (K, np.zeros((*K.shape, 1))) if eval_gradient else K

    with pytest.raises(ValueError, match="no mass"):
        TemperedGaussianProcessRegressor(Indefinite(), noise_prior=(2.0, 2000.0), **SHORT).fit(*table(10))
