"""SparseRegression, Gaussian-process regression by inducing points: a bound of the likelihood in place of itself."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh, solve_triangular
from scipy.linalg.blas import dsyrk
from scipy.linalg.lapack import dpotrf, dpotri

from sklearn_subanneal.gaussian_process.regression_model import Conditioned, GaussianProcessModel

# Added to the variance of the function at the inducing points, as a part of it: nearby points must not make their
# covariance singular.
RELATIVE_JITTER = 1e-8
# Points are chosen until so little of the variance is left anywhere.
NEGLIGIBLE = 1e-10


class _Projection(NamedTuple):
    """The factors of the covariance, of m inducing points and n rows.

    ``factor`` is the Cholesky factor L of the covariance of the points, ``half`` is L^-1 times that with the rows, over
    the noise's standard deviation; ``inner`` is 1 + half half', ``root`` its Cholesky factor.
    """

    noise: float
    factor: NDArray
    half: NDArray
    inner: NDArray
    root: NDArray
    target: NDArray


class SparseRegression(GaussianProcessModel):
    """A Gaussian-process regression whose function is known by its values at inducing points.

    In place of the likelihood there is the bound below it that is best among all distributions of these values. With m
    points and n rows it takes n m^2 operations in place of n^3; where the points explain the function at all rows, it
    is the likelihood.

    Parameters
    ----------
    model : GaussianProcessModel
        The regression that is approximated.
    points : ndarray of shape (n_points, n_features)

    References
    ----------
    M. Titsias (2009), Variational learning of inducing variables in sparse Gaussian processes, AISTATS, equation 9.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.gaussian_process import SparseRegression, StationaryModel
    >>> X = np.linspace(-2.0, 2.0, 200)[:, None]
    >>> exact = StationaryModel(X, np.sin(X[:, 0]))
    >>> sparse = SparseRegression(exact, X[::10])
    >>> theta = np.array([0.0, 0.0, -1.0])
    >>> bool(0.0 <= exact.log_likelihood(theta) - sparse.log_likelihood(theta) < 1e-3)
    True
    """

    def __init__(self, model: GaussianProcessModel, points: NDArray):
        super().__init__(model.X, model.y)
        self.model, self.points, self.climbing_time = model, points, model.climbing_time
        self.kernel, self.n_parameters, self.has_signal = model.kernel, model.n_parameters, model.has_signal

    def log_prior(self, theta: NDArray) -> float:
        """As of the model."""
        return self.model.log_prior(theta)

    def grad_log_prior(self, theta: NDArray) -> NDArray:
        """As of the model."""
        return self.model.grad_log_prior(theta)

    def sample_prior(self, rng) -> NDArray:
        """As of the model."""
        return self.model.sample_prior(rng)

    def typical(self) -> NDArray:
        """As of the model."""
        return self.model.typical()

    def limit_climbs(self, seconds: float) -> None:
        """As of any model, and of the approximated one."""
        super().limit_climbs(seconds)
        self.model.limit_climbs(seconds)

    def _starts(self) -> list[NDArray]:
        """As of any model, and the summit of the approximated one: the first where time is limited."""
        starts = [*super()._starts(), self.model.summit()[0]]
        return starts if self.climbing_time is None else starts[::-1]

    def covariance(self, theta: NDArray, X: NDArray, Y: NDArray | None = None) -> NDArray:
        """As of the model."""
        return self.model.covariance(theta, X, Y)

    def variance(self, theta: NDArray, X: NDArray) -> NDArray:
        """As of the model."""
        return self.model.variance(theta, X)

    def log_likelihood(self, theta: NDArray, rows=None) -> float:
        """The bound for some rows, or all; -inf where a covariance is singular to rounding."""
        X, y = self._data(rows)
        found = self._projected(theta, X, y)
        return -np.inf if found is None else self._bound(theta, X, y, found)

    def log_likelihood_and_gradient(self, theta: NDArray, rows=None) -> tuple[float, NDArray]:
        """``log_likelihood`` and its gradient."""
        X, y = self._data(rows)
        found = self._projected(theta, X, y)
        if found is None:
            return -np.inf, np.zeros(self.n_parameters)
        noise, factor, half, inner, root, target = found
        n_points, n_rows = half.shape
        inverse = dpotri(root, lower=1)[0]
        inverse = np.tril(inverse) + np.tril(inverse, -1).T
        # The inverse of the covariance of the rows, projected function and noise, times y; and its projection.
        weights = y / noise - half.T @ solve_triangular(root, target, lower=True, trans=1) / np.sqrt(noise)
        projected = np.sqrt(noise) * solve_triangular(factor, half @ weights, lower=True, trans=1)
        identity = np.eye(n_points)
        of_rows = solve_triangular(factor, identity - inverse, lower=True, trans=1) @ half / np.sqrt(noise)
        of_rows += np.outer(projected, weights)
        of_points = solve_triangular(factor, inner - 2.0 * identity + inverse, lower=True, trans=1)
        of_points = -0.5 * solve_triangular(factor, of_points.T, lower=True, trans=1) - 0.5 * np.outer(
            projected, projected
        )
        gradient = np.empty(self.n_parameters)
        gradient[:-1] = (
            self.model.slopes(theta, self.points, X, of_rows)
            + self.model.slopes(theta, self.points, None, of_points)
            + self.model.variance_slopes(theta, self.points) * (RELATIVE_JITTER / n_points * of_points.trace())
            - self.model.variance_slopes(theta, X) / (2.0 * noise)
        )
        unexplained = self.model.variance(theta, X).sum() - noise * (inner.trace() - n_points)
        slope = 0.5 * (weights @ weights - (n_rows - n_points + inverse.trace() - unexplained / noise) / noise)
        gradient[-1] = 2.0 * np.exp(2.0 * theta[-1]) * slope
        return self._bound(theta, X, y, found), gradient

    def condition(self, theta: NDArray) -> Conditioned:
        """The distribution of the function given the data, by the best distribution of its values at the points."""
        _, factor, _, inner, root, target = self._projected(theta, self.X, self.y)
        weights = solve_triangular(root, target, lower=True, trans=1)
        sizes, directions = eigh(inner)
        # What the data tell of the function: 1 - inner^-1, by its root, between the inverses of the factor.
        told = np.sqrt(np.maximum(1.0 - 1.0 / sizes, 0.0))[:, None] * directions.T
        return Conditioned(
            self.points,
            solve_triangular(factor, weights, lower=True, trans=1),
            explaining=solve_triangular(factor, told.T, lower=True, trans=1).T,
        )

    def lost(self, theta: NDArray) -> float:
        """Log density, for each row, that the points may cost: of the bound below the likelihood, each at its best.

        Both climb to a maximum of the posterior of as many rows as the likelihood can take, from ``theta`` and from
        the prior.
        """
        rows = self.some_rows()
        best = [max(own.highest([theta], rows)[1], own.summit()[1]) for own in (self.model, self)]
        return (best[0] - best[1]) / len(rows)

    def _projected(self, theta, X, y) -> _Projection | None:
        noise = self.noise_variance(theta)
        with np.errstate(all="ignore"):
            own = self.model.covariance(theta, self.points)
            cross = self.model.covariance(theta, self.points, X)
            own[np.diag_indices_from(own)] += RELATIVE_JITTER * self.model.variance(theta, self.points).mean()
        if not (np.isfinite(own).all() and np.isfinite(cross).all() and np.isfinite(noise)):
            return None
        factor, failed = dpotrf(own, lower=1, clean=1)
        if failed:
            return None
        half = solve_triangular(factor, cross, lower=True, check_finite=False) / np.sqrt(noise)
        inner = dsyrk(1.0, half, lower=1)
        inner = inner + np.tril(inner, -1).T
        inner[np.diag_indices_from(inner)] += 1.0
        root, failed = dpotrf(inner, lower=1, clean=1)
        if failed or not np.isfinite(root).all():
            return None
        target = solve_triangular(root, half @ y, lower=True) / np.sqrt(noise)
        return _Projection(noise, factor, half, inner, root, target)

    def _bound(self, theta, X, y, found: _Projection) -> float:
        noise, _, _, inner, root, target = found
        unexplained = self.model.variance(theta, X).sum() / noise - (inner.trace() - len(inner))
        out = target @ target - y @ y / noise - len(y) * np.log(2.0 * np.pi * noise) - unexplained
        return float(0.5 * out - np.log(np.diagonal(root)).sum())


def explaining_rows(model: GaussianProcessModel, n_points: int) -> NDArray:
    """Rows that explain the most of the function at all others, chosen one after the other.

    Each is the row at which the variance given those before is largest: a pivoted Cholesky factorisation, under the
    most probable hyperparameters of some rows. Where few points explain all under these, more are chosen under typical
    ones.

    Returns
    -------
    points : ndarray of shape (at most n_points, n_features)

    References
    ----------
    D. Burt, C. E. Rasmussen, M. van der Wilk (2020), Convergence of sparse variational inference in Gaussian processes
    regression, JMLR 21, section 4.2.
    """
    typical, rows = model.typical(), []
    for theta in (model.summit()[0], typical):
        rows = _more_rows(model, theta, rows, min(n_points, len(model.X)))
    return model.X[rows]


def _more_rows(model, theta, chosen, n_points):
    """Rows in addition to those chosen, until these explain all or there are so many."""
    X, rows = model.X, []
    left = np.array(model.variance(theta, X))
    least = NEGLIGIBLE * left.max()
    known = np.zeros((n_points, len(X)))
    queue = iter(chosen)
    while len(rows) < n_points:
        row = next(queue, None)
        row = int(np.argmax(left)) if row is None else row
        if left[row] <= least:
            # Of those chosen before, some may say nothing new under these hyperparameters.
            if len(rows) >= len(chosen):
                break
            rows.append(row)
            continue
        k = len(rows)
        known[k] = model.covariance(theta, X[[row]], X)[0] - known[:k, row] @ known[:k]
        known[k] /= np.sqrt(left[row])
        left = left - known[k] ** 2
        left[row] = 0.0
        rows.append(row)
    return rows
