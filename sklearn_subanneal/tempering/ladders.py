"""Ladders of inverse temperatures, from 1 at the posterior downwards: given, geometric, or adapted to rejections."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_subanneal._core.arguments import shortened

# Expected log ratio of a swap that the default spacing allows; its acceptance is then about 0.37.
LARGEST_BARRIER = 1.6
MOST_LEVELS = 7


def geometric_ladder(n_levels: int, min_inverse_temperature: float) -> NDArray:
    """Inverse temperatures from 1 to ``min_inverse_temperature`` by equal factors.

    Parameters
    ----------
    n_levels : int
        Number of levels, the posterior among them.
    min_inverse_temperature : float
        In (0, 1).

    Returns
    -------
    inverse_temperatures : ndarray of shape (n_levels,)

    References
    ----------
    J.-W. van de Meent, B. Paige, F. Wood (2014), Tempering by subsampling, section 2.

    Examples
    --------
    >>> from sklearn_subanneal.tempering import geometric_ladder
    >>> geometric_ladder(4, 0.125)
    array([1.   , 0.5  , 0.25 , 0.125])
    """
    if n_levels < 1:
        raise ValueError(f"n_levels must be at least 1, got {n_levels!r}; 1 is no tempering")
    if not 0.0 < min_inverse_temperature < 1.0:
        raise ValueError(
            f"min_inverse_temperature must be between 0 and 1, got {min_inverse_temperature!r}; give "
            "inverse_temperatures for a ladder that ends at 0"
        )
    return min_inverse_temperature ** (np.arange(n_levels) / max(n_levels - 1, 1))


def default_ladder(
    n_parameters: int, subsample: bool, n_levels: int | None = None, min_inverse_temperature: float | None = None
) -> NDArray:
    """A geometric ladder whose neighbours are near enough to swap, at most seven levels unless more are asked for.

    For a posterior that is nearly normal, two neighbours of ratio r differ by an expected log ratio of D (1/r - 1) if
    the lower one has a subset of the rows, and of D/2 (r + 1/r - 2) if it has a power of the likelihood.

    Parameters
    ----------
    n_parameters : int
    subsample : bool
    n_levels, min_inverse_temperature : optional
        What is known; None: by default. A ladder to 0 has the levels of the default one, and 0.

    Returns
    -------
    inverse_temperatures : ndarray of shape (n_levels,)
    """
    if min_inverse_temperature == 0.0:
        if n_levels is not None and n_levels < 2:
            raise ValueError(f"n_levels must be at least 2 for a ladder to 0, got {n_levels}")
        above = default_ladder(n_parameters, subsample, None if n_levels is None else n_levels - 1)
        return np.append(above, 0.0)
    if subsample:
        ratio = n_parameters / (n_parameters + LARGEST_BARRIER)
    else:
        half = 1.0 + LARGEST_BARRIER / n_parameters
        ratio = half - np.sqrt(half * half - 1.0)
    if min_inverse_temperature is None:
        min_inverse_temperature = max(0.125, ratio ** ((n_levels or MOST_LEVELS) - 1)) if n_levels != 1 else 0.5
    min_inverse_temperature = float(min_inverse_temperature)
    if n_levels is None:
        n_levels = min(MOST_LEVELS, 1 + int(np.ceil(np.log(min_inverse_temperature) / np.log(ratio) - 1e-9)))
    return geometric_ladder(n_levels, min_inverse_temperature)


def subset_ladder(n_parameters: int, n_observations: int) -> tuple[int, float]:
    """Number of levels, and lowest share, of a ladder by subsets that ends at two rows for each parameter.

    Subsets of a fixed share of many rows are no flatter than the posterior where modes are concerned.

    Examples
    --------
    >>> from sklearn_subanneal.tempering.ladders import subset_ladder
    >>> subset_ladder(1, 1000)
    (8, 0.002)
    """
    least = min(2.0 * n_parameters / n_observations, 0.5)
    ratio = n_parameters / (n_parameters + LARGEST_BARRIER)
    return 1 + int(np.ceil(np.log(least) / np.log(ratio))), least


def check_ladder(inverse_temperatures: ArrayLike) -> NDArray:
    """A given ladder as an array.

    Raises
    ------
    ValueError
        Unless it starts at 1 and decreases strictly to a number of at least 0.
    """
    try:
        ladder = np.asarray(inverse_temperatures, dtype=float)
    except (TypeError, ValueError, OverflowError):
        ladder = np.empty(0)
    if ladder.ndim != 1 or not len(ladder) or ladder[0] != 1.0 or not (np.diff(ladder) < 0.0).all() or ladder[-1] < 0.0:
        raise ValueError(
            "inverse_temperatures must start at 1 and decrease strictly to a number of at least 0, got "
            f"{shortened(inverse_temperatures)}"
        )
    return ladder


def adapted_ladder(inverse_temperatures: NDArray, rejections: NDArray, n_levels: int | None = None) -> NDArray:
    """The ladder with the same ends on which all swaps would be rejected equally often.

    The cumulated rejection, a function of the inverse temperature, is interpolated linearly in its logarithm, to which
    the lowest positive inverse temperature is added where the ladder ends at 0, and cut into equal parts.

    Parameters
    ----------
    inverse_temperatures : ndarray of shape (n_levels,)
    rejections : ndarray of shape (n_levels - 1,)
        Between neighbours, in [0, 1].
    n_levels : int or None, default=None
        Of the new ladder; None: as many.

    Returns
    -------
    inverse_temperatures : ndarray of shape (n_levels,)

    References
    ----------
    S. Syed, A. Bouchard-Cote, G. Deligiannidis, A. Doucet (2022), Non-reversible parallel tempering: a scalable highly
    parallel MCMC scheme, JRSS B 84, section 5.1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.tempering.ladders import adapted_ladder
    >>> adapted_ladder(np.array([1.0, 0.5, 0.25]), np.array([0.6, 0.2])).round(3)
    array([1.  , 0.63, 0.25])
    """
    n_levels = n_levels or len(inverse_temperatures)
    if len(inverse_temperatures) < 2 or (len(inverse_temperatures) == n_levels == 2):
        return inverse_temperatures
    # A rejection of zero would leave no way to tell levels apart.
    barrier = np.concatenate([[0.0], np.cumsum(np.maximum(rejections, 1e-3))])
    # Levels between the last but one and 0 are as near to it in this scale as to their neighbours.
    offset = 0.0 if inverse_temperatures[-1] > 0.0 else inverse_temperatures[-2]
    scale = np.log(inverse_temperatures + offset)
    out = np.exp(np.interp(np.linspace(0.0, barrier[-1], n_levels), barrier, scale)) - offset
    out[0], out[-1] = inverse_temperatures[0], inverse_temperatures[-1]
    return out


def first_ladder(log_likelihoods: NDArray, n_levels: int) -> NDArray:
    """A ladder to 0 before anything is known of the barrier, from the likelihood at draws of the reference.

    Its lowest positive inverse temperature is about the first at which the likelihood matters among such draws; from
    there it is geometric.

    Parameters
    ----------
    log_likelihoods : ndarray of shape (n_draws,)
    n_levels : int
        At least 2.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.tempering.ladders import first_ladder
    >>> first_ladder(np.array([-1000.0, -500.0, 0.0, 500.0]), 4).round(4)
    array([1.    , 0.0333, 0.0011, 0.    ])
    """
    finite = log_likelihoods[np.isfinite(log_likelihoods)]
    spread = np.subtract(*np.quantile(finite, [0.8, 0.2])) if len(finite) else 1.0
    lowest = float(np.clip(1.0 / max(spread, 1e-300), 1e-12, 0.1))
    return np.append(lowest ** (np.arange(n_levels - 1) / max(n_levels - 2, 1)), 0.0)
