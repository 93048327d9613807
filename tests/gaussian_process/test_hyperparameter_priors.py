"""Log priors of hyperparameters: their values, Jacobians included, against densities of scipy, and their gradients."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats
from sklearn.gaussian_process.kernels import RBF, ConstantKernel

from sklearn_subanneal.gaussian_process import KernelModel, StationaryModel, TotalAndRatio

X, Y = np.random.default_rng(0).normal(size=(6, 2)), np.zeros(6)
KERNEL = ConstantKernel(1.7) * RBF([0.6, 2.0])


def squared_exponential():
    """The model, and the density of each coordinate of theta.

    A length scale is log-normal, the deviations of signal and noise have gamma distributions: densities by the
    variables themselves, times their derivatives by the logarithms, which are the variables.
    """
    model = StationaryModel(X, Y, (0.3, 0.8), (4.5, 1.5), (2.5, 3.0))
    lengths = stats.lognorm(0.8, scale=np.exp(0.3))
    signal, noise = stats.gamma(4.5, scale=1.0 / 1.5), stats.gamma(2.5, scale=1.0 / 3.0)
    return model, [of_logarithm(law) for law in (lengths, lengths, signal, noise)]


def kernel_model():
    model = KernelModel(KERNEL, X, Y, theta_deviation=1.2, noise_prior=(2.5, 3.0))
    of_theta = [stats.norm(center, 1.2).logpdf for center in KERNEL.theta]
    return model, [*of_theta, of_logarithm(stats.gamma(2.5, scale=1.0 / 3.0))]


def of_logarithm(law):
    return lambda t: law.logpdf(np.exp(t)) + t


models = pytest.mark.parametrize("make", [squared_exponential, kernel_model])


@models
def test_values_are_those_of_densities_with_their_jacobians(make):
    model, densities = make()
    rng = np.random.default_rng(0)
    for theta in 1.5 * rng.normal(size=(20, model.n_parameters)):
        expected = sum(density(value) for density, value in zip(densities, theta, strict=True))
        assert model.log_prior(theta) == pytest.approx(expected, rel=1e-10)


@models
@pytest.mark.parametrize("k", range(4))
def test_each_coordinate_alone(make, k):
    """What the log prior gains along one coordinate is what the log density of this coordinate gains."""
    model, densities = make()
    theta = np.linspace(-0.5, 0.7, 4)
    for value in (-4.0, -1.0, 0.0, 0.5, 2.0):
        moved = theta.copy()
        moved[k] = value
        gain = model.log_prior(moved) - model.log_prior(theta)
        assert gain == pytest.approx(densities[k](value) - densities[k](theta[k]), abs=1e-9)


@models
@pytest.mark.parametrize("k", range(4))
def test_it_integrates_to_one(make, k):
    """Along each coordinate, the others held; a density without its Jacobian would not."""
    model, densities = make()
    theta = np.linspace(-0.5, 0.7, 4)
    others = sum(density(value) for j, (density, value) in enumerate(zip(densities, theta, strict=True)) if j != k)

    def along(value):
        moved = theta.copy()
        moved[k] = value
        return np.exp(model.log_prior(moved) - others)

    assert integrate.quad(along, -25.0, 12.0, points=[-2.0, 0.0, 2.0], limit=200)[0] == pytest.approx(1.0, abs=1e-6)


@models
def test_draws_have_the_densities(make):
    model, densities = make()
    draws = np.array([model.sample_prior(rng) for rng in [np.random.default_rng(0)] for _ in range(2000)])
    line = np.linspace(-25.0, 12.0, 20_001)
    for values, density in zip(draws.T, densities, strict=True):
        cumulative = np.cumsum(np.exp(density(line)))
        law = np.interp(values, line, cumulative / cumulative[-1])
        assert stats.kstest(law, "uniform").pvalue > 1e-3


@models
def test_gradients_are_finite_differences(make):
    model, _ = make()
    for theta in np.random.default_rng(1).normal(size=(10, model.n_parameters)):
        steps = 1e-5 * np.eye(model.n_parameters)
        numeric = [(model.log_prior(theta + step) - model.log_prior(theta - step)) / 2e-5 for step in steps]
        np.testing.assert_allclose(model.grad_log_prior(theta), numeric, rtol=1e-6, atol=1e-6)


def test_in_coordinates_of_total_and_ratio():
    """By the determinant of the change of variables, found by finite differences."""
    model, densities = squared_exponential()
    other = TotalAndRatio(model)
    for point in np.random.default_rng(2).normal(size=(10, 4)):
        theta = other.back(point)
        jacobian = [(other.back(point + step) - other.back(point - step)) / 2e-5 for step in 1e-5 * np.eye(4)]
        expected = sum(density(value) for density, value in zip(densities, theta, strict=True))
        expected += np.log(abs(np.linalg.det(jacobian)))
        assert other.log_prior(point) == pytest.approx(expected, abs=1e-7)
