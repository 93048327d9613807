"""Where the cells of a real column lie in their predictive distributions given the other rows."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from scipy.special import softmax, stdtr

from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.distinct_rows import DistinctRows
from sklearn_subanneal.views.draws import ViewsDraw
from sklearn_subanneal.views.seen_rows import SeenRows
from sklearn_subanneal.views.views_predictive import left_out, without


def left_out_ranks(
    models: list[ColumnModel],
    draws: list[ViewsDraw],
    seen: SeenRows,
    arrays: list[np.ndarray],
    column: int,
    unknown: Collection[int] = (),
) -> np.ndarray:
    """Probability that a new cell of a real column is below the observed one, given the other cells and rows.

    This is the leave-one-out probability integral transform: uniform if the predictive distributions are right. A draw
    has the weight p(other cells of the row) / p(row), both given the other rows, times its own.

    Parameters
    ----------
    models : list of ColumnModel
        One for each column of the table.
    draws : list of ViewsDraw
    seen : SeenRows
        Some training rows in all draws.
    arrays : list of ndarray of shape (n_rows,)
        Typed columns of these rows.
    column : int
        Observed in all rows.
    unknown : collection of int, default=()
        Other columns by which that column is not predicted: they will be missing too.

    Returns
    -------
    ranks : ndarray of shape (n_rows,)
        Between 0 and 1.

    References
    ----------
    A. E. Gelfand, D. K. Dey, H. Chang (1992), Model determination using predictive distributions with implementation
    via sampling-based methods, Bayesian Statistics 4, 147-167.
    """
    asked = without(arrays, [column, *unknown])
    whole, part = (left_out(models, draws, seen, cells) for cells in (arrays, asked))
    ranks = np.zeros(len(arrays[0]))
    for rows, cells in whole.cells(arrays, whole.most_clusters):
        some = DistinctRows.of(models, [a[rows] for a in asked], cells.rows)
        logs = part.log_densities(some) - whole.log_densities(cells) + whole.log_weights[:, None]
        truth = np.broadcast_to(cells.spread(column, cells.values[column][:, 0]), cells.n_rows)
        for share, factors, complete in zip(softmax(logs, axis=0), part.products, whole.products, strict=True):
            ((own, known),) = ((f, g) for f, g in zip(factors, complete, strict=True) if column in f.members)
            location, scale, free = known.t_of_member(column, some)
            below = stdtr(free, (truth[:, None] - location) / scale)
            ranks[rows] += share * (softmax(own.log_joint(some), axis=1) * below).sum(axis=1)
    return ranks
