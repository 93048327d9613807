"""Simulation-based calibration: parameters drawn from the prior must be typical of the posterior of their own data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator, RandomState, SeedSequence
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from sklearn_subanneal._core.random_states import seed_entropy
from sklearn_subanneal.diagnostics.named_statistics import TestFamily, holm_adjusted, values_in_order
from sklearn_subanneal.diagnostics.rank_uniformity import uniformity_p_value

# Values that differ by less than this part of the 0.9-quantile of all values are ties.
ROUNDING = 1e-9


@dataclass(frozen=True)
class CalibrationResult(TestFamily):
    """Outcome of :func:`calibrate`.

    Attributes
    ----------
    names : tuple of str
        The statistics.
    ranks : ndarray of int64, shape (n_replications, n_statistics)
        How many of the posterior draws are below the draw from the prior, from 0 to ``n_draws``; uniform if the
        posterior is right. Ties are broken at random, among them differences of less than 1e-9 of the 0.9-quantile of
        the absolute values of the statistic.
    n_draws : int
        Number of posterior draws in each replication.
    """

    names: tuple[str, ...]
    ranks: NDArray[np.int64]
    n_draws: int

    @cached_property
    def p_values(self) -> NDArray[np.float64]:
        """p-values of the hypotheses that the ranks of a statistic are uniform, shape (n_statistics,)."""
        return np.array([uniformity_p_value(ranks, self.n_draws + 1) for ranks in self.ranks.T])

    @property
    def adjusted_p_values(self) -> NDArray[np.float64]:
        """Holm's adjusted p-values over all statistics, shape (n_statistics,)."""
        return holm_adjusted(self.p_values)

    def __str__(self) -> str:
        """A table of the statistics, the smallest p-values first.

        ``mean rank`` is 0.5, and ``spread``, the standard deviation of the ranks over that of uniform ones, is 1 if the
        posterior is right. A mean rank below 0.5: the draws of the posterior are too large. A spread above 1: the
        posterior is too narrow, or its draws are not independent.
        """
        width = max(9, *map(len, self.names))
        relative = (self.ranks + 0.5) / (self.n_draws + 1)
        spread = self.ranks.std(axis=0) / np.sqrt(((self.n_draws + 1) ** 2 - 1) / 12.0)
        order = np.argsort(self.p_values, kind="stable")
        lines = [
            f"{self.names[i]:<{width}} {relative[:, i].mean():>10.3f} {spread[i]:>8.3f} {self.p_values[i]:>9.2g}"
            f" {self.adjusted_p_values[i]:>9.2g}"
            for i in order
        ]
        verdict = (
            f"{len(self.ranks)} replications of {self.n_draws} draws; least p-value, adjusted for {len(self.names)} "
            f"tests: {self.minimum_p_value:.2g}"
        )
        head = f"{'statistic':<{width}} {'mean rank':>10} {'spread':>8} {'p':>9} {'adjusted':>9}"
        return "\n".join([head, *lines, verdict])


def calibrate(
    draw_prior: Callable[[Generator], tuple[Any, Any]],
    draw_posterior: Callable[[Any, Generator], Iterable[Any]],
    statistics: Callable[[Any, Any], Mapping[str, float]],
    *,
    n_replications: int = 500,
    n_jobs: int | None = None,
    random_state: int | RandomState | Generator | None = None,
) -> CalibrationResult:
    """Simulation-based calibration of a posterior: of its model, its sampler and the length of its chains at once.

    In each replication, parameters are drawn from the prior, data given them, and draws from the posterior given the
    data. If, and only if, the posterior is right, the parameters from the prior are exchangeable with these draws, and
    the rank of any statistic of theirs among those of the draws is uniform. Ranks of each statistic are tested by their
    distribution function, with exact p-values.

    Statistics may depend on the data, and should: a posterior that ignores all or part of the data has uniform ranks in
    each statistic of the parameters alone, but not in the joint log likelihood (Modrák et al. 2022).

    The prior must not depend on the data. The draws of a replication must be nearly independent of one another and of
    the start of their chain: thin them, and discard the first. If they are not, ranks are too often extreme.

    Parameters
    ----------
    draw_prior : callable, rng -> (parameters, data)
        Draws parameters from the prior, and data given them.
    draw_posterior : callable, (data, rng) -> iterable of parameters
        Draws from the posterior, always the same number.
    statistics : callable, (parameters, data) -> dict of str to float
        Named statistics, always with the same names.
    n_replications : int, default=500
    n_jobs : int or None, default=None
        Replications run at once, by joblib. The result does not depend on it.
    random_state : int, RandomState instance, Generator or None, default=None
        Seed of the independent generators of the replications.

    Returns
    -------
    CalibrationResult
        Ranks and p-values of every statistic, `passed(level)`, and a table when printed.

    Raises
    ------
    ValueError
        If a number is too small, the number of draws varies, or a statistic is missing later or not finite.

    References
    ----------
    Talts, S., Betancourt, M., Simpson, D., Vehtari, A., Gelman, A. (2018). Validating Bayesian inference algorithms
    with simulation-based calibration. arXiv:1804.06788.

    Modrák, M., Moon, A. H., Kim, S., Bürkner, P., Huurre, N., Faltejsková, K., Gelman, A., Vehtari, A. (2022).
    Simulation-based calibration checking for Bayesian computation: the choice of test quantities shapes sensitivity.
    Bayesian Analysis. doi:10.1214/23-BA1404

    Säilynoja, T., Bürkner, P., Vehtari, A. (2022). Graphical test for discrete uniformity and its applications in
    goodness-of-fit evaluation and multiple sample comparison. Statistics and Computing 32, 32.
    doi:10.1007/s11222-022-10090-6

    Examples
    --------
    A mean with a standard normal prior, and one datum around it:

    >>> from sklearn_subanneal.diagnostics import calibrate
    >>> def draw_prior(rng):
    ...     mean = rng.normal()
    ...     return mean, rng.normal(mean)
    >>> def draw_posterior(x, rng):
    ...     return rng.normal(x / 2, 0.5**0.5, size=19)
    >>> def prior_again(x, rng):
    ...     return rng.normal(size=19)
    >>> def statistics(mean, x):
    ...     return {"mean": mean, "log likelihood": -0.5 * (x - mean) ** 2}
    >>> calibrate(draw_prior, draw_posterior, statistics, random_state=0).passed()
    True
    >>> calibrate(draw_prior, prior_again, statistics, random_state=0).passed()
    False
    """
    if n_replications < 1:
        raise ValueError(f"n_replications must be at least 1, got {n_replications}.")
    own_seed, *seeds = SeedSequence(seed_entropy(random_state)).spawn(1 + n_replications)
    jobs = (delayed(_replicate)(draw_prior, draw_posterior, statistics, seed) for seed in seeds)
    replications = Parallel(n_jobs=n_jobs)(jobs)
    names, n_draws = tuple(replications[0]), len(next(iter(replications[0].values()))) - 1
    for own in replications:
        if own.keys() != set(names):
            raise ValueError(f"statistics must return the same names always, got {sorted(own)} after {sorted(names)}.")
        if (other := len(own[names[0]]) - 1) != n_draws:
            raise ValueError(
                f"draw_posterior must return the same number of draws always, got {other} after {n_draws}."
            )
    values = np.array([[own[name] for name in names] for own in replications])
    return CalibrationResult(names, _ranks(values, np.random.default_rng(own_seed)), n_draws)


def _replicate(draw_prior, draw_posterior, statistics, seed) -> dict[str, NDArray[np.float64]]:
    """The values of each statistic in one replication: that of the prior draw, then those of the posterior draws."""
    rng = np.random.default_rng(seed)
    parameters, data = draw_prior(rng)
    named = statistics(parameters, data)
    names = tuple(named)
    if not names:
        raise ValueError("statistics must return at least one named number, got none.")
    values = [values_in_order(named, names)]
    values += [values_in_order(statistics(draw, data), names) for draw in draw_posterior(data, rng)]
    if len(values) == 1:
        raise ValueError("draw_posterior must return at least one draw, got none.")
    return dict(zip(names, np.transpose(values), strict=True))


def _ranks(values: NDArray[np.float64], rng: Generator) -> NDArray[np.int64]:
    """Ranks of the first of values of shape (n_replications, n_statistics, 1 + n_draws) among the others."""
    truth, draws = values[..., :1], values[..., 1:]
    # Values are equal but for rounding that are close compared with most values of the statistic.
    size = np.quantile(np.abs(values), 0.9, axis=(0, 2))[:, None]
    ties = np.abs(draws - truth) <= ROUNDING * size
    return ((draws < truth) & ~ties).sum(axis=-1) + rng.integers(ties.sum(axis=-1) + 1)
