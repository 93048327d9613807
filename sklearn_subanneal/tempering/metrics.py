"""Metrics of transition kernels, as Cholesky factors: from points alone, or from points and gradients."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, eigh

# Added to the variances of points and of gradients, in units in which both are equal: directions in which the points
# have not moved are as wide as these units.
LEAST_VARIANCE = 1e-5
ROUNDING = 1e-14


def metric_factor(points: NDArray, metric: str, weights: NDArray | None = None) -> NDArray:
    """Cholesky factor of the covariance of points, shrunk towards the mean variance while few of them count.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.tempering.metrics import metric_factor
    >>> points = np.random.default_rng(0).normal(size=(5000, 2)) * [1.0, 3.0]
    >>> metric_factor(points, "diagonal").round(1)
    array([[1., 0.],
           [0., 3.]])
    """
    n, n_parameters = points.shape
    if weights is not None:
        n = weights.sum() ** 2 / (weights @ weights)
    covariance = np.atleast_2d(np.cov(points, rowvar=False, aweights=weights))
    variances = np.diagonal(covariance)
    # The points of a chain that has not moved have no variance.
    variances = np.where(variances > 0.0, variances, 1e-6)
    if metric == "diagonal":
        share = n / (n + 5.0)
        return np.diag(np.sqrt(share * variances + (1.0 - share) * variances.mean()))
    share = n / (n + n_parameters + 5.0)
    # Enough for a factor of what rounding makes singular, in any units.
    ridge = (1.0 - share + 1e-12) * np.diag(variances)
    return cholesky(share * covariance + ridge, lower=True)


def scored_metric_factor(points: NDArray, gradients: NDArray, metric: str) -> NDArray | None:
    """Cholesky factor of the metric in which gradients vary as points do; None where either do not vary.

    In these units gradient and point of a normal density are equal but for the sign. It is found exactly from a few
    more points than there are parameters, wherever they are, while a covariance takes some hundreds. Of another density
    it is a compromise between how wide it is and how curved: the geometric mean of the covariance of the points and the
    inverse of that of the gradients.

    References
    ----------
    A. Seyboldt, E. L. Carlson, B. Carpenter (2026), Preconditioning Hamiltonian Monte Carlo by minimizing Fisher
    divergence.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.tempering.metrics import scored_metric_factor
    >>> covariance = np.array([[4.0, 1.9], [1.9, 1.0]])
    >>> points = np.random.default_rng(0).normal(size=(8, 2))
    >>> factor = scored_metric_factor(points, -points @ np.linalg.inv(covariance), "dense")
    >>> bool(np.allclose(factor @ factor.T, covariance, rtol=0.2))
    True
    """
    spread, curved = points.std(axis=0), gradients.std(axis=0)
    if not ((spread > 0.0) & (curved > 0.0)).all():
        return None
    unit = np.sqrt(spread / curved)
    if metric == "diagonal":
        return np.diag(unit)
    ridge = LEAST_VARIANCE * np.eye(points.shape[1])
    of_points = np.atleast_2d(np.cov(points / unit, rowvar=False)) + ridge
    of_gradients = np.atleast_2d(np.cov(gradients * unit, rowvar=False)) + ridge
    root = _power(of_points, 0.5)
    mean = root @ _power(root @ of_gradients @ root, -0.5) @ root
    return unit[:, None] * cholesky(0.5 * (mean + mean.T), lower=True)


def _power(matrix, exponent):
    """Power of a symmetric positive-definite matrix."""
    sizes, directions = eigh(matrix)
    # Rounding may make the smallest of very different sizes negative.
    return directions * np.maximum(sizes, ROUNDING * sizes[-1]) ** exponent @ directions.T
