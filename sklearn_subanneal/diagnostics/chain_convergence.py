"""Convergence: whether the chains of a fit still climb, and whether they ended in the same partitions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats
from sklearn.exceptions import ConvergenceWarning

from sklearn_subanneal.annealing.stationarity import RISING
from sklearn_subanneal.diagnostics.convergence import effective_sample_size, rank_normalized_rhat
from sklearn_subanneal.posterior.labels import LabelCodes, encode_labels
from sklearn_subanneal.posterior.losses import adjusted_rand, binder_loss

# The trend is reported from this level on: one fit in two hundred without a trend.
LEVEL = 0.005
# A single chain of four may seem to rise by chance.
RISING_BY_CHANCE = 0.25
# Partitions of different chains are said to differ below this adjusted Rand index, those of the rows only if draws of
# one chain are more alike than that by the second number: else the posterior itself leaves the clusters open.
LEAST_AGREEMENT, SURPLUS = 0.8, 0.1
# From so many rows on it is reported if more than this share of them are alone in their clusters: chains whose rows
# never met agree, and are stationary.
ROWS_THAT_MEET, MOST_ALONE = 20, 0.9
# Partitions are compared in so many draws of each chain, and so many rows.
N_COMPARED, MOST_ROWS_COMPARED = 2, 2000


@dataclass(frozen=True)
class Convergence:
    """How far the chains of a fit can be trusted to have arrived.

    Attributes
    ----------
    rhat : float
        R-hat of the log joint density of the draws; nan for fewer than four draws of each chain.
    effective_size : float
        Effective sample size of the log joint density.
    trend : float
        Mean change of the log joint density from one draw to the next, in nats.
    trend_p_value : float
        Of the hypothesis that there is no trend, by a t test of these changes. They are independent if the log joint
        density wanders like a random walk, which makes a regression on time find trends where there are none; if it
        returns to a mean, the test is conservative. nan for fewer than four changes.
    n_rising : int
        Number of chains whose log joint density rises in their last sweeps, of which there are more than draws.
    rise : float
        The trend scores of these sweeps, added up over the chains and divided by the root of their number: standard
        normal for chains that are stationary. Together, chains may rise though none does beyond doubt. nan without
        chains of 30 such sweeps.
    row_agreement, row_agreement_within : float
        Mean adjusted Rand index of the partitions of the rows in draws of different chains, a pair of chains weighted
        by the product of their weights, and in the first and the last draw of the same chain. nan without two chains,
        or two draws.
    column_agreement, column_agreement_within : float
        The same of the views; nan without views.
    column_pairs_differ : float
        Share of the pairs of columns that share a view in a draw of one chain but not in one of another. The adjusted
        Rand index of a single view and one that leaves a column out is 0; this is 2 / n_columns. nan without views.
    alone : float
        Share of the rows that are alone in their clusters, in the first and the last draws. nan for fewer than 20 rows.
    n_chains : int

    References
    ----------
    L. Hubert, P. Arabie (1985), Comparing partitions, Journal of Classification 2, 193-218.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.diagnostics import Convergence
    >>> log_joint = np.random.default_rng(0).normal(size=(2, 10))
    >>> found = Convergence.of(log_joint, np.zeros((2, 10, 30), int))
    >>> found.converged, found.row_agreement
    (True, 1.0)
    >>> climbing = Convergence.of(log_joint + 5.0 * np.arange(10), np.zeros((2, 10, 30), int))
    >>> climbing.converged
    False
    """

    rhat: float
    effective_size: float
    trend: float
    trend_p_value: float
    n_rising: int
    rise: float
    row_agreement: float
    row_agreement_within: float
    column_agreement: float
    column_agreement_within: float
    column_pairs_differ: float
    alone: float
    n_chains: int

    @classmethod
    def of(
        cls,
        log_joint: ArrayLike,
        labels: ArrayLike,
        column_labels: ArrayLike | None = None,
        rise_scores: ArrayLike = (),
        chain_weights: ArrayLike | None = None,
    ) -> Convergence:
        """The convergence of draws.

        Parameters
        ----------
        log_joint : array-like of shape (n_chains, n_draws)
        labels : array-like of int, shape (n_chains, n_draws, n_samples)
            Clusters of the rows.
        column_labels : array-like of int, shape (n_chains, n_draws, n_columns), default=None
            Views of the columns.
        rise_scores : array-like of shape (n_chains,), default=()
            Trend scores of the last sweeps of the chains; nan: unknown.
        chain_weights : array-like of shape (n_chains,), default=None
            Weights of the chains in answers, positive; None: all are equal.
        """
        log_joint, labels = np.asarray(log_joint, float), np.asarray(labels)
        scores = np.asarray(rise_scores, float)
        known = scores[~np.isnan(scores)]
        alone = np.nan
        if labels.shape[2] >= ROWS_THAT_MEET:
            alone = np.mean([_share_alone(own[k]) for own in labels for k in _some_of(labels.shape[1])])
        labels = labels[:, :, :: -(-labels.shape[2] // MOST_ROWS_COMPARED)]
        weights = np.ones(len(log_joint)) if chain_weights is None else np.asarray(chain_weights, float)
        changes = np.diff(log_joint, axis=1).ravel()
        p_value = np.nan
        if changes.size >= 4:
            p_value = 1.0 if not changes.any() else stats.ttest_1samp(changes, 0.0).pvalue
        views = None if column_labels is None else np.asarray(column_labels)
        return cls(
            rhat=float(rank_normalized_rhat(log_joint)),
            effective_size=float(effective_sample_size(log_joint)),
            trend=float(changes.mean()) if changes.size else np.nan,
            trend_p_value=float(p_value),
            n_rising=int(np.sum(known > RISING)),
            rise=float(known.sum() / np.sqrt(len(known))) if len(known) else np.nan,
            row_agreement=_between_chains(adjusted_rand, labels, weights),
            row_agreement_within=_agreement_within(labels),
            column_agreement=np.nan if views is None else _between_chains(adjusted_rand, views, weights),
            column_agreement_within=np.nan if views is None else _agreement_within(views),
            column_pairs_differ=np.nan if views is None else _between_chains(_pairs_differ, views, weights),
            alone=float(alone),
            n_chains=len(log_joint),
        )

    @property
    def converged(self) -> bool:
        """Whether there is nothing to report; R-hat alone, of few draws, is not."""
        return not self.problems

    @property
    def problems(self) -> list[str]:
        """What there is to report, a sentence each."""
        out = []
        if self.trend_p_value < LEVEL:
            out.append(
                f"The log joint density still {'rises' if self.trend > 0 else 'falls'} by {abs(self.trend):.3g} nats "
                "from draw to draw."
            )
        elif self.n_rising > RISING_BY_CHANCE * self.n_chains:
            out.append(f"The log joint density of {self.n_rising} of {self.n_chains} chains still rises.")
        elif self.rise > RISING:
            out.append("Taken together, the log joint densities of the chains still rise.")
        if self.column_agreement < LEAST_AGREEMENT:
            found = _disagreement("views", self.column_agreement, self.column_agreement_within)
            out.append(f"{found} Of the pairs of columns, {self.column_pairs_differ:.1%} are placed differently.")
        if self.row_agreement < min(LEAST_AGREEMENT, self.row_agreement_within - SURPLUS):
            out.append(_disagreement("clusters", self.row_agreement, self.row_agreement_within))
        if self.alone > MOST_ALONE:
            out.append(
                f"In the draws {self.alone:.0%} of the rows are alone in their clusters: the table has no clusters "
                "that this model can find, or the chains never left a start without any."
            )
        return out

    def warn(self, stacklevel: int) -> None:
        """Issue a ``ConvergenceWarning`` that names the problems and what to do, unless there are none."""
        if self.problems:
            warnings.warn(
                " ".join(self.problems) + " Averages over the chains (densities, imputations, co_clustering, "
                "dependence_) are less affected than labels_ and column_labels_, which are those of one draw. More "
                "work helps: a larger effort, max_sweeps or time_limit, or more chains; see convergence_.",
                ConvergenceWarning,
                stacklevel=stacklevel + 1,
            )


def _disagreement(what: str, agreement: float, within: float) -> str:
    # With a single draw of each chain, nothing is known of those of one chain.
    own = "" if np.isnan(within) else f", while that of draws of one chain is {within:.2f}"
    return f"The chains disagree on the {what}: their mean adjusted Rand index is {agreement:.2f}{own}."


def _some_of(n_draws: int) -> NDArray:
    """Indices of the draws of which partitions are compared."""
    return np.unique(np.linspace(0, n_draws - 1, N_COMPARED).astype(int))


def _share_alone(labels: NDArray) -> float:
    """Share of rows that are alone in their clusters; rows without one have negative labels."""
    sizes = np.bincount(labels[labels >= 0])
    return np.sum(sizes == 1) / max(np.sum(sizes), 1)


def _agreement_within(labels: NDArray) -> float:
    """Mean adjusted Rand index of the first and the last draw of each chain."""
    if labels.shape[1] < 2:
        return np.nan
    return float(np.mean([adjusted_rand(*map(encode_labels, chain[[0, -1]])) for chain in labels]))


def _pairs_differ(a: LabelCodes, b: LabelCodes) -> float:
    """Share of the pairs that are together in one partition only."""
    return binder_loss(a.values, b.values)


def _between_chains(compare: Callable, labels: NDArray, weights: NDArray) -> float:
    """Mean of a comparison of draws of different chains, by the weights of the chains; nan for a single chain."""
    n_chains, n_draws = labels.shape[:2]
    coded = [[encode_labels(labels[i, k]) for k in _some_of(n_draws)] for i in range(n_chains)]
    pairs = list(combinations(range(n_chains), 2))
    found = [np.mean([compare(a, b) for a in coded[i] for b in coded[j]]) for i, j in pairs]
    return float(np.average(found, weights=[weights[i] * weights[j] for i, j in pairs])) if pairs else np.nan
