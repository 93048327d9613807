"""Weights of chains by which training rows, or one column of them, are predicted best (stacking)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from sklearn_subanneal._core.log_space import log_mean_exp
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.ensemble import DistinctRows
from sklearn_subanneal.views.draws import ViewsDraw
from sklearn_subanneal.views.seen_rows import SeenRows
from sklearn_subanneal.views.views_predictive import left_out, without

# The log weights have a normal prior: equal weights, unless the rows say otherwise.
PRIOR_DEVIATION, PRIOR_DEVIATION_OF_COLUMN = 0.5, 3.0


def chain_weights(
    models: list[ColumnModel],
    chains: list[list[ViewsDraw]],
    seen: SeenRows,
    arrays: list[np.ndarray],
    column: int | None,
    counts: np.ndarray,
) -> np.ndarray:
    """Weights of chains by which training rows, or one column of them, are predicted best, each row by the others.

    Chains that end in different modes do not have the posterior's share of draws in each. They have the weights that
    maximise the sum over training rows of log p(row | other rows), or of log p(cell | other cells of the row, other
    rows) (Yao et al., 2018), where p is the predictive distribution in which these weights are used: the density that a
    chain gives to the other cells of the row counts too.

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

    Returns
    -------
    weights : ndarray of shape (n_chains,)
        Positive, with sum 1.

    References
    ----------
    Y. Yao, A. Vehtari, D. Simpson, A. Gelman (2018), Using stacking to average Bayesian predictive distributions,
    Bayesian Analysis 13, 917-1007 (section 3.1).
    """
    if len(chains) == 1:
        return np.ones(1)
    whole, others = np.empty((2, len(chains), len(arrays[0])))
    start = 0
    for chain, draws in enumerate(chains):
        labels = seen.labels[start : start + len(draws)]
        start += len(draws)
        own = replace(seen, labels=labels)
        asked = None if column is None else without(arrays, [column])
        whole[chain], others[chain] = _left_out_densities(models, draws, own, arrays, asked)
    deviation = PRIOR_DEVIATION if column is None else PRIOR_DEVIATION_OF_COLUMN
    return stacking_weights(whole, others, counts, deviation)


def _left_out_densities(models, draws, seen, arrays, asked):
    """Log densities of rows and of some of their cells, or of none, given the other rows, as ``score_seen_rows``."""
    whole = left_out(models, draws, seen, arrays)
    part = None if asked is None else left_out(models, draws, seen, asked)
    out = np.zeros((2, len(arrays[0])))
    for rows, cells in whole.cells(arrays, whole.most_clusters):
        weights = -whole.log_densities(cells)
        total = log_mean_exp(weights, axis=0)
        out[0, rows] = -total
        if part is not None:
            some = DistinctRows.of(models, [a[rows] for a in asked], rows.start)
            out[1, rows] = log_mean_exp(weights + part.log_densities(some), axis=0) - total
    return out


def stacking_weights(whole: np.ndarray, others: np.ndarray, counts: np.ndarray, deviation: float) -> np.ndarray:
    """Weights w that maximise the sum over rows of log(sum_c w_c exp(whole_c) / sum_c w_c exp(others_c)), with a prior.

    Parameters
    ----------
    whole : ndarray of shape (n_chains, n_rows)
        Log density of each row in each chain.
    others : ndarray of shape (n_chains, n_rows)
        Log density of the row without the cell that is predicted.
    counts : ndarray of int, shape (n_rows,)
        How often each row counts.
    deviation : float
        Standard deviation of the log weights in their prior, which is normal.

    Returns
    -------
    weights : ndarray of shape (n_chains,)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.views.stacking import stacking_weights
    >>> better = np.log([[0.8] * 50, [0.5] * 50])
    >>> stacking_weights(better, np.zeros((2, 50)), np.ones(50), 3.0).round(1)
    array([1., 0.])
    """
    n_rows = counts.sum()

    def loss(logs):
        own, given = whole + logs[:, None], others + logs[:, None]
        value = counts @ (logsumexp(own, axis=0) - logsumexp(given, axis=0))
        slope = (softmax(own, axis=0) - softmax(given, axis=0)) @ counts
        penalty = 0.5 * logs @ logs / deviation**2
        return (penalty - value) / n_rows, (logs / deviation**2 - slope) / n_rows

    return softmax(minimize(loss, np.zeros(len(whole)), jac=True).x)
