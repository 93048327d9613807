"""Priors from which ladders start: moved where they cannot be drawn from, and with gradients of their own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sklearn_subanneal.tempering import DifferentiableModel, IndependentReference, sample

FEW = {"n_draws": 200, "n_chains": 4, "n_warmup": 63, "random_state": 0}


class PriorWithoutDraws(DifferentiableModel):
    """N(0, 4) and an observation of 3 with variance 0.25, from starts that are no draws of the prior."""

    n_parameters = 1

    def log_prior(self, theta):
        return float(stats.norm.logpdf(theta[0], 0.0, 2.0))

    def log_likelihood(self, theta, rows=None):
        return float(stats.norm.logpdf(3.0, theta[0], 0.5))

    def grad_log_prior(self, theta):
        return -theta / 4.0

    def grad_log_likelihood(self, theta, rows=None):
        return (3.0 - theta) / 0.25

    def initial(self, rng):
        return rng.standard_normal(1)


@pytest.mark.parametrize("explorer", ["slice", "mh", "hmc"])
def test_priors_that_are_moved_and_not_drawn(explorer):
    """Kernels move the lowest level without the likelihood, by which its points are swapped."""
    model = PriorWithoutDraws()
    pair = (lambda x: model.log_prior(x), lambda x: model.log_likelihood(x))
    exact, variance = stats.norm.logpdf(3.0, 0.0, np.sqrt(4.25)), 1.0 / (1.0 / 4.0 + 1.0 / 0.25)
    for target, given in [(model, {}), (pair, {"n_parameters": 1})][: 1 if explorer == "hmc" else 2]:
        result = sample(target, explorer=explorer, **given, **FEW)
        assert abs(result.draws.mean() - 12.0 * variance) < 0.15 and abs(result.draws.std() - variance**0.5) < 0.1
        assert abs(result.log_evidence - exact) < 4.0 * result.log_evidence_error < 0.6


def test_gradients_beside_distributions():
    prior = {"x": (stats.norm(1.0, 2.0), 2), "rate": stats.gamma(2.0), "share": stats.beta(2.0, 3.0)}
    reference, theta = IndependentReference(prior), np.array([0.3, -2.0, 0.7, -0.4])
    steps = 1e-4 * np.eye(4)
    slopes = (reference.log_density(theta + steps) - reference.log_density(theta - steps)) / 2e-4
    assert np.allclose(reference.gradient(theta), slopes, atol=1e-6)

    def likelihood(x, rate, share):
        return -0.5 * float(np.sum((x - 3.0) ** 2))

    def gradient(x, rate, share):
        return {"x": 3.0 - x, "rate": 0.0, "share": 0.0}

    result = sample(likelihood, prior=prior, gradient=gradient, explorer="hmc", **FEW)
    assert result.n_gradients.sum() > 0 and abs(result.parameters["x"].mean() - 2.6) < 0.15
    assert abs(result.parameters["rate"].mean() - 2.0) < 0.3 and abs(result.parameters["share"].mean() - 0.4) < 0.1
