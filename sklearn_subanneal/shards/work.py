"""What is sent to the blocks of a table and back: plans of sweeps, divisions of clusters, changes, gathered rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from sklearn_subanneal.columns._base import ColumnData


class RowStreams(NamedTuple):
    """The random numbers of the rows in one piece of work.

    Attributes
    ----------
    key : int
        Of the chain.
    stage : int
        Number of the piece of work.
    """

    key: int
    stage: int


@dataclass(frozen=True, eq=False)
class SweepPlan:
    """A sweep over the rows given parameters of the clusters.

    Attributes
    ----------
    streams : RowStreams
    parameters : list of dict of ndarray
        Of the clusters in each column, as ``ClusterParameters`` has them.
    log_weights : ndarray of shape (n_clusters,)
        Of the clusters; -inf: closed, neither left nor entered.
    anchor_share : float
        Share of the rows that stay where they are.
    by_thresholds : bool
        Whether each row chooses among the clusters whose weight is above a threshold, slice sampling.
    """

    streams: RowStreams
    parameters: list[dict]
    log_weights: np.ndarray
    anchor_share: float = 0.0
    by_thresholds: bool = False


@dataclass(frozen=True, eq=False)
class Division:
    """The division of one or two clusters in two sides, given parameters of these.

    Attributes
    ----------
    clusters : tuple of int
        One cluster, or the two that are on sides 0 and 1 now.
    anchors : tuple of (int, int)
        Rows of the table that are on sides 0 and 1 for sure.
    parameters : list of dict of ndarray
        Of the two sides in each column.
    log_weights : ndarray of shape (2,)
    streams : RowStreams
    drawn : bool
        Whether sides are drawn; else they are those of the present clusters.

    The last four are drawn anew for each round.
    """

    clusters: tuple
    anchors: tuple[int, int]
    parameters: list[dict] = field(default_factory=list)
    log_weights: np.ndarray = field(default_factory=lambda: np.zeros(2))
    streams: RowStreams | None = None
    drawn: bool = True


class FilledRows(NamedTuple):
    """Rows whose missing cells in one model are part of the state, filled.

    Attributes
    ----------
    rows : ndarray of int, shape (n_rows,)
        Their numbers in the table, increasing.
    places : ndarray of int, shape (n_rows,)
        Where each is among those of its block.
    values : ndarray of shape (n_rows, width)
    """

    rows: np.ndarray
    places: np.ndarray
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Gathered:
    """Some rows of the table.

    Attributes
    ----------
    labels : ndarray of int32, shape (n_rows,)
    cells : list of ColumnData
        Of each column.
    fillings : dict of int to FilledRows
        Of each model whose missing cells are state.
    """

    labels: np.ndarray
    cells: list[ColumnData]
    fillings: dict[int, FilledRows]

    def joined(self, other: Gathered) -> Gathered:
        """These rows, and others that follow them."""
        fillings = self.fillings | other.fillings
        for j in self.fillings.keys() & other.fillings.keys():
            fillings[j] = FilledRows(*map(np.concatenate, zip(self.fillings[j], other.fillings[j], strict=True)))
        cells = [own.joined([more]) for own, more in zip(self.cells, other.cells, strict=True)]
        return Gathered(np.concatenate([self.labels, other.labels]), cells, fillings)


@dataclass(frozen=True, eq=False)
class Change:
    """A change of labels.

    Attributes
    ----------
    n_clusters : int
        After it.
    splits : dict of int to int
        By the number of a division, of those of the last work: the cluster of the rows on its side 1.
    numbers : ndarray of int32, or None
        New numbers of the clusters, after the splits.
    rows : ndarray of int
        Numbers, increasing, of rows of the table that get other labels.
    labels : ndarray of int32
        These.
    fillings : dict of int to FilledRows
        New fillings of rows.
    """

    n_clusters: int
    splits: dict[int, int] = field(default_factory=dict)
    numbers: np.ndarray | None = None
    rows: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int64))
    labels: np.ndarray = field(default_factory=lambda: np.zeros(0, np.int32))
    fillings: dict[int, FilledRows] = field(default_factory=dict)
