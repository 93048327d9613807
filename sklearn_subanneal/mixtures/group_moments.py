"""Weights, means and covariances of groups of the components of one draw, those of the rows that they predict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sklearn_subanneal.columns.column_model import LARGEST_CELL, ColumnModel
from sklearn_subanneal.columns.semicontinuous import mixed_moments
from sklearn_subanneal.mixtures.mixture_chain import Draw
from sklearn_subanneal.mixtures.predictive import Predictive


def group_shares(draw: Draw, groups: np.ndarray) -> np.ndarray:
    """Probability of each component for a new row that belongs to one of the groups.

    Parameters
    ----------
    draw : Draw
    groups : ndarray of int, shape (n_components,)
        Group of each component, 0, 1, ...; -1: none.

    Returns
    -------
    shares : ndarray of shape (n_groups, n_components)
        The entries of other groups are 0; the sum of all is 1.
    """
    shares = np.where(groups >= 0, draw.sizes + draw.weights[0], 0.0)
    return np.where(groups == np.arange(int(groups.max()) + 1)[:, None], shares / shares.sum(), 0.0)


def group_moments(
    models: list[ColumnModel],
    draw: Draw,
    groups: np.ndarray,
    n_parts: int,
    full: bool,
    atoms: Mapping[int, tuple[int, np.ndarray]] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of the cells of a new row in each group, in the units of the data.

    A group of several components has the moments of their mixture.

    Parameters
    ----------
    models, draw, groups
        As of :func:`assign_rows`.
    n_parts : int
        Number of modelled columns.
    full : bool
        Whether covariances of different columns are wanted.
    atoms : mapping of int to (int, ndarray of shape (n_atoms,)), or None
        For the place of each modelled column that has but those cells that are no atoms: the place of the one that says
        which cells are, and the atoms. Its moments are then those of all cells.

    Returns
    -------
    means : ndarray of shape (n_groups, n_parts)
        NaN for columns whose type has no mean; a boolean has the probability of being true.
    covariances : ndarray of shape (n_groups, n_parts, n_parts) or, if not ``full``, (n_groups, n_parts)
    """
    shares = group_shares(draw, groups)
    shares /= shares.sum(axis=1, keepdims=True)
    means, within = component_moments(models, draw, n_parts, full, atoms or {})
    centres = shares @ means
    out = np.empty((len(shares), *within.shape[1:]))
    for group, own in enumerate(shares):
        # Only the components of the group: others may have infinite or huge moments.
        of = np.flatnonzero(own)
        # Squares of huge cells are beyond the range of floating point.
        with np.errstate(over="ignore", invalid="ignore"):
            off = means[of] - centres[group]
            between = off[:, :, None] * off[:, None, :] if full else off**2
            out[group] = np.tensordot(own[of], within[of] + between, axes=1)
    return centres, out


def component_moments(
    models: Sequence[ColumnModel],
    draw: Draw,
    n_parts: int,
    full: bool,
    atoms: Mapping[int, tuple[int, np.ndarray]],
) -> tuple[np.ndarray, np.ndarray]:
    """The same of each component: within a component, parts are independent."""
    predictive = Predictive(list(models), draw)
    n, each = predictive.n_clusters, np.eye(predictive.n_clusters)
    means, variances, blocks = np.full((n, n_parts), np.nan), np.full((n, n_parts), np.nan), []
    for part in predictive.parts:
        (m,) = part.members
        model = models[m]
        if not model.with_moments.any():
            continue
        columns, width = list(model.sources), len(model.sources)
        first, second = part.expectations(list(models), np.full((n, width), np.nan), each)[m]
        if model.discrete:
            # The probability of True, whose square is the same.
            first = second = first[:, 1:]
        first = first[:, :width]
        with np.errstate(over="ignore"):
            means[:, columns] = np.clip(first * model.scale + model.center, -LARGEST_CELL, LARGEST_CELL)
            variances[:, columns] = np.maximum(second - first**2, 0.0) * model.scale**2
        # Of transformed cells, they are none of the data.
        without = np.array(columns)[~model.with_moments]
        means[:, without] = variances[:, without] = np.nan
        if full and width > 1:
            scales = part.scale_matrices(n)
            # A t distribution has the correlations of its scale matrix.
            deviations = np.sqrt(np.diagonal(scales, axis1=1, axis2=2))
            blocks.append((columns, scales / (deviations[:, :, None] * deviations[:, None, :])))
    # Of the cells that are no atoms, times their probability: covariances of different columns are products of these.
    deviations = np.sqrt(variances)
    for rest, (which, values) in atoms.items():
        shares = _probabilities(predictive, models, which)
        means[:, rest], own = mixed_moments(shares, values, means[:, rest], deviations[:, rest])
        variances[:, rest] = own**2
        deviations[:, rest] *= shares[:, 0]
    if not full:
        return means, variances
    known, diagonal = ~np.isnan(means[0]), np.arange(n_parts)
    covariances = np.where(known[:, None] & known, 0.0, np.full((n, n_parts, n_parts), np.nan))
    for columns, correlations in blocks:
        own = deviations[:, columns]
        with np.errstate(over="ignore", invalid="ignore"):
            covariances[np.ix_(np.arange(n), columns, columns)] = correlations * own[:, :, None] * own[:, None, :]
    covariances[:, diagonal, diagonal] = variances
    return means, covariances


def _probabilities(predictive, models, place):
    """Probabilities (n_components, n_values) of the values of the discrete column at this place, none unseen."""
    m = next(m for m, model in enumerate(models) if place in model.sources)
    statistics = next(part.statistics for part in predictive.parts if m in part.members)
    return models[m].probabilities(statistics.probabilities(predictive.n_clusters))
