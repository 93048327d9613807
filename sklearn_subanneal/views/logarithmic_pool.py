"""LogarithmicPool: classes of rows by what views of draws and single columns say of them, each with its weight."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.special import softmax

from sklearn_subanneal.mixtures.distinct_rows import DistinctRows
from sklearn_subanneal.mixtures.ensemble import Ensemble
from sklearn_subanneal.mixtures.predictive import Predictive
from sklearn_subanneal.views.class_densities import ClassDensities

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

    def probabilities(self, average: Ensemble, arrays: list[np.ndarray], rows: np.ndarray | None = None) -> np.ndarray:
        """Probabilities of the classes of rows.

        Parameters
        ----------
        average : Ensemble
            Of all draws; the factors of each are its views.
        arrays : list of ndarray of shape (n_rows,)
            Typed columns; that of the class is not looked at.
        rows : ndarray of int, shape (n_rows,), or None
            See :meth:`Ensemble.cells`.

        Returns
        -------
        probabilities : ndarray of shape (n_rows, n_classes)
        """
        log_shares = np.log(self.shares)
        out = np.empty((len(arrays[0]), len(log_shares)))
        weights = (self.chain_weights / np.bincount(self.owners))[self.owners]
        for some, cells in average.cells(arrays, average.most_clusters * average.widest, rows):
            logs = np.tile(log_shares, (cells.n_rows, 1))
            for weight, factors, tables in zip(weights, average.products, self.class_shares, strict=True):
                for factor, table in zip(factors, tables, strict=True):
                    joint = np.array(factor.log_shares(cells))
                    for member, densities in evidence_of_parts(factor, cells, self.column):
                        joint = joint + self.powers[member] * densities
                    of_view = 1.0 if self.column in factor.members else self.view_weight
                    logs += weight * of_view * (np.log(softmax(joint, axis=1) @ table) - log_shares)
            for j, densities in self.class_densities.of_cells(cells, np.flatnonzero(self.class_powers)):
                logs += self.class_powers[j] * densities
            out[some] = softmax(logs, axis=1)
        return out


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
