"""ClusterStability: how often the clusters of a fit are found by others, and the rows that belong to them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Hennig (2007) calls a cluster of a new clustering with at least this index a recovery.
RECOVERED = 0.75
# Parameters of the beta prior of a cluster's probability to be found again: those by which the clusters of fits of 24
# tables, with one, two and four chains, predicted best how many new fits found them (beta-binomial likelihood). It is a
# prior of extremes. All draws of a chain count as much as one fit: a correlation of 1 between them was likeliest, too.
PRIOR_FOUND, PRIOR_MISSED = 0.08, 0.13


@dataclass(frozen=True, eq=False)
class ClusterStability:
    """How often each cluster is found again by other fits of the same table, and how surely each row belongs to it.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_samples,)
        Cluster of each training row.
    probabilities_ : ndarray of shape (n_samples,)
        Probability of each training row's own cluster.
    recurrence_ : ndarray of shape (n_clusters,)
        Estimated probability that a fit of the same table with another ``random_state`` has a cluster whose Jaccard
        index with this one is at least 0.75: its posterior mean, where each chain, by the share of its draws, and each
        new fit is one observation.
    jaccard_ : ndarray of shape (n_clusters,)
        The largest Jaccard index with a cluster of another partition, the mean over all partitions by which the
        clusters were judged: Hennig's index of stability.
    n_refits_ : int
        How many fits have been made for this.

    References
    ----------
    C. Hennig (2007), Cluster-wise assessment of cluster stability, Computational Statistics & Data Analysis 52,
    258-271. doi:10.1016/j.csda.2006.11.025
    """

    labels_: NDArray
    probabilities_: NDArray
    recurrence_: NDArray
    jaccard_: NDArray
    n_refits_: int = 0

    @classmethod
    def of(
        cls,
        labels: NDArray,
        probabilities: NDArray,
        of_draws: NDArray,
        of_refits: NDArray | None = None,
        likeness: NDArray | None = None,
    ) -> ClusterStability:
        """The stability of clusters whose Jaccard indices are known.

        Parameters
        ----------
        labels, probabilities : ndarray of shape (n_samples,)
            Of the training rows.
        of_draws : ndarray of shape (n_chains, n_draws, n_clusters)
            The largest index of each cluster with one of a draw.
        of_refits : ndarray of shape (n_refits, n_clusters) or None, default=None
            The largest index of each cluster with one of another fit.
        likeness : ndarray of shape (n_chains, n_draws) or None, default=None
            What it counts if a draw has found a cluster, from 0 to 1. In a view of other columns, a cluster that is
            found may be there by chance. None: 1.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal.posterior import ClusterStability
        >>> of_draws = np.array([[[0.9, 0.5], [0.9, 0.8]], [[0.9, 0.4], [0.9, 0.4]]])  # two chains, draws and clusters
        >>> stability = ClusterStability.of(np.array([0, 0, 1]), np.ones(3), of_draws)
        >>> stability.recurrence_.round(2), stability.jaccard_.round(3)
        (array([0.94, 0.26]), array([0.9  , 0.525]))
        """
        n_chains, _, n_clusters = of_draws.shape
        of_refits = np.empty((0, n_clusters)) if of_refits is None else of_refits
        found_by_draws = (of_draws >= RECOVERED) * (1.0 if likeness is None else likeness[:, :, None])
        n_found = found_by_draws.mean(axis=1).sum(axis=0) + (of_refits >= RECOVERED).sum(axis=0)
        found = (PRIOR_FOUND + n_found) / (PRIOR_FOUND + PRIOR_MISSED + n_chains + len(of_refits))
        judged = np.concatenate([of_draws.reshape(-1, n_clusters), of_refits])
        return cls(labels, probabilities, found, judged.mean(axis=0), len(of_refits))

    def with_noise(self, min_probability: float = 0.0, min_recurrence: float = 0.0) -> NDArray[np.int64]:
        """The clusters of the training rows, -1 where a row is noise.

        Parameters
        ----------
        min_probability : float, default=0.0
            Rows whose own cluster is less probable are noise.
        min_recurrence : float, default=0.0
            All rows of clusters that are less likely to be found again are noise.

        Returns
        -------
        labels : ndarray of int64, shape (n_samples,)

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal.posterior import ClusterStability
        >>> stability = ClusterStability(
        ...     np.array([0, 0, 1]), np.array([1.0, 0.6, 1.0]), np.array([0.98, 0.3]), np.array([0.95, 0.5])
        ... )
        >>> stability.with_noise(min_probability=0.9)
        array([ 0, -1,  1])
        >>> stability.with_noise(min_recurrence=0.9)
        array([ 0,  0, -1])
        """
        noise = (self.probabilities_ < min_probability) | (self.recurrence_ < min_recurrence)[self.labels_]
        return np.where(noise, -1, self.labels_)
