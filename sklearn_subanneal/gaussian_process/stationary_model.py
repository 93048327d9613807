"""Gaussian-process regression with a stationary kernel: priors, marginal likelihood and its gradient."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg.blas import dsymm, dsyrk
from scipy.linalg.lapack import dpotrf, dpotri, dpotrs
from scipy.special import gammaln

from sklearn_subanneal.gaussian_process._stationary import evaluate_pairs, weigh
from sklearn_subanneal.gaussian_process.regression_model import Conditioned, GaussianProcessModel, log_density

# Kernels by name, with the numbers by which their passes know them.
STATIONARY = {"squared-exponential": 0, "matern-3/2": 3, "matern-5/2": 5}


class StationaryModel(GaussianProcessModel):
    """Gaussian-process regression with a squared-exponential or Matern kernel, one length scale for each feature.

    theta holds the logarithms of the length scales, of the signal's standard deviation and of the noise's.

    Parameters
    ----------
    X : array-like of shape (n_observations, n_features)
    y : array-like of shape (n_observations,)
        Of mean 0.
    length_scale_prior : (float, float), default=(0.5, 1.0)
        Mean and standard deviation of the logarithm of a length scale.
    signal_prior, noise_prior : (float, float), default=(4.0, 1.0) and (2.0, 2.0)
        Shape and rate of the gamma distributions of the two standard deviations. The defaults are those of van de
        Meent, Paige and Wood.
    kernel : {"squared-exponential", "matern-3/2", "matern-5/2"}, default="squared-exponential"

    References
    ----------
    C. E. Rasmussen, C. K. I. Williams (2006), Gaussian Processes for Machine Learning, equations 4.9 and 4.17.
    J.-W. van de Meent, B. Paige, F. Wood (2014), Tempering by subsampling, section 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.gaussian_process import StationaryModel
    >>> model = StationaryModel([[0.0], [1.0]], [0.5, -0.5])
    >>> round(model.log_likelihood(np.zeros(3)), 3)
    -2.662
    """

    has_signal = True

    def __init__(
        self,
        X: ArrayLike,
        y: ArrayLike,
        length_scale_prior=(0.5, 1.0),
        signal_prior=(4.0, 1.0),
        noise_prior=(2.0, 2.0),
        kernel: str = "squared-exponential",
    ):
        super().__init__(X, y)
        self.kernel, self._smoothness = kernel, STATIONARY[kernel]
        self.n_parameters = self.n_features + 2
        self.length_scale_prior, self.signal_prior, self.noise_prior = length_scale_prior, signal_prior, noise_prior

    def log_prior(self, theta: NDArray) -> float:
        """Log density of the prior in the coordinates of theta, Jacobian included."""
        mean, deviation = self.length_scale_prior
        z = (theta[:-2] - mean) / deviation
        out = -0.5 * float(z @ z) - len(z) * (np.log(deviation) + 0.5 * np.log(2.0 * np.pi))
        for value, (shape, rate) in zip(theta[-2:], (self.signal_prior, self.noise_prior), strict=True):
            out += shape * np.log(rate) - gammaln(shape) + shape * value - rate * np.exp(min(value, 700.0))
        return out

    def grad_log_prior(self, theta: NDArray) -> NDArray:
        """Gradient of ``log_prior``."""
        mean, deviation = self.length_scale_prior
        out = np.empty(len(theta))
        out[:-2] = -(theta[:-2] - mean) / deviation**2
        for k, (shape, rate) in zip((-2, -1), (self.signal_prior, self.noise_prior), strict=True):
            out[k] = shape - rate * np.exp(min(theta[k], 700.0))
        return out

    def sample_prior(self, rng) -> NDArray:
        """A draw from the prior."""
        scales = rng.normal(*self.length_scale_prior, self.n_features)
        deviations = [np.log(rng.gamma(shape, 1.0 / rate)) for shape, rate in (self.signal_prior, self.noise_prior)]
        return np.append(scales, deviations)

    def covariance(self, theta: NDArray, X: NDArray, Y: NDArray | None = None) -> NDArray:
        """Prior covariance of the function between rows of X, and of Y if it is given; without noise."""
        return self._with_slopes(theta, X, Y)[0]

    def _with_slopes(self, theta, X, Y=None):
        """The covariance, and its slopes by half the squared distances, times -1."""
        scaled, halves = scale_rows(theta, X)
        if Y is None:
            return tuple(np.triu(upper) + np.triu(upper, 1).T for upper in self._upper(theta, scaled, halves))
        others, other_halves = scale_rows(theta, Y)
        return self._evaluated(theta, scaled @ others.T, halves, other_halves, False)

    def _upper(self, theta, scaled, halves):
        """As ``_with_slopes``, between scaled rows in upper triangles; the lower ones are not used."""
        return self._evaluated(theta, dsyrk(1.0, scaled.T, trans=1, lower=1).T, halves, halves, True)

    def _evaluated(self, theta, products, halves, other_halves, symmetric):
        slopes = np.empty_like(products) if self._smoothness else products
        evaluate_pairs(products, slopes, halves, other_halves, np.exp(2.0 * theta[-2]), self._smoothness, symmetric)
        return products, slopes

    def variance(self, theta: NDArray, X: NDArray) -> NDArray:
        """Prior variance of the function at rows of X, without noise."""
        return np.full(len(X), np.exp(2.0 * theta[-2]))

    def typical(self) -> NDArray:
        """Hyperparameters in the middle of their prior."""
        gammas = [np.log(shape / rate) for shape, rate in (self.signal_prior, self.noise_prior)]
        return np.append(np.full(self.n_features, float(self.length_scale_prior[0])), gammas)

    def slopes(self, theta: NDArray, X: NDArray, Y: NDArray | None, weights: NDArray) -> NDArray:
        """Gradient of the weighted sum of ``covariance`` in all parameters but the noise's."""
        scaled, _ = scale_rows(theta, X)
        others = scaled if Y is None else scale_rows(theta, Y)[0]
        covariance, slopes = self._with_slopes(theta, X, Y)
        terms = weights * slopes
        # sum_ab t_ab (x_ad - y_bd)^2, squares multiplied out
        out = np.empty(self.n_features + 1)
        out[:-1] = terms.sum(axis=1) @ scaled**2 + terms.sum(axis=0) @ others**2
        out[:-1] -= 2.0 * np.einsum("ij,ij->j", scaled, terms @ others)
        out[-1] = 2.0 * np.vdot(weights, covariance)
        return out

    def variance_slopes(self, theta: NDArray, X: NDArray) -> NDArray:
        """Gradient of the sum of ``variance`` in all parameters but the noise's."""
        return np.append(np.zeros(self.n_features), 2.0 * len(X) * np.exp(2.0 * theta[-2]))

    def condition(self, theta: NDArray) -> Conditioned:
        """The distribution of the function given the data: for predictions."""
        factor = self._factor(theta, self.X)[2]
        return Conditioned(self.X, dpotrs(factor, self.y, lower=1)[0], np.tril(factor))

    def _factor(self, theta, X):
        """(scaled rows, upper triangle of the slopes, Cholesky factor of the covariance with noise), or None."""
        with np.errstate(over="ignore", invalid="ignore"):
            scaled, halves = scale_rows(theta, X)
            signal, noise = np.exp(2.0 * theta[-2]), self.noise_variance(theta)
        if not (np.isfinite(halves).all() and np.isfinite(signal + noise)):
            return None
        K, slopes = self._upper(theta, scaled, halves)
        K.reshape(-1)[:: len(X) + 1] += noise
        # The slopes of the squared exponential are K itself, and what lies on their diagonal does not matter.
        factor, failed = dpotrf(K.T, lower=1, clean=0, overwrite_a=slopes is not K)
        return None if failed else (scaled, slopes, factor)

    def log_likelihood(self, theta: NDArray, rows=None) -> float:
        """Log marginal likelihood of some rows, or all; -inf where the covariance is singular to rounding."""
        X, y = self._data(rows)
        found = self._factor(theta, X)
        if found is None:
            return -np.inf
        return log_density(found[2], y, dpotrs(found[2], y, lower=1)[0])

    def log_likelihood_and_gradient(self, theta: NDArray, rows=None) -> tuple[float, NDArray]:
        """``log_likelihood`` and its gradient, from one factorisation."""
        X, y = self._data(rows)
        found = self._factor(theta, X)
        if found is None:
            return -np.inf, np.zeros(self.n_parameters)
        scaled, slopes, factor = found
        weights = dpotrs(factor, y, lower=1)[0]
        value = log_density(factor, y, weights)
        inverse = dpotri(factor, lower=1, overwrite_c=1)[0]
        weigh(slopes, weights, inverse.T)
        # sum_ab A_ab (x_ad - x_bd)^2 = 2 sum_a x_ad (x_ad sum_b A_ab - sum_b A_ab x_bd).
        sums = dsymm(1.0, slopes.T, np.column_stack([scaled, np.ones(len(y))]), lower=1)
        gradient = np.empty(self.n_parameters)
        gradient[:-2] = np.einsum("ij,ij->j", scaled, scaled * sums[:, -1:] - sums[:, :-1])
        noise, trace = self.noise_variance(theta), inverse.trace()
        # The covariance of the function is that of the data without the noise, so no product with it is needed.
        gradient[-2] = weights @ (y - noise * weights) - (len(y) - noise * trace)
        gradient[-1] = np.exp(2.0 * theta[-1]) * (weights @ weights - trace)
        return value, gradient


def scale_rows(theta: NDArray, X: NDArray) -> tuple[NDArray, NDArray]:
    """Rows in units of the length scales, and half their squared norms."""
    scaled = X * np.exp(-theta[:-2])
    return scaled, 0.5 * np.einsum("ij,ij->i", scaled, scaled)
