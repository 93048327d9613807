"""Reference densities, from which a ladder starts: normal, or independent priors of named parameters."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import LinAlgError, cholesky, solve_triangular

from sklearn_subanneal._core.arguments import checked_integer, shortened
from sklearn_subanneal.tempering.parameter_space import ParameterSpace

# Of differences, relative to the coordinate where that is beyond 1.
STEP = 1e-5


class NormalReference:
    """A normal density of the coordinates without constraints; it is sampled exactly.

    Parameters
    ----------
    mean : array-like of shape (n_parameters,)
    covariance : array-like of shape (n_parameters, n_parameters)

    Raises
    ------
    ValueError
        If shapes do not match, or the covariance is not positive definite.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.tempering import NormalReference
    >>> NormalReference([0.0], [[4.0]]).log_density(np.zeros((1, 1))).round(3)
    array([-1.612])
    """

    has_gradient = True

    def __init__(self, mean: ArrayLike, covariance: ArrayLike):
        self.mean, self.covariance = np.array(mean, dtype=float), np.array(covariance, dtype=float)
        n = len(self.mean) if self.mean.ndim == 1 else 0
        if not n or self.covariance.shape != (n, n) or not np.isfinite(self.mean).all():
            raise ValueError(
                f"a normal reference needs a finite mean of shape (n,) and a covariance of shape (n, n), got shapes "
                f"{self.mean.shape} and {self.covariance.shape}"
            )
        try:
            self._factor = cholesky(self.covariance, lower=True)
        except (LinAlgError, ValueError) as error:
            raise ValueError(f"the covariance of a normal reference must be positive definite: {error}") from error
        self._whiten = solve_triangular(self._factor, np.eye(n), lower=True)
        # Without correlations, a product by elements costs less than one of matrices.
        scales = np.diagonal(self._whiten)
        self._scales = scales if np.array_equal(self._whiten, np.diag(scales)) else None
        self._log_constant = -0.5 * n * np.log(2.0 * np.pi) - np.log(np.diagonal(self._factor)).sum()

    @property
    def n_parameters(self) -> int:
        """Number of coordinates."""
        return len(self.mean)

    def log_density(self, thetas: NDArray) -> NDArray:
        """Log density at points, shape (n_points,)."""
        centred = thetas - self.mean
        z = centred * self._scales if self._scales is not None else centred @ self._whiten.T
        return self._log_constant - 0.5 * np.einsum("ij,ij->i", z, z)

    def gradient(self, theta: NDArray) -> NDArray:
        """Gradient of the log density at one point."""
        return -self._whiten.T @ (self._whiten @ (theta - self.mean))

    def sample(self, rng: np.random.Generator, n: int) -> NDArray:
        """Independent draws, shape (n, n_parameters)."""
        return self.mean + rng.standard_normal((n, self.n_parameters)) @ self._factor.T

    @classmethod
    def fitted(cls, points: NDArray) -> NormalReference:
        """With the mean and the covariance of points, shrunk towards its diagonal while they are few."""
        n, n_parameters = points.shape
        covariance = np.atleast_2d(np.cov(points, rowvar=False))
        share = n / (n + n_parameters + 5.0)
        variances = np.diagonal(covariance)
        variances = np.where(variances > 0.0, variances, 1e-12)
        return cls(points.mean(axis=0), share * covariance + (1.0 - share) * np.diag(variances))


class IndependentReference:
    """Independent distributions of named parameters, by SciPy; their supports are the constraints.

    Parameters
    ----------
    distributions : dict of str to frozen distribution, or to a pair of one and a number
        Continuous distributions of :mod:`scipy.stats`, as ``scipy.stats.gamma(2.0)``; with a number n, as many
        independent parameters under one name.

    Attributes
    ----------
    space : ParameterSpace
        Reals, half-lines or intervals, as the supports are.

    Raises
    ------
    ValueError
        If one is no frozen continuous distribution.

    Examples
    --------
    >>> import numpy as np
    >>> from scipy import stats
    >>> from sklearn_subanneal.tempering import IndependentReference
    >>> reference = IndependentReference({"rate": stats.expon(), "x": (stats.norm(0.0, 2.0), 3)})
    >>> reference.n_parameters, reference.log_density(np.zeros((1, 4))).round(2)
    (4, array([-5.84]))
    """

    has_gradient = True

    def __init__(self, distributions: Mapping):
        self.distributions, parameters = {}, {}
        for name, given in distributions.items():
            pair = given if isinstance(given, tuple) and len(given) == 2 else (given, None)
            distribution, size = pair
            if not all(hasattr(distribution, method) for method in ("logpdf", "rvs", "support")):
                raise ValueError(
                    f"the distribution of {name} must be a frozen continuous distribution of scipy.stats, as "
                    f"scipy.stats.norm(0.0, 1.0), or a pair of one and a number, got {shortened(given)}"
                )
            low, high = distribution.support()
            if np.ndim(low) or np.ndim(high):
                raise ValueError(
                    f"the distribution of {name} must have scalar parameters; for several independent parameters give "
                    "a pair of a distribution and a number"
                )
            interval = (float(low), float(high))
            parameters[name] = interval if size is None else (interval, checked_integer(f"the size of {name}", size))
            self.distributions[name] = (distribution, size)
        self.space = ParameterSpace(parameters)

    @property
    def n_parameters(self) -> int:
        """Number of coordinates."""
        return self.space.n_parameters

    def log_density(self, thetas: NDArray) -> NDArray:
        """Log density of the coordinates, the Jacobian included, shape (n_points,)."""
        values, out = self.space.constrained(thetas), self.space.log_jacobian(thetas)
        # At the ends of a support, where coordinates overflow, there is no mass.
        with np.errstate(all="ignore"):
            for name, (distribution, size) in self.distributions.items():
                log_density = distribution.logpdf(values[name])
                out = out + (log_density if size is None else log_density.sum(axis=-1))
        return np.where(np.isnan(out) | (out == np.inf), -np.inf, out)

    def gradient(self, theta: NDArray) -> NDArray:
        """Gradient of ``log_density`` at a point, by central differences; 0 where it has none.

        Hamiltonian Monte Carlo stays exact: a gradient that is not quite right makes it accept less.
        """
        step = STEP * np.maximum(np.abs(theta), 1.0)
        none = {name: np.zeros(shape) for name, shape in self.space.shapes.items()}
        with np.errstate(all="ignore"):
            above, below = (self._log_densities(theta + sign * step) for sign in (1.0, -1.0))
            found = (above - below) / (2.0 * step) + self.space.gradient(theta, none)
        return np.where(np.isfinite(found), found, 0.0)

    def _log_densities(self, theta):
        """That of each value by itself, without the Jacobian."""
        values = self.space.constrained(theta)
        each = [np.atleast_1d(one.logpdf(values[name])) for name, (one, _) in self.distributions.items()]
        return np.concatenate(each)

    def sample(self, rng: np.random.Generator, n: int) -> NDArray:
        """Independent draws of the coordinates, shape (n, n_parameters)."""
        values = {}
        for name, (distribution, size) in self.distributions.items():
            drawn = distribution.rvs(size=n if size is None else (n, size), random_state=rng)
            # Some distributions round draws to an end of their support, which has no coordinate.
            low, high = distribution.support()
            values[name] = np.clip(drawn, np.nextafter(low, np.inf), np.nextafter(high, -np.inf))
        return self.space.unconstrained(values)


def as_reference(name: str, given, n_parameters: int | None):
    """A reference from what a user may give: an object, a dict of distributions, or a mean and a standard deviation.

    Raises
    ------
    ValueError
        If it is none of these, or its number of parameters is another, or not known.
    """
    if isinstance(given, Mapping):
        reference = IndependentReference(given)
    elif isinstance(given, tuple) and len(given) == 2:
        try:
            mean, sd = (np.asarray(part, dtype=float) for part in given)
            n = n_parameters or max(mean.size, sd.size)
            mean, sd = np.broadcast_to(mean, n), np.broadcast_to(sd, n)
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"{name} must be a mean and a standard deviation, numbers or one for each of the parameters, got "
                f"{shortened(given)}"
            ) from error
        if not (np.isfinite(sd).all() and (sd > 0.0).all()):
            raise ValueError(f"the standard deviations of {name} must be positive, got {shortened(given[1])}")
        reference = NormalReference(mean, np.diag(sd**2))
    elif all(hasattr(given, method) for method in ("log_density", "sample", "n_parameters")):
        reference = given
    else:
        raise ValueError(
            f"{name} must be a pair (mean, standard deviation), a dict from names to distributions of scipy.stats, or "
            f"a NormalReference, got {shortened(given)}"
        )
    if n_parameters is not None and reference.n_parameters != n_parameters:
        raise ValueError(f"{name} is one of {reference.n_parameters} parameters, and there are {n_parameters}")
    return reference
