"""What both tempered samplers share: their parameters, their chains by joblib, and their result."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from numbers import Integral, Real
from time import perf_counter

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from sklearn_subanneal.annealing.runner import ChainContext, run_chains, spawn_generators
from sklearn_subanneal.tempering.kernels import HamiltonianMonteCarlo, MetropolisHastings
from sklearn_subanneal.tempering.ladders import check_ladder, default_ladder
from sklearn_subanneal.tempering.levels import has_gradients
from sklearn_subanneal.tempering.replicas import Replicas
from sklearn_subanneal.tempering.result import TemperingResult


@dataclass
class ChainRecord:
    """What one chain gives: arrays of :class:`TemperingResult` without their first axis."""

    draws: NDArray
    log_density: NDArray
    betas: NDArray
    n_rows: NDArray
    step_sizes: NDArray
    acceptance: NDArray
    swap_rates: NDArray
    transition_rate: float
    refresh_rate: float
    n_values: NDArray
    n_gradients: NDArray
    log_ratios: list
    seconds: float


class TemperedSampler(BaseEstimator):
    """Base of the tempered samplers."""

    def _iterate(self, replicas: Replicas, number: int) -> None:
        """One iteration; ``replicas.points[0]`` is its draw."""
        raise TypeError(f"{type(self).__name__} must say what an iteration is")

    def sample(
        self,
        model,
        n_draws: int,
        n_chains: int = 4,
        random_state=None,
        n_jobs: int | None = None,
        time_limit: float | None = None,
    ) -> TemperingResult:
        """Draw from the posterior of a model.

        Parameters
        ----------
        model : object
            As described in :mod:`sklearn_subanneal.tempering`.
        n_draws : int
            Draws kept in each chain, after warm-up.
        n_chains : int, default=4
        random_state : int, RandomState instance or None, default=None
        n_jobs : int or None, default=None
            Chains side by side, in threads; with more jobs than chains the levels of a chain, too. Results are the same
            for any number.
        time_limit : float or None, default=None
            Seconds a chain; after these it ends with the draws that it has. All chains keep as many as the shortest.

        Returns
        -------
        result : TemperingResult

        Raises
        ------
        ValueError
            If a parameter or the model is not as described, or no draw was made in time.
        """
        for name, value in (("n_draws", n_draws), ("n_chains", n_chains)):
            if not isinstance(value, Integral) or value < 1:
                raise ValueError(f"{name} must be an integer of at least 1, got {value!r}")
        if time_limit is not None and not (isinstance(time_limit, Real) and time_limit > 0.0):
            raise ValueError(f"time_limit must be a positive number of seconds or None, got {time_limit!r}")
        kernel, betas = self._kernel(model), self._ladder(model)
        n_workers = max(1, effective_n_jobs(n_jobs) // n_chains)
        arguments = [
            (self, model, kernel, betas, n_draws, generator, n_workers, time_limit)
            for generator in spawn_generators(random_state, n_chains)
        ]
        contexts = [ChainContext() for _ in range(n_chains)]
        for context in contexts[1:]:
            context.cancel = contexts[0].cancel
        return TemperingResult.of(run_chains(run_chain, arguments, contexts, n_jobs))

    def _kernel(self, model):
        for name in ("n_parameters", "n_observations", "log_prior", "log_likelihood"):
            if not hasattr(model, name):
                raise ValueError(f"model must have {name}, {type(model).__name__} has not")
        kernel = self.inner
        if kernel is None:
            kernel = HamiltonianMonteCarlo() if has_gradients(model) else MetropolisHastings(n_steps=5)
        if isinstance(kernel, type) or not hasattr(kernel, "move"):
            raise ValueError(f"inner must be MetropolisHastings(), HamiltonianMonteCarlo() or None, got {kernel!r}")
        kernel.check(model)
        return kernel

    def _ladder(self, model):
        if self.betas is not None:
            if self.n_levels is not None or self.min_beta is not None:
                raise ValueError("give betas, or n_levels and min_beta, not both")
            return check_ladder(self.betas)
        return self._geometric(model, self.n_levels, self.min_beta)

    def _geometric(self, model, n_levels, min_beta):
        if n_levels is not None and (not isinstance(n_levels, Integral) or n_levels < 1):
            raise ValueError(f"n_levels must be an integer of at least 1 or None, got {n_levels!r}")
        return default_ladder(model.n_parameters, self.subsample, n_levels, min_beta)

    def _n_warmup(self, n_draws):
        if self.n_warmup is None:
            return max(100, n_draws // 2)
        if not isinstance(self.n_warmup, Integral) or self.n_warmup < 0:
            raise ValueError(f"n_warmup must be an integer of at least 0 or None, got {self.n_warmup!r}")
        return self.n_warmup


def run_chain(argument: tuple, context: ChainContext) -> ChainRecord:
    """One chain: warm-up, which is parallel tempering whatever the sampler, and the draws."""
    sampler, model, kernel, betas, n_draws, generator, n_workers, time_limit = argument
    start = perf_counter()
    pool = ThreadPoolExecutor(n_workers) if n_workers > 1 else nullcontext()
    with pool as workers:
        replicas = Replicas(model, betas, kernel, sampler.subsample, generator, workers)
        adapt = sampler.betas is None and sampler.adapt_ladder
        replicas.warm_up(sampler._n_warmup(n_draws), adapt, context.check)
        replicas.reset_counts()
        draws, log_density = [], []
        while len(draws) < n_draws:
            context.check()
            if time_limit is not None and perf_counter() - start > time_limit:
                break
            sampler._iterate(replicas, len(draws))
            draws.append(replicas.points[0].theta)
            log_density.append(replicas.levels[0].log_density(replicas.points[0]))
    if not draws:
        raise ValueError(
            f"time_limit={time_limit!r} ended in warm-up, before the first draw; raise it, or set n_warmup"
        )
    return ChainRecord(
        draws=np.array(draws),
        log_density=np.array(log_density),
        betas=replicas.betas,
        n_rows=np.array([level.n_rows for level in replicas.levels]),
        step_sizes=np.array([tuning.step_size for tuning in replicas.tunings]),
        acceptance=replicas.accepted / np.maximum(replicas.n_moves, 1),
        swap_rates=replicas.swapped / np.maximum(replicas.n_swaps, 1),
        transition_rate=replicas.transitions_accepted / max(replicas.n_transitions, 1),
        refresh_rate=replicas.refreshed / max(replicas.n_refreshes, 1),
        n_values=np.array([level.n_values for level in replicas.levels]),
        n_gradients=np.array([level.n_gradients for level in replicas.levels]),
        log_ratios=[np.array(ratios) for ratios in replicas.log_ratios] if sampler._has_evidence(replicas) else [],
        seconds=perf_counter() - start,
    )
