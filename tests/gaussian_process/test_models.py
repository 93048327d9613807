"""Models of Gaussian-process regression: likelihoods, gradients, coordinates and the passes over pairs of rows."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, Matern
from support.regression_tables import table

from sklearn_subanneal.gaussian_process import KernelModel, StationaryModel, TotalAndRatio
from sklearn_subanneal.gaussian_process._stationary import evaluate_pairs, weigh
from sklearn_subanneal.gaussian_process.regression_model import JITTER
from sklearn_subanneal.gaussian_process.stationary_model import STATIONARY

ORACLE = json.loads((Path(__file__).parents[1] / "oracles" / "tempering.json").read_text())["gp_regression"]


def test_likelihood_and_prior():
    model = StationaryModel(ORACLE["X"], ORACLE["y"], length_scale_prior=(0.5, 1.0))
    theta = np.log([*ORACLE["ell"], ORACLE["sigma_f"], ORACLE["sigma_n"]])
    assert model.log_likelihood(theta) == pytest.approx(ORACLE["log_marginal"], abs=1e-6)
    assert model.log_prior(theta) == pytest.approx(ORACLE["log_prior_in_log_coordinates"])
    gradient = model.log_likelihood_and_gradient(theta)[1]
    np.testing.assert_allclose(gradient, ORACLE["grad_log_theta_numeric"], atol=1e-6)


def plain_kernel(squared, kernel):
    """Values, and derivatives by half the squared distances, as functions of the squared distances."""
    r = np.sqrt(squared)
    if kernel == "squared-exponential":
        return np.exp(-0.5 * squared), -np.exp(-0.5 * squared)
    if kernel == "matern-3/2":
        a = np.sqrt(3.0) * r
        return (1.0 + a) * np.exp(-a), -3.0 * np.exp(-a)
    a = np.sqrt(5.0) * r
    return (1.0 + a + a**2 / 3.0) * np.exp(-a), -5.0 / 3.0 * (1.0 + a) * np.exp(-a)


def plain_likelihood_and_gradient(theta, X, y, kernel):
    """Log marginal likelihood with the derivative of the covariance written out for each parameter."""
    scales, signal, noise = np.exp(theta[:-2]), np.exp(2.0 * theta[-2]), np.exp(2.0 * theta[-1])
    squares = (X[:, None] - X) ** 2 / scales**2
    K, slope = (signal * part for part in plain_kernel(squares.sum(axis=-1), kernel))
    covariance = K + (noise + JITTER) * np.eye(len(y))
    slopes = [-slope * squares[..., d] for d in range(X.shape[1])] + [2.0 * K, 2.0 * noise * np.eye(len(y))]
    inverse = np.linalg.inv(covariance)
    value = stats.multivariate_normal(cov=covariance, allow_singular=True).logpdf(y)
    return value, [0.5 * (y @ inverse @ A @ inverse @ y - np.sum(inverse * A)) for A in slopes]


kernels = pytest.mark.parametrize("kernel", list(STATIONARY))


@kernels
@pytest.mark.parametrize(("n", "n_features"), [(1, 1), (2, 3), (7, 2), (33, 5), (64, 1), (97, 18)])
def test_likelihood_and_gradient_are_those_of_plain_formulas(n, n_features, kernel):
    rng = np.random.default_rng(n)
    X, y = rng.normal(size=(n, n_features)), rng.normal(size=n)
    X[n // 2] = X[0]
    model = StationaryModel(X, y, kernel=kernel)
    for _ in range(5):
        theta = model.sample_prior(rng)
        value, gradient = plain_likelihood_and_gradient(theta, X, y, kernel)
        found, found_gradient = model.log_likelihood_and_gradient(theta)
        assert found == pytest.approx(value, rel=1e-8) and model.log_likelihood(theta) == found
        np.testing.assert_allclose(found_gradient, gradient, rtol=1e-6, atol=1e-7 * np.abs(gradient).max())


@pytest.mark.parametrize(
    ("kernel", "theirs"),
    [("squared-exponential", RBF), ("matern-3/2", partial(Matern, nu=1.5)), ("matern-5/2", partial(Matern, nu=2.5))],
)
def test_kernels_are_those_of_scikit_learn(kernel, theirs):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(9, 2)), rng.normal(size=(4, 2))
    model, theta = StationaryModel(X, X[:, 0], kernel=kernel), np.log([0.7, 2.0, 1.5, 0.1])
    for other in (None, Y):
        np.testing.assert_allclose(model.covariance(theta, X, other), 1.5**2 * theirs([0.7, 2.0])(X, other), rtol=1e-12)


@kernels
@pytest.mark.parametrize(("n", "n_other"), [(1, 1), (3, 5), (8, 8), (17, 2), (40, 33)])
def test_passes_over_pairs_of_rows(n, n_other, kernel):
    rng, code = np.random.default_rng(0), STATIONARY[kernel]
    X, Y = rng.normal(size=(n, 2)), 5.0 * rng.normal(size=(n_other, 2))
    norms, other_norms = 0.5 * (X**2).sum(axis=1), 0.5 * (Y**2).sum(axis=1)
    products, symmetric, above = X @ Y.T, X @ X.T, np.triu_indices(n)
    slopes, own_slopes = (np.zeros_like(a) if code else a for a in (products, symmetric))
    evaluate_pairs(products, slopes, norms, other_norms, 2.5, code, False)
    truth, slope = plain_kernel(((X[:, None] - Y) ** 2).sum(axis=-1), kernel)
    np.testing.assert_allclose(products, 2.5 * truth, rtol=1e-12)
    np.testing.assert_allclose(slopes, -2.5 * slope, rtol=1e-12)
    left = np.tril(own_slopes, -1)
    evaluate_pairs(symmetric, own_slopes, norms, norms, 2.5, code, True)
    truth, slope = plain_kernel(((X[:, None] - X) ** 2).sum(axis=-1), kernel)
    np.testing.assert_allclose(symmetric[above], 2.5 * truth[above], rtol=1e-12)
    assert (np.diagonal(symmetric) == 2.5).all() and np.array_equal(np.tril(own_slopes, -1), left)
    weights, inverse = rng.normal(size=n), rng.normal(size=(n, n))
    weigh(own_slopes, weights, inverse)
    weighed = -2.5 * slope * (np.outer(weights, weights) - inverse)
    np.testing.assert_allclose(own_slopes[above], weighed[above], rtol=1e-12)
    assert np.array_equal(np.tril(own_slopes, -1), left)


def test_passes_over_pairs_of_rows_look_at_shapes():
    square, wide = np.ones((2, 2)), np.ones((2, 3))
    with pytest.raises(ValueError, match="do not fit"):
        evaluate_pairs(wide, wide, np.ones(2), np.ones(2), 1.0, 0, False)
    with pytest.raises(ValueError, match="do not fit"):
        evaluate_pairs(wide, wide, np.ones(2), np.ones(3), 1.0, 0, True)
    with pytest.raises(ValueError, match="slopes must have shape"):
        evaluate_pairs(square, wide, np.ones(2), np.ones(2), 1.0, 3, True)
    with pytest.raises(ValueError, match="smoothness must be"):
        evaluate_pairs(square, square, np.ones(2), np.ones(2), 1.0, 1, True)
    with pytest.raises(ValueError, match="must have shape"):
        weigh(square, np.ones(2), wide)


@pytest.mark.parametrize("at", [0, -2, -1])
@pytest.mark.parametrize("value", [-800.0, 800.0])
def test_hyperparameters_out_of_all_bounds_have_no_density_or_a_finite_one(at, value):
    X, y = table()
    model = StationaryModel(X, y)
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
    for kernel in STATIONARY:
        yield StationaryModel(X, y, kernel=kernel)
    yield KernelModel(ConstantKernel(1.0) * Matern([1.0, 2.0], nu=2.5) + RBF(0.5), X, y)
    yield TotalAndRatio(StationaryModel(X, y))


@pytest.mark.parametrize("model", list(models()), ids=[*STATIONARY, "kernel", "coordinates"])
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
    model = StationaryModel(*table())
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
