"""GaussianProcessModel, the base class of Gaussian-process regressions as densities of their hyperparameters."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_subanneal.tempering.log_densities import DifferentiableModel

# Added to the variance of the noise: duplicate rows must not make the matrix singular where the noise vanishes.
JITTER = 1e-9


class GaussianProcessModel(DifferentiableModel):
    """Gaussian-process regression as a density of its hyperparameters theta.

    The last parameter is the logarithm of the noise's standard deviation. A subclass sets ``n_parameters`` and defines
    the priors, the likelihood with its gradient, and the methods that raise here.

    Parameters
    ----------
    X : array-like of shape (n_observations, n_features)
    y : array-like of shape (n_observations,)
        Of mean 0.
    """

    def __init__(self, X: ArrayLike, y: ArrayLike):
        self.X, self.y = np.asarray(X, dtype=float), np.asarray(y, dtype=float)
        self.n_observations, self.n_features = self.X.shape

    def covariance(self, theta: NDArray, X: NDArray, Y: NDArray | None = None) -> NDArray:
        """Prior covariance of the function between rows of X, and of Y if it is given; without noise."""
        raise NotImplementedError(f"{type(self).__name__} must define covariance")

    def variance(self, theta: NDArray, X: NDArray) -> NDArray:
        """Prior variance of the function at rows of X, without noise."""
        raise NotImplementedError(f"{type(self).__name__} must define variance")

    def condition(self, theta: NDArray) -> tuple[NDArray, NDArray]:
        """Lower Cholesky factor of the covariance of the data, and its inverse times y: for predictions."""
        raise NotImplementedError(f"{type(self).__name__} must define condition")

    def noise_variance(self, theta: NDArray) -> float:
        """Variance of the noise of an observation."""
        return float(np.exp(2.0 * theta[-1])) + JITTER

    def _data(self, rows):
        return (self.X, self.y) if rows is None else (self.X[rows], self.y[rows])


def log_density(factor: NDArray, y: NDArray, weights: NDArray) -> float:
    """Log density of normal data whose covariance has this Cholesky factor; ``weights`` is its inverse times y."""
    return float(-0.5 * y @ weights - np.log(np.diagonal(factor)).sum() - 0.5 * len(y) * np.log(2.0 * np.pi))
