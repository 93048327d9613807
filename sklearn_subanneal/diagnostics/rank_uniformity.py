"""Test of ranks for uniformity by their distribution function, with its exact simultaneous bands.

Of N uniform ranks among 0, ..., R - 1, the number C_r of those that are at most r is binomial, and given C_{r-1} the
difference C_r - C_{r-1} is binomial as well. A forward recursion over r therefore gives the exact probability that all
C_r stay between bounds (Säilynoja, Bürkner, Vehtari 2022, section 2.3).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln
from scipy.stats import binom

# Tail probabilities that are equal but for rounding count as equal.
_ROUNDING = 1e-9
# Halvings of the interval of the pointwise level.
_N_HALVINGS = 40


def uniformity_p_value(ranks: NDArray[np.integer], n_ranks: int) -> float:
    """The p-value of the hypothesis that ranks are independent and uniform.

    The statistic is the least two-sided binomial tail probability of the distribution function of the ranks, over all
    places; its distribution is exact, so that the p-value is valid for every number of ranks.

    Parameters
    ----------
    ranks : ndarray of int, shape (n_replications,)
        From 0 to ``n_ranks - 1``.
    n_ranks : int
        At least 2.

    Returns
    -------
    p_value : float

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.diagnostics.rank_uniformity import uniformity_p_value
    >>> rng = np.random.default_rng(0)
    >>> uniformity_p_value(rng.integers(20, size=300), 20) > 0.05
    True
    >>> uniformity_p_value(rng.binomial(19, 0.5, size=300), 20) < 1e-6
    True
    """
    n, tails = len(ranks), _two_sided_tails(len(ranks), n_ranks)
    counts = np.cumsum(np.bincount(ranks, minlength=n_ranks))[:-1]
    least = tails[np.arange(n_ranks - 1), counts].min()
    inside = _probability_inside(tails > least * (1.0 + _ROUNDING), n)
    return float(np.clip(1.0 - inside, 0.0, 1.0))


def simultaneous_bands(
    n_replications: int, n_ranks: int, level: float = 0.95
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Bounds between which the distribution function of uniform ranks lies everywhere at once.

    Parameters
    ----------
    n_replications, n_ranks : int
    level : float, default=0.95
        The probability of that, at least.

    Returns
    -------
    lower, upper : ndarray of int64, shape (n_ranks - 1,)
        Of the numbers of ranks that are at most 0, 1, ..., n_ranks - 2.

    Examples
    --------
    >>> from sklearn_subanneal.diagnostics.rank_uniformity import simultaneous_bands
    >>> simultaneous_bands(100, n_ranks=5)
    (array([11, 29, 49, 70]), array([30, 51, 71, 89]))
    """
    tails = _two_sided_tails(n_replications, n_ranks)
    low, high = 0.0, 1.0 - level
    for _ in range(_N_HALVINGS):
        middle = 0.5 * (low + high)
        if _probability_inside(tails > middle, n_replications) >= level:
            low = middle
        else:
            high = middle
    inside = tails > low
    return inside.argmax(axis=1), n_replications - inside[:, ::-1].argmax(axis=1)


def _two_sided_tails(n: int, n_ranks: int) -> NDArray[np.float64]:
    """Two-sided tail probabilities, (n_ranks - 1, n + 1), of the numbers of ranks that are at most 0, 1, ..."""
    share = np.arange(1, n_ranks)[:, None] / n_ranks
    counts = np.arange(n + 1)
    return np.minimum(2.0 * np.minimum(binom.cdf(counts, n, share), binom.sf(counts - 1, n, share)), 1.0)


def _probability_inside(inside: NDArray[np.bool_], n: int) -> float:
    """Probability that the numbers of ranks up to each place are all among those marked in (n_ranks - 1, n + 1)."""
    log_factorial = gammaln(np.arange(n + 1) + 1.0)
    n_places = len(inside)
    before, probability = np.zeros(1, np.int64), np.ones(1)
    for place, marked in enumerate(inside):
        after = np.flatnonzero(marked)
        if not len(after):
            return 0.0
        # Of the ranks that are not below this place, each has it with the same probability.
        share = 1.0 / (n_places + 1 - place)
        rest, step = n - before[:, None], after - before[:, None]
        fits = step >= 0
        step = np.where(fits, step, 0)
        log_choices = log_factorial[rest] - log_factorial[step] - log_factorial[np.maximum(rest - step, 0)]
        logs = log_choices + step * np.log(share) + (rest - step) * np.log1p(-share)
        probability = probability @ np.where(fits, np.exp(np.where(fits, logs, 0.0)), 0.0)
        before = after
    return float(probability.sum())
