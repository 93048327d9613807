"""LogarithmicPool: classes of rows by what views of draws and single columns say of them, each with its weight."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from sklearn_subanneal.mixtures.distinct_rows import DistinctRows
from sklearn_subanneal.mixtures.ensemble import Ensemble
from sklearn_subanneal.mixtures.predictive import Predictive
from sklearn_subanneal.views.class_densities import ClassDensities

NO_COLUMN = -1
# So many numbers are held at once, 32 MB: much is done for each chunk of rows, each view and each pool.
MOST_EVIDENCE = 4_000_000
# The shares of the classes in a cluster are those with so many more rows, which have the classes as in the table.
EXTRA_ROWS = 1.0


@dataclass(frozen=True, eq=False)
class LogarithmicPool:
    """Probabilities of classes given the cells of a row, pooled over views of draws of several chains, and columns.

    In each view of each draw, the clusters of the row, and the classes of the training rows in these clusters, give
    probabilities of the classes. The cells of column j given the cluster count by their density to the power b_j:

        p_sv(class | row) = sum_k r_k share(class | k),   r_k ~ share_k prod_j p(cell j | k)^b_j.

    Views say different things of the class, and other columns are together in other chains. So the ratios of these
    probabilities to the shares of the classes in the table are multiplied, each with a weight:

        log p(class | row) = log share(class) + sum_c w_c mean_s sum_v h_v log(p_sv(class | row) / share(class))
                             + sum_j a_j log p(cell j | class)

    up to a constant, where s are the draws of chain c, and h_v is 1 for the view that has the class, and otherwise h.
    This is a logarithmic opinion pool (Genest and Zidek, 1986). Its last term is weighted naive Bayes: a cluster has
    rows of several classes, and what a column says beyond the clusters is in the densities in the classes themselves.

    Attributes
    ----------
    column : int
        The class, a column of the table.
    shares : ndarray of shape (n_classes,)
        Of the classes in the training table.
    class_shares : list of list of ndarray, shape (n_clusters + 1, n_classes)
        For each draw and view, the shares of the classes in each cluster and in a new one.
    owners : ndarray of int, shape (n_draws,)
        The chain of each draw.
    powers : ndarray of shape (n_columns,)
        The powers b of the columns.
    chain_weights : ndarray of shape (n_chains,)
        Positive. Their sum is about 1 if all chains say the same, and more if they say different things, or are less
        certain than the training rows allow.
    view_weight : float
        The weight h of a view that does not have the class.
    class_densities : ClassDensities
        Of the cells of each column in each class.
    class_powers : ndarray of shape (n_columns,)
        The powers a of these densities, between 0 and 1.

    References
    ----------
    C. Genest, J. V. Zidek (1986), Combining probability distributions: a critique and an annotated bibliography,
    Statistical Science 1, 114-135.
    """

    column: int
    shares: np.ndarray
    class_shares: list[list[np.ndarray]]
    owners: np.ndarray
    powers: np.ndarray
    chain_weights: np.ndarray
    view_weight: float
    class_densities: ClassDensities
    class_powers: np.ndarray

    @property
    def draw_weights(self) -> np.ndarray:
        """The weight of each draw: those of a chain share its weight."""
        return (self.chain_weights / np.bincount(self.owners))[self.owners]

    def probabilities(self, average: Ensemble, arrays: list[np.ndarray]) -> np.ndarray:
        """Probabilities of the classes of rows.

        Parameters
        ----------
        average : Ensemble
            Of all draws; the factors of each are its views.
        arrays : list of ndarray of shape (n_rows,)
            Typed columns; that of the class is not looked at.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes)
        """
        out = np.empty((len(arrays[0]), len(self.shares)))
        for _, rows, found in pooled_probabilities([self], average, arrays, [np.arange(len(out))]):
            out[rows] = found
        return out

    def opinion(self, evidence: np.ndarray, members: np.ndarray, has_class: bool, table: np.ndarray) -> np.ndarray:
        """What a view adds to the logarithms of the probabilities, but for the weight of its draw.

        Parameters
        ----------
        evidence : ndarray of shape (1 + n_parts, n_rows, n_clusters + 1)
            Log probabilities of the clusters, and log densities of the cells of each part.
        members : ndarray of int, shape (n_parts,)
            The first column of each part.
        has_class : bool
        table : ndarray of shape (n_clusters + 1, n_classes)
            ``class_shares`` of the view.

        Returns
        -------
        logs : ndarray of shape (n_rows, n_classes)
        """
        powers = np.append(1.0, np.where(members == self.column, 0.0, self.powers[members]))
        # A density of 0 to the power 0 is 1.
        used = np.flatnonzero(powers)
        joint = np.tensordot(powers[used], evidence[used], 1)
        return (1.0 if has_class else self.view_weight) * (np.log(softmax(joint, axis=1) @ table) - np.log(self.shares))


def pooled_probabilities(
    pools: Sequence[LogarithmicPool],
    average: Ensemble,
    arrays: list[np.ndarray],
    rows: Sequence[np.ndarray],
    numbers: np.ndarray | None = None,
) -> Iterator[tuple[LogarithmicPool, np.ndarray, np.ndarray]]:
    """Probabilities of the classes of several pools, each for some of the rows: densities are computed once.

    Parameters
    ----------
    pools : sequence of LogarithmicPool
        Of the same draws.
    average, arrays
        As of :meth:`LogarithmicPool.probabilities`.
    rows : sequence of ndarray of int, shape (n_rows_of_pool,)
        For each pool, the rows whose classes are asked for, ascending.
    numbers : ndarray of int, default=None
        The draws of ``average`` of which the pools are; None: all.

    Yields
    ------
    pool : LogarithmicPool
    some : ndarray of int, shape (n_some,)
        Some of its rows.
    probabilities : ndarray of shape (n_some, n_classes)
    """
    products = [average.products[s] for s in (range(len(average.products)) if numbers is None else numbers)]
    asked = np.unique(np.concatenate([np.empty(0, int), *rows]))
    n_parts = max(len(factor.parts) for factors in average.products for factor in factors)
    n_classes = max((len(pool.shares) for pool in pools), default=0)
    n_terms = max(average.most_clusters * max(average.widest, n_parts), n_classes)
    for some, cells in average.cells([array[asked] for array in arrays], n_terms, asked, MOST_EVIDENCE):
        chunk = []
        for pool, own in zip(pools, rows, strict=True):
            places = np.flatnonzero(np.isin(asked[some], own))
            if places.size:
                chunk.append((pool, places, pool.draw_weights, np.tile(np.log(pool.shares), (len(places), 1))))
        for s, factors in enumerate(products):
            for v, factor in enumerate(factors):
                members, evidence = _evidence(factor, cells)
                for pool, places, weights, logs in chunk:
                    has_class, table = pool.column in factor.members, pool.class_shares[s][v]
                    logs += weights[s] * pool.opinion(evidence[:, places], members, has_class, table)
        for pool, places, _, logs in chunk:
            for j, densities in pool.class_densities.of_cells(cells, np.flatnonzero(pool.class_powers)):
                logs += pool.class_powers[j] * (densities[places] if len(densities) > 1 else densities)
            yield pool, asked[some][places], softmax(logs, axis=1)


def _evidence(factor: Predictive, cells: DistinctRows) -> tuple[np.ndarray, np.ndarray]:
    """The first column of each part of a view, and its evidence, see :meth:`LogarithmicPool.opinion`."""
    parts = dict(evidence_of_parts(factor, cells, NO_COLUMN))
    shape = cells.n_rows, factor.n_clusters + 1
    evidence = [np.broadcast_to(own, shape) for own in (factor.log_shares(cells), *parts.values())]
    return np.fromiter(parts, int), np.stack(evidence)


def evidence_of_parts(factor: Predictive, cells: DistinctRows, column: int) -> Iterator[tuple[int, np.ndarray]]:
    """First member of each part of a view, but for one column, and log densities (n_rows, n_clusters + 1) of its cells.

    A single row of densities stands for all rows.
    """
    for part, densities, places in factor.scored(cells):
        if part.members[0] != column:
            yield part.members[0], densities if places is None else densities[places]


def class_shares(counts: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Shares of the classes in clusters that have so many rows of each class, both (..., n_classes)."""
    return (counts + EXTRA_ROWS * shares) / (counts.sum(axis=-1, keepdims=True) + EXTRA_ROWS)
