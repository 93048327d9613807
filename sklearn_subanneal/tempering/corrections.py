"""Corrections of a subset's likelihood towards that of all rows: a power, and a quadratic for the rows left out."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lstsq, solve_triangular

from sklearn_subanneal.tempering.levels import Level, Point
from sklearn_subanneal.tempering.metrics import metric_factor

# Where the quadratic levels off, in units of how far posterior points are from their mean.
REACH = 2.0
# Equations for each unknown that a quadratic with all its cross terms demands.
EQUATIONS = 1.5
RIDGE = 1.0


class Correction:
    """log p(X | theta) ~ power log p(subset | theta) + slope . s + s . curvature s / 2, up to a constant.

    s = z / (1 + |z|^4 / radius^4)^(1/4) says where theta is, with z in coordinates in which the covariance of the
    points fitted is the identity. It is nearly z among the points, and bounded far from them, where quadratics know
    nothing: the corrected density is as proper as the subset's.

    Parameters
    ----------
    center : ndarray of shape (n_parameters,)
    factor : ndarray of shape (n_parameters, n_parameters)
        Lower triangular: theta = center + factor z.
    radius, power : float
    slope : ndarray of shape (n_parameters,)
    curvature : ndarray of shape (n_parameters, n_parameters)
    """

    def __init__(
        self, center: NDArray, factor: NDArray, radius: float, power: float, slope: NDArray, curvature: NDArray
    ):
        self.center, self.factor, self.radius = center, factor, radius
        self.power, self.slope, self.curvature = power, slope, curvature
        # It is small and triangular, and its inverse costs a fifth of a call that solves.
        self._whiten = solve_triangular(factor, np.eye(len(center)), lower=True)

    @classmethod
    def fit(cls, whole: Level, points: list[Point], subset: Level) -> Correction:
        """Least squares of values and gradients; the nearer a point to the best of them, the more it counts.

        Parameters
        ----------
        whole : Level
        points : list of Point
            Of ``whole``, with gradients.
        subset : Level
        """
        theta = np.array([point.theta for point in points])
        n_parameters = theta.shape[1]
        below_best = np.array([whole.log_density(point) for point in points])
        below_best = below_best.max() - below_best
        # A typical point is half as far below the best as there are parameters. What a quadratic leaves unexplained
        # grows with the cube of the distance.
        weights = (1.0 + (below_best / n_parameters) ** 2) ** -1.5
        center = weights @ theta / weights.sum()
        factor = metric_factor(theta, "dense", weights)
        radius = REACH * np.sqrt(n_parameters)
        z = solve_triangular(factor, (theta - center).T, lower=True).T
        s, shrink = _saturated(z, radius)

        # The diagonal of the curvature, and all of it if there are equations enough.
        first, second = np.diag_indices(n_parameters)
        if theta.size > EQUATIONS * n_parameters * (n_parameters + 3) / 2:
            first, second = np.triu_indices(n_parameters)
        terms = np.arange(len(first))
        # How the gradient by s depends on the unknowns, at each point.
        slopes = np.zeros((len(points), n_parameters, n_parameters + len(first)))
        slopes[:, :, :n_parameters] = np.eye(n_parameters)
        slopes[:, first, n_parameters + terms] += s[:, second]
        slopes[:, second, n_parameters + terms] += s[:, first]
        slopes = _through(slopes, z, shrink, radius)

        def centred(values):
            return np.sqrt(weights) * ((values - np.average(values, axis=0, weights=weights)).T)

        lower = [subset.point(point.theta, gradient=True) for point in points]
        rows = [centred(np.hstack([s, s[:, first] * s[:, second]])).T]
        wholes = [centred(np.array([point.log_likelihood for point in points]))]
        subsets = [centred(np.array([point.log_likelihood for point in lower]))]
        root = np.sqrt(weights)[:, None]
        rows.append((root[:, :, None] * slopes).reshape(-1, slopes.shape[2]))
        wholes.append((root * np.array([point.grad_log_likelihood for point in points]) @ factor).ravel())
        subsets.append((root * np.array([point.grad_log_likelihood for point in lower]) @ factor).ravel())
        rows = np.vstack([*rows, np.sqrt(RIDGE) * np.eye(slopes.shape[2])])
        zeros = np.zeros(slopes.shape[2])
        both = np.column_stack([np.concatenate([*wholes, zeros]), np.concatenate([*subsets, zeros])])
        solutions = lstsq(rows, both, check_finite=False)[0]
        # The power is the regression of what the quadratic leaves of the one on what it leaves of the other.
        rest, other = (both - rows @ solutions).T
        most = whole.n_rows / subset.n_rows if subset.n_rows else 0.0
        power = float(np.clip(rest @ other / max(other @ other, 1e-300), 0.0, most))
        found = solutions[:, 0] - power * solutions[:, 1]
        half = np.zeros((n_parameters, n_parameters))
        half[first, second] = found[n_parameters:]
        return cls(center, factor, radius, power, found[:n_parameters], half + half.T)

    def get_state(self) -> dict:
        """The arguments that make this correction."""
        names = ("center", "factor", "radius", "power", "slope", "curvature")
        return {name: vars(self)[name] for name in names}

    def value(self, theta: NDArray, log_likelihood: float) -> float:
        """The corrected log likelihood, from the subset's."""
        _, s, _ = self._place(theta)
        return self._value(s, log_likelihood)

    def value_and_gradient(self, theta: NDArray, log_likelihood: float, gradient: NDArray) -> tuple[float, NDArray]:
        """``value``, and its gradient from the subset's."""
        z, s, shrink = self._place(theta)
        of_z = _through((self.slope + self.curvature @ s)[:, None], z, shrink, self.radius)[:, 0]
        return self._value(s, log_likelihood), self.power * gradient + self._whiten.T @ of_z

    def _place(self, theta):
        z = self._whiten @ (theta - self.center)
        return z, *_saturated(z, self.radius)

    def _value(self, s, log_likelihood):
        if log_likelihood == -np.inf:
            return -np.inf
        return self.power * log_likelihood + float((self.slope + 0.5 * self.curvature @ s) @ s)


class CorrectedLevel(Level):
    """A level whose log likelihood is a subset's, corrected towards that of all rows, and has the power of theirs."""

    def __init__(self, subset: Level, correction: Correction, power: float = 1.0):
        super().__init__(subset.model, subset.beta, subset.rows)
        self.correction = correction
        self._power = power

    @property
    def power(self) -> float:
        """Power of the corrected likelihood."""
        return self._power

    def follow(self, whole: Level) -> None:
        """Take the power of the level that this one stands for, which changes with the ladder."""
        self._power = whole.power

    def _value(self, theta):
        return self.correction.value(theta, super()._value(theta))

    def _add_gradients(self, point):
        super()._add_gradients(point)
        point.log_likelihood, point.grad_log_likelihood = self.correction.value_and_gradient(
            point.theta, point.log_likelihood, point.grad_log_likelihood
        )


def _saturated(z, radius):
    """(s, s / z)."""
    # A trajectory that diverges ends in rejection.
    with np.errstate(over="ignore"):
        shrink = (1.0 + ((z * z).sum(axis=-1) / radius**2) ** 2) ** -0.25
    return z * shrink[..., None], shrink


def _through(of_s, z, shrink, radius):
    """Derivatives by z, rows of a matrix for each point, from those by s; the Jacobian is symmetric."""
    along = z[..., None, :] @ of_s
    less = shrink**5 * (z * z).sum(axis=-1) / radius**4
    return shrink[..., None, None] * of_s - less[..., None, None] * z[..., None] * along
