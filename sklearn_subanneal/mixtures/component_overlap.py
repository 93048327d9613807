"""How far the components of one draw overlap: probabilities to be taken for another component."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import softmax

from sklearn_subanneal.columns.column_model import ColumnModel
from sklearn_subanneal.mixtures.mixture_chain import Draw
from sklearn_subanneal.mixtures.predictive import Predictive

# Rows drawn from each component.
SAMPLES = 400


def component_overlaps(
    models: list[ColumnModel], draw: Draw, members: Sequence[int] | None, generator: np.random.Generator
) -> np.ndarray:
    """Mean responsibilities of all components for rows drawn from each.

    Parameters
    ----------
    models, draw, members
        Of the mixture, as :class:`Predictive` takes them.
    generator : numpy.random.Generator

    Returns
    -------
    overlaps : ndarray of shape (n_components, n_components)
        Entry (a, b) is the mean probability that a row of component a belongs to b; rows add up to 1.

    References
    ----------
    C. Hennig (2010), Methods for merging Gaussian mixture components, Advances in Data Analysis and Classification 4,
    3-34, section 4.2 (directly estimated misclassification probabilities).
    """
    predictive = Predictive(models, draw, members)
    out = np.empty((predictive.n_clusters, predictive.n_clusters))
    for component in range(predictive.n_clusters):
        clusters, values = np.full(SAMPLES, component, np.int32), {}
        for part in predictive.parts:
            drawn = np.full((SAMPLES, sum(len(models[m].sources) for m in part.members)), np.nan)
            part.statistics.draws(clusters, drawn, generator)
            widths = np.cumsum([len(models[m].sources) for m in part.members])[:-1]
            values |= dict(zip(part.members, np.split(drawn, widths, axis=1), strict=True))
        logs = predictive.log_densities(values)[:, :-1] + predictive.log_weights[:-1]
        out[component] = softmax(logs, axis=1).mean(axis=0)
    return out
