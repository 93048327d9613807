"""Multiple imputation of the training table: the missing cells together, given one draw of the posterior each time."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.limited_rows import within_limits
from sklearn_subanneal.mixtures.missing_cells import drawn_in_turn, drawn_within
from sklearn_subanneal.mixtures.parts import parts_of
from sklearn_subanneal.tables.cells import is_missing
from sklearn_subanneal.tables.row_copies import RowCopies
from sklearn_subanneal.views.draws import ViewsDraw
from sklearn_subanneal.views.seen_rows import SeenRows


def imputed_table(
    models: list[ColumnModel],
    draw: ViewsDraw,
    labels: np.ndarray,
    arrays: list[np.ndarray],
    generator: np.random.Generator,
) -> list[np.ndarray]:
    """The table with its missing cells drawn from their joint distribution given a draw and all observed cells.

    The missing cells of joint reals are those of the draw after one more Gibbs sweep over them; those of other columns
    are independent given the clusters, and are drawn exactly.

    Parameters
    ----------
    models : list of ColumnModel
        One for each column of the table.
    draw : ViewsDraw
    labels : ndarray of int, shape (n_views, n_rows)
        The cluster of each row in each view of the draw.
    arrays : list of ndarray of shape (n_rows,)
        Typed columns of the rows that the chain modelled, in its order.
    generator : numpy.random.Generator

    Returns
    -------
    filled : list of ndarray of shape (n_rows,)
    """
    seen, rows = SeenRows.of(models, [labels], arrays, RowCopies()), np.arange(len(arrays[0]))
    filled = [np.array(array) for array in arrays]
    for v, view in enumerate(draw.views):
        slots = labels[v].astype(np.int32)
        for part in parts_of(models, draw.members(v), view.columns):
            gaps = [is_missing(arrays[models[m].sources[0]]) for m in part.members]
            if not np.any(gaps):
                continue
            if part.is_block:
                cells = seen.cells[:, [seen.joint.index(m) for m in part.members]]
                completed, own = seen.completed(draw)(part.members, rows), [models[m] for m in part.members]
                values = _redrawn(part, own, cells, completed, slots, generator)
                for m, gap, own in zip(part.members, gaps, values.T, strict=True):
                    (typed,) = models[m].typed(own[gap, None])
                    filled[models[m].sources[0]][gap] = typed
            else:
                (m,), (gap,) = part.members, gaps
                own = slots[gap], models[m], part.statistics, len(view.sizes)
                filled[models[m].sources[0]][gap] = _limited_column(*own, generator)
    return filled


def _limited_column(slots, model, statistics, n_clusters, generator) -> np.ndarray:
    """Cells of a column given the clusters, within ``drawn_between`` of its model."""

    def draw(rows, cells=None):
        return [drawn_in_turn(model, statistics, n_clusters, slots[rows], generator)]

    limits = None if model.drawn_between is None else model.drawn_between[:, 0]
    return within_limits([limits], draw(slice(None)), np.ones((len(slots), 1), bool), draw)[0]


def _redrawn(part, models, cells, completed, slots, generator) -> np.ndarray:
    """The completed rows of a block after a Gibbs sweep over the missing cells, given the clusters."""
    asked = np.isnan(cells)
    statistics = GaussianStatistics(GaussianData(cells), part.statistics.parameters)
    statistics.set_state(part.statistics.get_state(int(slots.max()) + 1))
    values = np.array(completed)

    def sweep(rows):
        return statistics.redrawn(values[rows], rows.astype(np.int32), slots[rows], generator)[rows]

    rows = np.flatnonzero(asked.any(axis=1))
    values[rows] = sweep(rows)
    return drawn_within(values, asked, models, sweep)
