"""Trajectories along a guide: exact whatever the guide, which in turn resembles what it was fitted to."""

from __future__ import annotations

import numpy as np
import pytest
from test_tempering import moments, one_dimension

from sklearn_subanneal.tempering import (
    GaussianMean,
    GuidedHamiltonianMonteCarlo,
    ParallelTempering,
    TemperedTransitions,
    corrections,
)
from sklearn_subanneal.tempering.corrections import CorrectedLevel, Correction
from sklearn_subanneal.tempering.gaussian_process import SquaredExponentialModel
from sklearn_subanneal.tempering.levels import Level


def correction(n_parameters, power, generator):
    """Of no particular meaning."""
    half = generator.normal(size=(n_parameters, n_parameters))
    factor = np.tril(generator.normal(size=(n_parameters, n_parameters))) * 0.2 + 0.5 * np.eye(n_parameters)
    return Correction(
        generator.normal(size=n_parameters), factor, 2.0, power, generator.normal(size=n_parameters), half + half.T
    )


class Misguided(GuidedHamiltonianMonteCarlo):
    """With a guide of two rows, and a correction that leads astray."""

    def __init__(self, model, step_size=0.4, *, unguided=0.0):
        super().__init__(step_size, n_steps=3, metric="unit", unguided=unguided)
        self.model = model

    def tuning(self, n_parameters, beta):
        tuning = super().tuning(n_parameters, beta)
        wrong = correction(n_parameters, 2.0, np.random.default_rng(0))
        tuning.guide = CorrectedLevel(Level(self.model, 0.25, np.arange(2)), wrong)
        return tuning


class Believing(Misguided):
    """Accepts what the guide would accept."""

    def move(self, level, point, tuning, generator):
        guided, acceptance = super().move(tuning.guide, tuning.guide.point(point.theta), tuning, generator)
        return level.point(guided.theta), acceptance


def misguided(kind, n_draws, seed=0, **parameters):
    model = one_dimension()
    sampler = ParallelTempering(betas=[1.0], inner=kind(model, **parameters), n_warmup=0)
    return sampler.sample(model, n_draws, n_chains=4, random_state=seed), model


def test_exact_whatever_the_guide():
    result, model = misguided(Misguided, 1000)
    # The guide is wrong enough to be noticed.
    assert 0.2 < result.acceptance.mean() < 0.95
    assert np.abs(moments(result, model)).max() < 4.0
    assert result.n_gradients.sum() == 0


@pytest.mark.slow
@pytest.mark.parametrize("step", [0.1, 0.25, 0.6, 1.0])
@pytest.mark.parametrize("unguided", [0.0, 0.3])
def test_exact_whatever_the_guide_at_length(step, unguided):
    result, model = misguided(Misguided, 20_000, step_size=step, unguided=unguided)
    assert np.abs(moments(result, model)).max() < 4.0


def test_a_guide_that_is_believed_shows():
    result, model = misguided(Believing, 300)
    assert np.abs(moments(result, model)).max() > 8.0


@pytest.mark.parametrize("kind", [ParallelTempering, TemperedTransitions])
def test_every_level_may_have_a_guide(kind):
    """Guides that were fitted, levels that are powers or subsets."""
    model = GaussianMean(np.random.default_rng(0).normal(1.0, 1.0, (40, 2)), [[1.0, 0.3], [0.3, 2.0]])
    for subsample in (False, True):
        sampler = kind(subsample, inner=GuidedHamiltonianMonteCarlo(), betas=[1.0, 0.5])
        result = sampler.sample(model, 100, n_chains=4, random_state=0)
        assert np.abs(moments(result, model)).max() < 4.0


def test_a_good_guide_saves_gradients():
    """On a normal likelihood the quadratic is what the subset lacks, but for where it levels off."""
    model = GaussianMean(np.random.default_rng(0).normal(size=(200, 4)), np.eye(4))
    result = ParallelTempering(betas=[1.0], inner=GuidedHamiltonianMonteCarlo()).sample(model, 200, random_state=0)
    assert result.acceptance.mean() > 0.75 and result.n_gradients.max() < 0.3 * 200
    assert np.abs(moments(result, model)).max() < 4.0


class Crooked(GaussianMean):
    """A likelihood with ripples finer than any guide."""

    def log_likelihood(self, theta, rows=None):
        return super().log_likelihood(theta, rows) + (3.0 * np.cos(40.0 * theta).sum() if rows is None else 0.0)

    def grad_log_likelihood(self, theta, rows=None):
        return super().grad_log_likelihood(theta, rows) - (120.0 * np.sin(40.0 * theta) if rows is None else 0.0)


def test_a_bad_guide_is_dropped():
    model = Crooked(np.random.default_rng(0).normal(size=(8, 3)), np.eye(3))
    result = ParallelTempering(betas=[1.0], inner=GuidedHamiltonianMonteCarlo()).sample(model, 40, random_state=0)
    assert result.n_gradients.min() > 40 and result.n_values.max() == 0


def test_gradient_of_a_corrected_level():
    generator = np.random.default_rng(0)
    model = SquaredExponentialModel(generator.normal(size=(30, 2)), generator.normal(size=30))
    level = CorrectedLevel(Level(model, 0.5, np.arange(15)), correction(4, 1.7, generator))
    theta = generator.normal(size=4)
    found = level.gradient(level.point(theta))
    for k, step in enumerate(1e-6 * np.eye(4)):
        above, below = (level.log_density(level.point(theta + sign * step)) for sign in (1.0, -1.0))
        assert found[k] == pytest.approx((above - below) / 2e-6, rel=1e-6, abs=1e-6)
    assert level.point(theta, gradient=True).log_likelihood == level.point(theta).log_likelihood


def test_fit_finds_a_quadratic(monkeypatch):
    """If it does not level off, and is not shrunk."""
    monkeypatch.setattr(corrections, "REACH", 1e4)
    monkeypatch.setattr(corrections, "RIDGE", 1e-12)
    generator = np.random.default_rng(0)
    model = GaussianMean(generator.normal(size=(60, 3)), np.diag([1.0, 2.0, 0.5]))
    mean, covariance = model.posterior()
    whole, subset = Level(model, 1.0), Level(model, 0.25, np.arange(15))
    thetas = generator.multivariate_normal(mean, covariance, 120)
    fitted = CorrectedLevel(
        subset, Correction.fit(whole, [whole.point(theta, gradient=True) for theta in thetas[:60]], subset)
    )
    gaps = np.array([model.log_likelihood(theta) - fitted.point(theta).log_likelihood for theta in thetas[60:]])
    assert gaps.std() < 1e-6


def test_a_correction_is_bounded():
    found = correction(3, 1.0, np.random.default_rng(0))
    near, far = (found.value(scale * np.ones(3), 0.0) for scale in (1e4, 1e8))
    assert near == pytest.approx(far, rel=1e-3)
    assert found.value(np.zeros(3), -np.inf) == -np.inf


def test_no_rows_and_few_points():
    """A guide without rows; and a diagonal curvature where there are too few equations for all of it."""
    model = GaussianMean(np.random.default_rng(0).normal(size=(50, 6)), np.eye(6))
    whole, empty = Level(model, 1.0), Level(model, 0.0, np.arange(0))
    points = [whole.point(theta, gradient=True) for theta in np.random.default_rng(1).normal(size=(5, 6))]
    curvature = Correction.fit(whole, points, empty).curvature
    assert np.array_equal(curvature, np.diag(np.diag(curvature)))
    result = ParallelTempering(betas=[1.0], inner=GuidedHamiltonianMonteCarlo(share=0.0)).sample(
        model, 150, random_state=0
    )
    assert np.abs(moments(result, model)).max() < 4.0


def test_same_draws_for_any_number_of_jobs():
    model = GaussianMean(np.random.default_rng(0).normal(size=(30, 2)), np.eye(2))
    sampler = ParallelTempering(inner=GuidedHamiltonianMonteCarlo(), betas=[1.0, 0.5])
    draws = [sampler.sample(model, 30, n_chains=2, random_state=3, n_jobs=jobs).draws for jobs in (1, 4)]
    assert np.array_equal(*draws)


@pytest.mark.parametrize(("name", "value"), [("share", 1.0), ("share", -0.1), ("unguided", 1.5)])
def test_errors(name, value):
    sampler = ParallelTempering(inner=GuidedHamiltonianMonteCarlo(**{name: value}))
    with pytest.raises(ValueError, match=name):
        sampler.sample(one_dimension(), 5, random_state=0)
