"""Means of normal distributions, whose posterior is known, and the samplers that are tested on them."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from sklearn_subanneal.diagnostics.convergence import effective_sample_size
from sklearn_subanneal.tempering import (
    GaussianMean,
    HamiltonianMonteCarlo,
    MetropolisHastings,
    ParallelTempering,
    TemperedTransitions,
)

ORACLES = Path(__file__).parents[1] / "oracles" / "tempering.json"
LADDER = [1.0, 0.75, 0.5, 0.25]


def one_dimension(n=8):
    """x ~ N(theta, 1), theta ~ N(0, 4)."""
    return GaussianMean(np.random.default_rng(1).normal(1.0, 1.0, (n, 1)), [[1.0]], prior_variance=4.0)


def correlated_mean():
    """Three parameters, of an oracle."""
    oracle = json.loads(ORACLES.read_text())["mvn_mean"]
    return GaussianMean(oracle["X"], oracle["Sigma"], oracle["sigma0_sq"])


def moments(result, model):
    """z-scores of mean and variance, in standard errors of as many independent draws as there are effective ones."""
    mean, covariance = model.posterior()
    z = (result.draws - mean) / np.sqrt(np.diag(covariance))
    of_mean = z.mean(axis=(0, 1)) * np.sqrt(effective_sample_size(z, "mean"))
    squares = z**2
    of_variance = (squares.mean(axis=(0, 1)) - 1.0) * np.sqrt(effective_sample_size(squares, "mean") / 2.0)
    return np.concatenate([of_mean, of_variance])


def sampled(sampler, model, n_draws=1500, seed=0):
    return sampler.set_params(n_warmup=0).sample(model, n_draws=n_draws, n_chains=4, random_state=seed)


def random_walk(step):
    return MetropolisHastings(step, metric="unit")


SAMPLERS = {
    "none": lambda inner: ParallelTempering(inner=inner, inverse_temperatures=[1.0]),
    "PT": lambda inner: ParallelTempering(False, inner=inner, inverse_temperatures=LADDER),
    "PT-systematic": lambda inner: ParallelTempering(
        False, inner=inner, inverse_temperatures=LADDER, swaps="systematic"
    ),
    "SPT": lambda inner: ParallelTempering(inner=inner, inverse_temperatures=LADDER),
    "SPT-fixed": lambda inner: ParallelTempering(inner=inner, inverse_temperatures=LADDER, refresh=False),
    "TT": lambda inner: TemperedTransitions(False, inner=inner, inverse_temperatures=LADDER),
    "STT": lambda inner: TemperedTransitions(inner=inner, inverse_temperatures=LADDER),
}
INNER = {
    "walk-0.25": lambda: random_walk(0.25),
    "walk-1.5": lambda: random_walk(1.5),
    "hmc": lambda: HamiltonianMonteCarlo(0.4, n_steps=3, metric="unit"),
}
