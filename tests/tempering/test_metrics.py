"""Metrics of transition kernels: from points and gradients, from points alone, and how a warm-up uses them."""

from __future__ import annotations

import numpy as np
import pytest

from sklearn_subanneal.tempering import GaussianMean, HamiltonianMonteCarlo, ParallelTempering
from sklearn_subanneal.tempering.adaptation import ASTRAY, FEWEST, Adaptation
from sklearn_subanneal.tempering.levels import Level
from sklearn_subanneal.tempering.log_densities import DifferentiableModel
from sklearn_subanneal.tempering.metrics import LEAST_VARIANCE, metric_factor, scored_metric_factor
from sklearn_subanneal.tempering.references import NormalReference

N = 12


def stiff_covariance(n=N):
    """Standard deviations from .01 to 10, in directions at random."""
    directions = np.linalg.qr(np.random.default_rng(0).normal(size=(n, n)))[0]
    return directions * np.geomspace(1e-4, 100.0, n) @ directions.T


def relative_sizes(factor, covariance):
    """Eigenvalues of a covariance in the units of a metric: all 1 where the metric is the covariance."""
    inverse = np.linalg.inv(factor)
    return np.linalg.eigvalsh(inverse @ covariance @ inverse.T)


def test_a_normal_density_is_found_from_few_points_wherever_they_are(monkeypatch):
    monkeypatch.setattr("sklearn_subanneal.tempering.metrics.LEAST_VARIANCE", 1e-12)
    covariance = stiff_covariance()
    # Not draws of the density: far more alike in all directions.
    points = np.random.default_rng(1).normal(size=(N + 3, N)) + 5.0
    factor = scored_metric_factor(points, -points @ np.linalg.inv(covariance), "dense")
    np.testing.assert_allclose(relative_sizes(factor, covariance), 1.0, rtol=1e-3)


def test_it_needs_fewer_points_than_a_covariance():
    covariance = stiff_covariance()
    points = np.random.default_rng(1).multivariate_normal(np.zeros(N), covariance, size=30)
    scored = relative_sizes(scored_metric_factor(points, -points @ np.linalg.inv(covariance), "dense"), covariance)
    alone = relative_sizes(metric_factor(points, "dense"), covariance)
    assert scored[-1] / scored[0] < 3.0 and alone[-1] / alone[0] > 30.0


def test_directions_without_points_have_the_size_of_the_units():
    # Two points of three parameters: nothing is known across the line through them.
    points = np.array([[0.0, 0.0, 0.0], [1.0, 1.0, 1.0]])
    factor = scored_metric_factor(points, -4.0 * points, "dense")
    sizes = np.linalg.eigvalsh(factor @ factor.T)
    np.testing.assert_allclose(sizes, 0.25, rtol=1e-3)
    assert LEAST_VARIANCE > 0.0


def test_a_diagonal_metric_takes_the_roots_of_ratios():
    points = np.random.default_rng(0).normal(size=(50, 2)) * [2.0, 0.1]
    factor = scored_metric_factor(points, -points / [4.0, 0.01], "diagonal")
    np.testing.assert_allclose(factor, np.diag([2.0, 0.1]))


@pytest.mark.parametrize("part", ["points", "gradients"])
def test_what_does_not_vary_gives_no_metric(part):
    varying, constant = np.random.default_rng(0).normal(size=(2, 9, 3))
    constant[:, 1] = 1.0
    both = (constant, varying) if part == "points" else (varying, constant)
    assert scored_metric_factor(*both, "dense") is None


class StiffNormal(DifferentiableModel):
    """A normal density with a stiff covariance, as a likelihood; the prior is flat."""

    def __init__(self):
        self.n_parameters, self.n_observations = N, 100
        self.precision = np.linalg.inv(stiff_covariance())

    def log_prior(self, theta):
        return 0.0

    def grad_log_prior(self, theta):
        return np.zeros(N)

    def log_likelihood(self, theta, rows=None):
        return -0.5 * float(theta @ self.precision @ theta)

    def log_likelihood_and_gradient(self, theta, rows=None):
        return self.log_likelihood(theta), -self.precision @ theta

    def initial(self, rng):
        return rng.normal(size=N)


def test_points_astray_and_gradients_that_are_not_finite_are_left_out():
    level, adaptation = Level(StiffNormal(), 1.0), Adaptation(N, 0.1, 0.8, "dense", True)
    draws = np.random.default_rng(0).multivariate_normal(np.zeros(N), stiff_covariance(), size=40)
    level.seen = []
    for theta in draws:
        level.point(theta, gradient=True)
    assert level.log_density(level.point(1e3 * draws[0])) < level.log_density(level.point(draws[0])) - ASTRAY * (N + 1)
    astray = level.point(1e3 * draws[0], gradient=True)
    # Far out a density need not be like a normal one.
    astray.grad_log_likelihood[:] = 1e9 * np.random.default_rng(1).normal(size=N)
    adaptation.look(level)
    assert level.seen is None
    level.seen = []
    broken = level.point(draws[1], gradient=True)
    broken.grad_log_likelihood[0] = np.nan
    adaptation.look(level)
    adaptation.update_all(draws, 0.8)
    adaptation.next_window()
    sizes = relative_sizes(adaptation.factor, stiff_covariance())
    assert sizes[-1] / sizes[0] < 3.0


def test_few_gradients_leave_the_metric_to_the_points():
    level, adaptation = Level(StiffNormal(), 1.0), Adaptation(N, 0.1, 0.8, "dense", True)
    draws = np.random.default_rng(0).normal(size=(10, N))
    level.seen = []
    for theta in draws[: FEWEST - 1]:
        level.point(theta, gradient=True)
    adaptation.look(level)
    adaptation.update_all(draws, 0.8)
    adaptation.next_window()
    np.testing.assert_array_equal(adaptation.factor, metric_factor(draws, "dense"))


@pytest.mark.parametrize("n_warmup", [100, 200])
def test_a_short_warm_up_is_enough_for_a_stiff_density(n_warmup):
    sampler = ParallelTempering(inner=HamiltonianMonteCarlo(), inverse_temperatures=[1.0], n_warmup=n_warmup)
    result = sampler.sample(StiffNormal(), n_draws=200, n_chains=2, random_state=0)
    # Standard deviations of .01 to 10: without a metric a trajectory takes a thousand steps.
    assert (result.step_sizes > 0.3).all() and result.n_gradients.sum() < 2 * 200 * 5
    whitened = result.draws.reshape(-1, N) @ np.linalg.inv(np.linalg.cholesky(stiff_covariance())).T
    np.testing.assert_allclose(whitened.std(axis=0), 1.0, atol=0.2)


def test_threads_give_the_same_metric():
    model = GaussianMean(np.random.default_rng(0).normal(size=(20, 3)), covariance=np.eye(3))
    one, two = (
        ParallelTempering(inner=HamiltonianMonteCarlo(), n_levels=3, n_warmup=40).sample(
            model, 20, n_chains=1, random_state=0, n_jobs=n_jobs
        )
        for n_jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.draws, two.draws)


def test_units_of_parameters_may_be_tiny():
    points = np.random.default_rng(5).normal(size=(5000, 2)) * [1.0, 1e-9]
    np.testing.assert_allclose(np.diagonal(metric_factor(points, "dense")), [1.0, 1e-9], rtol=0.05)
    reference = NormalReference.fitted(points)
    drawn = reference.sample(np.random.default_rng(6), 5000)
    np.testing.assert_allclose(drawn.std(axis=0), [1.0, 1e-9], rtol=0.05)
