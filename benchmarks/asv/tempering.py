"""Timings of sampling the hyperparameters of a Gaussian process: a gradient, and tempered iterations."""

import time

import numpy as np
from threadpoolctl import threadpool_limits

from sklearn_subanneal.gaussian_process import StationaryModel
from sklearn_subanneal.tempering import HamiltonianMonteCarlo, ParallelTempering, TemperedTransitions

SAMPLERS = {"parallel": ParallelTempering, "transitions": TemperedTransitions}


def model(n_rows, n_features=4):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    return StationaryModel(X, np.sin(2.0 * X[:, 0]) + 0.1 * rng.normal(size=n_rows))


class Gradient:
    """Log likelihood and gradient, on one thread."""

    params, param_names, timer = [64, 256], ["n_rows"], time.process_time

    def setup(self, n_rows):
        self.model, self.theta = model(n_rows), np.zeros(6)
        threadpool_limits(1)

    def time_gradient(self, n_rows):
        self.model.log_likelihood_and_gradient(self.theta)


class Iterations:
    """Fifty iterations, the last ten of them kept, on a ladder of four subsets."""

    params, param_names, timer = list(SAMPLERS), ["sampler"], time.process_time

    def setup(self, sampler):
        self.model = model(64)
        self.sampler = SAMPLERS[sampler](
            inner=HamiltonianMonteCarlo(), n_levels=4, min_inverse_temperature=0.1, n_warmup=40
        )

    def time_sample(self, sampler):
        self.sampler.sample(self.model, 10, n_chains=1, random_state=0)
