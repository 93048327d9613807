"""Multiple imputation of the training table: the missing cells together, given one draw of the posterior each time."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal.columns._limited_cells import redrawn_between
from sklearn_subanneal.columns._mvnormal import GaussianData, GaussianStatistics
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.missing_cells import draw_within, drawn_in_turn, ranges_of, rows_beyond
from sklearn_subanneal.mixtures.parts import parts_of
from sklearn_subanneal.tables.cells import is_missing
from sklearn_subanneal.tables.row_copies import RowCopies
from sklearn_subanneal.views.draws import ViewsDraw
from sklearn_subanneal.views.seen_rows import SeenRows

# Gibbs sweeps over the cells of clusters that were beyond the range of the training cells, after these were drawn anew.
N_SWEEPS = 5


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
                drawn = drawn_in_turn(models[m], part.statistics, len(view.sizes), slots[gap], generator)
                filled[models[m].sources[0]][gap] = drawn
    return filled


def _redrawn(part, models, cells, completed, slots, generator) -> np.ndarray:
    """The completed rows of a block after a Gibbs sweep over the missing cells, given the clusters.

    Those that stay beyond the range of the training cells, however often they are drawn, are drawn given that they are
    within it.
    """
    asked = np.isnan(cells)
    statistics = GaussianStatistics(GaussianData(cells), part.statistics.parameters)
    statistics.set_state(part.statistics.get_state(int(slots.max()) + 1))
    values = np.array(completed)

    def sweep(rows):
        return statistics.redrawn(values[rows], rows.astype(np.int32), slots[rows], generator)[rows]

    rows, ranges = np.flatnonzero(asked.any(axis=1)), ranges_of(models)
    values[rows] = sweep(rows)
    beyond = rows_beyond(values, asked, ranges)
    left = draw_within(values, asked, ranges, sweep)
    if left.size:
        # A cluster is where its cells are, and would keep each of them there: those that began beyond the range are
        # taken out of it together. One by one, they would come to lie side by side at the end of the range.
        lost = beyond[np.isin(slots[beyond], slots[left])]
        for together in (True, *[False] * N_SWEEPS):
            own = values[lost], lost.astype(np.int32), slots[lost]
            values[lost] = redrawn_between(statistics, *own, ranges, together, generator)
    return values
