"""One chain of a tempered sampler: warm-up, then draw after draw; it reports each draw and can be resumed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_subanneal.annealing import clock
from sklearn_subanneal.annealing.runner import ChainContext
from sklearn_subanneal.tempering.log_densities import LogDensityModel
from sklearn_subanneal.tempering.replicas import Replicas
from sklearn_subanneal.tempering.transition_kernels import TransitionKernel

TRACE = np.dtype([("chain", "i4"), ("sweep", "i4"), ("seconds", "f8"), ("log_joint", "f8")])


@dataclass(frozen=True)
class TemperedChainResult:
    """The draws of a chain, and the state from which it goes on. Holds no data.

    Attributes
    ----------
    draws : ndarray of shape (n_draws, n_parameters)
    log_density : ndarray of shape (n_draws,)
        Log prior plus log likelihood of all rows.
    trace : structured ndarray of shape (n_draws,)
        Fields "chain", "sweep", "seconds" (since the chain began) and "log_joint", which is ``log_density``.
    summary : dict of str to ndarray or float
        The fields of :class:`TemperingResult` that have one entry a chain.
    log_ratios : list of ndarray of shape (2, 1, n_swaps)
        Stepping stones of the log evidence, of each pair of levels; empty where there are none.
    state : dict
        Of the replicas.
    """

    draws: NDArray
    log_density: NDArray
    trace: NDArray
    summary: dict[str, Any]
    log_ratios: list[NDArray]
    state: dict


@dataclass(frozen=True)
class TemperedChainSpec:
    """All that one chain needs; can be pickled if the model can.

    Attributes
    ----------
    sampler : TemperedSampler
    model : LogDensityModel
    kernel : TransitionKernel
    inverse_temperatures : ndarray of shape (n_levels,)
    n_draws, n_warmup : int
    generator : numpy.random.Generator
    number : int
        Of the chain.
    n_workers : int
        Threads that move the levels.
    time_limit : float or None
        Seconds.
    previous : TemperedChainResult or None
        The chain goes on from there.
    ended : bool
        Whether it has come to its end already.
    """

    sampler: Any
    model: LogDensityModel
    kernel: TransitionKernel
    inverse_temperatures: NDArray
    n_draws: int
    n_warmup: int
    generator: np.random.Generator
    number: int = 0
    n_workers: int = 1
    time_limit: float | None = None
    previous: TemperedChainResult | None = None
    ended: bool = False

    def run(self, context: ChainContext) -> TemperedChainResult:
        """Run the chain to its end: the unit of work that joblib distributes."""
        context.begin()
        result = self.previous if self.ended else self._sample(context)
        context.end(result, None if self.ended else self.n_draws)
        return result

    def n_sweeps(self) -> int | None:
        """Draws to go; None where the clock ends them."""
        if self.ended:
            return 0
        if self.time_limit is not None:
            return None
        return self.n_draws - (0 if self.previous is None else len(self.previous.draws))

    def _sample(self, context):
        pool = ThreadPoolExecutor(self.n_workers) if self.n_workers > 1 else nullcontext()
        with pool as workers:
            return TemperedChain(self, workers).run(context)


class TemperedChain:
    """A chain that runs.

    Parameters
    ----------
    spec : TemperedChainSpec
    workers : concurrent.futures.Executor or None
    """

    def __init__(self, spec: TemperedChainSpec, workers=None):
        self.spec = spec
        self.start = clock.now()
        self.replicas = Replicas(
            spec.model,
            spec.inverse_temperatures,
            spec.kernel,
            spec.sampler.subsets if spec.sampler.takes_subsets(spec.model) else None,
            spec.generator,
            workers,
        )
        self.draws: list[NDArray] = []
        self.trace: list[tuple] = []
        self.warmup_share = 1.0
        if spec.previous is not None:
            self.warmup_share = spec.previous.summary["warmup_share"]
            self.replicas.set_state(spec.previous.state)
            self.draws = list(spec.previous.draws)
            self.trace = [tuple(record) for record in spec.previous.trace.tolist()]
            self.start -= self.trace[-1][2]

    def run(self, context: ChainContext) -> TemperedChainResult:
        """Warm up, unless that is done, and draw until there are enough draws, or the time is over.

        At most half of the time is for the warm-up, and there is at least one draw.
        """
        spec, replicas = self.spec, self.replicas
        if spec.previous is None:
            self._warm_up(context)
        while len(self.draws) < spec.n_draws:
            context.check()
            if self.draws and spec.time_limit is not None and clock.now() - self.start > spec.time_limit:
                break
            spec.sampler._iterate(replicas, len(self.draws))
            point = replicas.points[0]
            self.draws.append(point.theta)
            record = {
                "chain": spec.number,
                "sweep": len(self.trace),
                "seconds": clock.now() - self.start,
                "log_joint": float(replicas.levels[0].log_density(point)),
            }
            self.trace.append(tuple(record[name] for name in TRACE.names))
            if context.report(record, lambda: self.draws[-1], self.result):
                break
        return self.result()

    def _warm_up(self, context):
        spec, share_so_far, n_made, n_planned = self.spec, 0.0, 0, 0

        def turns(n, share):
            # Time that a part of the warm-up has not used is left for the next.
            nonlocal share_so_far, n_made, n_planned
            share_so_far, n_planned = share_so_far + share, n_planned + n
            for number in range(n):
                context.check()
                if spec.time_limit is not None and clock.now() - self.start > 0.5 * share_so_far * spec.time_limit:
                    return
                n_made += 1
                yield number

        adapt = spec.sampler.inverse_temperatures is None and spec.sampler.adapt_ladder
        # Independent subsets are far from their equilibrium at first. Nested ones, refreshed so early, made chains
        # cross between modes less often.
        refresh = spec.sampler.subsets == "independent" and getattr(spec.sampler, "refresh", False)
        self.replicas.warm_up(spec.n_warmup, adapt, turns, refresh)
        self.replicas.reset_counts()
        self.warmup_share = n_made / n_planned if n_planned else 1.0

    def result(self) -> TemperedChainResult:
        """Everything so far: a chain that goes on from it, after whatever draw, does so bit for bit."""
        replicas, trace = self.replicas, np.array(self.trace, TRACE)
        levels, adaptations = replicas.levels, replicas.adaptations
        summary = {
            "inverse_temperatures": replicas.inverse_temperatures,
            "n_rows": np.array([level.n_rows for level in levels]),
            "step_sizes": np.array([adaptation.step_size for adaptation in adaptations]),
            "acceptance": replicas.accepted / np.maximum(replicas.n_moves, 1),
            "swap_rates": replicas.swapped / np.maximum(replicas.n_swaps, 1),
            "transition_rate": replicas.transitions_accepted / max(replicas.n_transitions, 1),
            "round_trips": int(replicas.trips.counts[0]) if replicas.n_swaps.any() else -1,
            "refresh_rate": replicas.refreshed / max(replicas.n_refreshes, 1),
            "n_values": np.array([level.n_values for level in levels]),
            "n_gradients": np.array([level.n_gradients for level in levels]),
            "warmup_share": self.warmup_share,
            "seconds": clock.now() - self.start,
        }
        state = replicas.get_state()
        has_evidence = self.spec.sampler._has_evidence(replicas)
        # One row of draws each, of the lower and of the upper level.
        log_ratios = [stones.T[:, None] for stones in state["log_ratios"]] if has_evidence else []
        return TemperedChainResult(np.array(self.draws), trace["log_joint"], trace, summary, log_ratios, state)


def run_tempered_chain(spec: TemperedChainSpec, context: ChainContext) -> TemperedChainResult:
    """Run a chain; a function at the top of a module, since workers find it by its name."""
    return spec.run(context)
