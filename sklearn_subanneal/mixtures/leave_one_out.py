"""LeaveOneOut: predictions for the training rows of a draw, each by the other rows alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sklearn_subanneal._core.log_space import log_sum_exp
from sklearn_subanneal.columns._block_cells import cells_left_out, moments_left_out, rows_left_out, t_left_out
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.columns.left_out_expectations import change_without_cells
from sklearn_subanneal.mixtures.distinct_rows import DistinctRows
from sklearn_subanneal.mixtures.parts import Part
from sklearn_subanneal.mixtures.predictive import Predictive
from sklearn_subanneal.tables.cells import is_missing


class LeaveOneOut(Predictive):
    """The leave-one-out predictive distribution of one draw for its training rows, each removed from its cluster.

    The weights of the prior of the partition must depend only on the sizes and the number of the clusters.

    Parameters
    ----------
    models, draw, members, data, rare_share
        See :class:`Predictive`; each model has a single column.
    labels : ndarray of int of shape (n_rows,)
        The cluster of each row in this draw.
    completed : callable or None, default=None
        ``completed(members, rows)`` are the cells (n_rows, n_members) of a block in some rows, in standard units, the
        missing ones as in the statistics of the draw. Needed only if there is a block.
    """

    def __init__(
        self,
        models,
        draw,
        members,
        data,
        labels: np.ndarray,
        completed: Callable | None = None,
        rare_share: float = 0.0,
    ):
        super().__init__(models, draw, members, data, rare_share)
        self.completed = completed
        self.cells = {m: own.array for m, (model, own) in enumerate(zip(models, data, strict=True)) if model.single}
        self.labels, self.alone = labels.astype(np.int32), draw.sizes[labels] == 1
        offset, base, self.slope = draw.weights
        self.weights = np.append(draw.sizes + offset, base + self.slope * self.n_clusters)

    def log_joint(self, cells: DistinctRows) -> np.ndarray:
        out = self.log_shares(cells)
        for _, densities, _ in self.scored(cells):
            out += densities
        return out

    def log_marginal(self, cells: DistinctRows) -> np.ndarray:
        return log_sum_exp(self.log_joint(cells))

    def log_shares(self, cells: DistinctRows) -> np.ndarray:
        rows = self._rows(cells)
        own, alone = (np.arange(cells.n_rows), self.labels[rows]), self.alone[rows]
        weights = np.tile(self.weights, (cells.n_rows, 1))
        weights[own] = np.where(alone, 0.0, weights[own] - 1.0)
        weights[:, -1] -= self.slope * alone
        with np.errstate(divide="ignore"):
            logs = np.log(weights / weights.sum(axis=1, keepdims=True))
        logs[:, self.rare] = -np.inf
        return logs

    def densities(self, part: Part, cells: DistinctRows) -> tuple[np.ndarray, None]:
        densities, places = super().densities(part, cells)
        out = densities if places is None else densities[places]
        out = np.array(np.broadcast_to(out, (cells.n_rows, self.n_clusters + 1)))
        others, rows, own = self._others(cells)
        if part.is_block:
            out[others, own] = rows_left_out(part.statistics, *self._block_rows(part, cells, others, rows), own)
        else:
            (m,) = part.members
            if m in self.cells:
                # A cell that was missing in the table is in no statistics, whatever is supposed of it; and one that is
                # hidden, to be predicted, says nothing of its cluster.
                known, observed = ~is_missing(self.cells[m][rows]), cells.observed_in(m)
                if observed is not None:
                    known &= np.broadcast_to(observed, cells.n_rows)[others]
                others, rows, own = others[known], rows[known], own[known]
            out[others, own] = part.statistics.leave_one_out(rows, own)
        return out, None

    def cell_densities(self, block: Part, cells: DistinctRows) -> np.ndarray:
        out = super().cell_densities(block, cells)
        out = np.array(np.broadcast_to(out, (len(out), cells.n_rows, self.n_clusters + 1)))
        others, rows, own = self._others(cells)
        out[:, others, own] = cells_left_out(block.statistics, *self._block_rows(block, cells, others, rows), own)
        return out

    def expectations(self, models, part: Part, cells: DistinctRows, weights: np.ndarray):
        if not part.is_block:
            # What is expected of a cell that is observed, nobody asks.
            observed = cells.observed_in(part.members[0])
            return self.expectations_without(models, part, cells, weights, observed is not None and ~observed)
        others, rows, own = self._others(cells)
        # A new array: the weight of the own cluster is taken out, and its moments, without the row, are added.
        weights = np.array(np.broadcast_to(weights, (cells.n_rows, self.n_clusters + 1)))
        share = weights[others, own][:, None]
        weights[others, own] = 0.0
        out = super().expectations(models, part, cells, weights)
        completed, asked = self._block_rows(part, cells, others, rows)
        mean, variance = moments_left_out(part.statistics, completed, asked, own)
        gaps = np.isnan(asked)
        for i, m in enumerate(part.members):
            first, second = (np.array(moment) for moment in out[m])
            first[others, 0] += np.where(gaps[:, i], share[:, 0] * mean[:, i], 0.0)
            second[others, 0] += np.where(gaps[:, i], share[:, 0] * (variance[:, i] + mean[:, i] ** 2), 0.0)
            out[m] = first, second
        return out

    def expectations_without(
        self, models: list[ColumnModel], part: Part, cells: DistinctRows, weights: np.ndarray, asked: np.ndarray | bool
    ) -> dict[int, tuple[np.ndarray, np.ndarray | None]]:
        """Expectations of a single column, the cells of the rows that are ``asked`` taken out of their clusters.

        ``asked`` is one bool for all rows, or one for each.
        """
        (m,), found = part.members, super().expectations(models, part, cells, weights)
        if m not in self.cells or not np.any(asked):
            return found
        others, rows, own = self._others(cells)
        # A cell that was missing in the table is in no cluster.
        known = ~is_missing(self.cells[m][rows]) & np.broadcast_to(asked, cells.n_rows)[others]
        if not known.any():
            return found
        others, rows, own = others[known], rows[known], own[known]
        change = change_without_cells(models[m], part.statistics, self.cells[m][rows], rows, own)
        shares = np.broadcast_to(weights, (cells.n_rows, self.n_clusters + 1))[others, own][:, None]
        out = []
        for moment, own_change in zip(found[m], change, strict=True):
            if moment is not None:
                moment = np.array(np.broadcast_to(moment, (cells.n_rows, moment.shape[1])))
                moment[others] += shares * own_change
            out.append(moment)
        return {m: tuple(out)}

    def t_of_member(self, member: int, cells: DistinctRows) -> tuple[np.ndarray, ...]:
        """As of :class:`Predictive`; the cell itself is observed in ``data``, and left out of its cluster."""
        shape = cells.n_rows, self.n_clusters + 1
        location, scale, free = (np.array(np.broadcast_to(own, shape)) for own in super().t_of_member(member, cells))
        (part,) = (part for part in self.parts if member in part.members)
        others, rows, own = self._others(cells)
        if part.is_block:
            at = part.members.index(member)
            found = t_left_out(part.statistics, *self._block_rows(part, cells, others, rows), own)
            location[others, own], square = found[0][:, at], found[1][:, at]
            free[others, own] = found[2]
        else:
            location[others, own], square, free[others, own] = part.statistics.t_left_out(rows, own)
        scale[others, own] = np.sqrt(square)
        return location, scale, free

    def _others(self, cells):
        """Rows that are not alone in their clusters, among these and in the table, and the clusters.

        A cluster that is gone without the row has no share, whatever its density.
        """
        rows = self._rows(cells)
        others = np.flatnonzero(~self.alone[rows])
        rows = rows[others].astype(np.int32)
        return others, rows, self.labels[rows]

    @staticmethod
    def _rows(cells):
        """The positions of some rows among those of the draw."""
        return np.arange(cells.n_rows) if cells.rows is None else cells.rows

    def _block_rows(self, block, cells, others, rows):
        """Rows of a block as the statistics have them, and their cells to score."""
        asked = np.broadcast_to(cells.of_part(block)[0], (cells.n_rows, len(block.members)))
        return self.completed(block.members, rows), asked[others]
