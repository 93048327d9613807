"""The draws of an ensemble that together give nearly the densities of all."""

from __future__ import annotations

import numpy as np

from sklearn_subanneal._core.log_space import log_mean_exp
from sklearn_subanneal.mixtures.ensemble import Ensemble


def sufficient_draws(average: Ensemble, arrays: list[np.ndarray], max_loss: float) -> tuple[list[int], float]:
    """Few draws whose average, with equal weights, loses at most ``max_loss`` of the mean log density of some rows.

    The draw that lowers the loss most is added, one after the other.

    Parameters
    ----------
    average : Ensemble
    arrays : list of ndarray of shape (n_rows,)
        Typed columns.
    max_loss : float
        In nats a row.

    Returns
    -------
    chosen : list of int
        Indices of the draws, increasing. All of them if fewer do not do.
    loss : float
    """
    n_draws, n_rows = len(average.products), len(arrays[0])
    logs = np.empty((n_draws, n_rows))
    for rows, cells in average.cells(arrays, average.most_clusters):
        logs[:, rows] = average.log_densities(cells)
    whole = log_mean_exp(logs + average.log_weights[:, None], axis=0)
    chosen: list[int] = []
    total = np.full(n_rows, -np.inf)
    while len(chosen) < n_draws:
        rest = [d for d in range(n_draws) if d not in chosen]
        losses = [np.mean(whole - np.logaddexp(total, logs[d])) + np.log(len(chosen) + 1) for d in rest]
        best = int(np.argmin(losses))
        total = np.logaddexp(total, logs[rest[best]])
        chosen.append(rest[best])
        if losses[best] <= max_loss:
            return sorted(chosen), float(losses[best])
    return list(range(n_draws)), 0.0
