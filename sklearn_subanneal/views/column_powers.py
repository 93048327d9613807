"""Powers of the columns in the evidence for a class, by which the training classes are predicted best."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.ensemble import DistinctRows, Ensemble
from sklearn_subanneal.mixtures.leave_one_out import LeaveOneOut
from sklearn_subanneal.mixtures.predictive import Predictive
from sklearn_subanneal.views.draws import ViewsDraw
from sklearn_subanneal.views.seen_rows import SeenRows

# Log powers and log weights have normal priors: columns count as the model says, and chains the same, unless the rows
# say otherwise. With powers most chains are similarly good, and the mean of several good ones is better than the best.
POWER_DEVIATION, WEIGHT_DEVIATION = 1.0, 0.5
# Powers are found from so many draws, at least one of each chain.
MOST_DRAWS = 8


def column_powers(
    models: list[ColumnModel],
    chains: list[list[ViewsDraw]],
    seen: SeenRows,
    arrays: list[np.ndarray],
    column: int,
    counts: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Powers of the columns, and weights of the chains, by which one column of training rows is predicted best.

    Columns that repeat what others say, and columns whose clusters have nothing to do with the class, count too much in
    a mixture of the joint table. The cells of column j given the cluster count by their density to the power b_j:

        p(class | row) = sum_c w_c mean_s sum_k r_sk p(class | cluster k),   r_sk ~ share_k prod_j p(cell j | k)^b_j,

    where s are draws of chain c, and the clusters those of the view of the class. Weights and powers maximise the sum
    of log p(class | row) over training rows, each of which is left out of its clusters, with normal priors of their
    logarithms. With one cluster for each class, this is attribute-weighted naive Bayes (Zaidi et al., 2013).

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
    column : int
        A categorical column, observed in all rows.
    counts : ndarray of int, shape (n_rows,)
        How often each row counts.

    Returns
    -------
    powers : ndarray of shape (n_columns,)
        Positive; joint reals have the same.
    weights : ndarray of shape (n_chains,)
        Positive, with sum 1.

    References
    ----------
    N. A. Zaidi, J. Cerquides, M. J. Carman, G. I. Webb (2013), Alleviating naive Bayes attribute independence
    assumption by attribute weighting, JMLR 14, 1947-1988.
    """
    data, cells = [model.data(arrays) for model in models], DistinctRows.of(models, arrays)
    joint = [j for j, model in enumerate(models) if model.joint]
    # Columns with one power: the joint reals, whose blocks have one density.
    group = {j: min(joint) if j in joint else j for j in range(len(models))}
    found, owners, start = [], [], 0
    for chain, draws in enumerate(chains):
        n_kept = min(len(draws), max(MOST_DRAWS // len(chains), 1))
        for s in np.linspace(0, len(draws) - 1, n_kept).astype(int):
            draw, labels = draws[s], seen.labels[start + s]
            view = int(draw.column_labels[column])
            factor = LeaveOneOut(models, draw.views[view], draw.members(view), data, labels[view], seen.completed(draw))
            found.append(_terms(factor, cells, column))
            owners.append(chain)
        start += len(draws)
    groups = sorted({group[m] for _, others, _ in found for m in others})
    terms = [
        (shares, [(groups.index(group[m]), logs) for m, logs in others.items()], own) for shares, others, own in found
    ]
    start = np.zeros(len(groups) + len(chains))
    logs = minimize(_loss, start, (terms, np.array(owners), len(groups), counts), jac=True, method="L-BFGS-B").x
    powers = dict(zip(groups, np.exp(logs), strict=False))
    return np.array([powers.get(group[j], 1.0) for j in range(len(models))]), softmax(logs[len(groups) :])


def powered_probabilities(average: Ensemble, arrays: list[np.ndarray], column: int, powers: np.ndarray) -> np.ndarray:
    """Probabilities of the categories of a column given the other cells of each row, which count by powers.

    Parameters
    ----------
    average : Ensemble
        Its weights of the draws are used as they are.
    arrays : list of ndarray of shape (n_rows,)
        The cells of the column itself are missing.
    column : int
    powers : ndarray of shape (n_columns,)
        As of :func:`column_powers`.

    Returns
    -------
    probabilities : ndarray of shape (n_rows, n_categories)
    """
    model, weights = average.models[column], softmax(average.log_weights)
    out = np.empty((len(arrays[0]), model.n_values))
    for rows, cells in average.cells(arrays, average.most_clusters * average.widest):
        total = 0.0
        for weight, factors in zip(weights, average.products, strict=True):
            (own,) = (factor for factor in factors if column in factor.members)
            log_shares, others, _ = _terms(own, cells, column)
            logs = log_shares + sum(powers[m] * own_logs for m, own_logs in others.items())
            (part,) = (part for part in own.parts if column in part.members)
            one, _ = part.expectations(average.models, cells.of_part(part)[0], softmax(logs, axis=1))[column]
            total = total + weight * one
        out[rows] = model.probabilities(total)
    return out


def _terms(factor: Predictive, cells: DistinctRows, column: int):
    """Log shares of the clusters, log densities of the other parts by their first member, and of the column's part.

    Each is of shape (n_rows, n_clusters + 1).
    """
    shape = cells.n_rows, factor.n_clusters + 1
    logs = {
        part.members[0]: np.broadcast_to(densities if places is None else densities[places], shape)
        for part, densities, places in factor.scored(cells)
    }
    own = logs.pop(column)
    return np.broadcast_to(factor.log_shares(cells), shape), logs, own


def _loss(theta, terms, owners, n_powers, counts):
    """Mean negative log probability of the classes, with the priors, and its gradient in log powers and log weights."""
    powers, weights, n_rows = np.exp(theta[:n_powers]), theta[n_powers:], counts.sum()
    logs, slopes = np.empty((len(terms), len(counts))), np.zeros((len(terms), n_powers, len(counts)))
    for s, (log_shares, others, own) in enumerate(terms):
        joint = log_shares + sum(powers[i] * densities for i, densities in others)
        given, both = softmax(joint, axis=1), softmax(joint + own, axis=1)
        logs[s] = logsumexp(joint + own, axis=1) - logsumexp(joint, axis=1)
        for i, densities in others:
            slopes[s, i] = powers[i] * ((both - given) * densities).sum(axis=1)
    logs += (weights - np.log(np.bincount(owners)))[owners][:, None]
    shares = softmax(logs, axis=0)
    value = counts @ (logsumexp(logs, axis=0) - logsumexp(weights))
    slope = np.concatenate(
        [
            np.einsum("si,sji,i->j", shares, slopes, counts.astype(float)),
            np.bincount(owners, shares @ counts) - n_rows * softmax(weights),
        ]
    )
    deviations = np.repeat([POWER_DEVIATION, WEIGHT_DEVIATION], [n_powers, len(weights)])
    penalty = 0.5 * np.sum((theta / deviations) ** 2)
    return (penalty - value) / n_rows, (theta / deviations**2 - slope) / n_rows
