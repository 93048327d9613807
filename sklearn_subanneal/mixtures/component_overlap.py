"""How far the components of one draw overlap: probabilities to be taken for another component."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import logsumexp, softmax

from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.mixture_chain import Draw
from sklearn_subanneal.mixtures.predictive import Predictive

# Rows drawn from each component, and further ones by which it is known how dense the places of rows are.
SAMPLES, PILOTS = 400, 100


def component_overlaps(
    models: list[ColumnModel], draw: Draw, members: Sequence[int] | None, generator: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Mean responsibilities of all components for rows drawn from each, where rows in dense places count more.

    A row counts by the square of the share of the mixture that lies in places of lower density. Groups with long tails
    meet where hardly a row is; the parts of one group meet where its rows are.

    Parameters
    ----------
    models, draw, members
        Of the mixture, as :class:`Predictive` takes them.
    generator : numpy.random.Generator

    Returns
    -------
    overlaps : ndarray of shape (n_components, n_components)
        Entry (a, b) is the mean probability that a row of component a belongs to b; rows add up to 1.
    weights : ndarray of shape (n_components,)
        Shares of the components in the mixture, in which rows count in the same way; their sum is about 1/3.

    References
    ----------
    C. Hennig (2010), Methods for merging Gaussian mixture components, Advances in Data Analysis and Classification 4,
    3-34, section 4.2 (directly estimated misclassification probabilities, where all rows count alike).
    """
    predictive = Predictive(models, draw, members)
    n = predictive.n_clusters
    shares = softmax(predictive.log_weights[:-1])
    pilots = [logsumexp(_log_joint(models, predictive, k, PILOTS, generator), axis=1) for k in range(n)]
    densities, at = np.unique(pilots, return_inverse=True)
    below = np.append(0.0, np.cumsum(np.bincount(at.ravel(), np.repeat(shares / PILOTS, PILOTS))))
    joint = np.empty((n, n))
    for component in range(n):
        logs = _log_joint(models, predictive, component, SAMPLES, generator)
        density = logsumexp(logs, axis=1)
        # Of rows that are equally dense, as those of discrete columns often are, half count as less dense.
        lower = 0.5 * sum(below[np.searchsorted(densities, density, side)] for side in ("left", "right"))
        joint[component] = shares[component] / SAMPLES * (lower**2 @ softmax(logs, axis=1))
    # The probability of both is symmetric: each of its two estimates has rows of its own.
    joint = 0.5 * (joint + joint.T)
    weights = joint.sum(axis=1)
    return joint / weights[:, None], weights


def _log_joint(models, predictive, component, n_rows, generator):
    """Log joint densities of rows drawn from one component and all components, (n_rows, n_components)."""
    clusters, values = np.full(n_rows, component, np.int32), {}
    for part in predictive.parts:
        drawn = np.full((n_rows, sum(len(models[m].sources) for m in part.members)), np.nan)
        part.statistics.draws(clusters, drawn, generator)
        widths = np.cumsum([len(models[m].sources) for m in part.members])[:-1]
        values |= dict(zip(part.members, np.split(drawn, widths, axis=1), strict=True))
    return predictive.log_densities(values)[:, :-1] + predictive.log_weights[:-1]
