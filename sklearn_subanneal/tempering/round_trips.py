"""RoundTrips: which replica is at which level, and how often each has gone from the lowest to the first and back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Where a replica was last, of the two ends: at neither, at the lowest level, or at the first since the lowest.
NEITHER, LOWEST, FIRST = 0, 1, 2


class RoundTrips:
    """Counts of round trips, of one or more chains.

    Parameters
    ----------
    n_chains, n_levels : int

    Attributes
    ----------
    counts : ndarray of int, shape (n_chains,)
        Round trips of all replicas of a chain.

    References
    ----------
    S. Syed, A. Bouchard-Cote, G. Deligiannidis, A. Doucet (2022), Non-reversible parallel tempering: a scalable highly
    parallel MCMC scheme, JRSS B 84, section 3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.tempering.round_trips import RoundTrips
    >>> trips = RoundTrips(n_chains=1, n_levels=2)
    >>> for _ in range(4):
    ...     trips.reorder(np.array([[1, 0]]))
    ...     trips.look()
    >>> trips.counts
    array([3])
    """

    def __init__(self, n_chains: int, n_levels: int):
        self.replicas = np.tile(np.arange(n_levels), (n_chains, 1))
        self.status = np.full((n_chains, n_levels), NEITHER)
        self.status[:, -1] = LOWEST
        self.counts = np.zeros(n_chains, dtype=int)
        self._chains = np.arange(n_chains)

    def reorder(self, order: NDArray) -> None:
        """Level m of a chain has the replica now that level ``order[chain, m]`` had."""
        self.replicas = np.take_along_axis(self.replicas, order, axis=1)

    def look(self) -> None:
        """Note who is at the ends, once in an iteration."""
        lowest, first = self.replicas[:, -1], self.replicas[:, 0]
        self.counts += self.status[self._chains, lowest] == FIRST
        self.status[self._chains, lowest] = LOWEST
        arrived = self.status[self._chains, first] == LOWEST
        self.status[self._chains[arrived], first[arrived]] = FIRST

    def get_state(self) -> dict:
        """As arrays."""
        return {"replicas": self.replicas.copy(), "status": self.status.copy(), "counts": self.counts.copy()}

    def set_state(self, state: dict) -> None:
        """Restore what ``get_state`` gave."""
        for name, value in state.items():
            setattr(self, name, np.copy(value))
