"""Ladders, levels without rows, models without gradients, and parameters and models that are refused."""

from __future__ import annotations

import numpy as np
import pytest
from support.tempered_means import one_dimension

from sklearn_subanneal.tempering import (
    HamiltonianMonteCarlo,
    LogDensityModel,
    MetropolisHastings,
    ParallelTempering,
    TemperedTransitions,
    geometric_ladder,
)
from sklearn_subanneal.tempering.ladders import adapted_ladder, default_ladder
from sklearn_subanneal.tempering.levels import Level


def test_ladders():
    np.testing.assert_allclose(geometric_ladder(7, 1 / 8), 2.0 ** (-np.arange(7) / 2))
    assert geometric_ladder(1, 0.5).tolist() == [1.0]
    for n_parameters in (1, 5, 40):
        for subsample in (False, True):
            betas = default_ladder(n_parameters, subsample)
            assert 2 <= len(betas) <= 7 and betas[-1] >= 0.125 - 1e-12 and (np.diff(betas) < 0).all()
    even = adapted_ladder(geometric_ladder(4, 0.1), np.full(3, 0.4))
    np.testing.assert_allclose(even, geometric_ladder(4, 0.1))


def test_level_without_rows_is_the_prior():
    model = one_dimension()
    for level in (Level(model, 0.0), Level(model, 0.0, np.arange(0))):
        point = level.point(np.array([0.7]))
        assert level.log_density(point) == model.log_prior(point.theta) and level.n_values == 0
        np.testing.assert_allclose(level.gradient(point), model.grad_log_prior(point.theta))


class NoGradients(LogDensityModel):
    n_parameters, n_observations = 1, 4

    def log_prior(self, theta):
        return -0.5 * float(theta @ theta)

    def log_likelihood(self, theta, rows=None):
        return -float(theta[0] ** 2)

    def sample_prior(self, rng):
        return rng.normal(size=1)


class Undefined(NoGradients):
    def log_likelihood(self, theta, rows=None):
        return np.nan


class Infinite(NoGradients):
    def log_likelihood(self, theta, rows=None):
        return np.inf


class InfinitePrior(NoGradients):
    def log_prior(self, theta):
        return np.inf


class Nowhere(NoGradients):
    def log_prior(self, theta):
        return -np.inf


@pytest.mark.parametrize(
    ("sampler", "model", "message"),
    [
        (ParallelTempering(inverse_temperatures=[0.5, 1.0]), one_dimension(), "inverse_temperatures must start at 1"),
        (ParallelTempering(inverse_temperatures=[1.0, 0.5, 0.5]), one_dimension(), "decrease strictly"),
        (ParallelTempering(inverse_temperatures=[1.0, -0.5]), one_dimension(), "at least 0"),
        (ParallelTempering(inverse_temperatures=[1.0, 0.5], n_levels=2), one_dimension(), "not both"),
        (ParallelTempering(n_levels=0), one_dimension(), "n_levels"),
        (ParallelTempering(min_inverse_temperature=1.5), one_dimension(), "min_inverse_temperature"),
        (ParallelTempering(swaps="all"), one_dimension(), "swaps"),
        (ParallelTempering(subsets="all"), one_dimension(), "subsets must be one of"),
        (TemperedTransitions(subsets=None), one_dimension(), "subsets must be one of"),
        (ParallelTempering(n_warmup=-1), one_dimension(), "n_warmup"),
        (ParallelTempering(inner=HamiltonianMonteCarlo()), NoGradients(), "needs gradients"),
        (ParallelTempering(inner=HamiltonianMonteCarlo(-1.0)), one_dimension(), "step_size"),
        (ParallelTempering(inner=MetropolisHastings(metric="round")), one_dimension(), "metric"),
        (ParallelTempering(inner=MetropolisHastings), one_dimension(), "inner must be"),
        (TemperedTransitions(), object(), "model must be a LogDensityModel"),
        (TemperedTransitions(), Undefined(), "nan"),
        (TemperedTransitions(), Infinite(), "log_likelihood is inf"),
        (ParallelTempering(), InfinitePrior(), "log_prior is inf"),
        (TemperedTransitions(), Nowhere(), "no mass"),
    ],
)
def test_errors(sampler, model, message):
    with pytest.raises(ValueError, match=message):
        sampler.sample(model, 5, random_state=0)


def test_a_model_without_gradients_takes_random_walks():
    result = ParallelTempering().sample(NoGradients(), 50, random_state=0)
    assert result.n_gradients.sum() == 0 and np.isfinite(result.draws).all()
