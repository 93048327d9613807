"""A model whose posterior is known: the mean of a normal distribution."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import cho_factor, cho_solve


class GaussianMean:
    """The mean of a multivariate normal distribution of known covariance, with a normal prior around 0.

    Parameters
    ----------
    X : array-like of shape (n_observations, n_parameters)
    covariance : array-like of shape (n_parameters, n_parameters)
    prior_variance : float, default=1.0

    References
    ----------
    J.-W. van de Meent, B. Paige, F. Wood (2014), Tempering by subsampling, section 4.1.

    Examples
    --------
    >>> from sklearn_subanneal.tempering import GaussianMean
    >>> mean, covariance = GaussianMean([[1.0], [2.0]], covariance=[[1.0]]).posterior()
    >>> mean, covariance.round(3)
    (array([1.]), array([[0.333]]))
    """

    def __init__(self, X: ArrayLike, covariance: ArrayLike, prior_variance: float = 1.0):
        self.X = np.asarray(X, dtype=float)
        self.covariance = np.asarray(covariance, dtype=float)
        self.prior_variance = float(prior_variance)
        self.n_observations, self.n_parameters = self.X.shape
        if self.covariance.shape != (self.n_parameters, self.n_parameters):
            raise ValueError(
                f"covariance must have shape {(self.n_parameters, self.n_parameters)}, got {self.covariance.shape}"
            )
        self._precision = cho_solve(cho_factor(self.covariance), np.eye(self.n_parameters))
        self._log_constant = -0.5 * np.linalg.slogdet(2.0 * np.pi * self.covariance)[1]

    def log_prior(self, theta: NDArray) -> float:
        """Of the mean."""
        variance = self.prior_variance
        return -0.5 * float(theta @ theta) / variance - 0.5 * self.n_parameters * np.log(2.0 * np.pi * variance)

    def grad_log_prior(self, theta: NDArray) -> NDArray:
        """Gradient of ``log_prior``."""
        return -theta / self.prior_variance

    def log_likelihood(self, theta: NDArray, rows=None) -> float:
        """Of some rows, or all."""
        residuals = (self.X if rows is None else self.X[rows]) - theta
        return len(residuals) * self._log_constant - 0.5 * float(np.sum((residuals @ self._precision) * residuals))

    def grad_log_likelihood(self, theta: NDArray, rows=None) -> NDArray:
        """Gradient of ``log_likelihood``."""
        residuals = (self.X if rows is None else self.X[rows]) - theta
        return self._precision @ residuals.sum(axis=0)

    def sample_prior(self, rng) -> NDArray:
        """A draw from the prior."""
        return rng.normal(0.0, np.sqrt(self.prior_variance), self.n_parameters)

    def posterior(self) -> tuple[NDArray, NDArray]:
        """Mean and covariance of the posterior, in closed form."""
        covariance = np.linalg.inv(
            np.eye(self.n_parameters) / self.prior_variance + self.n_observations * self._precision
        )
        return covariance @ self._precision @ self.X.sum(axis=0), covariance
