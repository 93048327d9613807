"""R-hat and effective number of draws by variances between and within chains alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def potential_scale_reduction(draws: NDArray) -> tuple[NDArray, NDArray]:
    """R-hat and effective number of draws of each element; NaN or infinite where no chain varies.

    Parameters
    ----------
    draws : ndarray of shape (n_chains, n_draws, ...)
        Two chains and two draws at least.

    Returns
    -------
    rhat, n_effective : ndarray of shape (...)

    References
    ----------
    J.-W. van de Meent, B. Paige, F. Wood (2014), Tempering by subsampling, equations 4 to 8 (6 with its square).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.tempering.scale_reduction import potential_scale_reduction
    >>> draws = np.random.default_rng(0).normal(size=(4, 1000))
    >>> potential_scale_reduction(draws + [[0.0], [0.0], [2.0], [2.0]])[0].round(1)
    np.float64(1.5)
    """
    n_chains, n_draws = draws.shape[:2]
    between = n_draws * draws.mean(axis=1).var(axis=0, ddof=1)
    within = draws.var(axis=1, ddof=1).mean(axis=0)
    variance = (n_draws - 1) / n_draws * within + between / n_draws
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.sqrt(variance / within), n_chains * n_draws * np.minimum(1.0, variance / between)
