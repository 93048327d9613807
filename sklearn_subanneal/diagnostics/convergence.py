"""R-hat, effective sample size, autocorrelation time and Monte Carlo error of draws of several chains.

All functions take draws of shape (n_chains, n_draws, ...) and treat each trailing element separately.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import ndtri
from scipy.stats import rankdata

_MIN_DRAWS = 4
_TAILS = (0.05, 0.95)


def rank_normalized_rhat(draws: ArrayLike) -> NDArray[np.float64] | np.float64:
    """R-hat of split chains, the larger of the rank-normalised one and the folded one.

    The first compares the locations of chains, the second their spreads. Values above 1.01 are a warning;
    above about 1.05 the chains have not mixed.

    Parameters
    ----------
    draws : array-like of shape (n_chains, n_draws, ...)
        One chain is enough: its halves are compared.

    Returns
    -------
    ndarray of shape (...) or float
        R-hat of every element; nan if there are fewer than 4 draws, if some are nan, or if all are equal, and
        inf if every half chain is constant, but not all at the same value.

    Raises
    ------
    ValueError
        If `draws` has fewer than two axes.

    References
    ----------
    Vehtari, A., Gelman, A., Simpson, D., Carpenter, B. and Bürkner, P.-C. (2021). Rank-normalization, folding, and
    localization: an improved R-hat for assessing convergence of MCMC. Bayesian Analysis 16, 667-718, section 4.
    doi:10.1214/20-BA1221

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.diagnostics import rank_normalized_rhat
    >>> draws = np.random.default_rng(0).normal(size=(4, 500))
    >>> print(rank_normalized_rhat(draws).round(1))
    1.0
    >>> print(rank_normalized_rhat(draws + np.arange(4)[:, None]).round(1))  # chains in different places
    1.5
    """
    draws, shape = _flatten(draws)
    if draws.shape[1] < _MIN_DRAWS:
        return np.full(shape, np.nan)[()]
    halves = _split(draws)
    folded = np.abs(halves - np.median(halves, axis=(0, 1)))
    # Draws with two values at equal distances from their median are constant when folded.
    rhat = np.fmax(_rhat(_rank_normalize(halves)), _rhat(_rank_normalize(folded)))
    return np.where(_is_constant(halves), np.nan, rhat).reshape(shape)[()]


def effective_sample_size(
    draws: ArrayLike, kind: Literal["bulk", "tail", "mean"] = "bulk"
) -> NDArray[np.float64] | np.float64:
    """Effective sample size: the number of independent draws that would estimate with the same precision.

    Chains are split in halves; autocorrelations are summed as far as Geyer's initial monotone sequence goes, and chains
    that disagree count as autocorrelated.

    Parameters
    ----------
    draws : array-like of shape (n_chains, n_draws, ...)
        Posterior draws.
    kind : {"bulk", "tail", "mean"}, default="bulk"
        The size for the mean of rank-normalised draws, for the worse of the 5 % and the 95 % quantile, or for the plain
        mean.

    Returns
    -------
    ndarray of shape (...) or float
        Sizes; they may exceed the number of draws (antithetic chains). nan if there are fewer than 4 draws, if some
        are nan, or if all are equal. A tail that no draw leaves (discrete draws) is left out.

    Raises
    ------
    ValueError
        If `draws` has fewer than two axes or `kind` is unknown.

    References
    ----------
    Vehtari, A., Gelman, A., Simpson, D., Carpenter, B. and Bürkner, P.-C. (2021). Rank-normalization, folding, and
    localization: an improved R-hat for assessing convergence of MCMC. Bayesian Analysis 16, 667-718, sections 3 and 4.
    doi:10.1214/20-BA1221

    Geyer, C. J. (1992). Practical Markov chain Monte Carlo. Statistical Science 7, 473-483. doi:10.1214/ss/1177011137

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.diagnostics import effective_sample_size
    >>> steps = np.random.default_rng(0).normal(size=(4, 1000))
    >>> walk = np.zeros((4, 1000))
    >>> for t in range(1, 1000):  # autocorrelation 0.9: the size is about 4000 * (1 - 0.9) / (1 + 0.9) = 211
    ...     walk[:, t] = 0.9 * walk[:, t - 1] + steps[:, t]
    >>> bool(150 < effective_sample_size(walk) < 280)
    True
    """
    draws, shape = _flatten(draws)
    if kind not in ("bulk", "tail", "mean"):
        raise ValueError(f"kind must be 'bulk', 'tail' or 'mean', got {kind!r}.")
    if draws.shape[1] < _MIN_DRAWS:
        return np.full(shape, np.nan)[()]
    halves = _split(draws)
    if kind == "mean":
        sizes = _size(halves)
    elif kind == "bulk":
        sizes = _size(_rank_normalize(halves))
    else:
        low, high = (_size((halves <= edge).astype(float)) for edge in np.quantile(draws, _TAILS, axis=(0, 1)))
        sizes = np.where(np.isnan(draws).any(axis=(0, 1)), np.nan, np.fmin(low, high))
    return sizes.reshape(shape)[()]


def autocorrelation_time(draws: ArrayLike) -> NDArray[np.float64] | np.float64:
    """Integrated autocorrelation time: the number of draws that are worth one independent draw.

    tau = 1 + 2 sum of the autocorrelations at all lags, by Geyer's initial monotone sequence; chains are not split.

    Parameters
    ----------
    draws : array-like of shape (n_draws,) or (n_chains, n_draws, ...)
        Draws of one chain, or of several.

    Returns
    -------
    ndarray of shape (...) or float
        tau in draws; below 1 for antithetic chains, nan where draws are fewer than 4, constant or nan.

    References
    ----------
    Geyer, C. J. (1992). Practical Markov chain Monte Carlo. Statistical Science 7, 473-483. doi:10.1214/ss/1177011137

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.diagnostics import autocorrelation_time
    >>> x = np.random.default_rng(0).normal(size=10_000)
    >>> print(autocorrelation_time(np.repeat(x, 5)).round())  # every draw five times
    5.0
    """
    draws = np.asarray(draws, dtype=np.float64)
    draws, shape = _flatten(draws[None] if draws.ndim == 1 else draws)
    if draws.shape[1] < _MIN_DRAWS:
        return np.full(shape, np.nan)[()]
    return _time(draws).reshape(shape)[()]


def monte_carlo_error(draws: ArrayLike) -> NDArray[np.float64] | np.float64:
    """Standard error of the mean of the draws as an estimate of the posterior mean.

    The standard deviation of the draws divided by the root of their effective sample size for the mean.

    Parameters
    ----------
    draws : array-like of shape (n_chains, n_draws, ...)
        Posterior draws.

    Returns
    -------
    ndarray of shape (...) or float
        Standard errors; 0 where all draws are equal, nan where some are nan or there are fewer than 4.

    Raises
    ------
    ValueError
        If `draws` has fewer than two axes.

    References
    ----------
    Vehtari, A. et al. (2021), as in :func:`effective_sample_size`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.diagnostics import monte_carlo_error
    >>> draws = np.random.default_rng(0).normal(size=(4, 2500))  # independent: about 1 / sqrt(10000)
    >>> print(monte_carlo_error(draws).round(3))
    0.01
    """
    draws, shape = _flatten(draws)
    if draws.shape[1] < _MIN_DRAWS:
        return np.full(shape, np.nan)[()]
    deviation = draws.std(axis=(0, 1), ddof=1)
    error = np.where(_is_constant(draws), 0.0, deviation / np.sqrt(effective_sample_size(draws, kind="mean")))
    return error.reshape(shape)[()]


def _flatten(draws: ArrayLike) -> tuple[NDArray[np.float64], tuple[int, ...]]:
    """Draws as (n_chains, n_draws, n_elements), and the shape of the elements."""
    draws = np.asarray(draws, dtype=np.float64)
    if draws.ndim < 2:
        raise ValueError(
            f"draws must have shape (n_chains, n_draws, ...), got {draws.shape}; pass one chain as draws[None]."
        )
    return draws.reshape(*draws.shape[:2], int(np.prod(draws.shape[2:]))), draws.shape[2:]


def _split(draws: NDArray) -> NDArray:
    """Half chains as chains; the middle draw of an odd number is left out."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, -half:]])


def _is_constant(draws: NDArray) -> NDArray[np.bool_]:
    return (draws == draws[:1, :1]).all(axis=(0, 1))


def _rank_normalize(draws: NDArray) -> NDArray[np.float64]:
    """Normal scores of the ranks over all chains (section 4); elements with a nan become nan."""
    n_total = draws.shape[0] * draws.shape[1]
    ranks = rankdata(draws.reshape(n_total, -1), axis=0).reshape(draws.shape)
    return ndtri((ranks - 3 / 8) / (n_total + 1 / 4))


def _rhat(draws: NDArray) -> NDArray[np.float64]:
    """Root of the ratio of the pooled variance to the variance within chains (section 3.1)."""
    n_draws = draws.shape[1]
    within = draws.var(axis=1, ddof=1).mean(axis=0)
    between = draws.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt((n_draws - 1) / n_draws + between / within)


def _autocovariance(draws: NDArray) -> NDArray[np.float64]:
    """Autocovariances at all lags, of every chain (the biased estimate, divided by the number of draws)."""
    n_draws = draws.shape[1]
    centred = draws - draws.mean(axis=1, keepdims=True)
    # Padded to twice the length, so that the circular convolution of the transform does not wrap around.
    transform = rfft(centred, n=next_fast_len(2 * n_draws, real=True), axis=1)
    power = (transform * transform.conj()).real
    return irfft(power, n=next_fast_len(2 * n_draws, real=True), axis=1)[:, :n_draws] / n_draws


def _time(draws: NDArray) -> NDArray[np.float64]:
    """Integrated autocorrelation time over chains (section 3.2)."""
    n_chains, n_draws, _ = draws.shape
    covariance = _autocovariance(draws).mean(axis=0)
    within = covariance[0] * n_draws / (n_draws - 1)
    pooled = covariance[0] + (draws.mean(axis=1).var(axis=0, ddof=1) if n_chains > 1 else 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        correlation = 1.0 - (within - covariance) / pooled
    correlation[0] = 1.0

    # Sums of neighbouring even and odd lags are positive and decreasing in a reversible chain. The last pair, where the
    # noise takes over, counts by its even lag only. The lags just below n_draws are never used.
    n_pairs = (n_draws - 1) // 2
    if n_pairs < 2:
        # Chains of 2 to 4 draws have one pair, which counts in full: larger lags say nothing.
        correlation, n_pairs = np.concatenate([correlation[:2], np.zeros_like(correlation[:2])]), 2
    pairs = correlation[0 : 2 * n_pairs : 2] + correlation[1 : 2 * n_pairs : 2]
    ended = pairs <= 0
    ended[-1] = True
    end = ended.argmax(axis=0)
    monotone = np.minimum.accumulate(pairs, axis=0)
    summed = np.where(np.arange(n_pairs)[:, None] < end, monotone, 0.0).sum(axis=0)
    last_even = np.take_along_axis(correlation, 2 * end[None], axis=0)[0]
    time = 2.0 * summed - 1.0 + np.maximum(last_even, 0.0)
    # Antithetic chains: the bound keeps the noise of the sum from promising arbitrarily many draws.
    time = np.maximum(time, 1.0 / np.log10(n_chains * n_draws))
    return np.where(_is_constant(draws), np.nan, time)


def _size(draws: NDArray) -> NDArray[np.float64]:
    return draws.shape[0] * draws.shape[1] / _time(draws)
