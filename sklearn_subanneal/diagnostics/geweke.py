"""Geweke's test of a sampler: two ways of drawing parameters and data jointly are compared."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator, RandomState, SeedSequence
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import ks_2samp

from sklearn_subanneal._core.random_states import seed_entropy
from sklearn_subanneal.diagnostics.convergence import autocorrelation_time
from sklearn_subanneal.diagnostics.named_statistics import TestFamily, holm_adjusted, values_in_order

# At twice the autocorrelation time apart, draws of an autoregressive process are correlated by e^-4.
_TIMES_APART = 2.0


@dataclass(frozen=True)
class GewekeResult(TestFamily):
    """Outcome of :func:`geweke_test`; one entry a statistic in every array.

    Attributes
    ----------
    names : tuple of str
        The statistics.
    independent_mean, successive_mean : ndarray of shape (n_statistics,)
        Means over independent draws from the joint distribution, and over the successive draws of the sampler.
    standard_error : ndarray of shape (n_statistics,)
        Standard error of their difference, autocorrelation included.
    effective_sample_size : ndarray of shape (n_statistics,)
        Effective sample size of the successive draws.
    z : ndarray of shape (n_statistics,)
        The difference of the means in standard errors; its sign is that of successive - independent.
    p_values : ndarray of shape (n_statistics,)
        Two-sided p-values of `z`.
    ks_p_values : ndarray of shape (n_statistics,)
        p-values of the Kolmogorov-Smirnov test of the whole distributions, on successive draws thinned to independence.
    """

    names: tuple[str, ...]
    independent_mean: NDArray[np.float64]
    successive_mean: NDArray[np.float64]
    standard_error: NDArray[np.float64]
    effective_sample_size: NDArray[np.float64]
    z: NDArray[np.float64]
    p_values: NDArray[np.float64]
    ks_p_values: NDArray[np.float64]

    @property
    def adjusted_p_values(self) -> NDArray[np.float64]:
        """Holm's adjusted p-values over all tests, shape (2, n_statistics): of the means, then of the distributions."""
        p_values = np.concatenate([self.p_values, self.ks_p_values])
        return holm_adjusted(p_values).reshape(2, -1)

    def __str__(self) -> str:
        """A table of the statistics, the smallest p-values first."""
        width = max(9, *map(len, self.names))
        titles = f"{'independent':>12} {'successive':>12} {'z':>8} {'p':>9} {'p (KS)':>9} {'ESS':>8}"
        order = np.argsort(np.minimum(self.p_values, self.ks_p_values), kind="stable")
        lines = [
            f"{self.names[i]:<{width}} {self.independent_mean[i]:>12.5g} {self.successive_mean[i]:>12.5g}"
            f" {self.z[i]:>8.2f} {self.p_values[i]:>9.2g} {self.ks_p_values[i]:>9.2g}"
            f" {self.effective_sample_size[i]:>8.0f}"
            for i in order
        ]
        verdict = f"least p-value, adjusted for {2 * len(self.names)} tests: {self.minimum_p_value:.2g}"
        return "\n".join([f"{'statistic':<{width}} {titles}", *lines, verdict])


def geweke_test(
    draw_prior: Callable[[Generator], Any],
    transition: Callable[[Any, Generator], Any],
    statistics: Callable[[Any], Mapping[str, float]],
    *,
    n_independent: int,
    n_successive: int,
    n_chains: int = 16,
    thin: int = 1,
    random_state: int | RandomState | Generator | None = None,
) -> GewekeResult:
    """Test a sampler by drawing parameters and data jointly in two ways.

    The one draws parameters from the prior and data given them, independently. The other lets the sampler move the
    parameters and then draws new data given them, again and again. If, and only if, the sampler leaves the posterior
    invariant, both draw from the same joint distribution, and all statistics agree in distribution. Chains start from
    independent draws of the joint distribution, so that a correct sampler is stationary from the start.

    Priors must not depend on the data: a correct sampler under data-dependent hyperpriors fails.

    Parameters
    ----------
    draw_prior : callable, rng -> state
        Draws a state (parameters and data) from the joint distribution.
    transition : callable, (state, rng) -> state
        One sweep of the sampler, followed by new data given the new parameters. It may change the state in place.
    statistics : callable, state -> dict of str to float
        Named statistics to compare, always with the same names. Second moments and log joint densities detect errors
        that means do not.
    n_independent : int
        Number of independent draws.
    n_successive : int
        Number of draws kept of every chain.
    n_chains : int, default=16
        Number of chains. Many chains estimate standard errors better than a long one: with few chains, and fewer than
        some hundred effective draws, the p-values are too small.
    thin : int, default=1
        Transitions from one kept draw to the next.
    random_state : int, RandomState instance, Generator or None, default=None
        Seed of the independent generators that the draws and every chain use.

    Returns
    -------
    GewekeResult
        z-scores and p-values of every statistic, `passed(level)`, and a table when printed.

    Raises
    ------
    ValueError
        If a number is too small, or a statistic is missing in a later state or not finite.

    References
    ----------
    Geweke, J. (2004). Getting it right: joint distribution tests of posterior simulators. Journal of the American
    Statistical Association 99, 799-804. doi:10.1198/016214504000001132

    Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6,
    65-70.

    Examples
    --------
    A mean with a standard normal prior, and one datum around it:

    >>> from sklearn_subanneal.diagnostics import geweke_test
    >>> def draw_prior(rng):
    ...     mean = rng.normal()
    ...     return mean, rng.normal(mean)
    >>> def transition(state, rng):
    ...     mean = rng.normal(state[1] / 2, 0.5**0.5)
    ...     return mean, rng.normal(mean)
    >>> def wrong(state, rng):
    ...     mean = rng.normal(state[1] / 2, 0.5)  # the variance, where the deviation is due
    ...     return mean, rng.normal(mean)
    >>> def statistics(state):
    ...     return {"mean": state[0], "square": state[0] ** 2}
    >>> numbers = dict(n_independent=2000, n_successive=500, random_state=0)
    >>> geweke_test(draw_prior, transition, statistics, **numbers).passed()
    True
    >>> geweke_test(draw_prior, wrong, statistics, **numbers).passed()
    False
    """
    least_numbers = {"n_independent": 2, "n_successive": 4, "n_chains": 1, "thin": 1}
    for (name, least), value in zip(least_numbers.items(), (n_independent, n_successive, n_chains, thin), strict=True):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}.")
    seeds = SeedSequence(seed_entropy(random_state)).spawn(1 + n_chains)
    rng, *chain_rngs = map(np.random.default_rng, seeds)

    first = draw_prior(rng)
    names = tuple(statistics(first))
    if not names:
        raise ValueError("statistics must return at least one named number, got none.")
    independent = np.empty((n_independent, len(names)))
    independent[0] = values_in_order(statistics(first), names)
    for i in range(1, n_independent):
        independent[i] = values_in_order(statistics(draw_prior(rng)), names)

    successive = np.empty((n_chains, n_successive, len(names)))
    for chain, chain_rng in zip(successive, chain_rngs, strict=True):
        state = draw_prior(chain_rng)
        for draw in chain:
            for _ in range(thin):
                state = transition(state, chain_rng)
            draw[:] = values_in_order(statistics(state), names)
    return _compare(names, independent, successive)


def _compare(names: tuple[str, ...], independent: NDArray, successive: NDArray) -> GewekeResult:
    """Compare draws of shape (n_independent, n_statistics) and (n_chains, n_successive, n_statistics)."""
    n_draws = successive.shape[0] * successive.shape[1]
    time = autocorrelation_time(successive)
    # A statistic that never changes has no autocorrelation; any difference of its means is then beyond doubt.
    time = np.where(np.isnan(time), 1.0, time)
    size = n_draws / time
    difference = successive.mean(axis=(0, 1)) - independent.mean(axis=0)
    variance = independent.var(axis=0, ddof=1) / len(independent) + successive.var(axis=(0, 1), ddof=1) / size
    error = np.sqrt(variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(difference == 0.0, 0.0, difference / error)
    steps = np.minimum(np.ceil(_TIMES_APART * time).astype(int), successive.shape[1])
    ks_p_values = [
        ks_2samp(independent[:, i], successive[:, step - 1 :: step, i].ravel(), method="asymp").pvalue
        for i, step in enumerate(steps)
    ]
    return GewekeResult(
        names=names,
        independent_mean=independent.mean(axis=0),
        successive_mean=successive.mean(axis=(0, 1)),
        standard_error=error,
        effective_sample_size=size,
        z=z,
        p_values=2.0 * ndtr(-np.abs(z)),
        ks_p_values=np.array(ks_p_values),
    )
