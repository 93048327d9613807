"""Inducing points: a bound of the likelihood, tight with all rows; its gradient; predictions; points; warnings."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import multivariate_normal
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process.kernels import ConstantKernel, Matern, RationalQuadratic

from sklearn_subanneal import TemperedGaussianProcessRegressor
from sklearn_subanneal.gaussian_process import KernelModel, SparseRegression, StationaryModel
from sklearn_subanneal.gaussian_process.sparse_regression import explaining_rows
from sklearn_subanneal.gaussian_process.stationary_model import STATIONARY


def exact(kind, n=150):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    y = np.sin(2.0 * X[:, 0]) + 0.3 * X[:, 1] + rng.normal(scale=0.2, size=n)
    if kind in STATIONARY:
        return StationaryModel(X, y - y.mean(), kernel=kind)
    kernel = ConstantKernel(1.0) * Matern([1.0, 2.0, 1.0], nu=1.5) + RationalQuadratic()
    return KernelModel(kernel, X, y - y.mean())


KINDS = [*STATIONARY, "kernel"]


def hyperparameters(model):
    return model.typical() + 0.3 * np.random.default_rng(1).normal(size=model.n_parameters)


@pytest.mark.parametrize("kind", KINDS)
def test_the_bound_by_its_definition(kind):
    model = exact(kind)
    sparse, theta = SparseRegression(model, model.X[::7]), hyperparameters(model)
    points, noise = sparse.points, model.noise_variance(theta)
    own = model.covariance(theta, points) + 1e-8 * model.variance(theta, points).mean() * np.eye(len(points))
    cross = model.covariance(theta, points, model.X)
    projected = cross.T @ np.linalg.solve(own, cross)
    expected = multivariate_normal.logpdf(model.y, cov=projected + noise * np.eye(len(model.y)))
    expected -= 0.5 * (model.variance(theta, model.X) - np.diagonal(projected)).sum() / noise
    assert_allclose(sparse.log_likelihood(theta), expected, rtol=1e-7)
    assert sparse.log_likelihood(theta) < model.log_likelihood(theta)
    # Of a part of the rows, too.
    rows = np.arange(0, 150, 3)
    assert sparse.log_likelihood(theta, rows) < model.log_likelihood(theta, rows)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [None, np.arange(20, 110)])
def test_gradient(kind, rows):
    model = exact(kind)
    sparse, theta = SparseRegression(model, model.X[::7]), hyperparameters(model)
    value, gradient = sparse.log_likelihood_and_gradient(theta, rows)
    assert value == pytest.approx(sparse.log_likelihood(theta, rows), rel=1e-12)
    for k, step in enumerate(1e-5 * np.eye(len(theta))):
        slope = (sparse.log_likelihood(theta + step, rows) - sparse.log_likelihood(theta - step, rows)) / 2e-5
        assert_allclose(gradient[k], slope, rtol=1e-5, atol=1e-5 * np.abs(gradient).max())


@pytest.mark.parametrize("kind", KINDS)
def test_with_all_rows_it_is_exact(kind):
    model = exact(kind, 80)
    sparse, theta = SparseRegression(model, model.X), hyperparameters(model)
    assert_allclose(sparse.log_likelihood(theta), model.log_likelihood(theta), rtol=1e-6)
    assert sparse.lost(theta) < 1e-4
    one, two = sparse.condition(theta), model.condition(theta)
    cross = model.covariance(theta, model.X, np.random.default_rng(2).normal(size=(9, 3)))
    assert_allclose(cross.T @ one.weights, cross.T @ two.weights, atol=1e-5)
    known = [own.explained(cross).T @ own.explained(cross) for own in (one, two)]
    assert_allclose(*known, atol=1e-5)


def test_predictions_are_those_of_the_best_distribution_at_the_points():
    model = exact("squared-exponential")
    sparse, theta = SparseRegression(model, model.X[::5]), hyperparameters(model)
    points, noise = sparse.points, model.noise_variance(theta)
    own = model.covariance(theta, points) + 1e-8 * model.variance(theta, points).mean() * np.eye(len(points))
    cross, new = model.covariance(theta, points, model.X), model.covariance(theta, points, model.X[:6] + 0.1)
    # Titsias (2009), equation 10
    inner = np.linalg.inv(own + cross @ cross.T / noise)
    found = sparse.condition(theta)
    assert_allclose(new.T @ found.weights, new.T @ inner @ cross @ model.y / noise, atol=1e-6)
    expected = new.T @ (np.linalg.inv(own) - inner) @ new
    assert_allclose(found.explained(new).T @ found.explained(new), expected, atol=1e-6)


def test_points():
    model = exact("squared-exponential")
    points = explaining_rows(model, 30)
    assert len(points) == 30 and len(np.unique(points, axis=0)) == 30
    theta = model.summit()[0]
    by_chance = np.median([SparseRegression(model, model.X[k::5]).log_likelihood(theta) for k in range(5)])
    assert SparseRegression(model, points).log_likelihood(theta) > by_chance
    # Where all rows are alike one explains them.
    assert len(explaining_rows(StationaryModel(np.zeros((50, 2)), np.arange(50.0)), 10)) == 1


@pytest.mark.slow
def test_a_fit_of_many_rows():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3.0, 3.0, (1200, 2))
    y = np.sin(2.0 * X[:, 0]) * X[:, 1] + rng.normal(scale=0.2, size=1200)
    settings = {"n_chains": 2, "n_draws": 25, "n_warmup": 40, "random_state": 0}
    model = TemperedGaussianProcessRegressor(n_inducing=80, **settings).fit(X[:1100], y[:1100])
    error = model.predict(X[1100:]) - y[1100:]
    assert np.sqrt(np.mean(error**2)) < 0.23
    assert np.mean(np.abs(error) < 1.645 * 0.2) == pytest.approx(0.9, abs=0.1)
    again = TemperedGaussianProcessRegressor(n_inducing=80, n_jobs=2, **settings).fit(X[:1100], y[:1100])
    assert_array_equal(again.result_.draws, model.result_.draws)
    assert model._regression.model.lost(model.result_.draws[0, -1]) < 0.05
    with pytest.warns(ConvergenceWarning, match="5 inducing points are few.*raise n_inducing"):
        TemperedGaussianProcessRegressor(n_inducing=5, **settings).fit(X[:400], y[:400])
