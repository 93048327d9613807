"""GaussianProcessModel, the base class of Gaussian-process regressions as densities of their hyperparameters."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import solve_triangular
from scipy.optimize import minimize

from sklearn_subanneal.annealing import clock
from sklearn_subanneal.tempering.log_densities import DifferentiableModel

# Added to the variance of the noise: duplicate rows must not make the matrix singular where the noise vanishes.
JITTER = 1e-9
# Rows, and steps, of a climb, and climbs to where a chain starts.
MOST_CLIMBED, MOST_STEPS, CLIMBS = 300, 60, 3


@dataclass(frozen=True, eq=False)
class Conditioned:
    """The distribution of a function given data, by its values at some points.

    Attributes
    ----------
    points : ndarray of shape (n_points, n_features)
    weights : ndarray of shape (n_points,)
        The mean at a row is the sum of its covariances with the points, times these.
    factor : ndarray of shape (n_points, n_points), or None
        Lower Cholesky factor of the covariance of the data.
    explaining : ndarray of shape (n_points, n_points), or None
        In its place, a matrix by which the covariances with the points are multiplied.
    """

    points: NDArray
    weights: NDArray
    factor: NDArray | None = None
    explaining: NDArray | None = None

    def explained(self, cross: NDArray) -> NDArray:
        """A root R of what the data explain, R'R, of the covariance of rows with these covariances with the points."""
        if self.explaining is not None:
            return self.explaining @ cross
        return solve_triangular(self.factor, cross, lower=True, check_finite=False)


class GaussianProcessModel(DifferentiableModel):
    """Gaussian-process regression as a density of its hyperparameters theta.

    The last parameter is the logarithm of the noise's standard deviation. A subclass sets ``n_parameters`` and defines
    the priors, the likelihood with its gradient, and the methods that raise here.

    Parameters
    ----------
    X : array-like of shape (n_observations, n_features)
    y : array-like of shape (n_observations,)
        Of mean 0.

    Attributes
    ----------
    has_signal : bool
        Whether the parameter before the last is the logarithm of the signal's standard deviation.
    climbing_time : float or None
        Seconds for the climbs to where a chain starts, and for those to the summit; None: as many as they take.
    """

    has_signal = False
    climbing_time: float | None = None
    _summit: tuple[NDArray, float] | None = None

    def __init__(self, X: ArrayLike, y: ArrayLike):
        self.X, self.y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
        self.n_observations, self.n_features = self.X.shape

    def covariance(self, theta: NDArray, X: NDArray, Y: NDArray | None = None) -> NDArray:
        """Prior covariance of the function between rows of X, and of Y if it is given; without noise."""
        raise NotImplementedError(f"{type(self).__name__} must define covariance")

    def variance(self, theta: NDArray, X: NDArray) -> NDArray:
        """Prior variance of the function at rows of X, without noise."""
        raise NotImplementedError(f"{type(self).__name__} must define variance")

    def typical(self) -> NDArray:
        """Hyperparameters in the middle of their prior."""
        raise NotImplementedError(f"{type(self).__name__} must define typical")

    def slopes(self, theta: NDArray, X: NDArray, Y: NDArray | None, weights: NDArray) -> NDArray:
        """Gradient of the weighted sum of ``covariance`` in all parameters but the noise's."""
        raise NotImplementedError(f"{type(self).__name__} must define slopes")

    def variance_slopes(self, theta: NDArray, X: NDArray) -> NDArray:
        """Gradient of the sum of ``variance`` in all parameters but the noise's."""
        raise NotImplementedError(f"{type(self).__name__} must define variance_slopes")

    def condition(self, theta: NDArray) -> Conditioned:
        """The distribution of the function given the data: for predictions."""
        raise NotImplementedError(f"{type(self).__name__} must define condition")

    def limit_climbs(self, seconds: float) -> None:
        """Set ``climbing_time``."""
        self.climbing_time = seconds

    def initial(self, rng: np.random.Generator) -> NDArray:
        """Where a chain starts: at the best of some maxima of the posterior of some rows, climbed to from the prior.

        Far out in the prior of many length scales all of the data is noise, and a chain would take long to leave it. Of
        several draws from the prior, one is seldom in a mode that hardly counts.
        """
        n_rows = min(self.n_observations, MOST_CLIMBED)
        rows = np.sort(rng.choice(self.n_observations, n_rows, replace=False))
        return self.highest((self.sample_prior(rng) for _ in range(CLIMBS)), rows)[0]

    def summit(self) -> tuple[NDArray, float]:
        """The best of some maxima of the posterior of some rows, climbed to from the prior, and its log density."""
        if self._summit is None:
            self._summit = self.highest(self._starts(), self.some_rows())
        return self._summit

    def _starts(self) -> list[NDArray]:
        """Where the climbs to the summit start."""
        rng = np.random.default_rng(0)
        return [self.typical(), *(self.sample_prior(rng) for _ in range(CLIMBS - 1))]

    def highest(self, starts: Iterable[NDArray], rows: NDArray) -> tuple[NDArray, float]:
        """The best of the maxima of the posterior of some rows that are climbed to from some starts.

        When the time for climbing is over, the present climb ends where it is, and no other one begins; the first one
        makes at least one step.

        Returns
        -------
        theta : ndarray of shape (n_parameters,)
        height : float
            Its log density.
        """
        deadline = np.inf if self.climbing_time is None else clock.now() + self.climbing_time
        best = None
        for start in starts:
            top = self.climbed(start, rows, deadline)
            best = top if best is None or top[1] > best[1] else best
            if deadline < np.inf and clock.now() >= deadline:
                break
        return best

    def some_rows(self) -> NDArray:
        """Numbers of rows, evenly spaced and at most as many as a climb takes."""
        return np.unique(np.linspace(0, self.n_observations - 1, MOST_CLIMBED).astype(int))

    def climbed(self, start: NDArray, rows: NDArray, deadline: float = np.inf) -> tuple[NDArray, float]:
        """A maximum of the posterior of some rows, at most ``MOST_STEPS`` steps from a start, and its log density.

        After the ``deadline``, on the clock, no further step is made.
        """

        def fall(theta):
            value, gradient = self.log_likelihood_and_gradient(theta, rows)
            height = value + self.log_prior(theta)
            return (-height, -gradient - self.grad_log_prior(theta)) if np.isfinite(height) else (np.inf, 0.0 * theta)

        def stop(_):
            if clock.now() >= deadline:
                raise StopIteration

        settings = {"method": "L-BFGS-B", "options": {"maxiter": MOST_STEPS}}
        found = minimize(fall, start, jac=True, callback=stop if deadline < np.inf else None, **settings)
        return (found.x, -float(found.fun)) if np.isfinite(found.fun) else (start, -np.inf)

    def noise_variance(self, theta: NDArray) -> float:
        """Variance of the noise of an observation."""
        return float(np.exp(2.0 * theta[-1])) + JITTER

    def _data(self, rows):
        return (self.X, self.y) if rows is None else (self.X[rows], self.y[rows])


def log_density(factor: NDArray, y: NDArray, weights: NDArray) -> float:
    """Log density of normal data whose covariance has this Cholesky factor; ``weights`` is its inverse times y."""
    return float(-0.5 * y @ weights - np.log(np.diagonal(factor)).sum() - 0.5 * len(y) * np.log(2.0 * np.pi))
