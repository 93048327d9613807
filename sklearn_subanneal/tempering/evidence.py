"""Log evidence from the ratios of neighbouring densities along a ladder, with its error."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logsumexp

# A bracket of the root is halved so often; beyond it floats do not tell values apart.
HALVINGS = 200
# The root lies within so much of the ratios, by far.
MARGIN = 50.0
# Draws of either level that the other one could have made, below which there is no estimate of the error.
FEWEST_SHARED = 1.0
# Independent blocks of draws that a standard error needs.
FEWEST_BLOCKS = 8


def log_ratio_of_constants(lower: NDArray, upper: NDArray) -> tuple[float, NDArray]:
    """log (Z_upper / Z_lower) of two neighbours, by bridge sampling, and the influence of each block of draws on it.

    Stepping stones average the ratio of the densities over the draws of the lower level, or its inverse over those of
    the upper one; the bridge weighs both so that the variance is least.

    Parameters
    ----------
    lower, upper : ndarray of shape (n_blocks, n_draws)
        Log of the upper density over the lower one, at draws of the lower level and of the upper one; -inf where the
        upper density is zero.

    Returns
    -------
    log_ratio : float
    influence : ndarray of shape (n_blocks,)
        Sums to nearly 0; blocks must be independent for the sum of squares to be a variance. Infinite where the draws
        of the two levels do not overlap: the ratio is then any number between them.

    References
    ----------
    C. Bennett (1976), Efficient estimation of free energy differences from Monte Carlo data, Journal of Computational
    Physics 22. X.-L. Meng, W. Wong (1996), Simulating ratios of normalizing constants via a simple identity,
    Statistica Sinica 6.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.tempering.evidence import log_ratio_of_constants
    >>> x = np.random.default_rng(0).normal(size=(2, 1, 5000))
    >>> lower, upper = 1.5 - x[0], 1.5 - (x[1] - 1.0)  # densities of N(0, 1), and exp(2) times that of N(-1, 1)
    >>> round(log_ratio_of_constants(lower, upper)[0], 1)
    2.0
    """
    lower, upper = np.atleast_2d(lower), np.atleast_2d(upper)
    finite = lower[lower > -np.inf]
    if not len(finite):
        return -np.inf, np.full(len(lower), np.inf)
    low = min(finite.min(), upper.min()) - MARGIN
    high = max(finite.max(), upper.max()) + MARGIN
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if middle in (low, high):
            break
        if expit(lower - middle).sum() > expit(middle - upper).sum():
            low = middle
        else:
            high = middle
    at_lower, at_upper = expit(lower - middle), expit(middle - upper)
    log_ratio = float(middle + np.log(upper.size / lower.size))
    if min(at_lower.sum(), at_upper.sum()) < FEWEST_SHARED:
        return log_ratio, np.full(len(lower), np.inf)
    slope = (at_lower * (1.0 - at_lower)).sum() + (at_upper * (1.0 - at_upper)).sum()
    return log_ratio, (at_lower.sum(axis=1) - at_upper.sum(axis=1)) / slope


def stepping_stones(pairs: list) -> tuple[float, float]:
    """Sum of the log ratios along a path, and its standard error.

    Parameters
    ----------
    pairs : list of (lower, upper)
        For each pair of neighbours, the arguments of :func:`log_ratio_of_constants`; as many blocks in all of them.

    References
    ----------
    W. Xie, P. Lewis, Y. Fan, L. Kuo, M.-H. Chen (2011), Improving marginal likelihood estimation for Bayesian
    phylogenetic model selection, Systematic Biology 60.
    """
    if not pairs:
        return np.nan, np.nan
    ratios, influences = zip(*(log_ratio_of_constants(*pair) for pair in pairs), strict=True)
    # Neighbouring ratios depend on the same draws: influences add before they are squared.
    influence = np.sum(influences, axis=0)
    n = len(influence)
    error = np.sqrt(n / (n - 1) * (influence @ influence)) if n > 1 else np.nan
    return float(np.sum(ratios)), float(error)


def ladder_pairs(betas: NDArray, log_likelihoods: NDArray) -> list:
    """Log ratios of the neighbours of one ladder of powers, in blocks of whole chains, or of parts of few chains.

    Parameters
    ----------
    betas : ndarray of shape (n_levels,)
    log_likelihoods : ndarray of shape (n_draws, n_chains, n_levels)
    """
    n_draws, n_chains, n_levels = log_likelihoods.shape
    n_parts = 1 if n_chains >= FEWEST_BLOCKS else min(-(-FEWEST_BLOCKS // n_chains), n_draws)
    length = n_draws // n_parts
    # The first draws are left out where the parts would not be equal.
    parts = log_likelihoods[n_draws - n_parts * length :].reshape(n_parts, length, n_chains, n_levels)
    blocks = parts.transpose(0, 2, 1, 3).reshape(n_parts * n_chains, length, n_levels)
    steps = -np.diff(betas)
    return [(steps[m] * blocks[:, :, m + 1], steps[m] * blocks[:, :, m]) for m in range(n_levels - 1)]


def chains_evidence(chains: list) -> tuple[float, float]:
    """Log evidence and its standard error, of chains that have ladders of their own.

    The evidence itself is averaged over the chains. The error is that of the chains among one another, or that within
    chains if it is larger: few chains may agree by chance. It is infinite if that of a chain is.

    Parameters
    ----------
    chains : list of list
        For each chain, the pairs of :func:`stepping_stones`, of one block each.
    """
    if not chains[0]:
        return np.nan, np.nan
    values, within = np.array([_evidence_of_chain(pairs) for pairs in chains]).T
    n = len(values)
    mean = float(logsumexp(values) - np.log(n))
    if not np.isfinite(mean):
        return mean, np.nan
    if np.isinf(within).any():
        return mean, np.inf
    weights = np.exp(values - mean)
    inside = float(np.sqrt(np.sum((weights * within) ** 2)) / n)
    return mean, max(inside, float(weights.std(ddof=1) / np.sqrt(n))) if n > 1 else inside


def _evidence_of_chain(pairs):
    """``stepping_stones`` of one chain, in blocks: as many of each pair, of which some may have a draw less."""
    n_parts = min(FEWEST_BLOCKS, *(ratios.shape[1] for pair in pairs for ratios in pair))
    if not n_parts:
        return np.nan, np.nan
    return stepping_stones([tuple(_parts(ratios, n_parts) for ratios in pair) for pair in pairs])


def _parts(ratios, n_parts):
    """Log ratios of one chain, shape (1, n), in blocks; the first are left out where these would not be equal."""
    length = ratios.shape[1] // n_parts
    return ratios[0, ratios.shape[1] - n_parts * length :].reshape(n_parts, length)


def thermodynamic_integral(betas: NDArray, log_likelihoods: NDArray) -> float:
    """Log evidence as the integral of the mean log likelihood over the inverse temperature, from the last to the first.

    The integral is over log(beta + e), where e is the lowest positive inverse temperature and levels are about equally
    far apart, by the trapezoid rule with the correction by the derivative of the mean, which is the variance. It is no
    better than its points are near one another, and -inf or nan where the likelihood of a draw from the reference is
    zero.

    Parameters
    ----------
    betas : ndarray of shape (n_levels,)
        Decreasing to 0.
    log_likelihoods : ndarray of shape (n_draws, n_levels)

    References
    ----------
    N. Friel, M. Hurn, J. Wyse (2014), Improving power posterior estimation of statistical evidence, Statistics and
    Computing 24, equation 10.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.tempering.evidence import thermodynamic_integral
    >>> betas = np.array([1.0, 0.4, 0.15, 0.05, 0.015, 0.0])
    >>> z = np.random.default_rng(0).normal(size=(20_000, 6))
    >>> x = z / np.sqrt(0.01 + 0.99 * betas)  # from N(0, 100) to N(0, 1)
    >>> bool(abs(thermodynamic_integral(betas, np.log(10.0) - 0.495 * x**2)) < 0.1)
    True
    """
    with np.errstate(invalid="ignore", over="ignore"):
        means, variances = log_likelihoods.mean(axis=0), log_likelihoods.var(axis=0)
        shifted = betas + betas[-2]
        steps, values = -np.diff(np.log(shifted)), shifted * means
        slopes = values + shifted**2 * variances
        trapezoids = steps * (values[:-1] + values[1:]) / 2.0
        return float((trapezoids - steps**2 * (slopes[:-1] - slopes[1:]) / 12.0).sum())
