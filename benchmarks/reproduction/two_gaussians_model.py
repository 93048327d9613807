"""A mixture of two Gaussians in one dimension: the smallest model whose bound loses its local optima as T grows.

It shows all that annealing asks of a model (figure 1 of the paper): its updates at E[1/T], and nothing else. With
unequal weights the two components can be found the right way round or swapped; the swapped one is a poorer optimum.

    x_n ~ sum_k weight_k N(mu_k, noise variance),    mu_k ~ N(0, prior variance),    q(mu_k) = N(m_k, s_k)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp, softmax

# Alternations of q(z) and s that a profile of the bound makes; they converge at once, since s hardly matters to q(z).
PROFILE_ROUNDS = 10


@dataclass(frozen=True)
class TwoGaussians:
    """The model; its means are all that is unknown.

    Parameters
    ----------
    weights : tuple of two floats, default=(0.7, 0.3)
        They sum to 1.
    noise_variance : float, default=1.0
    prior_variance : float, default=100.0

    References
    ----------
    S. Mandt, J. McInerney, F. Abrol, R. Ranganath, D. Blei (2016), Variational Tempering, AISTATS, figure 1.
    K. Katahira, K. Watanabe, M. Okada (2008), Deterministic annealing variant of variational Bayes method, J. Phys.:
    Conf. Ser. 95, 012015, doi:10.1088/1742-6596/95/1/012015.

    Examples
    --------
    >>> import numpy as np
    >>> from two_gaussians_model import TwoGaussians, n_maxima
    >>> model = TwoGaussians()
    >>> x = model.sample(200, (-3.0, 3.0), np.random.default_rng(0))
    >>> grid = np.linspace(-6.0, 6.0, 41)
    >>> [n_maxima(model.surface(x, grid, temperature)) for temperature in (20.0, 1.0)]
    [1, 2]
    """

    weights: tuple[float, float] = (0.7, 0.3)
    noise_variance: float = 1.0
    prior_variance: float = 100.0

    def sample(self, n: int, means, generator: np.random.Generator) -> np.ndarray:
        """``n`` observations from components at ``means``."""
        component = generator.choice(2, size=n, p=self.weights)
        return np.asarray(means)[component] + np.sqrt(self.noise_variance) * generator.standard_normal(n)

    def responsibilities(self, x, means, variances, inverse_temperature: float) -> np.ndarray:
        """q(z), the coordinate update of all observations; shape (..., 2, n) for means (..., 2)."""
        return softmax(inverse_temperature * self._expected_logs(x, means, variances), axis=-2)

    def components(self, x, responsibilities, inverse_temperature: float) -> tuple[np.ndarray, np.ndarray]:
        """Means and variances of q(mu), the coordinate update of both components; shapes (..., 2)."""
        weight = inverse_temperature / self.noise_variance
        variances = 1.0 / (1.0 / self.prior_variance + weight * responsibilities.sum(axis=-1))
        return variances * weight * (responsibilities @ x), variances

    def bound(self, x, means, variances, inverse_temperature: float = 1.0) -> np.ndarray:
        """The annealed bound, equation 4 of the paper, with q(z) at its optimum; shape (...) for means (..., 2)."""
        means, variances = np.asarray(means, dtype=float), np.asarray(variances, dtype=float)
        local = logsumexp(inverse_temperature * self._expected_logs(x, means, variances), axis=-2).sum(axis=-1)
        ratio = variances / self.prior_variance
        return local - 0.5 * (means**2 / self.prior_variance + ratio - 1.0 - np.log(ratio)).sum(axis=-1)

    def surface(self, x, grid, temperature: float) -> np.ndarray:
        """The bound over all pairs of means from ``grid``, everything else at its optimum.

        Parameters
        ----------
        x : ndarray of shape (n,)
        grid : ndarray of shape (g,)
        temperature : float

        Returns
        -------
        bounds : ndarray of shape (g, g)
            The mean of component 0 changes from row to row.
        """
        rho = 1.0 / temperature
        means = np.stack(np.meshgrid(grid, grid, indexing="ij"), axis=-1)
        variances = np.full(means.shape, self.noise_variance / len(x))
        for _ in range(PROFILE_ROUNDS):
            _, variances = self.components(x, self.responsibilities(x, means, variances, rho), rho)
        return self.bound(x, means, variances, rho)

    def ascend(self, x, means, inverse_temperatures) -> tuple[np.ndarray, np.ndarray]:
        """Coordinate ascent from ``means``, one round at each of the given temperatures.

        Parameters
        ----------
        x : ndarray of shape (n,)
        means : array-like of shape (2,)
        inverse_temperatures : array-like of shape (n_rounds,)

        Returns
        -------
        path : ndarray of shape (n_rounds + 1, 2)
            Means, from the start on.
        bounds : ndarray of shape (n_rounds,)
            The annealed bound after each round.
        """
        means = np.asarray(means, dtype=float)
        variances = np.full(2, self.noise_variance / len(x))
        path, bounds = [means], []
        for rho in inverse_temperatures:
            means, variances = self.components(x, self.responsibilities(x, means, variances, rho), rho)
            path.append(means)
            bounds.append(float(self.bound(x, means, variances, rho)))
        return np.array(path), np.array(bounds)

    def _expected_logs(self, x, means, variances):
        """E log p(x_n, z_n = k | mu), shape (..., 2, n)."""
        means, variances = np.asarray(means)[..., None], np.asarray(variances)[..., None]
        squares = (np.asarray(x) - means) ** 2 + variances
        return np.log(self.weights)[:, None] - 0.5 * (
            squares / self.noise_variance + np.log(2.0 * np.pi * self.noise_variance)
        )


def n_maxima(surface: np.ndarray) -> int:
    """Cells of a surface that are higher than all their neighbours, those at the rim apart."""
    inner = surface[1:-1, 1:-1]
    rows, columns = surface.shape
    neighbours = [
        surface[1 + i : rows - 1 + i, 1 + j : columns - 1 + j] for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j
    ]
    return int((inner > np.max(neighbours, axis=0)).sum())
