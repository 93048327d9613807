"""Gaussian-process regression with a kernel of scikit-learn: priors, marginal likelihood and its gradient."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs
from scipy.special import gammaln
from sklearn.base import clone

from sklearn_subanneal.gaussian_process.regression_model import Conditioned, GaussianProcessModel, log_density

# Rows at a time where only variances are asked for, but kernels give covariances.
PIECE = 64


class KernelModel(GaussianProcessModel):
    """Gaussian-process regression with any kernel of scikit-learn, to which noise is added.

    theta holds the kernel's own ``theta`` and the logarithm of the noise's standard deviation.

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel
    X : array-like of shape (n_observations, n_features)
    y : array-like of shape (n_observations,)
    theta_deviation : float, default=1.5
        Standard deviation of the normal prior of the kernel's ``theta``, around where it stands.
    noise_prior : (float, float), default=(2.0, 2.0)
        Shape and rate of the gamma distribution of the noise's standard deviation.
    """

    def __init__(self, kernel, X: ArrayLike, y: ArrayLike, theta_deviation: float = 1.5, noise_prior=(2.0, 2.0)):
        super().__init__(X, y)
        # A copy: the caller may change the kernel.
        self.kernel, self.n_parameters = clone(kernel), len(kernel.theta) + 1
        self.theta_deviation, self.noise_prior = theta_deviation, noise_prior

    def log_prior(self, theta: NDArray) -> float:
        """Log density of the prior in the coordinates of theta, Jacobian included."""
        z = (theta[:-1] - self.kernel.theta) / self.theta_deviation
        shape, rate = self.noise_prior
        out = -0.5 * float(z @ z) - len(z) * (np.log(self.theta_deviation) + 0.5 * np.log(2.0 * np.pi))
        return out + shape * np.log(rate) - gammaln(shape) + shape * theta[-1] - rate * np.exp(min(theta[-1], 700.0))

    def grad_log_prior(self, theta: NDArray) -> NDArray:
        """Gradient of ``log_prior``."""
        shape, rate = self.noise_prior
        out = -(theta - np.append(self.kernel.theta, 0.0)) / self.theta_deviation**2
        out[-1] = shape - rate * np.exp(min(theta[-1], 700.0))
        return out

    def sample_prior(self, rng) -> NDArray:
        """A draw from the prior."""
        shape, rate = self.noise_prior
        draws = rng.normal(self.kernel.theta, self.theta_deviation)
        return np.append(draws, np.log(rng.gamma(shape, 1.0 / rate)))

    def covariance(self, theta: NDArray, X: NDArray, Y: NDArray | None = None) -> NDArray:
        """Prior covariance of the function between rows of X, and of Y if it is given; without noise."""
        return self.kernel.clone_with_theta(theta[:-1])(X, Y)

    def variance(self, theta: NDArray, X: NDArray) -> NDArray:
        """Prior variance of the function at rows of X, without noise."""
        return self.kernel.clone_with_theta(theta[:-1]).diag(X)

    def _factor(self, theta, X, gradient=False):
        with np.errstate(all="ignore"):
            found = self.kernel.clone_with_theta(theta[:-1])(X, eval_gradient=gradient)
            K, slopes = found if gradient else (found, None)
            noisy = K + self.noise_variance(theta) * np.eye(len(X))
        if not np.isfinite(noisy).all():
            return None
        factor, failed = dpotrf(noisy, lower=1, clean=1)
        return None if failed else (factor, slopes)

    def typical(self) -> NDArray:
        """Hyperparameters in the middle of their prior."""
        shape, rate = self.noise_prior
        return np.append(self.kernel.theta, np.log(shape / rate))

    def slopes(self, theta: NDArray, X: NDArray, Y: NDArray | None, weights: NDArray) -> NDArray:
        """Gradient of the weighted sum of ``covariance`` in all parameters but the noise's."""
        kernel, n = self.kernel.clone_with_theta(theta[:-1]), len(X)
        if Y is None:
            return np.tensordot(weights, kernel(X, eval_gradient=True)[1])
        # Kernels give gradients of the covariance of one set of rows alone: of both together, some at a time.
        out = np.zeros(self.n_parameters - 1)
        for first in range(0, len(Y), n):
            slopes = kernel(np.vstack([X, Y[first : first + n]]), eval_gradient=True)[1]
            out += np.tensordot(weights[:, first : first + n], slopes[:n, n:])
        return out

    def variance_slopes(self, theta: NDArray, X: NDArray) -> NDArray:
        """Gradient of the sum of ``variance`` in all parameters but the noise's."""
        kernel = self.kernel.clone_with_theta(theta[:-1])
        pieces = (X[first : first + PIECE] for first in range(0, len(X), PIECE))
        return sum(np.trace(kernel(piece, eval_gradient=True)[1]) for piece in pieces)

    def condition(self, theta: NDArray) -> Conditioned:
        """The distribution of the function given the data: for predictions."""
        factor = self._factor(theta, self.X)[0]
        return Conditioned(self.X, dpotrs(factor, self.y, lower=1)[0], factor)

    def log_likelihood(self, theta: NDArray, rows=None) -> float:
        """Log marginal likelihood of some rows, or all; -inf where the covariance is singular to rounding."""
        X, y = self._data(rows)
        found = self._factor(theta, X)
        return -np.inf if found is None else log_density(found[0], y, dpotrs(found[0], y, lower=1)[0])

    def log_likelihood_and_gradient(self, theta: NDArray, rows=None) -> tuple[float, NDArray]:
        """``log_likelihood`` and its gradient, from one factorisation."""
        X, y = self._data(rows)
        found = self._factor(theta, X, gradient=True)
        if found is None:
            return -np.inf, np.zeros(self.n_parameters)
        factor, slopes = found
        weights = dpotrs(factor, y, lower=1)[0]
        inverse = dpotri(factor, lower=1)[0]
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        matrix = np.outer(weights, weights) - inverse
        gradient = np.empty(self.n_parameters)
        gradient[:-1] = 0.5 * np.tensordot(matrix, slopes)
        gradient[-1] = np.exp(2.0 * theta[-1]) * np.trace(matrix)
        return log_density(factor, y, weights), gradient
