"""Components, the variational factors of a factorial mixture at a temperature: updates, bound, activations of rows.

Row n is the sum of the components that are active in it, with noise (equation 12 of the paper, where all sigma are to
be read as variances):

    x_n = sum_k z_nk mu_k + e_n,   z_nk ~ Bernoulli(pi),   mu_k ~ N(0, component variance),   e_n ~ N(0, noise variance)

q(z_nk) is Bernoulli and q(mu_k) is N(m_k, s_k I). At E[1/T] = rho the likelihood p(x, z | mu) is raised to that power.

S. Mandt, J. McInerney, F. Abrol, R. Ranganath, D. Blei (2016), Variational Tempering, AISTATS, section 4, supplement C.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from sklearn_subanneal.factorial.activation_statistics import ROWS, ActivationStatistics, row_entropies

# Learned probabilities stay this far from 0 and 1, and a learned noise variance above this share of the mean square.
LEAST_PROBABILITY = 1e-4
LEAST_NOISE = 1e-6
# Of the mean eigenvalue of the precision of the means, at least so much is the prior's.
LEAST_SHARE = 1e-14
# In the inference of new rows the temperature falls by this factor, after so many sweeps each.
ROW_COOLING, ROW_SWEEPS = 3.0, 2


@dataclass
class Components:
    """The factors q(mu_k) = N(m_k, s_k I) and the parameters of the model.

    Attributes
    ----------
    means : ndarray of shape (n_components, n_features)
    variances : ndarray of shape (n_components,)
    activation_probability, noise_variance, component_variance : float
    """

    means: np.ndarray
    variances: np.ndarray
    activation_probability: float
    noise_variance: float
    component_variance: float

    def update(self, statistics: ActivationStatistics, inverse_temperature: float, cyclic: bool = False) -> None:
        """Set the factors q(mu_k) to their optimum given the rows, at E[1/T].

        Parameters
        ----------
        statistics : ActivationStatistics
        inverse_temperature : float
        cyclic : bool, default=False
            Whether the means are updated one after the other, each given the others, as published. Otherwise they are
            updated jointly: the bound is quadratic in all means, and one linear system gives its maximum.
        """
        weight = inverse_temperature / self.noise_variance
        precision = weight * statistics.pairs
        # The prior's share is above rounding: of components that are alike, the matrix would be singular without it.
        least = LEAST_SHARE * np.trace(precision) / len(precision)
        precision[np.diag_indices_from(precision)] += max(1.0 / self.component_variance, least)
        if cyclic:
            for k in range(len(precision)):
                self.means[k] += (weight * statistics.sums[k] - precision[k] @ self.means) / precision[k, k]
        else:
            self.means = np.linalg.solve(precision, weight * statistics.sums)
        self.variances = 1.0 / np.diagonal(precision)

    def learn(self, statistics: ActivationStatistics, noise: bool, activation: bool) -> None:
        """Set the noise variance and the activation probability to the optimum of the bound, at any temperature."""
        n_features = self.means.shape[1]
        if noise:
            variance = self.squared_error(statistics) / (statistics.n_rows * n_features)
            floor = LEAST_NOISE * statistics.square / (statistics.n_rows * n_features) or 1.0
            self.noise_variance = float(max(variance, floor))
        if activation:
            share = np.trace(statistics.pairs) / (statistics.n_rows * len(self.means))
            self.activation_probability = float(np.clip(share, LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY))

    def squares(self) -> np.ndarray:
        """E |mu_k|^2, shape (n_components,)."""
        return np.einsum("kd,kd->k", self.means, self.means) + self.means.shape[1] * self.variances

    def squared_error(self, statistics: ActivationStatistics) -> float:
        """E |X - Z mu|^2 over the rows of the statistics."""
        products = self.means @ self.means.T
        np.fill_diagonal(products, self.squares())
        error = statistics.square - 2.0 * np.vdot(self.means, statistics.sums) + np.vdot(products, statistics.pairs)
        return max(float(error), 0.0)

    def energy(self, statistics: ActivationStatistics) -> float:
        """E log p(X, Z | mu), the part of the bound that is divided by T."""
        n_components, n_features = self.means.shape
        active = np.trace(statistics.pairs)
        p = self.activation_probability
        return float(
            -0.5 * statistics.n_rows * n_features * np.log(2.0 * np.pi * self.noise_variance)
            - 0.5 * self.squared_error(statistics) / self.noise_variance
            + active * np.log(p)
            + (statistics.n_rows * n_components - active) * np.log1p(-p)
        )

    def divergence(self) -> float:
        """Kullback-Leibler divergence of q(mu) from the prior."""
        n_features = self.means.shape[1]
        ratio = self.variances / self.component_variance
        squares = np.einsum("kd,kd->k", self.means, self.means) / self.component_variance
        return float(0.5 * (squares + n_features * (ratio - 1.0 - np.log(ratio))).sum())

    def bound(self, statistics: ActivationStatistics, inverse_temperature: float = 1.0) -> float:
        """The annealed bound, equation 4 of the paper; at 1 a lower bound of log p(X)."""
        return inverse_temperature * self.energy(statistics) + statistics.entropy - self.divergence()

    def log_partition(self, temperatures: np.ndarray) -> np.ndarray:
        """Log integral of p(x, z | mu)^(1/T) over a row x and its z: the same for every mu; 0 at T = 1.

        Supplement C of the paper, with z in {0, 1} and the normaliser of the Gaussian tempered, too.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal.factorial.component_factors import Components
        >>> Components(np.zeros((1, 2)), np.ones(1), 0.5, 1.0, 1.0).log_partition(np.array([1.0, 2.0])).round(4)
        array([0.    , 1.9587])
        """
        n_components, n_features = self.means.shape
        temperatures = np.asarray(temperatures, dtype=float)
        log_odds = np.log([self.activation_probability, 1.0 - self.activation_probability])
        gaussian = np.log(temperatures) + (1.0 - 1.0 / temperatures) * np.log(2.0 * np.pi * self.noise_variance)
        return 0.5 * n_features * gaussian + n_components * np.logaddexp.reduce(
            log_odds[:, None] / temperatures.ravel(), axis=0
        ).reshape(temperatures.shape)

    def couplings(self, dtype) -> tuple[np.ndarray, np.ndarray]:
        """(log odds of each component alone (K,), interaction of pairs (K, K) with a zero diagonal) within a row."""
        p = self.activation_probability
        fields = np.log(p) - np.log1p(-p) - 0.5 * self.squares() / self.noise_variance
        pairs = self.means @ self.means.T / self.noise_variance
        np.fill_diagonal(pairs, 0.0)
        return fields.astype(dtype), pairs.astype(dtype)

    def activate(
        self,
        X: np.ndarray,
        activations: np.ndarray,
        inverse_temperature: float = 1.0,
        max_sweeps: int = 1,
        tol: float = 0.0,
    ) -> np.ndarray:
        """Coordinate ascent of q(z) of every row independently, one component after the other.

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
        activations : ndarray of shape (n_components, n)
            Probabilities from which to start.
        inverse_temperature : float
        max_sweeps : int
            Sweeps through the components.
        tol : float
            A row is not updated further after a sweep that changed none of its probabilities by more.

        Returns
        -------
        activations : ndarray of shape (n_components, n)
            The new probabilities, in a new array.
        """
        fields, pairs = self.couplings(X.dtype)
        data = (self.means / self.noise_variance).astype(X.dtype) @ X.T
        data += fields[:, None]
        rho = X.dtype.type(inverse_temperature)
        out = activations.copy()
        moving, present = None, out
        for sweep in range(max_sweeps):
            before = present.copy() if tol > 0.0 else None
            for k in range(len(present)):
                present[k] = expit(rho * (data[k] - pairs[k] @ present))
            if before is None or sweep == max_sweeps - 1:
                continue
            if moving is not None:
                out[:, moving] = present
            still = np.abs(present - before).max(axis=0) > tol
            if not still.any():
                return out
            if moving is None or not still.all():
                moving = np.flatnonzero(still) if moving is None else moving[still]
                data, present = data[:, still], present[:, still]
        if moving is not None:
            out[:, moving] = present
        return out

    def infer(self, X: np.ndarray, inverse_temperature: float = 1.0, max_sweeps: int = 100, tol: float = 1e-6):
        """q(z) of new rows: each independently and without randomness, cooled from the prior.

        The cooling starts at a temperature at which the components of a row are nearly independent; it depends on the
        components alone.

        Parameters
        ----------
        X : ndarray of shape (n, n_features)
        inverse_temperature : float
        max_sweeps : int
        tol : float

        Returns
        -------
        activations : ndarray of shape (n_components, n)
        """
        strongest = inverse_temperature * self.squares().max() / self.noise_variance
        n_levels = int(np.ceil(np.log(max(strongest, 1.0)) / np.log(ROW_COOLING)))
        out = np.empty((len(self.means), len(X)), X.dtype)
        for first in range(0, len(X), ROWS):
            rows = X[first : first + ROWS]
            present = np.full((len(self.means), len(rows)), self.activation_probability, X.dtype)
            for rho in ROW_COOLING ** -np.arange(n_levels, 0.0, -1.0):
                present = self.activate(rows, present, rho * inverse_temperature, ROW_SWEEPS)
            out[:, first : first + ROWS] = self.activate(rows, present, inverse_temperature, max_sweeps, tol)
        return out

    def row_bounds(self, X: np.ndarray, activations: np.ndarray) -> np.ndarray:
        """E log p(x_n, z_n | mu) - E log q(z_n): the lower bound of log p(x_n) given q(mu), shape (n,)."""
        fields, pairs = self.couplings(np.float64)
        square = np.einsum("nd,nd->n", X, X, dtype=np.float64)
        alone = self.means @ X.T / self.noise_variance + fields[:, None]
        given = np.einsum("kn,kn->n", activations, alone - 0.5 * (pairs @ activations))
        n_components, n_features = self.means.shape
        return (
            given
            + n_components * np.log1p(-self.activation_probability)
            - 0.5 * (square / self.noise_variance + n_features * np.log(2.0 * np.pi * self.noise_variance))
            + row_entropies(activations)
        )
