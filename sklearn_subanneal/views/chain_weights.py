"""Weights of the chains of a cross-categorization by which training rows, or one column, are predicted best."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from sklearn_subanneal._core.log_space import log_mean_exp
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.distinct_rows import DistinctRows
from sklearn_subanneal.mixtures.stacking import PRIOR_DEVIATION, left_out_scores, stacking_weights, without_failed
from sklearn_subanneal.views.draws import ViewsDraw
from sklearn_subanneal.views.seen_rows import SeenRows
from sklearn_subanneal.views.views_predictive import left_out, without

# Standard deviation of the log weights in their prior, where one column is predicted.
PRIOR_DEVIATION_OF_COLUMN = 3.0


def chain_weights(
    models: list[ColumnModel],
    chains: list[list[ViewsDraw]],
    seen: SeenRows,
    arrays: list[np.ndarray],
    column: int | None,
    counts: np.ndarray,
    unknown: Collection[int] = (),
) -> np.ndarray:
    """Weights of chains by which training rows, or one column of them, are predicted best, each row by the others.

    Chains that end in different modes do not have the posterior's share of draws in each. They have the weights that
    maximise the sum over training rows of log p(row | other rows), or of log p(cell | other cells of the row, other
    rows) (Yao et al., 2018), where p is the predictive distribution in which these weights are used: the density that a
    chain gives to the other cells of the row counts too. The weights are equal if there are no rows.

    Parameters
    ----------
    models : list of ColumnModel
        One for each column of the table.
    chains : list of list of ViewsDraw
        The draws of each chain.
    seen : SeenRows
        Some training rows in all draws, those of the first chain first.
    arrays : list of ndarray of shape (n_rows,)
        Typed columns of these rows.
    column : int or None
        The column that is to be predicted; None: all.
    counts : ndarray of int, shape (n_rows,)
        How often each row counts.
    unknown : collection of int, default=()
        Other columns by which that column is not predicted: they will be missing too.

    Returns
    -------
    weights : ndarray of shape (n_chains,)
        Positive, with sum 1.

    References
    ----------
    Y. Yao, A. Vehtari, D. Simpson, A. Gelman (2018), Using stacking to average Bayesian predictive distributions,
    Bayesian Analysis 13, 917-1007 (section 3.1).
    """
    if len(chains) == 1 or not len(counts):
        return np.full(len(chains), 1.0 / len(chains))
    whole, others = np.zeros((2, len(chains), len(arrays[0])))
    start = 0
    for chain, draws in enumerate(chains):
        own = replace(seen, labels=seen.labels[start : start + len(draws)])
        start += len(draws)
        if column is None:
            whole[chain] = left_out_scores([left_out(models, draws, own, arrays)], arrays)
        else:
            known = without(arrays, unknown) if unknown else arrays
            asked = known, without(known, [column])
            whole[chain], others[chain] = _given_other_rows(models, draws, own, arrays, asked)
    if column is None:
        return without_failed(stacking_weights(whole, others, counts, PRIOR_DEVIATION))
    return stacking_weights(whole, others, counts, PRIOR_DEVIATION_OF_COLUMN)


def _given_other_rows(models, draws, seen, arrays, asked):
    """Log densities (n_asked, n_rows) of some cells of the rows, given the other rows, as of ``score_seen_rows``."""
    whole = left_out(models, draws, seen, arrays)
    # All cells have the density by which draws are weighted.
    parts = [whole if cells is arrays else left_out(models, draws, seen, cells) for cells in asked]
    out = np.empty((len(asked), len(arrays[0])))
    for rows, cells in whole.cells(arrays, whole.most_clusters):
        weights = -whole.log_densities(cells)
        total = log_mean_exp(weights, axis=0)
        for kept, part, own in zip(out, parts, asked, strict=True):
            if part is whole:
                kept[rows] = -total
            else:
                some = DistinctRows.of(models, [a[rows] for a in own], cells.rows)
                kept[rows] = log_mean_exp(weights + part.log_densities(some), axis=0) - total
    return out
