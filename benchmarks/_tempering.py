"""Helpers of the tempering benchmarks: the two models of the paper, its samplers, and timed runs."""

from __future__ import annotations

import time

import numpy as np
from _common import note
from threadpoolctl import threadpool_limits

from sklearn_subanneal.diagnostics import effective_sample_size, rank_normalized_rhat
from sklearn_subanneal.gaussian_process import StationaryModel
from sklearn_subanneal.tempering import (
    GaussianMean,
    HamiltonianMonteCarlo,
    MetropolisHastings,
    ParallelTempering,
    TemperedTransitions,
    geometric_ladder,
)

SAMPLERS = {
    "none": lambda **parameters: ParallelTempering(**{**parameters, "inverse_temperatures": [1.0]}),
    "PT": lambda **parameters: ParallelTempering(False, **parameters),
    "TT": lambda **parameters: TemperedTransitions(False, **parameters),
    "SPT": ParallelTempering,
    "STT": TemperedTransitions,
}
INNER = {"HMC": HamiltonianMonteCarlo, "MH": MetropolisHastings}
# The paper's ladder: seven levels, the lowest at 1/8.
PAPER = geometric_ladder(7, 0.125)


def gaussian_process(n_rows: int, n_features: int, seed: int) -> StationaryModel:
    """Hyperparameters from the prior, rows as wide as a mean length scale, and targets given both."""
    rng = np.random.default_rng(seed)
    theta = StationaryModel(np.zeros((1, n_features)), np.zeros(1)).sample_prior(rng)
    X = rng.normal(size=(n_rows, n_features)) * np.exp(theta[:-2]).mean()
    model = StationaryModel(X, np.zeros(n_rows))
    covariance = model.covariance(theta, X) + model.noise_variance(theta) * np.eye(n_rows)
    return StationaryModel(X, np.linalg.cholesky(covariance) @ rng.normal(size=n_rows))


def gaussian_mean(n_rows: int, n_parameters: int, seed: int) -> GaussianMean:
    """Rows of a normal distribution with correlated columns."""
    rng = np.random.default_rng(seed)
    factor = rng.normal(size=(n_parameters, n_parameters)) / np.sqrt(n_parameters)
    covariance = factor @ factor.T + 0.5 * np.eye(n_parameters)
    return GaussianMean(rng.multivariate_normal(rng.normal(size=n_parameters), covariance, n_rows), covariance)


class Stopwatch:
    """A sampler that records the CPU time at the end of warm-up and after each draw."""

    def __init__(self, sampler):
        self.stamps: list[list[float]] = []
        iterate = sampler._iterate

        def stamped(replicas, number):
            if number == 0:
                self.stamps.append([time.process_time()])
            iterate(replicas, number)
            self.stamps[-1].append(time.process_time())

        sampler._iterate = stamped
        self.sampler = sampler


def run(name: str, sampler, model, n_draws: int, seed: int, n_chains: int = 4) -> dict:
    """Draws of a sampler and all its rates; the chains run sequentially on one thread."""
    watch = Stopwatch(sampler)
    start = time.process_time()
    with threadpool_limits(limits=1):
        result = sampler.sample(model, n_draws, n_chains, random_state=seed)
    whole = time.process_time() - start
    sampling = sum(stamps[-1] - stamps[0] for stamps in watch.stamps)
    rhat, ess = rank_normalized_rhat(result.draws), effective_sample_size(result.draws)
    found = {
        "cpu_seconds": whole,
        "sampling_seconds": sampling,
        "seconds_a_draw": sampling / (n_chains * n_draws),
        "rhat": float(rhat.max()),
        "converged": bool(rhat.max() < 1.1),
        "ess_min": float(ess.min()),
        "ess_median": float(np.median(ess)),
        "ess_min_a_second": float(ess.min() / sampling),
        "ess_median_a_second": float(np.median(ess) / sampling),
        "ess_min_a_second_with_warmup": float(ess.min() / whole),
        "betas": result.inverse_temperatures.mean(axis=0),
        "acceptance": result.acceptance.mean(axis=0),
        "swap_rates": result.swap_rates.mean(axis=0),
        "transition_rate": float(result.transition_rate.mean()),
        "refresh_rate": float(result.refresh_rate.mean()),
        "step_sizes": result.step_sizes.mean(axis=0),
        "values_a_draw": result.n_values.mean(axis=0) / n_draws,
        "gradients_a_draw": result.n_gradients.mean(axis=0) / n_draws,
    }
    note(
        f"{name}: {whole:.1f} s, R-hat {found['rhat']:.3f}, ESS a second {found['ess_min_a_second']:.3g} (least), "
        f"{found['ess_median_a_second']:.3g} (median), acceptance {np.round(found['acceptance'], 2)}, swaps "
        f"{np.round(found['swap_rates'], 2)}, transitions {found['transition_rate']:.2f}"
    )
    return {key: value.round(4).tolist() if isinstance(value, np.ndarray) else value for key, value in found.items()}
