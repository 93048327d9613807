"""Trajectories along a guide leave the density itself as it is, however poor the guide; good ones save gradients."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import approx_fprime
from support.tempered_means import LADDER, correlated_mean, moments, one_dimension

from sklearn_subanneal.diagnostics.convergence import effective_sample_size
from sklearn_subanneal.tempering import (
    DifferentiableModel,
    GaussianMean,
    GuidedHamiltonianMonteCarlo,
    ParallelTempering,
    TemperedTransitions,
)
from sklearn_subanneal.tempering.corrections import CorrectedLevel, Correction
from sklearn_subanneal.tempering.guided_hamiltonian import WORTH, GuidedAdaptation
from sklearn_subanneal.tempering.levels import Level

# A guide for one dimension that is shifted and too narrow by half.
POOR = Correction(np.array([0.9]), np.array([[0.4]]), 2.0, 0.5, np.array([-0.4]), np.array([[-0.6]]))


class WithPoorGuide(GuidedHamiltonianMonteCarlo):
    """A guide that nobody would fit, of three of the rows, from the first move on."""

    def start_adaptation(self, n_parameters, beta):
        return Poor(super().start_adaptation(n_parameters, beta), n_parameters)


class Poor(GuidedAdaptation):
    def freeze(self):
        super().freeze()
        self.worth = 1.0

    def prepare(self, level, share, generator):
        self.guide = CorrectedLevel(Level(level.model, 0.4, np.arange(3)), POOR)


class Believed(WithPoorGuide):
    """Planted error: the guide is taken for the density."""

    def move(self, level, point, adaptation, generator):
        adaptation.prepare(level, self.share, generator)
        start = adaptation.guide.point(point.theta, gradient=True)
        end, kinetic = self.trajectory_from(adaptation.guide, start, adaptation, generator)
        log_ratio = adaptation.guide.log_density(end) - adaptation.guide.log_density(start) - kinetic
        accepted = np.log1p(-generator.random()) < log_ratio
        return (level.point(end.theta) if accepted else point), 1.0


class WithoutKinetic(WithPoorGuide):
    """Planted error: the momentum's density is left out."""

    def trajectory_from(self, level, point, adaptation, generator):
        return super().trajectory_from(level, point, adaptation, generator)[0], 0.0


def drawn(kernel, model, n_draws, seed=0, inverse_temperatures=(1.0,)):
    sampler = ParallelTempering(inner=kernel, inverse_temperatures=inverse_temperatures, n_warmup=0)
    return sampler.sample(model, n_draws, n_chains=4, random_state=seed)


@pytest.mark.parametrize("step", [0.3, pytest.param(0.9, marks=pytest.mark.slow)])
def test_a_poor_guide_does_not_show_in_the_draws(step, n_draws=800):
    model = one_dimension()
    result = drawn(WithPoorGuide(step, n_steps=2, metric="unit", unguided=0.1), model, n_draws)
    assert 0.05 < result.acceptance.mean() < 0.95
    assert np.abs(moments(result, model)).max() < 4.0


@pytest.mark.slow
@pytest.mark.parametrize("step", [0.15, 0.3, 0.6, 0.9])
@pytest.mark.parametrize("unguided", [0.0, 0.2])
def test_a_poor_guide_at_length(step, unguided):
    model = one_dimension()
    kernel = WithPoorGuide(step, n_steps=2, metric="unit", unguided=unguided)
    assert np.abs(moments(drawn(kernel, model, 12_000), model)).max() < 4.0


@pytest.mark.parametrize("kernel", [Believed, WithoutKinetic])
def test_planted_errors_show(kernel, n_draws=800):
    model = one_dimension()
    assert np.abs(moments(drawn(kernel(0.3, n_steps=2, metric="unit"), model, n_draws), model)).max() > 6.0


@pytest.mark.parametrize(
    "sampler",
    [
        ParallelTempering(inverse_temperatures=[1.0]),
        pytest.param(ParallelTempering(False, inverse_temperatures=LADDER), marks=pytest.mark.slow),
        pytest.param(ParallelTempering(inverse_temperatures=LADDER), marks=pytest.mark.slow),
        pytest.param(TemperedTransitions(inverse_temperatures=LADDER), marks=pytest.mark.slow),
    ],
    ids=["none", "PT", "SPT", "STT"],
)
def test_gaussian_mean(sampler):
    """Guides that are fitted, at every level, with subsets that change under them."""
    model = correlated_mean()
    sampler = sampler.set_params(inner=GuidedHamiltonianMonteCarlo(share=0.4), n_warmup=200)
    result = sampler.sample(model, n_draws=300, random_state=0)
    assert np.abs(moments(result, model)).max() < 4.5


class Logistic(DifferentiableModel):
    """One coefficient, few rows: skewed, so that no quadratic is right."""

    n_parameters = 1
    x = np.array([0.3, -1.2, 2.0, 0.7, -0.4, 1.5])

    n_observations = len(x)

    def log_prior(self, theta):
        return -0.5 * float(theta @ theta) / 9.0

    def grad_log_prior(self, theta):
        return -theta / 9.0

    def log_likelihood(self, theta, rows=None):
        x = self.x if rows is None else self.x[rows]
        return -float(np.logaddexp(0.0, -x * theta).sum())

    def grad_log_likelihood(self, theta, rows=None):
        x = self.x if rows is None else self.x[rows]
        return np.array([float((x / (1.0 + np.exp(x * theta))).sum())])

    def sample_prior(self, rng):
        return rng.normal(0.0, 3.0, 1)


def test_a_skewed_posterior():
    model = Logistic()
    grid = np.linspace(-8.0, 20.0, 20_001)
    logs = np.array([model.log_prior(t) + model.log_likelihood(t) for t in grid[:, None]])
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    mean = weights @ grid
    deviation = np.sqrt(weights @ (grid - mean) ** 2)
    skewness = weights @ ((grid - mean) / deviation) ** 3
    assert skewness > 0.5
    result = ParallelTempering(inner=GuidedHamiltonianMonteCarlo(share=0.0), inverse_temperatures=[1.0]).sample(
        model, n_draws=1000, random_state=0
    )
    z = (result.draws - mean) / deviation
    # A guide is in use, in some chains: a move with it asks for no gradient.
    assert result.n_gradients.min() < 0.5 * 1000 < result.n_values.max()
    for power, expected in ((1, 0.0), (2, 1.0), (3, skewness)):
        powers = z**power
        error = powers.std() / np.sqrt(effective_sample_size(powers, "mean").min())
        assert abs(powers.mean() - expected) < 4.0 * error


def test_gradients_of_a_corrected_level():
    model, rng = correlated_mean(), np.random.default_rng(0)
    half = rng.normal(size=(3, 3))
    correction = Correction(
        rng.normal(size=3), np.linalg.cholesky(half @ half.T + np.eye(3)), 1.5, 0.7, rng.normal(size=3), half + half.T
    )
    level = CorrectedLevel(Level(model, 0.5, np.arange(4)), correction)
    for theta in rng.normal(size=(5, 3)) * [[0.3], [1.0], [1.0], [5.0], [30.0]]:
        expected = approx_fprime(theta, lambda at: level.log_density(level.point(at)), 1e-6)
        np.testing.assert_allclose(level.gradient(level.point(theta)), expected, rtol=1e-4, atol=1e-4)
        both = level.point(theta, gradient=True)
        assert level.log_density(both) == pytest.approx(level.log_density(level.point(theta)), rel=1e-12)


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_where_a_guide_can_be_right_it_is_fitted(share):
    """Likelihoods of a mean are quadratic; among the points, a corrected subset differs by a constant."""
    model, rng = correlated_mean(), np.random.default_rng(0)
    mean, covariance = model.posterior()
    whole = Level(model, 1.0)
    points = [whole.point(theta, gradient=True) for theta in rng.multivariate_normal(mean, covariance, 200)]
    subset = Level(model, share, np.arange(round(share * model.n_observations)))
    guide = CorrectedLevel(subset, Correction.fit(whole, points, subset))
    differences = [
        guide.log_density(guide.point(theta)) - whole.log_density(whole.point(theta))
        for theta in rng.multivariate_normal(mean, covariance, 50)
    ]
    raw = [subset.log_density(subset.point(p.theta)) - whole.log_density(p) for p in points]
    assert np.std(differences) < 0.25 and np.std(differences) < 0.3 * np.std(raw)


def test_guides_have_the_power_of_their_level():
    model, rng = correlated_mean(), np.random.default_rng(0)
    mean, covariance = model.posterior()
    kernel = GuidedHamiltonianMonteCarlo(share=0.5)
    adaptation, level = kernel.start_adaptation(model.n_parameters, 0.2), Level(model, 0.2)
    offered = rng.multivariate_normal(mean, 4.0 * covariance, 200)
    adaptation.seen = [level.point(theta, gradient=True) for theta in offered]
    adaptation.prepare(level, kernel.share, rng)
    # The ladder may be adapted after the guide has been fitted, and guides go on from a checkpoint.
    adaptation.learning = False
    for beta in (0.2, 0.1, 1.0):
        level = Level(model, beta)
        adaptation.prepare(level, kernel.share, rng)
        guide = adaptation.guide
        differences = [
            guide.log_density(guide.point(theta)) - level.log_density(level.point(theta)) for theta in offered[:50]
        ]
        assert np.std(differences) < 0.5 * beta
        gradients = [guide.gradient(guide.point(theta)) - level.gradient(level.point(theta)) for theta in offered[:50]]
        spread = [level.gradient(level.point(theta)) for theta in offered[:50]]
        assert np.std(gradients) < 0.3 * np.std(spread)


def test_guides_pay_at_low_powers():
    X = np.random.default_rng(0).normal(1.0, 1.0, (400, 2))
    sampler = ParallelTempering(
        False, inner=GuidedHamiltonianMonteCarlo(), inverse_temperatures=[1.0, 0.1, 0.02], n_warmup=200
    )
    result = sampler.sample(GaussianMean(X, np.eye(2), prior_variance=10.0), n_draws=100, n_chains=2, random_state=0)
    # A move with a guide asks for one likelihood, and no gradient.
    assert (result.n_values > 60).all() and (result.n_gradients < 100).all()


def test_far_from_the_points_a_correction_is_bounded():
    model = correlated_mean()
    correction = Correction(np.zeros(3), np.eye(3), 2.0, 0.0, np.ones(3), 5.0 * np.eye(3))
    level = CorrectedLevel(Level(model, 0.0, np.arange(0)), correction)
    near, far = level.point(np.full(3, 1e3)), level.point(np.full(3, 1e4))
    assert near.log_likelihood == pytest.approx(far.log_likelihood, rel=1e-3)
    assert far.log_likelihood < 100.0


def test_a_guide_that_does_not_pay_is_dropped():
    adaptation = GuidedHamiltonianMonteCarlo().start_adaptation(2, 1.0)
    adaptation.guide, adaptation.worth = object(), WORTH - 0.01
    adaptation.freeze()
    assert adaptation.guide is None and not adaptation.learning and not adaptation.seen
    adaptation = GuidedHamiltonianMonteCarlo().start_adaptation(2, 1.0)
    adaptation.guide, adaptation.worth = object(), WORTH + 0.01
    adaptation.freeze()
    assert adaptation.guide is not None


@pytest.mark.parametrize(("error", "acceptance"), [(1.0, 0.0), (0.0, 1.0)])
def test_step_sizes_answer_for_the_integrator_alone(error, acceptance):
    """Steps grow where the guide would have accepted, whatever the density said, and shrink where it would not."""
    adaptation = GuidedHamiltonianMonteCarlo().start_adaptation(2, 1.0)
    before, adaptation.error = adaptation.step_size, error
    adaptation.update(np.zeros(2), acceptance)
    assert (adaptation.step_size > before) == (error == 1.0)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [({"share": 1.0}, "share"), ({"share": "half"}, "share"), ({"unguided": -0.1}, "unguided")],
)
def test_errors(parameters, message):
    sampler = ParallelTempering(inner=GuidedHamiltonianMonteCarlo(**parameters), inverse_temperatures=[1.0])
    with pytest.raises(ValueError, match=message):
        sampler.sample(one_dimension(), 5)
