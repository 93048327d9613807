"""A run of an ensemble: rounds that tune the ladder, the kernels and the reference, then draws; it can be resumed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_subanneal.annealing import clock
from sklearn_subanneal.annealing.runner import ChainContext
from sklearn_subanneal.tempering.ladders import adapted_ladder, first_ladder
from sklearn_subanneal.tempering.references import NormalReference
from sklearn_subanneal.tempering.tempered_ensemble import TemperedEnsemble

# Levels of the first round, and bounds of their number after it.
FIRST_LEVELS, FEWEST_LEVELS, MOST_LEVELS = 10, 3, 200
# Levels for each unit of the barrier: half of the swaps are then rejected, and a round trip costs the fewest moves.
LEVELS_PER_BARRIER = 2.0
# Round trips of all chains together that the default number of draws makes, by the barrier, and bounds of that number.
ROUND_TRIPS, FEWEST_DRAWS, MOST_DRAWS = 2500, 250, 50_000
# Iterations of the rounds, the second if there are many chains from which they learn; and further ones, for each level,
# in which points that started at the reference reach their levels' densities.
WARM_UP, WARM_UP_OF_MANY, MANY_CHAINS, SETTLING = 255, 127, 64, 5
# A round of so many iterations tunes a variational reference; fewer tell too little of it.
VARIATIONAL_ROUND = 8


@dataclass(frozen=True)
class EnsembleResult:
    """Draws of all chains, and the state from which they go on. Holds no data.

    Attributes
    ----------
    draws : ndarray of shape (n_draws, n_chains, n_parameters)
    log_density : ndarray of shape (n_draws, n_chains)
    log_likelihood : ndarray of shape (n_draws, n_chains, n_levels)
        Of the points of all levels.
    n_draws : int
        Draws at the end, when there are not yet as many.
    warmup_share, seconds : float
    barriers : ndarray of shape (n_rounds,)
        Estimates of the barrier by the rounds.
    reference : dict or None
        Mean and covariance of a variational reference.
    state : dict
        Of the ensemble.
    """

    draws: NDArray
    log_density: NDArray
    log_likelihood: NDArray
    n_draws: int
    warmup_share: float
    seconds: float
    barriers: NDArray
    reference: dict | None
    state: dict


@dataclass(frozen=True)
class EnsembleSpec:
    """All that a run needs.

    Attributes
    ----------
    model : LogDensityModel
    kernel : TransitionKernel
    n_chains : int
    n_levels : int or None
        None: by the barrier.
    n_draws : int or None
        None: by the barrier.
    n_warmup : int or None
        Iterations of all rounds; None: by the numbers of chains and levels.
    is_variational : bool
        Whether rounds tune a normal reference.
    generator : numpy.random.Generator
    n_workers : int
        Threads.
    time_limit : float or None
        Seconds.
    say : callable
        Takes messages.
    previous : EnsembleResult or None
    ended : bool
    """

    model: Any
    kernel: Any
    n_chains: int
    n_levels: int | None
    n_draws: int | None
    n_warmup: int | None
    is_variational: bool
    generator: np.random.Generator
    n_workers: int = 1
    time_limit: float | None = None
    say: Any = None
    previous: EnsembleResult | None = None
    ended: bool = False

    def run(self, context: ChainContext) -> EnsembleResult:
        """Run to the end."""
        context.begin()
        if self.ended:
            context.end(self.previous, None)
            return self.previous
        pool = ThreadPoolExecutor(self.n_workers) if self.n_workers > 1 else nullcontext()
        with pool as workers:
            run = EnsembleRun(self, workers)
            result = run.run(context)
        context.end(result, self.n_draws or len(result.draws))
        return result


class EnsembleRun:
    """A run, under way.

    Parameters
    ----------
    spec : EnsembleSpec
    workers : concurrent.futures.Executor or None
    """

    def __init__(self, spec: EnsembleSpec, workers=None):
        self.spec, self.start = spec, clock.now()
        self.model = spec.model
        self.draws: list[NDArray] = []
        self.log_density: list[NDArray] = []
        self.log_likelihood: list[NDArray] = []
        self.barriers: list[float] = []
        self.warmup_share, self.n_draws = 1.0, spec.n_draws
        previous = spec.previous
        if previous is not None and previous.reference is not None:
            self.model = self.model.with_reference(NormalReference(**previous.reference))
        ladder = previous.state["inverse_temperatures"] if previous is not None else self._first_ladder()
        self.ensemble = TemperedEnsemble(self.model, spec.kernel, spec.n_chains, ladder, spec.generator, workers)
        if previous is not None:
            self.ensemble.set_state(previous.state)
            self.draws, self.log_density = list(previous.draws), list(previous.log_density)
            self.log_likelihood, self.barriers = list(previous.log_likelihood), previous.barriers.tolist()
            self.warmup_share, self.start = previous.warmup_share, self.start - previous.seconds

    def _first_ladder(self):
        n_levels = self.spec.n_levels or FIRST_LEVELS
        if n_levels < 2:
            return np.ones(1)
        if not self.model.samples_prior:
            return np.append(0.1 ** np.arange(n_levels - 1), 0.0)
        draws = self.model.sample_priors(self.spec.generator, 100)
        with np.errstate(all="ignore"):
            return first_ladder(self.model.log_densities(draws)[1], n_levels)

    def run(self, context: ChainContext) -> EnsembleResult:
        """Tune, unless that is done, and draw until there are enough draws, or the time is over."""
        spec, ensemble = self.spec, self.ensemble
        if spec.previous is None:
            self._tune(context)
            self.n_draws = self._default_length() if spec.n_draws is None else spec.n_draws
        elif spec.n_draws is None:
            self.n_draws = spec.previous.n_draws
        while len(self.draws) < self.n_draws:
            context.check()
            if self.draws and spec.time_limit is not None and clock.now() - self.start > spec.time_limit:
                break
            ensemble.iterate(len(self.draws))
            self.draws.append(ensemble.theta[:, 0].copy())
            self.log_density.append(ensemble.log_prior[:, 0] + ensemble.log_likelihood[:, 0])
            self.log_likelihood.append(ensemble.log_likelihood.copy())
            context.report({}, lambda: self.draws[-1], self.result)
        return self.result()

    def _default_length(self):
        rejected = np.minimum(self.last_rejections, 0.99)
        per_iteration = 1.0 / (2.0 + 2.0 * (rejected / (1.0 - rejected)).sum())
        n_draws = int(np.clip(ROUND_TRIPS / (per_iteration * self.spec.n_chains), FEWEST_DRAWS, MOST_DRAWS))
        self.spec.say(f"{n_draws} draws in each of {self.spec.n_chains} chains, for about {ROUND_TRIPS} round trips.")
        return n_draws

    def _tune(self, context):
        """Rounds of twice as many iterations each; after each, the ladder, metrics and the reference are tuned."""
        spec, ensemble = self.spec, self.ensemble
        n_warmup = spec.n_warmup
        if n_warmup is None:
            n_warmup = WARM_UP_OF_MANY if spec.n_chains >= MANY_CHAINS else WARM_UP
        left, length, made = n_warmup, 1, 0
        self.last_rejections = np.full(ensemble.n_levels - 1, 0.5)
        while left > 0 and not self._warm_up_is_over():
            # What is left for less than another round lengthens the last one.
            length = left if left < 3 * length else length
            is_last = length == left
            points = []
            ensemble.reset_counts()
            for number in range(length):
                context.check()
                if self._warm_up_is_over():
                    break
                ensemble.iterate(number, adapt=True)
                if is_last and number + 1 == length // 2:
                    # Step sizes are those of the last metric.
                    self._take_metric()
                points.append(ensemble.theta[:, 0].copy())
                made += 1
            left -= length
            length *= 2
            if ensemble.n_iterations:
                self._learn(np.concatenate(points), is_last)
        for adaptation in ensemble.adaptations:
            adaptation.freeze()
        n_settling = SETTLING * ensemble.n_levels if spec.n_warmup is None else 0
        for number in range(n_settling):
            context.check()
            if self._warm_up_is_over():
                break
            ensemble.iterate(number)
            made += 1
        ensemble.reset_counts()
        planned = n_warmup + n_settling
        self.warmup_share = made / planned if planned else 1.0
        betas = ", ".join(f"{beta:.3g}" for beta in ensemble.inverse_temperatures)
        spec.say(f"Barrier {self.last_rejections.sum():.2f}; levels at {betas}.")

    def _warm_up_is_over(self):
        return self.spec.time_limit is not None and clock.now() - self.start > 0.5 * self.spec.time_limit

    def _take_metric(self):
        for adaptation in self.ensemble.adaptations:
            adaptation.next_window()

    def _learn(self, points, is_last):
        spec, ensemble = self.spec, self.ensemble
        rejections = ensemble.rejections.mean(axis=0) / ensemble.n_iterations
        self.last_rejections = rejections
        self.barriers.append(float(rejections.sum()))
        if not (is_last or self._warm_up_is_over()):
            self._take_metric()
        if ensemble.n_levels < 2:
            return
        model = None
        if spec.is_variational and ensemble.n_iterations >= VARIATIONAL_ROUND and not is_last:
            model = self.model = self.model.with_reference(NormalReference.fitted(points))
        n_levels = spec.n_levels or int(
            np.clip(np.ceil(LEVELS_PER_BARRIER * rejections.sum()) + 1, FEWEST_LEVELS, MOST_LEVELS)
        )
        ensemble.respace(adapted_ladder(ensemble.inverse_temperatures, rejections, n_levels), model)
        if n_levels - 1 != len(rejections):
            share = rejections.sum() / (n_levels - 1)
            self.last_rejections = np.full(n_levels - 1, share)

    def result(self) -> EnsembleResult:
        """Everything so far: a run that goes on from it does so bit for bit."""
        reference = None
        if self.spec.is_variational:
            reference = {"mean": self.model.reference.mean, "covariance": self.model.reference.covariance}
        return EnsembleResult(
            np.array(self.draws),
            np.array(self.log_density),
            np.array(self.log_likelihood),
            self.n_draws,
            self.warmup_share,
            clock.now() - self.start,
            np.array(self.barriers),
            reference,
            self.ensemble.get_state(),
        )
