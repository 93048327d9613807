"""Stacking: weights of chains by which training rows are predicted best, and the draws with these weights."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from sklearn_subanneal._core.log_space import log_mean_exp
from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.ensemble import Ensemble
from sklearn_subanneal.mixtures.leave_one_out import LeaveOneOut
from sklearn_subanneal.mixtures.mixture_chain import Draw

# The log weights have a normal prior: equal weights, unless the rows say otherwise.
PRIOR_DEVIATION = 0.5
# A chain with less weight than this, or than a fifth of an equal one, has failed, and is left out. That prior alone
# would leave it a few percent, and what these are taken from predicts better: of four chains of which one is far better
# than the others, the average was .02 to .05 nats a row worse than this one. Weights stay positive: their logarithms
# are added.
LEAST_WEIGHT, OF_EQUAL, LEFT_OUT = 0.05, 0.2, 1e-9
# The weights are found from at most so many rows, evenly spaced.
MOST_LEFT_OUT = 500

# A density that has underflowed in all chains says nothing of them, and one in some chains no more than this.
LOWEST = -1e6

AnyDraw = TypeVar("AnyDraw")


def weighted(chains: list[list[AnyDraw]], weights: np.ndarray) -> list[list[AnyDraw]]:
    """The draws of some chains, which have as many each, with the weights of their chains, of which the sum is 1."""
    return [
        [replace(draw, weight=float(len(chains) * weight)) for draw in draws]
        for draws, weight in zip(chains, weights, strict=True)
    ]


def chain_weights_of_mixtures(
    models: list[ColumnModel],
    chains: list[list[Draw]],
    labels: np.ndarray,
    arrays: list[np.ndarray],
    counts: np.ndarray,
) -> np.ndarray:
    """Weights of chains of a mixture by which training rows are predicted best, each row by the others.

    They are equal if there are no rows. Cells that are part of the state must be known: see :func:`known_rows`.

    Parameters
    ----------
    models : list of ColumnModel
    chains : list of list of Draw
        The draws of each chain.
    labels : ndarray of int, shape (n_chains, n_draws, n_rows)
        Clusters of some training rows.
    arrays : list of ndarray of shape (n_rows,)
        Typed columns of these rows.
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
    if len(chains) == 1 or not len(counts):
        return np.full(len(chains), 1.0 / len(chains))
    data = [model.data(arrays) for model in models]
    whole = np.empty((len(chains), len(arrays[0])))
    for chain, draws in enumerate(chains):
        left_out = (LeaveOneOut(models, draw, None, data, own) for draw, own in zip(draws, labels[chain], strict=True))
        whole[chain] = left_out_scores((Ensemble(models, [[one]]) for one in left_out), arrays)
    return without_failed(stacking_weights(whole, np.zeros_like(whole), counts, PRIOR_DEVIATION))


def known_rows(models: list[ColumnModel], arrays: list[np.ndarray]) -> np.ndarray:
    """Which rows have no cells that are part of the state, (n_rows,) bool: draws do not keep the values of these.

    They are the missing cells of reals with full covariance.
    """
    known = np.ones(len(arrays[0]), bool)
    for model in models:
        if model.stateful:
            known &= ~np.isnan(model.values(arrays)).any(axis=1)
    return known


def without_failed(weights: np.ndarray) -> np.ndarray:
    """Weights of chains, without those of chains that have failed.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.mixtures.stacking import without_failed
    >>> without_failed(np.array([0.72, 0.24, 0.04])).round(6)
    array([0.75, 0.25, 0.  ])
    """
    kept = np.where(weights < min(LEAST_WEIGHT, OF_EQUAL / len(weights)), LEFT_OUT, weights)
    return kept / kept.sum()


def left_out_scores(averages: Iterable[Ensemble], arrays: list[np.ndarray]) -> np.ndarray:
    """Log density of each training row given the others, by the draws of one chain: a harmonic mean.

    Parameters
    ----------
    averages : iterable of Ensemble
        Of leave-one-out distributions: together they have all draws. One at a time is made, since the statistics of all
        draws of a wide table are larger than the table.
    arrays : list of ndarray of shape (n_rows,)
        Typed columns of the rows.

    Returns
    -------
    scores : ndarray of shape (n_rows,)
        In standard units.
    """
    found, parts = [], None
    for average in averages:
        parts = parts or [cells for _, cells in average.cells(arrays, average.most_clusters)]
        found.append(np.hstack([average.log_densities(cells) for cells in parts]))
    return -log_mean_exp(-np.concatenate(found), axis=0)


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
    >>> from sklearn_subanneal.mixtures.stacking import stacking_weights
    >>> better = np.log([[0.8] * 50, [0.5] * 50])
    >>> stacking_weights(better, np.zeros((2, 50)), np.ones(50), 3.0).round(1)
    array([1., 0.])
    """
    n_rows, whole, others = counts.sum(), np.maximum(whole, LOWEST), np.maximum(others, LOWEST)

    def loss(logs):
        own, given = whole + logs[:, None], others + logs[:, None]
        value = counts @ (logsumexp(own, axis=0) - logsumexp(given, axis=0))
        slope = (softmax(own, axis=0) - softmax(given, axis=0)) @ counts
        penalty = 0.5 * logs @ logs / deviation**2
        return (penalty - value) / n_rows, (logs / deviation**2 - slope) / n_rows

    return softmax(minimize(loss, np.zeros(len(whole)), jac=True).x)
