"""Quantiles of a real column given the other cells of its row, those of a mixture of t distributions."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln, softmax, stdtr, stdtrit

from sklearn_subanneal._core.log_space import log_sum_exp
from sklearn_subanneal.mixtures.ensemble import Ensemble

# Components that together have less than this share of the probability beyond a quantile are left out.
NEGLIGIBLE = 1e-4
# Largest error of that probability, as a share of it, and most steps; after the last one a bracket of machine precision
# remains, since at least every third step halves it.
TOLERANCE, MOST_STEPS = 1e-6, 180


def predicted_quantiles(
    average: Ensemble, arrays: list[np.ndarray], target: int, probabilities: np.ndarray
) -> np.ndarray:
    """Quantiles of a real or skewed column given the other observed cells of each row, averaged over the draws.

    Parameters
    ----------
    average : Ensemble
    arrays : list of ndarray of shape (n_rows,)
        The cells of the column itself are missing.
    target : int
        Index of its model.
    probabilities : ndarray of shape (n_quantiles,)
        Between 0 and 1, both excluded.

    Returns
    -------
    quantiles : ndarray of shape (n_rows, n_quantiles)
        In the units of the data.
    """
    model, out = average.models[target], np.empty((len(arrays[0]), len(probabilities)))
    for rows, cells in average.cells(arrays, average.most_clusters * len(average.products) // 4):
        logs, terms = [], []
        for factors, log_weight in zip(average.products, average.log_weights, strict=True):
            (own,) = (factor for factor in factors if target in factor.members)
            joint = own.log_joint(cells)
            rest = sum(log_sum_exp(factor.log_joint(cells)) for factor in factors if factor is not own)
            logs.append(_for_rows(joint + np.reshape(rest + log_weight, (-1, 1)), cells.n_rows))
            terms.append([_for_rows(parameter, cells.n_rows) for parameter in own.t_of_member(target, cells)])
        location, scale, free = (np.hstack(parameter) for parameter in zip(*terms, strict=True))
        found = mixture_quantiles(softmax(np.hstack(logs), axis=1), location, scale, free, probabilities)
        out[rows] = np.column_stack([model.typed(quantile[:, None])[0] for quantile in found.T])
    return out


def _for_rows(array, n_rows):
    """One row for all, or a row for each, as a row for each."""
    return np.broadcast_to(array, (n_rows, array.shape[1]))


def mixture_quantiles(
    shares: np.ndarray, location: np.ndarray, scale: np.ndarray, free: np.ndarray, probabilities: np.ndarray
) -> np.ndarray:
    """Quantiles of mixtures of t distributions, one mixture for each row.

    Components that together have less than 10^-4 of the smaller of p and 1 - p are left out; the distribution function
    of the others is inverted by Newton's method within a bracket.

    Parameters
    ----------
    shares : ndarray of shape (n_rows, n_components)
        Probabilities of the components, with sum 1 in each row.
    location, scale, free : ndarray of shape (n_rows, n_components)
        Their locations, scales and degrees of freedom.
    probabilities : ndarray of shape (n_quantiles,)
        Between 0 and 1, both excluded.

    Returns
    -------
    quantiles : ndarray of shape (n_rows, n_quantiles)

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_subanneal.mixtures.quantiles import mixture_quantiles
    >>> two = np.array([[-3.0, 3.0]])
    >>> shares, scale, free = np.full((1, 2), 0.5), np.ones((1, 2)), np.full((1, 2), 50.0)
    >>> mixture_quantiles(shares, two, scale, free, np.array([0.25, 0.5, 0.75])).round(2) + 0.0
    array([[-3.,  0.,  3.]])
    """
    order = np.argsort(-shares, axis=1)
    shares, location, scale, free = (np.take_along_axis(a, order, axis=1) for a in (shares, location, scale, free))
    before = np.cumsum(shares, axis=1) - shares
    log_constant = gammaln(0.5 * free + 0.5) - gammaln(0.5 * free) - 0.5 * np.log(np.pi * free) - np.log(scale)
    out = np.empty((len(shares), len(probabilities)))
    for i, p in enumerate(probabilities):
        tail = min(p, 1.0 - p)
        kept = before < 1.0 - NEGLIGIBLE * tail
        own = [a[kept] for a in (shares, location, scale, free, log_constant)]
        out[:, i] = _quantiles(*own, kept.sum(axis=1), p, TOLERANCE * tail)
    return out


def _quantiles(shares, location, scale, free, log_constant, counts, p, tolerance):
    """One quantile of each of some mixtures, whose components, ``counts`` of each, stand one after the other."""
    first = np.cumsum(counts) - counts
    shares = shares / np.repeat(np.add.reduceat(shares, first), counts)
    # Many components have the same degrees of freedom, and the inverse takes long.
    distinct, places = np.unique(free, return_inverse=True)
    own = location + scale * stdtrit(distinct, p)[places]
    # The quantile lies between those of the components.
    low, high = np.minimum.reduceat(own, first), np.maximum.reduceat(own, first)
    x, out, rows = np.add.reduceat(shares * own, first), np.empty(len(counts)), np.arange(len(counts))
    for step in range(MOST_STEPS):
        z = (np.repeat(x, counts) - location) / scale
        error = np.add.reduceat(shares * stdtr(free, z), first) - p
        low, high = np.where(error < 0.0, x, low), np.where(error < 0.0, high, x)
        open_ = (np.abs(error) >= tolerance) & (high - low > 1e-12 * np.abs(x))
        out[rows] = x
        if not open_.any():
            break
        density = np.exp(log_constant - 0.5 * (free + 1.0) * np.log1p(z * z / free))
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = x - error / np.add.reduceat(shares * density, first)
        x = np.where((newton > low) & (newton < high) & (step % 3 != 2), newton, 0.5 * (low + high))
        # The mixtures whose quantiles are found are left out.
        own = np.repeat(open_, counts)
        shares, location, scale, free, log_constant = (a[own] for a in (shares, location, scale, free, log_constant))
        rows, counts, x, low, high = (a[open_] for a in (rows, counts, x, low, high))
        first = np.cumsum(counts) - counts
    return out
