"""DocumentPrior: the Dirichlet prior of the topic proportions of documents, fixed or learned."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import psi

# The least value of a learned prior of a topic: with a smaller one the topic would never be used again.
SMALLEST_PRIOR = 1e-4
# Updates of a learned prior for a minibatch: the fixed point is safe, but slow.
N_PRIOR_UPDATES = 20


class DocumentPrior:
    """The Dirichlet prior of topic proportions, fixed, or learned by Minka's fixed point.

    Parameters
    ----------
    values : ndarray of shape (n_topics,)
    learned : bool, default=False
    start : float, default=0.5
        Progress from which it is learned; before, topics change too much.
    divided : bool, default=False
        Whether the sum of the values is given, which is divided anew when topics are removed.

    References
    ----------
    T. Minka (2000), Estimating a Dirichlet distribution, section 4, the fixed point of the Polya distribution, which
    never decreases the likelihood.
    """

    def __init__(self, values: NDArray, learned: bool = False, start: float = 0.5, divided: bool = False):
        self.values = np.array(values, dtype=np.float64)
        self.learned = learned
        self.start = start
        self.divided = divided

    def keep(self, topics: NDArray) -> None:
        """Keep the values of these topics."""
        total = self.values.sum()
        self.values = self.values[topics]
        if self.divided:
            self.values *= total / self.values.sum()

    def halve(self, topics: NDArray) -> None:
        """Add topics that take half of the values of these; if the sum is given, all have the same value."""
        if self.learned:
            self.values[topics] *= 0.5
        values = np.append(self.values, self.values[topics])
        self.values = values * (self.values.sum() / values.sum()) if self.divided else values

    def update(self, gamma: NDArray, document_lengths: NDArray, inverse_temperature, progress: float, step: float):
        """Take a step towards the prior that maximises the likelihood of the expected numbers of tokens."""
        if not self.learned or progress < self.start or not document_lengths.any():
            return
        expected = np.maximum(gamma - self.values, 0.0) / np.reshape(inverse_temperature, (-1, 1))
        optimum = self.values
        for _ in range(N_PRIOR_UPDATES):
            total = optimum.sum()
            gains = (psi(optimum + expected) - psi(optimum)).sum(axis=0)
            optimum = optimum * gains / (psi(total + document_lengths) - psi(total)).sum()
            optimum = np.maximum(optimum, SMALLEST_PRIOR)
        self.values = self.values + step * (optimum - self.values)
