"""Parallel tempering with powers of the likelihood, or with subsets of the rows."""

from __future__ import annotations

from sklearn_subanneal.tempering.replicas import Replicas
from sklearn_subanneal.tempering.tempered_sampler import TemperedSampler


class ParallelTempering(TemperedSampler):
    """Parallel tempering: a point at each level of a ladder, and neighbours that swap their points.

    With ``subsample``, the density of a level below the first is that of a subset of the rows: flatter, and cheaper.
    The draws are those of the first level, whose density is the posterior whatever the others are. Without, levels have
    powers of the likelihood of all rows. ``inverse_temperatures=[1.0]`` is a plain Markov chain without tempering.

    Warm-up adapts step sizes and metrics, and spreads rejections evenly over the ladder if ``inverse_temperatures`` is
    None; then everything is frozen.

    Parameters
    ----------
    subsample : bool, default=True
        A model of one observation has no subsets: its levels have powers all the same, and the result says so.
    refresh : bool, default=True
        Whether the subsets are part of the state: after each iteration one of them, or of independent ones each, offers
        to exchange some rows. Without, they stay as they are, which the draws do not show.
    subsets : {"nested", "independent"}, default="nested"
        Each within the one above, or each drawn from all rows. Neighbours that are nested are nearer to one another,
        and swap more often. Independent ones that are refreshed have densities averaged over all subsets of their size,
        and an evidence.
    inner : TransitionKernel or None, default=None
        Moves of the points at each level. None: Hamiltonian Monte Carlo if the model has gradients.
    inverse_temperatures : array-like or None, default=None
        Inverse temperatures, decreasing from 1; with subsets, shares of the rows. None: geometric.
    n_levels : int or None, default=None
    min_inverse_temperature : float or None, default=None
        Of the geometric ladder. None: neighbours as near as swaps demand, and 1/8 at least, on seven levels at most. 0:
        one level more, which is the prior; if the model has ``sample_prior``, its point is drawn anew each time.
    swaps : {"even-odd", "systematic"}, default="even-odd"
        Every second pair in turns, or all pairs from the bottom up in each iteration.
    adapt_ladder : bool, default=True
    n_warmup : int or None, default=None
        Iterations of warm-up. None: half as many as draws, but 100 at least.

    References
    ----------
    J.-W. van de Meent, B. Paige, F. Wood (2014), Tempering by subsampling, algorithm 1. As printed, no kernel
    moves the posterior's own point, and a swap is accepted for levels m and m - 1 but carried out for m and m + 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.diagnostics import rank_normalized_rhat
    >>> from sklearn_subanneal.tempering import GaussianMean, ParallelTempering
    >>> X = np.random.default_rng(0).normal(1.0, 1.0, (50, 2))
    >>> result = ParallelTempering().sample(GaussianMean(X, covariance=np.eye(2)), n_draws=200, random_state=0)
    >>> result.draws.shape, bool((rank_normalized_rhat(result.draws) < 1.1).all())
    ((4, 200, 2), True)
    """

    def __init__(
        self,
        subsample: bool = True,
        *,
        refresh: bool = True,
        subsets: str = "nested",
        inner=None,
        inverse_temperatures=None,
        n_levels: int | None = None,
        min_inverse_temperature: float | None = None,
        swaps: str = "even-odd",
        adapt_ladder: bool = True,
        n_warmup: int | None = None,
    ):
        self.subsample = subsample
        self.refresh = refresh
        self.subsets = subsets
        self.inner = inner
        self.inverse_temperatures = inverse_temperatures
        self.n_levels = n_levels
        self.min_inverse_temperature = min_inverse_temperature
        self.swaps = swaps
        self.adapt_ladder = adapt_ladder
        self.n_warmup = n_warmup

    def _kernel(self, model):
        if not isinstance(self.swaps, str) or self.swaps not in ("even-odd", "systematic"):
            raise ValueError(f"swaps must be 'even-odd' or 'systematic', got {self.swaps!r}")
        return super()._kernel(model)

    def _iterate(self, replicas: Replicas, number: int) -> None:
        replicas.move()
        every = range(len(replicas.levels) - 1, 0, -1)
        averaged = self._refreshes(replicas) and self._has_evidence(replicas)
        replicas.swap(every if self.swaps == "systematic" else replicas.even_odd(number), averaged)
        if self.refresh:
            replicas.refresh()

    def _refreshes(self, replicas):
        return replicas.subsample and self.refresh

    def _has_evidence(self, replicas):
        # Nested subsets that are refreshed depend on the points of all levels: no level has a constant of its own.
        has_constants = not self._refreshes(replicas) or self.subsets == "independent"
        return has_constants and len(replicas.levels) > 1 and replicas.levels[-1].beta == 0.0
