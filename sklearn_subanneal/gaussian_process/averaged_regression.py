"""AveragedRegression: Gaussian-process predictions averaged over draws of hyperparameters, in the units of the data."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.special import logsumexp, ndtr

from sklearn_subanneal._core.blas import one_blas_thread
from sklearn_subanneal.gaussian_process.regression_model import GaussianProcessModel

# Rows whose covariances with all points are in memory together.
PIECE = 2000


@dataclass(frozen=True)
class Standardization:
    """Means and scales of features and target; the scale of a constant column is 1."""

    center: NDArray
    scale: NDArray
    y_center: float
    y_scale: float

    @classmethod
    def of(cls, X: NDArray, y: NDArray) -> Standardization:
        """Those of a table and its target."""
        return cls(X.mean(axis=0), _deviations(X), float(y.mean()), float(_deviations(y[:, None])[0]))

    def features(self, X: NDArray) -> NDArray:
        """Standardised rows."""
        return (X - self.center) / self.scale

    def target(self, y: NDArray) -> NDArray:
        """A standardised target."""
        return (y - self.y_center) / self.y_scale


class AveragedRegression:
    """An even mixture of the Gaussian processes under some draws of the hyperparameters, given the data.

    Parameters
    ----------
    model : GaussianProcessModel
        Of standardised data.
    standardization : Standardization
    draws : ndarray of shape (n_draws, n_parameters)

    Attributes
    ----------
    components : list of (theta, Conditioned)
        For each draw.
    """

    def __init__(self, model: GaussianProcessModel, standardization: Standardization, draws: NDArray):
        self.model, self.standardization = model, standardization
        with one_blas_thread():
            self.components = [(theta, model.condition(theta)) for theta in draws]

    def mean(self, X: NDArray) -> NDArray:
        """Mean of the function at rows of X, averaged over the draws, shape (n_rows,)."""
        means = np.concatenate([self._mean(rows) for rows in self._pieces(X)])
        return self._in_units(means)

    def moments(self, X: NDArray, full: bool, which: slice = slice(None)) -> tuple[NDArray, NDArray]:
        """Means, and variances or (``full``) covariances, of the function under each draw, or some of them.

        They are those of the standardised target: in its own units, squares of small numbers may be zero.

        Returns
        -------
        means : ndarray of shape (n_draws, n_rows)
        spreads : ndarray of shape (n_draws, n_rows) or (n_draws, n_rows, n_rows)
        """
        if full:
            return self._moments(self.standardization.features(X), full, which)
        means, spreads = zip(*(self._moments(rows, full, which) for rows in self._pieces(X)), strict=True)
        return np.concatenate(means, axis=1), np.concatenate(spreads, axis=1)

    def _pieces(self, X) -> Iterator[NDArray]:
        """Standardised rows, some at a time: their covariances with the points would take much memory together."""
        return (self.standardization.features(X[at : at + PIECE]) for at in range(0, len(X), PIECE))

    def _mean(self, X):
        means = [self.model.covariance(theta, own.points, X).T @ own.weights for theta, own in self.components]
        return np.mean(means, axis=0)

    def _moments(self, X, full, which):
        means, spreads = [], []
        for theta, own in self.components[which]:
            cross = self.model.covariance(theta, own.points, X)
            means.append(cross.T @ own.weights)
            half = own.explained(cross)
            if full:
                spread = self.model.covariance(theta, X) - half.T @ half
            else:
                spread = np.maximum(self.model.variance(theta, X) - np.einsum("ij,ij->j", half, half), 0.0)
            spreads.append(spread)
        return np.array(means), np.array(spreads)

    def mean_and_covariance(self, X: NDArray) -> tuple[NDArray, NDArray]:
        """Mean and covariance of the function under the mixture."""
        means, spreads = self.moments(X, True)
        mean = means.mean(axis=0)
        away = means - mean
        scale, covariance = self.standardization.y_scale, spreads.mean(axis=0) + away.T @ away / len(means)
        return self._in_units(mean), covariance * scale * scale

    def mean_and_deviation(self, X: NDArray) -> tuple[NDArray, NDArray]:
        """Mean and standard deviation of the function under the mixture."""
        means, spreads = self.moments(X, False)
        deviations = np.sqrt(spreads.mean(axis=0) + means.var(axis=0))
        return self._in_units(means.mean(axis=0)), deviations * self.standardization.y_scale

    def sample(self, X: NDArray, n_samples: int, rng: np.random.RandomState) -> NDArray:
        """Draws of the function, each under one draw of the hyperparameters, shape (n_rows, n_samples)."""
        which = rng.randint(len(self.components), size=n_samples)
        out = rng.standard_normal((n_samples, len(X)))
        with one_blas_thread():
            for k in np.unique(which):
                (mean,), (covariance,) = self.moments(X, True, slice(k, k + 1))
                factor, order = _pivoted_cholesky(covariance)
                out[np.ix_(which == k, order)] = mean[order] + out[which == k, : factor.shape[1]] @ factor.T
        return self._in_units(out.T)

    def log_predictive_density(self, X: NDArray, y: NDArray) -> NDArray:
        """Log density of each target, noise included, shape (n_rows,)."""
        means, variances = self._of_targets(X)
        away = self.standardization.target(y) - means
        log_densities = -0.5 * (away**2 / variances + np.log(2.0 * np.pi * variances))
        return logsumexp(log_densities, axis=0) - np.log(len(means)) - np.log(self.standardization.y_scale)

    def interval(self, X: NDArray, coverage: float) -> NDArray:
        """Central interval of each target, noise included: lower and upper ends, shape (n_rows, 2)."""
        means, variances = self._of_targets(X)
        deviations = np.sqrt(variances)
        ends = 0.5 - 0.5 * coverage, 0.5 + 0.5 * coverage
        return self._in_units(np.column_stack([mixture_quantile(means, deviations, p) for p in ends]))

    def log_marginal_likelihood(self, theta: NDArray) -> float:
        """Log marginal likelihood of the training targets in their own units."""
        return self.model.log_likelihood(theta) - len(self.model.y) * np.log(self.standardization.y_scale)

    def _in_units(self, values):
        return values * self.standardization.y_scale + self.standardization.y_center

    def _of_targets(self, X):
        """Means and variances of new standardised targets under each draw."""
        means, variances = self.moments(X, False)
        noise = np.array([self.model.noise_variance(theta) for theta, _ in self.components])
        return means, variances + noise[:, None]


def _pivoted_cholesky(covariance: NDArray) -> tuple[NDArray, NDArray]:
    """A factor with a column for each rank, and the order of the rows that it has: of smooth functions few ranks count.

    A plain Cholesky factor does not exist where the covariance is singular, as that of a function without noise may be.
    """
    factor, order, rank, _ = lapack.dpstrf(covariance, lower=1)
    return np.tril(factor)[:, :rank], order - 1


def mixture_quantile(means: NDArray, deviations: NDArray, p: float) -> NDArray:
    """Quantile of an even mixture of normals, for each column, by bisection.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.gaussian_process.averaged_regression import mixture_quantile
    >>> mixture_quantile(np.array([[0.0], [2.0]]), np.ones((2, 1)), 0.5).round(3)
    array([1.])
    """
    lower, upper = (means - 9.0 * deviations).min(axis=0), (means + 9.0 * deviations).max(axis=0)
    for _ in range(60):
        middle = 0.5 * (lower + upper)
        below = ndtr((middle - means) / deviations).mean(axis=0) < p
        lower, upper = np.where(below, middle, lower), np.where(below, upper, middle)
    return 0.5 * (lower + upper)


def _deviations(X):
    """Standard deviations of columns; 1 where they are constant."""
    # In units of the columns that are powers of two: squares of small numbers are zero to floating point.
    units = np.exp2(np.frexp(np.ptp(X, axis=0))[1] - 1)
    deviations = (X / units).std(axis=0) * units
    return np.where(deviations > 1e-12 * np.maximum(np.abs(X).max(axis=0), 1e-300), deviations, 1.0)
