"""Tempered transitions with powers of the likelihood, or with subsets of the rows."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal.tempering.replicas import Replicas
from sklearn_subanneal.tempering.tempered_sampler import TemperedSampler


class TemperedTransitions(TemperedSampler):
    """Tempered transitions: one point that climbs down the ladder and up again, accepted or not as a whole.

    Each iteration is a move by the inner kernel at the posterior, and a transition. With ``subsample`` it draws new
    subsets of the rows. The acceptance of a transition falls with the number of parameters D, by theory to
    2 Phi(-sqrt(D log(1 / beta) / 2)) for a subsampled one whose lowest level has a share beta of the rows, however many
    levels there are: it is for few parameters. Warm-up is parallel tempering on the same ladder.

    Parameters
    ----------
    subsample : bool, default=True
        A model of one observation has powers all the same.
    subsets : {"nested", "independent"}, default="nested"
        Each within the one above, or each drawn from all rows, by which far fewer transitions are accepted.
    inner : MetropolisHastings, HamiltonianMonteCarlo or None, default=None
        None: Hamiltonian Monte Carlo if the model has gradients.
    inverse_temperatures : array-like or None, default=None
        Inverse temperatures, decreasing from 1; with subsets, shares of the rows. None: geometric.
    n_levels : int or None, default=None
        None: by powers as many as neighbours need to be near; by subsets 3.
    min_inverse_temperature : float or None, default=None
        None: exp(-3.3 / D), for which about a fifth of the transitions are accepted, or 1/8 if that is more.
    adapt_ladder : bool, default=True
    n_warmup : int or None, default=None
        Iterations of warm-up. None: half as many as draws, but 100 at least.

    References
    ----------
    R. Neal (1996), Sampling from multimodal distributions using tempered transitions, Statistics and Computing 6.
    J.-W. van de Meent, B. Paige, F. Wood (2014), Tempering by subsampling, algorithm 2. As printed it adds where it
    should multiply, accepts the old point, and moves upwards by the kernels of the wrong levels, which is not
    reversible.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.tempering import GaussianMean, TemperedTransitions
    >>> X = np.random.default_rng(0).normal(1.0, 1.0, (50, 1))
    >>> result = TemperedTransitions().sample(GaussianMean(X, covariance=[[1.0]]), n_draws=200, random_state=0)
    >>> result.draws.shape, bool(result.transition_rate.mean() > 0.1)
    ((4, 200, 1), True)
    """

    def __init__(
        self,
        subsample: bool = True,
        *,
        subsets: str = "nested",
        inner=None,
        inverse_temperatures=None,
        n_levels: int | None = None,
        min_inverse_temperature: float | None = None,
        adapt_ladder: bool = True,
        n_warmup: int | None = None,
    ):
        self.subsample = subsample
        self.subsets = subsets
        self.inner = inner
        self.inverse_temperatures = inverse_temperatures
        self.n_levels = n_levels
        self.min_inverse_temperature = min_inverse_temperature
        self.adapt_ladder = adapt_ladder
        self.n_warmup = n_warmup

    def _ladder(self, model):
        if self.inverse_temperatures is None and self.takes_subsets(model):
            n_levels = 3 if self.n_levels is None else self.n_levels
            lowest = self.min_inverse_temperature
            if lowest is None:
                lowest = max(0.125, np.exp(-3.3 / model.n_parameters))
            return self._geometric(model, n_levels, lowest)
        return super()._ladder(model)

    def _iterate(self, replicas: Replicas, number: int) -> None:
        levels, kernel = replicas.levels, replicas.kernel
        generator, last = replicas.generator, len(levels) - 1
        point = self._moved(replicas, 0, replicas.points[0])
        replicas.points[0] = point
        if last == 0:
            return
        if replicas.subsample:
            replicas.redraw_subsets()
        log_ratio = 0.0
        for m in range(1, last + 1):
            log_ratio -= levels[m - 1].log_density(point)
            point = levels[m].adopt(point, levels[m - 1], kernel.needs_gradients)
            log_ratio += levels[m].log_density(point)
            if log_ratio == -np.inf:
                break
            point = self._moved(replicas, m, point)
        for m in range(last, 0, -1):
            if log_ratio == -np.inf:
                break
            # The kernel of this level again: the way back is the way there, reversed.
            point = self._moved(replicas, m, point)
            log_ratio -= levels[m].log_density(point)
            point = levels[m - 1].adopt(point, levels[m], kernel.needs_gradients and m > 1)
            log_ratio += levels[m - 1].log_density(point)
        replicas.n_transitions += 1
        if np.log1p(-generator.random()) < log_ratio:
            replicas.points[0] = point
            replicas.transitions_accepted += 1

    def _moved(self, replicas, m, point):
        point, acceptance = replicas.kernel.move(
            replicas.levels[m], point, replicas.adaptations[m], replicas.streams[m]
        )
        replicas.accepted[m] += acceptance
        replicas.n_moves[m] += 1
        return point
