"""RowBlock, some consecutive rows of a table where they are: their labels, and the work that is done on them.

A block is never changed in place: work gives a new one, and a reply. Work that was lost can be done again, elsewhere,
and gives the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

import numpy as np

from sklearn_subanneal.columns._base import ColumnData, rebuild_columns
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.shards._row_sweep import (
    RowSweep,
    first_uniforms,
    lowest_threshold,
    probable_groups,
    rows_of_clusters,
)
from sklearn_subanneal.shards.work import Change, Division, FilledRows, Gathered, RowStreams, SweepPlan


@dataclass(frozen=True, eq=False)
class RowBlock:
    """The state of some consecutive rows of a table.

    Attributes
    ----------
    first_row : int
        Number of the first in the table.
    labels : ndarray of int32, shape (n_rows,)
        Cluster of each.
    counts : ndarray of int64
        Rows of each cluster; clusters beyond the end have none here.
    fillings : dict of int to ndarray
        Of each model whose missing cells are part of the state: the rows with such cells, filled.
    sides : tuple of (tuple of int, ndarray of int8)
        Of each proposed division of clusters: these, and the side of each of their rows.
    """

    first_row: int
    labels: np.ndarray
    counts: np.ndarray
    fillings: dict[int, np.ndarray] = field(default_factory=dict)
    sides: tuple = ()

    @classmethod
    def start(
        cls,
        models: Sequence[ColumnModel],
        cells: Sequence[ColumnData],
        first_row: int,
        labels: np.ndarray,
        fillings: dict[int, np.ndarray] | None = None,
    ) -> RowBlock:
        """A block whose missing cells are filled as given, or by the prior means of their columns, to begin with."""
        if fillings is not None:
            return cls(first_row, np.ascontiguousarray(labels, np.int32), np.bincount(labels), fillings)
        fillings = {}
        for j, (model, data) in enumerate(zip(models, cells, strict=True)):
            if model.stateful and (incomplete := _incomplete(data)).any():
                rows = data.array[incomplete]
                fillings[j] = np.where(np.isnan(rows), model.parameters["mu"], rows)
        return cls(first_row, np.ascontiguousarray(labels, np.int32), np.bincount(labels), fillings)

    def kept(self) -> tuple[np.ndarray, dict]:
        """What a block is made from again: its labels, in as few bytes as they need, and its fillings."""
        return self.labels.astype(np.min_scalar_type(int(self.labels.max(initial=0)))), self.fillings

    def digest(self, models, cells: Sequence[ColumnData]) -> str:
        """A digest of the cells."""
        out = sha256()
        for data in cells:
            out.update(np.ascontiguousarray(data.array).data)
        return out.hexdigest()

    def n_missing(self, models, cells: Sequence[ColumnData]) -> np.ndarray:
        """Missing cells of columns of codes."""
        return np.array([np.count_nonzero(data.array < 0) for data in cells])

    def anchored(self, streams: RowStreams, share: float, n_clusters: int) -> np.ndarray:
        """Number of the anchors of a sweep in each cluster, (n_clusters,)."""
        held = first_uniforms(len(self.labels), self.first_row, streams.key, streams.stage) < share
        return np.bincount(self.labels[held], minlength=n_clusters)

    def drawn(self, streams: RowStreams, ends: np.ndarray) -> tuple[RowBlock, np.ndarray]:
        """All rows in clusters at random, of shares that end at these cumulative sums; the reply: the rows in each."""
        shares = first_uniforms(len(self.labels), self.first_row, streams.key, streams.stage)
        labels = np.searchsorted(ends, shares, side="right").astype(np.int32)
        counts = np.bincount(labels, minlength=len(ends))
        return replace(self, labels=labels, counts=counts), counts

    def sweep(self, models, cells, plan: SweepPlan, priors: list[dict]) -> tuple[RowBlock, tuple]:
        """Draw the labels of the rows, of those that are no anchors and in open clusters or by slice sampling.

        The reply: how many changed, the rows in each cluster, and the statistics of each column.
        """
        labels, filled = self.labels.copy(), self._filled(cells)
        kernel = self._kernel(models, cells, filled, plan.parameters, plan.log_weights, plan.streams)
        n_moved = kernel.slice(labels) if plan.by_thresholds else kernel.assign(labels, plan.anchor_share)
        fillings = {j: own[_incomplete(cells[j])] for j, own in filled.items()}
        n_clusters = len(plan.log_weights)
        counts = np.bincount(labels, minlength=n_clusters)
        block = replace(self, labels=labels, counts=counts, fillings=fillings)
        return block, (n_moved, counts, block.sums(models, cells, priors, _all(labels), labels, n_clusters))

    def lowest(self, streams: RowStreams, log_weights: np.ndarray) -> float:
        """The logarithm of the lowest threshold of the rows in a sweep of slice sampling."""
        return lowest_threshold(self.labels, log_weights, self.first_row, streams.key, streams.stage)

    def sums(self, models, cells, priors: list[dict], rows, slots, n_clusters: int) -> list[dict]:
        """Statistics of each column over some rows, by the slots of these."""
        columns = []
        for j, (model, data, prior) in enumerate(zip(models, cells, priors, strict=True)):
            statistics = model.statistics(data, prior)
            if j in self.fillings:
                statistics.set_prior_state({"parameters": prior, "completed": self.fillings[j]})
            columns.append(statistics)
        rebuild_columns(columns, rows, slots, n_clusters)
        states = [statistics.get_state(n_clusters) for statistics in columns]
        return [{name: own for name, own in state.items() if name != "parameters"} for state in states]

    def all_sums(self, models, cells, priors: list[dict], n_clusters: int) -> tuple:
        """The rows in each cluster, and the statistics of each column."""
        counts = np.bincount(self.labels, minlength=n_clusters)
        return counts, self.sums(models, cells, priors, _all(self.labels), self.labels, n_clusters)

    def nearest(self, models, cells, states: list[dict], log_weights: np.ndarray, groups: np.ndarray) -> tuple:
        """The most probable group of clusters of each row, and its probability; parameters are integrated out."""
        columns = []
        for model, data, state in zip(models, cells, states, strict=True):
            statistics = model.statistics(data, state["parameters"])
            statistics.set_state(state)
            columns.append(statistics)
        return probable_groups(columns, log_weights, groups.astype(np.int32), len(self.labels))

    def gathered(self, models, cells, rows: np.ndarray) -> Gathered:
        """What is known of those of some rows that are in the block; ``rows`` are numbers in the table, increasing."""
        numbers = rows[self._within(rows)]
        own = numbers - self.first_row
        fillings = {}
        for j, filled in self.fillings.items():
            incomplete = _incomplete(cells[j])
            have = incomplete[own]
            places = (incomplete.cumsum() - 1)[own[have]]
            fillings[j] = FilledRows(numbers[have], places, filled[places])
        return Gathered(self.labels[own], [data.take(own) for data in cells], fillings)

    def _within(self, rows: np.ndarray) -> slice:
        """The part of increasing numbers of rows of the table that is in the block."""
        return slice(*np.searchsorted(rows, [self.first_row, self.first_row + len(self.labels)]))

    def n_in(self, cluster: int) -> int:
        """Rows of a cluster."""
        return int(self.counts[cluster]) if cluster < len(self.counts) else 0

    def nth(self, cluster: int, rank: int) -> int:
        """The row, as it is numbered in the table, that has this rank among the block's rows of a cluster."""
        return self.first_row + int(np.flatnonzero(self.labels == cluster)[rank])

    def changed(self, change: Change) -> tuple[RowBlock, np.ndarray]:
        """The block after some rows have got other labels and fillings, and clusters other numbers.

        The reply is the rows in each cluster.
        """
        labels, fillings = self.labels.copy(), dict(self.fillings)
        for division, number in change.splits.items():
            clusters, sides = self.sides[division]
            labels[self._rows_of(clusters)[0][sides == 1]] = number
        if change.numbers is not None:
            labels = change.numbers[labels]
        own = self._within(change.rows)
        labels[change.rows[own] - self.first_row] = change.labels[own]
        for j, filled in change.fillings.items():
            own = self._within(filled.rows)
            if own.start < own.stop:
                fillings[j] = fillings[j].copy()
                fillings[j][filled.places[own]] = filled.values[own]
        counts = np.bincount(labels, minlength=change.n_clusters)
        return replace(self, labels=labels, counts=counts, fillings=fillings, sides=()), counts

    def divided(self, models, cells, divisions: Sequence[Division], priors: list[dict]) -> tuple[RowBlock, list]:
        """Divide the rows of some clusters in two; the block keeps the sides of its rows.

        The reply has for each division the log probability of the sides, the rows on each, and their statistics.
        """
        filled, replies, kept = self._filled(cells), [], []
        for division in divisions:
            rows, sides = self._rows_of(division.clusters)
            for side, row in enumerate(division.anchors):
                place = np.searchsorted(rows, row - self.first_row)
                if place < len(rows) and rows[place] == row - self.first_row:
                    sides[place] = -2 - side
            kernel = self._kernel(models, cells, filled, division.parameters, division.log_weights, division.streams)
            log_q = kernel.divide(rows, sides, division.drawn)
            counts = np.bincount(sides, minlength=2)
            replies.append((log_q, counts, self.sums(models, cells, priors, rows, sides, 2)))
            kept.append((division.clusters, sides.astype(np.int8)))
        return replace(self, sides=tuple(kept)), replies

    def _rows_of(self, clusters: tuple) -> tuple[np.ndarray, np.ndarray]:
        """The rows here of one cluster, or of two, and whether each is in the last one."""
        return rows_of_clusters(self.labels, clusters[0], clusters[-1])

    def _kernel(self, models, cells, filled, parameters, log_weights, streams: RowStreams) -> RowSweep:
        columns = [
            model.parameters_class(data, arrays, filled.get(j))
            for j, (model, data, arrays) in enumerate(zip(models, cells, parameters, strict=True))
        ]
        return RowSweep(columns, log_weights, self.first_row, streams.key, streams.stage)

    def _filled(self, cells) -> dict[int, np.ndarray]:
        """Copies of the cells of the models that have fillings, with these."""
        out = {}
        for j, own in self.fillings.items():
            out[j] = np.array(cells[j].array)
            out[j][_incomplete(cells[j])] = own
        return out


def _incomplete(data: ColumnData) -> np.ndarray:
    return np.isnan(data.array).any(axis=1)


def _all(labels: np.ndarray) -> np.ndarray:
    return np.arange(len(labels), dtype=np.int32)
