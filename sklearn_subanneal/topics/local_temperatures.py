"""Local variational tempering: a temperature for each document, inferred with its topic proportions."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_subanneal.variational import TemperatureVariable

# Weight of a minibatch in the mean over documents, from which the next minibatch starts.
MEMORY = 0.1


class LocalTemperatures(TemperatureVariable):
    """A latent temperature for every document: local variational tempering (LVT).

    Given a document's energy L (its log-likelihood under the topics) and its length N, the optimum of its q(y) is

        r_m proportional to pi_m exp(L / T_m - N log_partition_m).

    The mean energy of a token over all documents changes with the topics, and is smoothed with the same steps; q(y) of
    a document depends on the difference of its energy from the mean.

    Parameters
    ----------
    temperatures : array-like of shape (n_temperatures,)
        At least 1.
    log_partition : array-like of shape (n_temperatures,)
        Log partition function of one token.
    paper : bool, default=False
        Equation 10 as printed, exp((L / T_m + log pi_m) / T_m), with L the expected log joint of words and
        assignments: without a normaliser it prefers the highest temperature, and does not cool.

    Attributes
    ----------
    energy : float or None
        Mean energy of a token, as smoothed so far.
    inverse_temperature : float
        Mean of E[1/T] over recent documents; that of the prior before the first.

    References
    ----------
    S. Mandt, J. McInerney, F. Abrol, R. Ranganath, D. Blei (2016), Variational Tempering, AISTATS, section 3.4.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.topics.local_temperatures import LocalTemperatures
    >>> local = LocalTemperatures([1.0, 2.0], [0.0, 3.0])
    >>> local.of_documents(np.array([-5.0, -80.0]), np.array([10.0, 10.0])).round(3)
    array([1. , 0.5])
    """

    is_inferred = True
    # Means over the q(y) of each document only come near.
    reaches_one = False
    _changing = ("inverse_temperature", "energy")

    def __init__(self, temperatures: ArrayLike, log_partition: ArrayLike, paper: bool = False):
        self.grid = 1.0 / np.asarray(temperatures, dtype=np.float64)
        self.log_partition = np.asarray(log_partition, dtype=np.float64)
        self.paper = paper
        self.energy = None
        self.inverse_temperature = float(self.grid.mean())

    def of_documents(self, energies: NDArray, lengths: NDArray, step: float = 1.0) -> NDArray:
        """E[1/T] of each document; updates the means.

        Parameters
        ----------
        energies : ndarray of shape (n_documents,)
        lengths : ndarray of shape (n_documents,)
            Numbers of tokens.
        step : float, default=1.0
            Weight of these documents in the mean energy.

        Returns
        -------
        inverse_temperatures : ndarray of shape (n_documents,)
        """
        mean = energies.sum() / max(lengths.sum(), 1.0)
        self.energy = mean if self.energy is None else self.energy + step * (mean - self.energy)
        if self.paper:
            log_prior = -np.log(len(self.grid))
            log_weights = self.grid * (energies[:, None] * self.grid + log_prior)
        else:
            energies = energies + lengths * (self.energy - mean)
            log_weights = energies[:, None] * self.grid - lengths[:, None] * self.log_partition
        log_weights -= log_weights.max(axis=1, keepdims=True)
        weights = np.exp(log_weights)
        weights /= weights.sum(axis=1, keepdims=True)
        # Rounding may give more than 1.
        inverse_temperatures = np.minimum(weights @ self.grid, 1.0)
        self.inverse_temperature += MEMORY * (float(inverse_temperatures.mean()) - self.inverse_temperature)
        return inverse_temperatures
