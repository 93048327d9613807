"""ClusterStability: how often the clusters of a fit are found by others, and the rows that belong to them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

# Hennig (2007) calls a cluster of a new clustering with at least this index a recovery.
RECOVERED = 0.75
# Parameters of the beta prior of the probability that a chain has a cluster, of what the chain counts from which the
# cluster is, and of how many more clusters a fit of several chains has: chosen by how well the clusters of eight fits
# each of 19 tables, with one, two and four chains, predict how many of the other fits have them. A chain has its own
# clusters more easily than others have them; a fit of one chain must not be sure.
PRIOR_FOUND, PRIOR_MISSED, OWN_CHAIN, POWER = 0.08, 0.13, 0.5, 0.3
# Points at which the posterior is computed, log odds. They are dense around 0 and reach far: its tails are long.
STEPS = np.linspace(-6.4, 6.4, 1601)
LOG_ODDS, LOG_SPACE = np.sinh(STEPS), np.log(np.cosh(STEPS))


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
        Estimated probability that a fit of the same table with another ``random_state``, and as many chains, has a
        cluster whose Jaccard index with this one is at least 0.75: its posterior mean, as :func:`found_again` says.
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
        own: int | None = None,
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
        own : int or None, default=None
            The chain from which the clusters are. None: none of these.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn_subanneal.posterior import ClusterStability
        >>> of_draws = np.array([[[0.9, 0.5], [0.9, 0.8]], [[0.9, 0.4], [0.9, 0.4]]])  # two chains, draws and clusters
        >>> stability = ClusterStability.of(np.array([0, 0, 1]), np.ones(3), of_draws)
        >>> stability.recurrence_.round(2), stability.jaccard_.round(3)
        (array([0.96, 0.3 ]), array([0.9  , 0.525]))
        """
        n_chains, _, n_clusters = of_draws.shape
        of_refits = np.empty((0, n_clusters)) if of_refits is None else of_refits
        found_by_draws = (of_draws >= RECOVERED) * (1.0 if likeness is None else likeness[:, :, None])
        counts = np.ones(n_chains)
        if own is not None:
            counts[own] = OWN_CHAIN
        n_found = counts @ found_by_draws.mean(axis=1)
        n_refound = (of_refits >= RECOVERED).sum(axis=0)
        found = found_again(n_found, counts.sum() - n_found, n_refound, len(of_refits) - n_refound, n_chains)
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


def found_again(
    n_found: NDArray, n_missed: NDArray, n_refound: NDArray, n_remissed: NDArray, n_chains: int
) -> NDArray[np.float64]:
    """Probability that a new fit has a cluster, given how many chains and how many fits have it.

    Let t be the probability that a chain has it, with a beta prior that was learned from fits of other tables. Clusters
    of a fit are those of the draw that is most like the draws of all chains, which has more of the clusters that some
    chains have than a draw of a single one: with N chains, a fit has it with probability 1 - (1 - t)^(N^0.3). This
    form was found from the same fits. Given t, chains and fits are independent.

    Parameters
    ----------
    n_found, n_missed : ndarray of shape (n_clusters,)
        Number of chains that have each cluster, and that do not; a chain of whose draws some have it counts by shares.
    n_refound, n_remissed : ndarray of shape (n_clusters,)
        Number of other fits that do and that do not.
    n_chains : int
        Of a fit.

    Returns
    -------
    probabilities : ndarray of shape (n_clusters,)
        The posterior mean.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.posterior.cluster_stability import found_again
    >>> none = np.zeros(2)
    >>> found_again(np.array([3.5, 1.5]), np.array([0.0, 2.0]), none, none, n_chains=4).round(2)
    array([0.98, 0.54])
    """
    log_found, log_missed = -np.log1p(np.exp(-LOG_ODDS)), -np.log1p(np.exp(LOG_ODDS))
    log_remissed = n_chains**POWER * log_missed
    log_refound = np.log(-np.expm1(log_remissed))
    log_density = (
        LOG_SPACE
        + np.multiply.outer(PRIOR_FOUND + n_found, log_found)
        + np.multiply.outer(PRIOR_MISSED + n_missed, log_missed)
        + np.multiply.outer(n_refound, log_refound)
        + np.multiply.outer(n_remissed, log_remissed)
    )
    return softmax(log_density, axis=-1) @ np.exp(log_refound)
