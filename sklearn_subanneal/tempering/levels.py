"""The levels of a tempered sampler: densities between prior and posterior, and points with cached log densities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(slots=True)
class Point:
    """A parameter vector with its log prior and log likelihood, and their gradients where they have been evaluated."""

    theta: NDArray
    log_prior: float
    log_likelihood: float
    grad_log_prior: NDArray | None = None
    grad_log_likelihood: NDArray | None = None


def log_tempered(log_prior: NDArray, log_likelihood: NDArray, beta: NDArray) -> NDArray:
    """Log prior plus ``beta`` times log likelihood, of many points; the log prior where ``beta`` is 0."""
    with np.errstate(invalid="ignore"):
        return np.where(beta > 0.0, log_prior + beta * log_likelihood, log_prior)


class Level:
    """log h(theta) = beta log p(rows | theta) + log p(theta), up to a constant, and counts of its evaluations.

    Parameters
    ----------
    model : LogDensityModel
    beta : float
        Share of the rows if there are ``rows``, else the power of the likelihood of all.
    rows : ndarray of int or None
        The subset whose likelihood counts with full weight; None: all rows, to the power of ``beta``.

    Attributes
    ----------
    n_values, n_gradients : int
        Evaluations of the likelihood alone, and with its gradient.
    seen : list of Point or None
        If a list, every point that is evaluated with its gradient, and has a likelihood, is added to it.
    """

    def __init__(self, model, beta: float, rows: NDArray | None = None):
        self.model, self.beta, self.rows = model, beta, rows
        self.n_values = self.n_gradients = 0
        self.seen: list[Point] | None = None

    @property
    def power(self) -> float:
        """Power of the likelihood."""
        return self.beta if self.rows is None else 1.0

    @property
    def n_rows(self) -> int:
        """Number of rows in the likelihood."""
        if self.rows is None:
            return self.model.n_observations if self.beta > 0.0 else 0
        return len(self.rows)

    def point(self, theta: NDArray, gradient: bool = False) -> Point:
        """Evaluate the model."""
        log_prior = float(self.model.log_prior(theta))
        point = Point(theta, log_prior, -np.inf)
        if not log_prior < np.inf:
            raise ValueError(f"log_prior is {log_prior} at {theta=}; it must be -inf where the prior has no mass")
        if log_prior > -np.inf:
            if gradient:
                self._add_gradients(point)
            else:
                point.log_likelihood = self._value(theta)
        return point

    def log_density(self, point: Point) -> float:
        """Log h, -inf where it is zero."""
        if point.log_prior == -np.inf or point.log_likelihood == -np.inf:
            return -np.inf
        return point.log_prior + self.power * point.log_likelihood

    def gradient(self, point: Point) -> NDArray:
        """Gradient of log h at a point where h is not zero; evaluated if it has not been."""
        if point.grad_log_likelihood is None:
            self._add_gradients(point)
        return point.grad_log_prior + self.power * point.grad_log_likelihood

    def shares_data(self, other: Level) -> bool:
        """Whether points of the other level hold the likelihood that this one needs."""
        return self.rows is None and other.rows is None and (self.n_rows == other.n_rows)

    def adopt(self, point: Point, other: Level, gradient: bool = False) -> Point:
        """A point of another level, evaluated at this one unless both have the same data."""
        return point if self.shares_data(other) else self.point(point.theta, gradient)

    def _value(self, theta):
        if self.n_rows == 0:
            return 0.0
        self.n_values += 1
        return self._checked(theta, float(self.model.log_likelihood(theta, self.rows)))

    def _add_gradients(self, point):
        theta = point.theta
        point.grad_log_prior = np.asarray(self.model.grad_log_prior(theta), dtype=float)
        if self.n_rows == 0:
            point.log_likelihood, point.grad_log_likelihood = 0.0, np.zeros(len(theta))
            return
        self.n_gradients += 1
        value, gradient = self.model.log_likelihood_and_gradient(theta, self.rows)
        point.log_likelihood = self._checked(theta, float(value))
        point.grad_log_likelihood = np.asarray(gradient, dtype=float)
        if self.seen is not None and point.log_likelihood > -np.inf:
            self.seen.append(point)

    @staticmethod
    def _checked(theta, value):
        # A chain would never leave a point of +inf.
        if not value < np.inf:
            raise ValueError(f"log_likelihood is {value} at {theta=}; it must be -inf where it is not defined")
        return value
